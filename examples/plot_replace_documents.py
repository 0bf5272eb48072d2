"""
Which documents can be replaced, and what is left?
==================================================

`~skdptext.DPDocumentReplacer` answers each document with a public one, of its group or,
by randomized response, of another. More groups keep more of what documents are about,
and show more of which document it was. How many should there be, and at which ε?
"""

# %%
# Public and private documents
# ----------------------------
# Documentation in six topics. One half stands for public text, the other for private
# documents, which nothing learns from.

import matplotlib.pyplot as plt
import numpy as np

from skdptext import DPDocumentReplacer
from skdptext.attacks import linkage_attack
from skdptext.datasets import load_docstrings
from skdptext.naive_bayes import ChannelNaiveBayes

corpus = load_docstrings(remove=("examples", "headers", "names"))
names, counts = np.unique(corpus.target, return_counts=True)
topics = names[np.argsort(-counts)[:6]]
at = np.flatnonzero(np.isin(corpus.target, topics))
at = np.random.default_rng(0).permutation(at)
texts = [corpus.data[i][:2000] for i in at]
labels = corpus.target[at]
half = len(texts) // 2
public, y_public = texts[:half], labels[:half]
private, y_private = texts[half:], labels[half:]

# %%
# One release
# -----------
# The guarantee begins with what nobody can do.

replacer = DPDocumentReplacer(public, n_groups=8, epsilon=4.0).fit()
stand_ins = replacer.transform(private[:2])
for text, stand_in in zip(private, stand_ins, strict=False):
    print("private: ", " ".join(text.split())[:70])
    print("released:", " ".join(stand_in.split())[:70], "\n")
print(replacer.guarantee())

# %%
# An adversary who knows everything but the noise tries it: of 100 candidates, which one
# was released?

print(linkage_attack(private[:100], replacer, distances=False, random_state=0))

# %%
# Topics kept, documents found
# ----------------------------
# For each number of groups and ε: how often a classifier that knows the mechanism names
# the topic of a private document from its stand-in, and the share of documents that
# nobody exceeds in finding. With public labels, the groups are the topics.

epsilons = [1, 2, 3, 4, 6, 8]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for name, options in {
    "4 groups": {"n_groups": 4},
    "8 groups": {"n_groups": 8},
    "12 groups": {"n_groups": 12},
    "public labels": {"public_labels": y_public},
}.items():
    kept, found = [], []
    for epsilon in epsilons:
        releaser = DPDocumentReplacer(
            public, epsilon=epsilon, output="group", **options
        ).fit()
        model = ChannelNaiveBayes(releaser).fit(public, y_public)
        kept.append(model.score(releaser.transform(private), y_private))
        found.append(releaser.guarantee().found_at_most(100))
    left.plot(epsilons, kept, "o-", label=name)
    right.plot(epsilons, found, "o-", label=name)
left.set(xlabel="ε", ylabel="topic named", ylim=(0, 1))
right.set(xlabel="ε", ylabel="found among 100, at most", ylim=(0, 0.14))
left.legend(title="released by")
plt.show()

# %%
# With labels, the same protection keeps more: the groups are what is asked for. Without
# them, groups of words that go together keep a part. What the right-hand figure shows
# holds for every adversary, and it does not grow with what is released of a stand-in:
# its text, its bag of words or its group tell the same about the document.
