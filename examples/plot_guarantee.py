"""
What exactly is promised?
=========================

Metric privacy promises that a release changes the odds between two inputs by at most
e to the power of an *exponent*, and that the exponent grows with the distance of the
inputs. This example reads a guarantee, computes exponents between words and documents,
asks for the ε of a wanted factor, adds up several releases, states promises at
different λ in one metric, and checks the promise on utility by simulation.
"""

# %%
# A guarantee says what it promises
# ---------------------------------
#
# When shown, it says to whom, relative to which metric, and how much on a human scale:
# by how much the odds between a word and its nearest neighbour change at most. It also
# says what it does not promise. ``print(guarantee)`` has the same sentences.

from skdptext import DPWordPerturber
from skdptext.datasets import load_docstring_embedding

embedding = load_docstring_embedding()
perturber = DPWordPerturber(embedding, epsilon=10, lam=0.5, document_length=4).fit([])
guarantee = perturber.guarantee()
guarantee

# %%
# Between words
# -------------
#
# The exponent between two words is ε times the distance of their vectors, in the
# metric ‖·‖_RM of the mechanism. For words that mean nearly the same it is small;
# for others it soon gets so large that, on paper, nothing much is promised. That is
# the nature of the thing: a release that kept no distance at all would be useless.

for pair in (("loc1", "scale1"), ("monte", "carlo"), ("mean", "mean"),
             ("mean", "median"), ("mean", "eigenvalues")):  # fmt: skip
    print(f"{pair[0]:>8s} / {pair[1]:12s} exponent {guarantee.exponent(*pair):5.1f}")

# %%
# Between documents
# -----------------
#
# For bags of N words the exponent is ε N E, where E is the Earth Mover's Distance of
# the bags: one changed word costs its own distance, and the order of the words costs
# nothing. Token and text output keep the order, and so promise less. Documents of
# different size are not protected from being told apart at all; that is why
# ``document_length`` exists.

x = ["mean", "of", "the", "rows"]
y = ["rows", "of", "the", "median"]
ordered = DPWordPerturber(
    embedding, epsilon=10, lam=0.5, document_length=4, output="tokens", order="keep"
).fit([]).guarantee()  # fmt: skip
print(f"bags             {guarantee.exponent(x, y):6.1f}")
print(f"token lists      {ordered.exponent(x, y):6.1f}")

import warnings

from skdptext.exceptions import PrivacyLeakWarning

with warnings.catch_warnings():
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    released_lengths = DPWordPerturber(embedding, epsilon=10).fit([]).guarantee()
print(f"different size   {released_lengths.exponent(x, y[:3]):6.1f}")

# %%
# Which ε for a wanted factor?
# ----------------------------
#
# The exponent is linear in ε, so ``epsilon_for`` turns the question round: at which ε
# do the odds between these two documents change by a factor of 100 at most? If each
# document is to be released four times, with fresh noise, every release may have a
# quarter of that ε.

print(f"once        ε = {guarantee.epsilon_for(x, y, factor=100):.2f}")
print(f"four times  ε = {guarantee.compose(4).epsilon_for(x, y, factor=100):.2f} each")

# %%
# Releases of different kinds add up as well, each in its own metric:

laplace = DPWordPerturber(embedding, epsilon=10, lam=0, document_length=4).fit([])
both = guarantee.compose(laplace.guarantee())
print(f"exponent of both: {both.exponent(x, y):.1f}")
both

# %%
# Per unit of Euclidean distance
# ------------------------------
#
# ‖·‖_RM depends on λ, and so ε at one λ is not ε at another. ``euclidean_bounds`` gives
# the smallest and the largest exponent per unit of Euclidean distance, over all
# directions; ``euclidean()`` is the guarantee stated with the larger one. Lemma 3 of
# the 2020 paper uses only the trace of the covariance and its smallest eigenvalue: its
# upper constant is the same, its lower one much lower. The dots are pairs of words, and
# show what real differences between words come to.

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
pairs = rng.choice(embedding.word_array[:2000], size=(150, 2))
pairs = pairs[pairs[:, 0] != pairs[:, 1]]
lengths = np.array([np.linalg.norm(embedding[a] - embedding[b]) for a, b in pairs])

