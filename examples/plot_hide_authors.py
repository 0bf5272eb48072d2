"""
Can a release hide who wrote it, and keep what it is about?
===========================================================

That is what this mechanism was invented for. Whether it works depends on the documents,
the embedding, ε and λ, and so the answer is a measurement:
:func:`~skdptext.inspection.obfuscation_report` lets adversaries loose on a corpus, in
clear and as released, and compares what they get right with chance.
"""

# %%
# Documents whose topic does not give the author away
# ---------------------------------------------------
#
# Docstrings about three topics by the authors of two libraries, NumPy and SciPy, with
# equally many by each author on each topic. If one of them had written most of the
# documents about statistics, the topic would name the author, and nothing that keeps
# the topic could hide that. What gives the library away by form alone (its name,
# section titles, examples) is removed.

import numpy as np

from skdptext import DPWordPerturber
from skdptext.datasets import load_docstring_embedding, load_docstrings
from skdptext.inspection import obfuscation_report

corpus = load_docstrings(
    topics=["linear algebra", "signals and images", "statistics"],
    authors=["numpy", "scipy"],
    remove=["examples", "headers", "names"],
)
rng = np.random.default_rng(0)
n_each = 26
rows = np.concatenate(
    [
        rng.permutation(np.flatnonzero((corpus.author == a) & (corpus.target == t)))
        for a in range(2)
        for t in range(3)
    ]
)
cells = corpus.author[rows] * 3 + corpus.target[rows]
rows = np.concatenate([rows[cells == cell][:n_each] for cell in range(6)])
documents = [corpus.data[i] for i in rows]
authors = np.array(corpus.author_names)[corpus.author[rows]]
topics = np.array(corpus.target_names)[corpus.target[rows]]
embedding = load_docstring_embedding().restrict(3000)
print(len(documents), "documents")

# %%
# One release
# -----------
#
# Each line below is an adversary, and what it gets right of documents that it has not
# seen: in clear, and as released. It knows the other documents, with their authors and
# topics, either in clear or through the same noise. Read the remarks, too.

perturber = DPWordPerturber(embedding, epsilon=8, lam=0, document_length=40)
report = obfuscation_report(documents, authors, topics, perturber, random_state=0)
report

# %%
# In a figure: for authors the square should stand at the black line, for topics at the
# dot.

import matplotlib.pyplot as plt

report.plot()
plt.show()

# %%
# Which ε and λ?
# --------------
#
# A list of perturbers is compared in one report: here with adversaries who know the
# originals, as in the paper, and two releases of each.

grid = [
    DPWordPerturber(embedding, epsilon=epsilon, lam=lam, document_length=40)
    for lam in (0, 1)
    for epsilon in (4, 8, 12, 20)
]
compared = obfuscation_report(
    documents,
    authors,
    topics,
    grid,
    trained_on="originals",
    n_releases=2,
    random_state=0,
)
compared.plot(kind="trade-off")
plt.show()

# %%
# A good release would lie at the bottom right: authors at chance, topics as in clear.
# What is measured is a path from one corner to the other. The noise does not know which
# words point to the author and which to the topic: where the author is hidden, much of
# the topic has gone, too. Compare λ at equal topic accuracy, not at equal ε. At the
# same ε, λ = 1 changes more words, and so moves a point along the path rather than away
# from it.
#
# What is promised
# ----------------
#
# The adversaries above fail or succeed; the next one may be better. Against all of them
# there is the guarantee. Between two documents of one topic it allows odds to change by
# e to the power of

for release, exponent in zip(grid[:4], compared.exponents[:4], strict=True):
    print(f"ε = {release.epsilon:4g}: {exponent:5.0f}")

# %%
# These are large numbers: at an ε that leaves a topic to be found, word-level noise
# proves next to nothing about *whole documents*. It promises that single words are
# deniable. :ref:`hiding_authors` says more.
