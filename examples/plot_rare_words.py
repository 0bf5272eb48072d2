"""
What happens to rare words in sparse regions?
=============================================

Words are not spread evenly. Some have near neighbours; some lie alone, and noise that
changes most words leaves those as they are. Where the lonely words are the rare and
telling ones, they give documents away. This example measures how uneven an embedding
is, looks at a crowded word and a lonely one, and asks whether λ helps the lonely ones.
"""

# %%
# How uneven is the embedding?
# ----------------------------
#
# ``density_statistics`` computes the distance of each word to the nearest other one
# (Table 5 of Xu and others, 2020). The embedding is the built-in one: 2,000 words of
# documentation, the most frequent first, in 100 dimensions.

import matplotlib.pyplot as plt
import numpy as np

from skdptext import DPWordPerturber
from skdptext.datasets import load_docstring_embedding, load_docstrings
from skdptext.metrics import density_statistics

embedding = load_docstring_embedding().restrict(2000)
texts = load_docstrings(topics=["clustering", "linear algebra", "statistics"]).data
density = density_statistics(embedding, texts)
print(density)
print("sparsest:", ", ".join(density.sparsest[:8]))
print("densest: ", ", ".join(density.densest[:8]))
print(
    f"{density.records_with_sparse:.0%} of the documents hold one of the "
    f"{len(density.sparsest)} sparsest words; one such word is in "
    f"{density.records_per_sparse:.2%} of them on average"
)

# %%
# Are the lonely words the rare ones? The embedding is in order of frequency, so a rank
# correlation between position and distance answers that: +1 if the rarest words are the
# loneliest.

from scipy.stats import spearmanr

every = density_statistics(embedding)  # all words, in the order of the embedding
correlation = spearmanr(np.arange(len(embedding)), every.distances).statistic
print(f"rank correlation of rarity and loneliness: {correlation:+.2f}")

# %%
# Not in this embedding: its loneliest words are common ones that go with everything. In
# other embeddings it is the other way round, and a word in few documents points at
# them. Measure before you rely on either.
#
# Two words under the same noise
# ------------------------------
#
# ``NeighborhoodDisplay`` draws noise for one word and shows where it lands, projected
# onto the plane of the words around it. ε and λ are the same on both sides.

from skdptext.inspection import NeighborhoodDisplay

perturber = DPWordPerturber(embedding, epsilon=12, lam=0, document_length=30).fit([])
crowded, lonely = density.densest[0], density.sparsest[0]
figure, axes = plt.subplots(1, 2, figsize=(11, 5.4), layout="constrained")
for axis, word in zip(axes, (crowded, lonely), strict=True):
    display = NeighborhoodDisplay.from_estimator(
        perturber, word, n_neighbors=6, n_landed=3, random_state=0
    ).plot(axis)
    print(
        f"{word!r}: nearest word at {display.distances[1]:.2f}, "
        f"{display.shares[0]:.0%} of the draws leave it unchanged"
    )
plt.show()

# %%
# The noise is the same; what differs is the way to the next word. The plane shows two
# of a hundred dimensions: the shares beside the words count in all of them.
#
# All words: percentiles
# ----------------------
#
# An average hides the lonely words; percentiles do not. N_w is the number of draws, of
# 100, that leave a word unchanged, and the upper end of its bar is where the lonely
# ones are. S_w is the number of different words that come out.

from skdptext.inspection import PlausibleDeniabilityDisplay
from skdptext.metrics import plausible_deniability

epsilons, lams = [6, 9, 12, 18, 27], [0, 0.5, 1]
result = plausible_deniability(perturber, epsilons=epsilons, lams=lams, random_state=0)
PlausibleDeniabilityDisplay.from_result(result).plot()
plt.show()

# %%
# λ > 0 lowers all percentiles of N_w at the same ε. That alone is no merit, since more
# noise would do it, too. Does it help the *lonely* words more than the others? Compare
# them at equal averages: for each λ, ε is set so that half of all draws leave the word
# unchanged.

from skdptext.model_selection import calibrate_epsilon

groups = np.array_split(every.distances.argsort(), 10)
shares = {}
for lam in lams:
    shaped = DPWordPerturber(embedding, lam=lam, document_length=30).fit([])
    found = calibrate_epsilon(  # every word counts once, as in the paper
        shaped,
        0.5,
        words=embedding.words,
        tuned_on="public",
        n_draws=500,
        random_state=0,
    )
    shaped.set_params(epsilon=found.epsilon).fit([])
    counts = plausible_deniability(shaped, n_draws=500, random_state=1).n_unchanged
    shares[lam] = [counts[group].mean() / 500 for group in groups]
    print(f"λ = {lam:<4g} half of the draws unchanged at ε = {found.epsilon:.1f}")

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for (lam, values), marker, color in zip(
    shares.items(), "os^", ("#0072B2", "#D55E00", "#009E73"), strict=True
):
    axis.plot(range(1, 11), values, marker=marker, color=color, label=f"λ = {lam:g}")
axis.set(
    title="Half of all draws leave the word unchanged, at each λ",
    xlabel="tenth of the words, from the most crowded to the loneliest",
    ylabel="share of draws unchanged",
    xticks=range(1, 11),
    ylim=(0, 1.02),
)
axis.legend()
plt.show()

# %%
# At equal averages the curves all but coincide: in this embedding λ acts on lonely
# words as more noise would, and the loneliest tenth stays unchanged far more often than
# the others at every λ. If such words matter in your documents, judge a choice of ε by
# *their* N_w rather than by the mean, or leave them out of the embedding
# (``WordEmbedding.restrict``): a word that the embedding does not hold is never
# released.
