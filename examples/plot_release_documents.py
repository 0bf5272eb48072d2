"""
How do I release my messages?
=============================

From raw strings to a file that others can train on: choose ε on public text, look at
sentences, fix the length, release, and say what is promised. The messages are those of
the SMS Spam Collection, and the vectors are GloVe.
"""

# %%
# Messages and vectors
# --------------------
#
# Vectors and messages are read from the folder that ``SKDPTEXT_DATA`` names. The
# vectors must not come from the messages that you protect. One half of the messages
# plays those that you may look at, the other half those that nobody else may read.

import os
from pathlib import Path

from sklearn.model_selection import train_test_split

from skdptext import WordEmbedding
from skdptext.datasets import fetch_sms_spam, load_docstring_embedding, load_docstrings

vectors = sorted(Path(os.environ.get("SKDPTEXT_DATA", ".")).glob("glove*50d.*"))
if vectors:
    embedding = WordEmbedding.load(vectors[0], n_words=6000)
    texts = fetch_sms_spam().data
    sentence = "the doctor will call you on friday about your blood test"
else:  # no such folder: documentation, and vectors learned from it, stand in
    embedding = load_docstring_embedding().restrict(6000)
    texts = load_docstrings(remove=["examples", "headers", "names"]).data
    sentence = "compute the eigenvalues and right eigenvectors of the matrix"
texts = list(dict.fromkeys(texts))  # some messages are there several times
public, private = train_test_split(texts, test_size=0.5, random_state=0)
print(f"{len(public)} public and {len(private)} private texts; {embedding}")

# %%
# Choose ε, and look at a sentence
# --------------------------------
#
# Each word stays or becomes another one. ``calibrate_epsilon`` finds the ε at which a
# given share of the words of public text changes.

import warnings

from skdptext import DPWordPerturber
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.model_selection import calibrate_epsilon

readable = DPWordPerturber(
    embedding, mechanism="exponential", lam=0, output="text", order="keep"
)
epsilons = {}
with warnings.catch_warnings():
    # A warning says that order and length of this sentence are released. They may be.
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    print(f"as written:    {sentence}")
    for share in (0.25, 0.5, 0.75):
        epsilons[share] = calibrate_epsilon(
            readable, share, statistic="changed", documents=public, tuned_on="public"
        ).epsilon
        readable.set_params(epsilon=epsilons[share]).fit([])
        noisy = readable.transform([sentence])[0]
        print(f"{share:.0%}, ε = {epsilons[share]:.2f}: {noisy}")

# %%
# One length for all
# ------------------
#
# Noise hides words, but not how many there are. With ``document_length=10`` every
# message is released with ten words, and ``resize="sample"`` draws these from the
# message, so that messages of any length will do.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

LENGTH = 10
counts = CountVectorizer(vocabulary=embedding.words)
lengths = counts.transform(private).sum(axis=1).A1

figure, axis = plt.subplots(figsize=(7, 3.2), layout="constrained")
top = np.percentile(lengths, 98)
axis.hist(lengths.clip(max=top), bins=30, color="0.75", edgecolor="white")
axis.axvline(LENGTH, linewidth=3, label=f"released: {LENGTH} words for every message")
axis.set(xlabel="known words in a message", ylabel="messages", xlim=(0, None))
axis.legend()
figure.suptitle("The lengths of messages, as written and as released")
plt.show()

# %%
# Release
# -------
#
# The default output is a sparse matrix of counts, in which column *j* is word *j* of
# the embedding. ``random_state`` is None, so the noise is fresh in every call. Release
# once: a second release of the same messages costs their exponents again.

perturber = DPWordPerturber(
    embedding,
    mechanism="exponential",
    lam=0,
    epsilon=epsilons[0.25],
    document_length=LENGTH,
    resize="sample",
)
noisy = perturber.fit_transform(private)
print(repr(noisy))

# %%
# What is promised
# ----------------
#
# The guarantee is written to be published with the release. Its numbers are exponents:
# an exponent of 1 changes odds by at most a factor of 2.7, one of 40 promises next to
# nothing on paper, and those of the words of a message add up.

guarantee = perturber.guarantee()
print(guarantee)

# %%
# Save it
# -------
#
# Keep the embedding beside the matrix, since the columns mean nothing without it. Never
# publish the messages, nor an integer given as ``random_state``: anyone who learns it
# can remove the noise.

import tempfile

import scipy.sparse as sp

with tempfile.TemporaryDirectory() as folder:
    sp.save_npz(Path(folder) / "release.npz", noisy)
    embedding.save(Path(folder) / "words.npz")
    (Path(folder) / "guarantee.txt").write_text(guarantee.details(), encoding="utf-8")
    for path in sorted(Path(folder).iterdir()):
        print(f"{path.name:14s} {path.stat().st_size / 1e3:7,.0f} kB")
