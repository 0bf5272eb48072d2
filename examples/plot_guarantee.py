"""
What exactly is promised?
=========================

A guarantee bounds by how much a release changes the odds between two inputs: by at most
e to the power of an *exponent*. Which exponents do words and documents get, which ε
gives a wanted one, what do several releases cost, and how far does a document move?
"""

# %%
# A guarantee in words
# --------------------
#
# It says to whom, about what, and how much at typical distances; and what it does not
# promise. The vectors are GloVe, from the folder that ``SKDPTEXT_DATA`` names.

import os
from pathlib import Path

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.datasets import load_docstring_embedding

vectors = sorted(Path(os.environ.get("SKDPTEXT_DATA", ".")).glob("glove*50d.*"))
if vectors:
    embedding = WordEmbedding.load(vectors[0], n_words=6000)
else:  # no such folder: vectors that were learned from documentation
    embedding = load_docstring_embedding().restrict(6000)

perturber = DPWordPerturber(
    embedding, mechanism="exponential", epsilon=3, lam=0, document_length=4
).fit([])
guarantee = perturber.guarantee()
print(guarantee)

# %%
# Between words
# -------------
#
# The exponent is small between words of similar use, and soon so large between others
# that on paper little is promised. That is the nature of metric privacy: a release that
# treated all words alike would keep no meaning.

for pair in [("first", "second"), ("first", "last"), ("first", "first"),
             ("first", "average"), ("first", "file")]:  # fmt: skip
    print(f"{pair[0]} / {pair[1]:8s} exponent {guarantee.exponent(*pair):5.1f}")

# %%
# Between documents
# -----------------
#
# The words of a document get independent noise, and their exponents add up. A bag does
# not show the order, so the cheapest matching of its words counts; text in order pays
# for each position. Documents of different size can be told apart by counting, whatever
# the noise: this is why ``document_length`` exists.

import warnings

from sklearn.base import clone

from skdptext.exceptions import PrivacyLeakWarning

x = ["first", "average", "of", "points"]
y = ["points", "of", "the", "first"]


def promise(**options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)  # as the text above says
        return clone(perturber).set_params(**options).fit([]).guarantee()


print(f"bags            {guarantee.exponent(x, y):6.1f}")
print(f"in order        {promise(output='tokens', order='keep').exponent(x, y):6.1f}")
print(f"different size  {promise(document_length=None).exponent(x, y[:3]):6.1f}")

# %%
# Which ε for a wanted factor?
# ----------------------------
#
# ``epsilon_for`` inverts the question: at which ε do the odds between two documents
# change by at most a factor of 100? If the documents are released four times with fresh
# noise, each release may have about a quarter of that ε. ``compose`` also adds up
# releases of different kinds.

noise = promise(mechanism="mahalanobis-noise", epsilon=10)
print(f"once            ε = {noise.epsilon_for(x, y, factor=100):.2f}")
print(f"four times      ε = {noise.compose(4).epsilon_for(x, y, factor=100):.2f} each")
print(f"noise and this  exponent {noise.compose(guarantee).exponent(x, y):.1f}")

# %%
# What is left of the document
# ----------------------------
#
# The promise on utility: with noise on vectors, ``utility_probability(delta)`` bounds
# from below the probability that the noisy document, before the nearest words are
# taken, lies within Earth Mover's Distance Δ of the true one. The lengths of N noise
# vectors sum to a Gamma distribution of shape N·m, so the bound is P(N m, ε N Δ), with
# P the regularised incomplete gamma function. Theorem 3 of the 2019 paper has P(m, ε N
# Δ), a larger number. For N copies of one word the probability is known exactly: all
# mass travels from one point, so the distance is the mean length of the noise vectors.
# A simulation decides.

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import gammainc

N, M, EPSILON = 5, embedding.dim, 10
noisy = DPWordPerturber(embedding, epsilon=EPSILON, lam=0, document_length=N).fit([])
rng = np.random.default_rng(0)
lengths = np.linalg.norm(
    noisy.mechanism_.noise(noisy.mechanism_.draw(rng, 4000 * N)), axis=1
)
moved = np.sort(lengths.reshape(4000, N).mean(axis=1))

delta = np.linspace(0, 1.4 * M / EPSILON, 200)
ours = [noisy.guarantee().utility_probability(d) for d in delta]
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.plot(delta, ours, label="utility_probability: P(N m, ε N Δ)")
axis.plot(
    delta, gammainc(M, EPSILON * N * delta), "--", label="2019 paper: P(m, ε N Δ)"
)
axis.plot(moved[::100], np.linspace(0, 1, 40, endpoint=False), "o", markersize=4,
          color="black", label=f"simulation: {N} copies of one word")  # fmt: skip
axis.set(xlabel="Δ, distance per word", ylabel="probability")
axis.legend(loc="center left")
figure.suptitle(f"How far does a document move? (N = {N}, m = {M}, ε = {EPSILON})")
plt.show()

# %%
# The simulation lies on our curve and far below the paper's, which is false as a lower
# bound for N ≥ 2. At N = 1 the two agree.
