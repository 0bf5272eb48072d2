"""
What does λ do to the noise, and to rare words?
===============================================

At λ = 0 the noise is equally strong in all directions. At λ = 1 it has the shape of the
embedding: long where words spread widely, short where they do not. Xu and others (2020)
meant it for words in sparse regions, often rare and telling ones. Spherical noise may
reach no other word from there, and the word comes out unchanged.
"""

# %%
# Two dimensions, to look at
# --------------------------
#
# The 600 most frequent words of GloVe (from the folder that ``SKDPTEXT_DATA`` names),
# on their first and twentieth principal axes: they spread widely along the one, and
# little along the other.

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import gamma
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.datasets import load_docstring_embedding

vectors = sorted(Path(os.environ.get("SKDPTEXT_DATA", ".")).glob("glove*50d.*"))
if vectors:
    embedding = WordEmbedding.load(vectors[0], n_words=6000)
else:  # no such folder: vectors that were learned from documentation
    embedding = load_docstring_embedding().restrict(6000)
frequent = embedding.restrict(600)
axes = PCA(20, svd_solver="full").fit_transform(frequent.vectors)
flat = WordEmbedding(frequent.words, axes[:, [0, 19]])


def loneliest_first(embedding):
    """Words by the distance to their nearest neighbour, largest first."""
    neighbours = NearestNeighbors(n_neighbors=2).fit(embedding.vectors)
    distances, _ = neighbours.kneighbors(embedding.vectors)
    return [embedding.words[i] for i in distances[:, 1].argsort()[::-1]]


# %%
# The outlines hold 50 % and 95 % of the noisy vectors of the loneliest word. Each noisy
# vector becomes the *nearest word*. Crosses show the words that 4,000 draws land on;
# the larger the cross, the more often.

word = loneliest_first(flat)[0]
epsilon = 2.5 / flat.vectors.std()
rng = np.random.default_rng(0)
angle = np.linspace(0, 2 * np.pi, 200)
circle = np.column_stack([np.cos(angle), np.sin(angle)])
figure, panels = plt.subplots(
    2, 1, figsize=(5.6, 6), sharex=True, sharey=True, layout="constrained"
)
for axis, lam in zip(panels, (0, 1), strict=True):
    perturber = DPWordPerturber(
        flat, epsilon=epsilon, lam=lam, document_length=1, random_state=rng
    ).fit([])
    channel = perturber.mechanism_
    points = flat[word] + channel.noise(channel.draw(rng, 400))
    landed, counts = np.unique(
        perturber.perturb_words([word], 4000), return_counts=True
    )
    spots = np.array([flat[w] for w in landed])
    stays = dict(zip(landed, counts / counts.sum(), strict=True)).get(word, 0)
    axis.scatter(*flat.vectors.T, s=8, color="0.7", label="words")
    axis.scatter(*points.T, s=5, color="C0", alpha=0.5, label="noisy vectors")
    for share, style in ((0.5, "-"), (0.95, "--")):
        radius = gamma.ppf(share, flat.dim, scale=1 / epsilon)
        outline = flat[word] + radius * circle @ perturber.noise_factor_
        axis.plot(*outline.T, color="C0", linestyle=style, label=f"{share:.0%} of them")
    axis.scatter(
        *spots.T, s=20 + counts / 4, marker="x", color="C1", label="words landed on"
    )
    axis.set(
        title=f"λ = {lam}",
        ylabel="20th principal axis",
        aspect="equal",
    )
panels[-1].set_xlabel("first principal axis")
figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=2)
figure.suptitle(f"Noise around {word!r}, the loneliest word of the plane")
plt.show()

# %%
# Spherical noise goes as far in directions without words as in any other. The noise of
# λ = 1 goes where the words are, and reaches further among them.
#
# All dimensions
# --------------
#
# Now the embedding as it is. How often do the 50 loneliest of its 2,000 most frequent
# words come out unchanged, and how often the 50 with the nearest neighbours? First at
# one ε for all λ; then, for each λ, at the ε at which half of all words change. The
# bars are 95 % intervals over the words.

from skdptext.model_selection import calibrate_epsilon

words = embedding.restrict(2000)
ordered = loneliest_first(words)
groups = {"50 loneliest words": ordered[:50], "50 most crowded words": ordered[-50:]}
lams = (0, 0.25, 0.5, 0.75, 1)


def half_changed(lam):
    """The ε at which half of the words change."""
    return calibrate_epsilon(
        DPWordPerturber(words, lam=lam),
        statistic="changed",
        words=words.words,
        tuned_on="public",
        random_state=0,
    ).epsilon


one = half_changed(0)
settings = {
    f"at one ε = {one:.1f}": dict.fromkeys(lams, one),
    "at an ε for each λ: half of all words change": {
        lam: half_changed(lam) for lam in lams
    },
}
figure, panels = plt.subplots(2, 1, figsize=(5.6, 6), sharey=True, layout="constrained")
for axis, (title, epsilons) in zip(panels, settings.items(), strict=True):
    for (name, group), marker in zip(groups.items(), "os", strict=True):
        means, errors = [], []
        for lam, epsilon in epsilons.items():
            perturber = DPWordPerturber(
                words, epsilon=epsilon, lam=lam, document_length=1, random_state=rng
            ).fit([])
            noisy = perturber.perturb_words(group, 50)
            shares = (noisy == np.array(group, dtype=object)[:, None]).mean(axis=1)
            means.append(shares.mean())
            errors.append(1.96 * shares.std() / np.sqrt(len(group)))
        axis.errorbar(lams, means, yerr=errors, marker=marker, capsize=3, label=name)
    axis.set(title=title, xticks=lams, ylim=(0, 1.02))
    axis.set_ylabel("share of draws unchanged")
panels[-1].set_xlabel("λ")
panels[0].legend()
figure.suptitle("Which words stay?")
plt.show()
# sphinx_gallery_thumbnail_number = 2

# %%
# At one ε, a larger λ makes the noise stronger: the loneliest words change more often,
# and so do all others. At an equal amount of change, λ makes no difference that these
# intervals show: a smaller ε at λ = 0 reaches lonely words as well. :doc:`The 2020
# paper repeated </evidence/paper_2020>` has the same question on three embeddings.
#
# Nor is the same ε the same promise. The guarantee is relative to the distance ‖·‖_RM,
# which λ changes; per unit of Euclidean distance the exponent lies between two bounds.

for lam, epsilon in settings["at an ε for each λ: half of all words change"].items():
    perturber = DPWordPerturber(words, epsilon=epsilon, lam=lam, document_length=1)
    low, high = perturber.fit([]).guarantee().euclidean_bounds
    print(f"λ = {lam:<4g} ε = {epsilon:5.2f}, exponent from {low:5.2f} to {high:6.2f}")
