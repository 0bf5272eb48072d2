"""
A map of texts without labels
=============================

Word Mover's Distance needs no labels to be useful: its graph of nearest texts is what
maps and clusterings start from. This example draws a map of the first sentences of
documentation texts, and finds groups in it that nobody named.
"""

# %%
# Short real texts
# ----------------
#
# The beginnings of docstrings of scientific libraries, weighted by tf-idf. Each row
# only has to hold weights that are not negative: it is given mass 1. Common words get
# less of it, which in published comparisons is the better variant.

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from skdptext.datasets import load_docstring_embedding, load_docstrings

topics = ["clustering", "linear algebra", "optimisation", "signals and images"]
corpus = load_docstrings(topics=topics, remove=["examples", "headers", "names"])
texts = [" ".join(text.split()[:25]) for text in corpus.data]
embedding = load_docstring_embedding().restrict(3000)
counts = CountVectorizer(vocabulary=embedding.words).transform(texts)
rows = np.random.default_rng(0).permutation(np.flatnonzero(counts.sum(axis=1) >= 8))
rows = rows[:300]
weights = TfidfTransformer(norm=None).fit_transform(counts[rows])
print(f"{len(rows)} texts of {np.diff(counts[rows].indptr).mean():.0f} words")

# %%
# From neighbours to a map
# ------------------------
#
# ``WMDNeighborsTransformer`` makes the graph that TSNE takes as precomputed distances;
# Isomap and DBSCAN take the same one, UMAP a symmetric one. The neighbours are exact,
# and found without most of the distances.

from sklearn.manifold import TSNE
from sklearn.pipeline import make_pipeline

from skdptext.neighbors import WMDNeighborsTransformer

to_map = make_pipeline(
    WMDNeighborsTransformer(embedding, n_neighbors=46),
    TSNE(metric="precomputed", init="random", perplexity=15, random_state=0),
)
places = to_map.fit_transform(weights)

# %%
# Groups
# ------
#
# Spectral clustering takes the symmetric graph of the ten nearest. The topics, which
# it never sees, say how good the groups are: 0 is chance, 1 the topics themselves.

from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score

to_groups = make_pipeline(
    WMDNeighborsTransformer(
        embedding, mode="connectivity", n_neighbors=10, symmetric=True
    ),
    SpectralClustering(len(topics), affinity="precomputed", random_state=0),
)
groups = to_groups.fit_predict(weights)
truth = corpus.target[rows]
print(f"adjusted Rand index: {adjusted_rand_score(truth, groups):.2f}")

# %%
# The map, by topic and by group
# ------------------------------

import matplotlib.pyplot as plt

fig, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
for ax, labels, title in zip(
    axes, (truth, groups), ("topics, not used", "groups found"), strict=True
):
    for label in np.unique(labels):
        some = labels == label
        name = corpus.target_names[label] if labels is truth else f"group {label + 1}"
        ax.scatter(*places[some].T, s=14, label=name)
    ax.set(title=title, xticks=[], yticks=[])
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=4, fontsize="small")
plt.show()

# %%
# Released texts go the same way: bags from a perturber have the same columns, and what
# is drawn of them costs no more privacy.
