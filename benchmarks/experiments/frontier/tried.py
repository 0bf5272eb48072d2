"""Other ways to group public documents, beside k-means; few of them help.

Each has the number of groups of its corpus, at ε = 4, without labels. Differences to
k-means on the 10 directions of `TopicEncoder` are over the same divisions,
none of which is one of the other tables. Table: ``frontier_tried.json``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from experiments.frontier import measure
from experiments.frontier.plan import AT, cell, split_of
from experiments.store import Store
from experiments.texts import vectors
from results import record
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import (
    AgglomerativeClustering,
    BisectingKMeans,
    KMeans,
    SpectralClustering,
)
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer

from skdptext.preprocessing import TopicEncoder

DIVISIONS = range(100, 104)
EPSILON = 4.0
BASE = "k-means in 10 directions"


class Parts(ClusterMixin, BaseEstimator):
    """The largest part of a document, by a decomposition into parts."""

    def __init__(self, decomposition: Any) -> None:
        self.decomposition = decomposition

    def fit(self, X: Any, y: Any = None) -> Parts:
        self.fitted_ = self.decomposition.fit(X)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.asarray(self.fitted_.transform(X)).argmax(axis=1)


class Learned(ClusterMixin, BaseEstimator):
    """Clusters of public documents, and a classifier that learned them for others."""

    def __init__(self, clusterer: Any, classifier: Any) -> None:
        self.clusterer = clusterer
        self.classifier = classifier

    def fit(self, X: Any, y: Any = None) -> Learned:
        self.fitted_ = self.classifier.fit(X, self.clusterer.fit_predict(X))
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.asarray(self.fitted_.predict(X))


class FewWords(measure.MeanVectors):
    """Mean vectors in which frequent words count less, as SIF has them."""

    def _vectors(self, bags: Any) -> np.ndarray:
        if not hasattr(self, "weights_"):
            share = np.asarray(bags.sum(axis=0)).ravel() / bags.sum()
            self.weights_ = 1e-3 / (1e-3 + share)
        return self.weights_[:, None] * super()._vectors(bags)


def means(k: int, **options: Any) -> KMeans:
    return KMeans(k, random_state=0, **({"n_init": 10} | options))


def groupings(name: str) -> dict[str, Callable[[int], Any]]:
    """Each makes a clusterer of so many groups; the first is the base."""

    def after(encoder: Any) -> Callable[[int], Any]:
        return lambda k: make_pipeline(encoder, means(k))

    def learned(clusterer: Any, classifier: Any) -> Callable[[int], Any]:
        return lambda k: Learned(clusterer(k), classifier)

    def counts(change: Any) -> Any:
        return make_pipeline(CountVectorizer(min_df=5), change, TopicEncoder(10))

    words = {"min_df": 5, "stop_words": "english", "max_df": 0.3}
    base, tfidf = after(TopicEncoder(10)), TfidfVectorizer(sublinear_tf=True)
    linear = measure.labels_grouper()
    return {
        BASE: base,
        "5 directions": after(TopicEncoder(5)),
        "20 directions": after(TopicEncoder(20)),
        "30 directions": after(TopicEncoder(30)),
        "30 directions, weighed": after(measure.Weighed(30)),
        "words of 2 documents": after(TopicEncoder(10, min_df=2)),
        "words of 15 documents": after(TopicEncoder(10, min_df=15)),
        "no stop words": after(TopicEncoder(10, stop_words="english")),
        "20 directions, no frequent words": after(measure.rarer_encoder()),
        measure.NAMES: after(measure.names_encoder()),
        "NMF of the letters of names": after(
            measure.names_encoder(analyzer="char_wb", ngram_range=(2, 3), max_df=0.5)
        ),
        "words, counted once": after(
            make_pipeline(CountVectorizer(binary=True, min_df=5), TopicEncoder(10))
        ),
        "square roots of counts": after(counts(FunctionTransformer(np.sqrt))),
        "documents of equal weight": after(counts(Normalizer("l1"))),
        "60 starts of k-means": lambda k: make_pipeline(
            TopicEncoder(10), means(k, n_init=60)
        ),
        "bisecting k-means": lambda k: make_pipeline(
            TopicEncoder(10), BisectingKMeans(k, n_init=5, random_state=0)
        ),
        "Gaussian mixture": lambda k: make_pipeline(
            TopicEncoder(10),
            GaussianMixture(
                k, covariance_type="diag", n_init=3, reg_covar=1e-3, random_state=0
            ),
        ),
        "Ward's method": lambda k: make_pipeline(
            TopicEncoder(10), Learned(AgglomerativeClustering(k), NearestCentroid())
        ),
        "these, by naive Bayes": learned(
            base, make_pipeline(CountVectorizer(min_df=2), MultinomialNB(alpha=0.1))
        ),
        "these, by logistic regression": learned(base, linear),
        "spectral clustering, 10 neighbours": learned(
            lambda k: make_pipeline(
                tfidf,
                SpectralClustering(
                    k, affinity="nearest_neighbors", n_neighbors=10, random_state=0
                ),
            ),
            linear,
        ),
        "NMF of TF-IDF": lambda k: make_pipeline(
            TfidfVectorizer(sublinear_tf=True, **words),
            Parts(NMF(k, max_iter=150, random_state=0)),
        ),
        "LDA": lambda k: make_pipeline(
            CountVectorizer(**words),
            Parts(LatentDirichletAllocation(k, max_iter=20, random_state=0)),
        ),
        "TF-IDF, SVD 20": after(measure.encoders(name)["TF-IDF, SVD 20"]),
        "mean vectors": after(measure.encoders(name)["mean vectors"]),
        "mean vectors, frequent words less": after(FewWords(vectors(name))),
        "mean GloVe vectors": after(measure.encoders(name)["mean GloVe vectors"]),
    }


def topic_kept(name: str, make: Callable[[int], Any], seed: int) -> float:
    """Topic accuracy of a release by such groups."""
    split = split_of(name, "elsewhere" if name == "fan fiction" else "own", seed)
    k = AT[name]
    grouper = make(k).fit(split.elsewhere or split.public)
    both = split.public, split.protected
    groups = *(np.asarray(grouper.predict(texts)) for texts in both), np.empty(0, int)
    rng = np.random.default_rng([seed, 2])
    alone = replace(split, author=None)
    result = measure.replaced(alone, groups, k, EPSILON, rng)
    return measure.by_topic(result["topic"], split.topic)


def differences(name: str, store: Store) -> dict[str, np.ndarray]:
    """Topic accuracy of each grouping of a corpus, in each division."""
    return {
        what: np.array(
            [
                store.get(
                    cell(
                        "tried", name, what, seed,
                        compute=partial(topic_kept, name, make, seed),
                    )
                )
                for seed in DIVISIONS
            ]
        )
        for what, make in groupings(name).items()
    }  # fmt: skip


def record_differences(store: Store, names: list[str]) -> None:
    """Record the accuracy of k-means, and the differences to it."""
    scores = {name: differences(name, store) for name in names}
    rows = []
    for what in groupings("tweets"):
        row = {"groups by": what}
        for name in names:
            mine, base = scores[name][what], scores[name][BASE]
            error = float(np.std(mine - base, ddof=1) / np.sqrt(len(mine)))
            shown = f"{mine.mean():.3f}"
            if what != BASE:
                shown = f"{(mine - base).mean():+.3f} ± {error:.3f}"
            row[name] = shown
        rows.append(row)
    record(
        "frontier_tried",
        rows,
        title=f"Other ways to group public documents, beside {BASE}",
        note=f"Topic accuracy at ε = {EPSILON:g} without labels, each topic with the "
        "same weight, with "
        + ", ".join(f"{AT[name]} groups for {name}" for name in names)
        + " (fan fiction by groups of other fandoms). Differences to the first row, "
        f"over the same {len(DIVISIONS)} divisions, with standard errors; none of them "
        "is one of the other tables.",
    )
