"""
How do I release my documents?
==============================

You have texts, and want to hand out something that others can learn from, without
handing out the texts. This example goes from raw strings to a private count matrix,
to private token lists and to private text, states what is promised, and saves the
release.

The documents here are the docstrings that come with every install. Read them as if
they were yours.
"""

# %%
# The documents, and a public word embedding
# ------------------------------------------
#
# The embedding must not come from the documents that are to be protected. Published
# GloVe, word2vec or fastText vectors are the usual choice:
# ``WordEmbedding.load("glove.6B.100d.txt", n_words=30_000)``.

from skdptext.datasets import load_docstring_embedding, load_docstrings

corpus = load_docstrings(
    topics=["clustering", "linear algebra"], remove=["examples", "headers"]
)
embedding = load_docstring_embedding()
print(f"{len(corpus.data)} documents; {embedding}")

# %%
# What the noise does to a sentence
# ---------------------------------
#
# Each word stays, or becomes another one. ``output="text"`` gives strings. ε is found
# on public text: it is the one at which a share of the words of such text changes.

import warnings

from skdptext import DPWordPerturber
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.model_selection import calibrate_epsilon

perturber = DPWordPerturber(embedding, mechanism="exponential", lam=0)
epsilons = {
    share: calibrate_epsilon(
        perturber,
        share,
        statistic="changed",
        documents=corpus.data[::10],
        tuned_on="public",
    ).epsilon
    for share in (0.25, 0.5, 0.75)
}
sentence = "Compute the eigenvalues and right eigenvectors of a square matrix"
print(f"as written   {sentence}")
with warnings.catch_warnings():
    # The number of words is released here; below it is fixed.
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    for share, epsilon in epsilons.items():
        perturber = DPWordPerturber(
            embedding,
            mechanism="exponential",
            lam=0,
            epsilon=epsilon,
            output="text",
            order="keep",
        )
        print(f"{share:<13.0%}{perturber.fit_transform([sentence])[0]}")

# %%
# One word is missing, and always will be: "a", since scikit-learn's analyzers take
# words of two letters or more (see ``token_pattern``). Words that the embedding does
# not know are dropped, too.
#
# One length for all
# ------------------
#
# The guarantee compares documents of the same size. Without ``document_length`` the
# number of words of each document is released as it is, which tells documents apart.
# ``resize="truncate"`` takes the first words of each document and refuses documents
# that have fewer; ``resize="sample"`` draws words from each, and so takes any.

import matplotlib.pyplot as plt
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

LENGTH = 60
known = CountVectorizer(vocabulary=embedding.words).transform(corpus.data)
lengths = known.sum(axis=1).A1

figure, axis = plt.subplots(figsize=(7, 3.2), layout="constrained")
axis.hist(lengths.clip(max=600), bins=30, color="0.7", edgecolor="white")
axis.axvline(LENGTH, color="C0", linewidth=3)
axis.annotate(
    f"with document_length={LENGTH}:\nall {len(lengths)} documents here",
    (LENGTH, axis.get_ylim()[1] * 0.75),
    xytext=(180, axis.get_ylim()[1] * 0.8),
    arrowprops={"arrowstyle": "->", "color": "C0"},
    color="C0",
)
axis.set(
    title="What the lengths give away",
    xlabel="known words in a document (600: or more)",
    ylabel="documents",
    xlim=(0, None),
)
plt.show()

# %%
# Every document here has at least 60 known words, so that truncation refuses none.
#
# A private count matrix
# ----------------------
#
# The default output is what classifiers want: counts, a sparse matrix whose column j is
# word j of the embedding. ``random_state`` is None, so the noise is fresh in each call
# and comes from a cryptographic generator keyed by the operating system.

perturber = DPWordPerturber(
    embedding,
    mechanism="exponential",
    lam=0,
    epsilon=epsilons[0.25],
    document_length=LENGTH,
)
bags = perturber.fit_transform(corpus.data)
print(repr(bags))
print("words per document:", set(bags.sum(axis=1).A1.tolist()))

row = corpus.names.index("scipy.linalg.svd")
top = bags[row].toarray().ravel().argsort()[::-1][:8]
print("most frequent words of the noisy svd:", [embedding.words[j] for j in top])

# %%
# Private token lists
# -------------------
#
# The order of the words is kept here. That gives more away, and the guarantee of this
# perturber between two documents is weaker than that of the bags. (Both are made here
# to show them. In real use, make only one: each further release of the same documents
# costs its exponent again.)

tokens = (
    clone(perturber)
    .set_params(output="tokens", order="keep")
    .fit_transform(corpus.data)
)
print(tokens[row][:12])

# %%
# What is promised
# ----------------
#
# ``print`` gives the promise in a sentence, ``exponent`` in numbers: by how much at
# most a release can change the odds between two documents, as a power of e.

guarantee = perturber.guarantee()
print(guarantee)

# %%
# Read the numbers soberly. This is metric privacy: it hides *which* word among
# similar ones, and the promise fades with distance. An exponent of 1 changes odds by a
# factor of 2.7 at most, one of 40 promises next to nothing on paper, and between whole
# documents the exponents of the words add up. The example on the guarantee goes into
# this; the one on ε and λ measures what is left for an adversary.

for pair in (("loc1", "scale1"), ("monte", "carlo"), ("mean", "median")):
    print(f"{' / '.join(pair):16s} exponent {guarantee.exponent(*pair):5.1f}")

# %%
# Saving
# ------
#
# A release is an ordinary matrix or a list of strings: nothing in it is secret any
# more. Save the embedding beside the matrix, since the columns mean nothing without it.
# What must *not* be saved beside them are the texts, and the integer given as
# ``random_state``, if there was one: whoever knows it can undo the noise.

import json
import tempfile
from pathlib import Path

import scipy.sparse as sp

from skdptext import WordEmbedding

with tempfile.TemporaryDirectory() as folder:
    folder = Path(folder)
    sp.save_npz(folder / "bags.npz", bags)
    embedding.save(folder / "words.npz")
    (folder / "tokens.json").write_text(json.dumps(tokens), encoding="utf-8")

    again = sp.load_npz(folder / "bags.npz")
    read_back = WordEmbedding.load(folder / "words.npz")
    for path in sorted(folder.iterdir()):
        print(f"{path.name:12s} {path.stat().st_size / 1e3:7,.0f} kB")
print("same embedding:", read_back.words == embedding.words)
print("same bags:", (again != bags).nnz == 0)
