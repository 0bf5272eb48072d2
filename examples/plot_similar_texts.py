"""
Which functions do the same thing?
==================================

Two sentences may say the same in different words. In Word Mover's Distance the words of
one travel to the nearest words of the other, so it should see that. Does it, and what
does the plain distance of word weights miss?
"""

# %%
# Sentences
# ---------
#
# The first sentence of the documentation of each function, in 16 topics. The words of
# the embedding are the columns, and tf-idf gives the weights.

import re

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from skdptext.datasets import load_docstring_embedding, load_docstrings

corpus = load_docstrings(remove=["examples", "headers", "names"])
embedding = load_docstring_embedding()
first = [re.split(r"\.\s|\n\n", text, maxsplit=1)[0].split() for text in corpus.data]
once = {" ".join(a): topic for a, topic in zip(first, corpus.target, strict=True)}
sentences = np.array([text for text in once if "(" not in text])  # no signatures
topics = np.array([once[text] for text in sentences])

weigh = TfidfVectorizer(
    vocabulary=embedding.words, stop_words="english", sublinear_tf=True, norm=None
)
X = weigh.fit_transform(sentences)
long = np.diff(X.indptr) >= 4
X, sentences, topics = X[long], sentences[long], topics[long]
print(f"{len(sentences)} sentences of at least four words")

# %%
# Groups
# ------
#
# The graph of neighbours stands for all distances. ``DBSCAN`` takes it as they are: no
# sentence has more than 31 others within its radius, so nothing is cut off.

from sklearn.cluster import DBSCAN

from skdptext.neighbors import WMDNeighborsTransformer

graph = WMDNeighborsTransformer(embedding, n_neighbors=31).fit_transform(X)
same = DBSCAN(eps=1.8, min_samples=2, metric="precomputed").fit_predict(graph)
for group in range(0, same.max(), 12):
    print(*sentences[same == group][:3], sep="\n", end="\n\n")

# %%
# Is it worth it?
# ---------------
#
# Plain neighbours, by the sum of the differences of the weights, take milliseconds. If
# they are as often of the same topic, take them.

from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

words = X > 0
plain = NearestNeighbors(n_neighbors=10, metric="manhattan").fit(normalize(X, "l1"))
nearest = {
    "plain": plain.kneighbors(return_distance=False),
    "Word Mover's": graph.indices.reshape(len(sentences), -1)[:, 1:],
}
agree, common = {}, {}
for name, rows in nearest.items():
    agree[name] = (topics[rows[:, :10]] == topics[:, None]).mean(axis=0)
    common[name] = np.asarray(words.multiply(words[rows[:, 0]]).sum(axis=1)).ravel()
few = common["plain"] <= 1
for name, rows in nearest.items():
    share = np.mean(topics[rows[:, 0]][few] == topics[few])
    print(f"{name}: {agree[name][0]:.0%} nearest of the same topic; {share:.0%} of the")
    print(f"    {few.sum()} whose plain nearest has at most one word in common")

# %%
# The map
# -------
#
# ``TSNE`` takes the same graph.

import matplotlib.pyplot as plt
from sklearn.manifold import TSNE

place = TSNE(metric="precomputed", init="random", perplexity=10, random_state=0)
x, y = place.fit_transform(graph).T

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9.5, 3.8), width_ratios=[2, 3], layout="constrained"
)
for name, marker in (("Word Mover's", "o-"), ("plain", "s-")):
    left.plot(range(1, 11), agree[name], marker, label=name)
left.set(xlabel="neighbour", ylabel="share of the same topic", ylim=(0, 0.8))
left.legend(loc="lower left")
right.scatter(x, y, s=4, color="lightgrey")
shown = ["optimal transport", "clustering", "text", "signals and images", "statistics"]
for name in shown:
    here = topics == corpus.target_names.index(name)
    right.scatter(x[here], y[here], s=8, label=name)
right.legend(loc="upper left", bbox_to_anchor=(1, 1), title="five of 16 topics")
right.set(xticks=[], yticks=[])
figure.suptitle("Neighbours by Word Mover's Distance, and their map")
plt.show()

# %%
# Where the nearest sentence has several words in common, both distances find it. The
# others gain: their words are alike. :doc:`A how-to </howto/neighbours_without_labels>`
# goes on to hundreds of thousands of texts, and says on which corpora the plain
# distance was better.
