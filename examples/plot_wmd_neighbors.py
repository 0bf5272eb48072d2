"""
Why Word Mover's Distance on noisy bags?
========================================

The noise replaces words by *similar* words. A distance that counts common words finds
ever fewer of them in two noisy documents. Word Mover's Distance asks how far the words
of one document have to travel, in the embedding, to become the words of the other; a
word replaced by a neighbour is then a short way, not a miss.

This example classifies noisy bags by their nearest neighbours under both, as ε falls.
"""

# %%
# Noisy documents
# ---------------
#
# Short documents, 20 words each, of four topics, and the 3,000 most frequent words.

import numpy as np
from sklearn.model_selection import train_test_split

from skdptext.datasets import load_docstring_embedding, load_docstrings

corpus = load_docstrings(
    topics=["clustering", "linear algebra", "signals and images", "statistics"],
    remove=["examples", "headers", "names"],
)
embedding = load_docstring_embedding().restrict(3000)
texts, _, topics, _ = train_test_split(
    corpus.data, corpus.target, train_size=400, stratify=corpus.target, random_state=0
)
train, test, y_train, y_test = train_test_split(
    texts, topics, test_size=120, stratify=topics, random_state=0
)
print(f"{len(train)} training and {len(test)} test documents")

# %%
# Two neighbour classifiers
# -------------------------
#
# The pipelines differ in the distance only: exact Word Mover's Distance on the counts,
# and the cosine distance of tf-idf weights. Everything after the perturber works on
# what was released, and so costs no privacy.

from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from skdptext import DPWordPerturber, WMDKNNClassifier

K = 5
classifiers = {
    "Word Mover's Distance": WMDKNNClassifier(embedding, n_neighbors=K),
    "cosine of tf-idf": make_pipeline(
        TfidfTransformer(), KNeighborsClassifier(n_neighbors=K, metric="cosine")
    ),
}
EPSILONS = (40, 20, 15, 12, 9, 6)

# %%
# Accuracy as ε falls
# -------------------
#
# Three releases per ε, each with fresh noise. The classifiers get the same bags.

import time

REPEATS = 3
accuracy = {name: np.empty((len(EPSILONS), REPEATS)) for name in classifiers}
seconds = dict.fromkeys(classifiers, 0.0)
for i, epsilon in enumerate(EPSILONS):
    perturber = DPWordPerturber(
        embedding, epsilon=epsilon, lam=0.5, document_length=20
    ).fit(train)
    for j in range(REPEATS):
        bags, queries = perturber.transform(train), perturber.transform(test)
        for name, classifier in classifiers.items():
            started = time.perf_counter()
            classifier.fit(bags, y_train)
            accuracy[name][i, j] = classifier.score(queries, y_test)
            seconds[name] += time.perf_counter() - started
print({name: f"{value:.1f} s" for name, value in seconds.items()})

# %%
# The bars are the standard deviation over the releases.

import matplotlib.pyplot as plt

figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
for (name, scores), marker in zip(accuracy.items(), "os", strict=True):
    axis.errorbar(
        EPSILONS,
        scores.mean(axis=1),
        yerr=scores.std(axis=1),
        marker=marker,
        capsize=3,
        label=name,
    )
chance = np.bincount(y_test).max() / len(y_test)
axis.axhline(chance, color="0.4", linestyle=":")
axis.text(40, chance + 0.01, "chance", color="0.3")
axis.set_xscale("log")
axis.set_xticks(EPSILONS, [str(epsilon) for epsilon in EPSILONS])
axis.minorticks_off()
axis.invert_xaxis()
axis.set(
    title=f"{K} nearest neighbours on noisy bags of 20 words (λ = 0.5)",
    xlabel="ε (per unit of distance; more private to the right)",
    ylabel="topic accuracy",
    ylim=(0, 1),
)
axis.legend(loc="lower left", bbox_to_anchor=(0, 0.05))
plt.show()

# %%
# Word Mover's Distance is ahead while the words still land near where they came from.
# Once the noise carries them anywhere, no distance can bring the topic back, and both
# fall to chance. The price is time: a distance is the solution of a transport problem,
# though lower bounds spare most of them.