lams = np.array([0, 0.25, 0.5, 0.75, 1])
bounds, lemma = [], []
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for lam in lams:
    relative = perturber.set_params(lam=lam).fit([]).guarantee()
    bounds.append(relative.euclidean_bounds)
    lemma.append(relative.lemma3_bounds[0])
    rates = np.array([relative.exponent(a, b) for a, b in pairs]) / lengths
    spots = lam + rng.uniform(-0.03, 0.03, len(rates))
    axis.scatter(
        spots, rates, s=6, color="0.5", label="pairs of words" if lam == 0 else None
    )
low, high = np.transpose(bounds)
axis.plot(lams, high, marker="^", color="C1", label="largest: epsilon of euclidean()")
axis.plot(lams, low, marker="v", color="C0", label="smallest")
axis.plot(
    lams, lemma, marker="x", color="C0", linestyle=":", label="smallest, by Lemma 3"
)
axis.set(
    title="One ε, five promises (ε = 10)",
    xlabel="λ",
    ylabel="exponent per unit of Euclidean distance",
    xticks=lams,
    ylim=(0, None),
)
axis.legend(loc="upper left")
plt.show()

# %%
# The worst direction gets costly as λ grows, but hardly any two words differ in it: for
# real pairs the exponents at one ε stay comparable, up to λ near 1.
#
# What is left of the document
# ----------------------------
#
# ``utility_probability(delta)`` bounds from below the probability that the noisy
# document, before the nearest words are taken, lies within Earth Mover's Distance Δ of
# the true one. The lengths of N noise vectors sum to a Gamma distribution of shape
# N·m, so the bound is P(N m, ε N Δ), where P is the regularised incomplete gamma
# function.
#
# Theorem 3 of the 2019 paper has P(m, ε N Δ) in its place, which is larger. For N
# copies of one word the probability is known exactly, since all mass has to travel from
# one point: E is the mean length of the noise vectors. A simulation decides.

from scipy.special import gammainc

N, M, EPSILON = 5, embedding.dim, 10
laplace = DPWordPerturber(embedding, epsilon=EPSILON, lam=0, document_length=N).fit([])
channel = laplace.mechanism_
noise = channel.noise(channel.draw(rng, 4000 * N))
moved = np.linalg.norm(noise, axis=1).reshape(4000, N).mean(axis=1)

delta = np.linspace(0, 14, 200)
ours = laplace.guarantee()

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.plot(delta, [ours.utility_probability(d) for d in delta], color="C0",
          label="utility_probability: P(N m, ε N Δ)")  # fmt: skip
axis.plot(delta, gammainc(M, EPSILON * N * delta), color="C1", linestyle="--",
          label="2019 paper, Theorem 3: P(m, ε N Δ)")  # fmt: skip
steps = np.sort(moved)[::100]
axis.plot(steps, np.arange(len(steps)) * 100 / len(moved), "o", markersize=4,
          color="black", label=f"simulation: {N} copies of one word")  # fmt: skip
axis.set(
    title=f"How far does a document move? (N = {N}, m = {M}, ε = {EPSILON})",
    xlabel="Δ (distance per word, before the nearest words are taken)",
    ylabel="probability of E ≤ Δ",
)
axis.legend(loc="center", bbox_to_anchor=(0.43, 0.5))
plt.show()

# %%
# The simulation lies on our curve, and far below the paper's: as a lower bound the
# latter is false for N ≥ 2. At N = 1 the two agree.
#
# What is not promised
# --------------------
#
# - That lengths stay hidden, unless ``document_length`` is set.
# - Anything on unknown words released with ``oov="keep"``.
# - Anything at all, if the embedding or its vocabulary was made from the documents that
#   are to be protected.
# - The same for several releases: k of them, with fresh noise, cost k times the
#   exponent (``compose``).
