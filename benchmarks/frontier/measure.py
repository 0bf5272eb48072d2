"""What a release keeps of the topic, and what it shows of document and author.

Every adversary knows the mechanism. Topics count alike, whatever their sizes. Releases
by groups are measured without drawing noise: all that a group may become is weighed by
its probability. Values are per protected document, so that intervals can be over
documents and divisions.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer

import corpora  # isort: skip
from skdptext import DPDocumentReplacer, DPWordPerturber, WordEmbedding
from skdptext.documents import DocumentReader
from skdptext.mechanisms import Exponential, TopicResponse
from skdptext.metrics import ReleaseLikelihood
from skdptext.naive_bayes import ChannelNaiveBayes
from skdptext.preprocessing import TopicEncoder

CANDIDATES = 100
SETS = 40  # sets of candidates in a division
Split = corpora.Split


class MeanVectors(TransformerMixin, BaseEstimator):
    """The mean of the public vectors of a text's words, centred, of unit length."""

    def __init__(self, embedding: WordEmbedding) -> None:
        self.embedding = embedding

    def _means(self, X: Any) -> np.ndarray:
        bags = DocumentReader(self.embedding).read(list(X)).bags(len(self.embedding))
        totals = np.maximum(np.asarray(bags.sum(axis=1)).reshape(-1, 1), 1)
        return np.asarray(bags @ self.embedding.vectors.astype(np.float64)) / totals

    def fit(self, X: Any, y: Any = None) -> MeanVectors:
        self.centre_ = self._means(X).mean(axis=0)
        return self

    def transform(self, X: Any) -> np.ndarray:
        return Normalizer().fit_transform(self._means(X) - self.centre_)


def encoders(name: str) -> dict[str, Any]:
    """Public encoders: none has seen a protected document."""

    means = MeanVectors(corpora.vectors(name))
    lsa = make_pipeline(
        TfidfVectorizer(sublinear_tf=True, min_df=3),
        TruncatedSVD(20, random_state=0),
        Normalizer(),
    )
    return {
        "correspondence analysis 10": TopicEncoder(10),
        "correspondence analysis 30": TopicEncoder(30),
        "TF-IDF, SVD 20": lsa,
        "mean vectors": means,
        "correspondence analysis and mean vectors": FeatureUnion(
            [("topics", TopicEncoder(10)), ("means", means)]
        ),
    }


def labels_grouper() -> Pipeline:
    return make_pipeline(
        TfidfVectorizer(sublinear_tf=True, min_df=2),
        LogisticRegression(C=10.0, class_weight="balanced", max_iter=300),
    )


# -- replaced documents --------------------------------------------------------------


def grouped(
    split: Split, encoder: Any, n_groups: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Groups of public, protected and known documents; `encoder` None: by labels."""
    if encoder is None:
        public, options = split.public, {"public_labels": split.public_topic}
        grouper = labels_grouper()
    else:
        public, options = split.elsewhere or split.public, {}
        grouper = make_pipeline(encoder, KMeans(n_groups, n_init=10, random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        replacer = DPDocumentReplacer(public, grouper, **options).fit()
        number = {label: i for i, label in enumerate(replacer.groups_.tolist())}
        found = [
            np.array([number[g] for g in replacer.groups_of(texts).tolist()], int)
            if texts
            else np.empty(0, int)
            for texts in (split.public, split.protected, split.known)
        ]
    if encoder is None:
        # the classifier knows the labels it learned: groups of texts it did not see
        found[0] = _unseen_groups(split, number)
    return found[0], found[1], found[2]


def _unseen_groups(split: Split, number: dict[Any, int]) -> np.ndarray:
    from sklearn.model_selection import cross_val_predict

    names = cross_val_predict(labels_grouper(), split.public, split.public_topic, cv=4)
    return np.array([number[name] for name in names.tolist()])


def response(n_groups: int, epsilon: float) -> np.ndarray:
    """Pr[z | g] of randomized response over the groups."""
    P = np.ones((n_groups, n_groups)) + np.eye(n_groups) * np.expm1(epsilon)
    return P / P.sum(axis=1, keepdims=True)


def replaced(
    split: Split,
    groups: tuple[np.ndarray, np.ndarray, np.ndarray],
    n_groups: int,
    epsilon: float,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Per document: whether the topic, the document and its author are found."""
    public, protected, known = groups
    P = response(n_groups, epsilon)

    def likely(of: np.ndarray, label: np.ndarray, names: np.ndarray) -> np.ndarray:
        """Pr[z | label], with one more document in each group."""
        rows = [np.bincount(of[label == name], minlength=n_groups) for name in names]
        shares = np.array(rows) + 1 / n_groups
        return shares / shares.sum(axis=1, keepdims=True) @ P

    topics = np.unique(split.topic)
    best = topics[likely(public, split.public_topic, topics).argmax(axis=0)]
    topic = (P[protected] * (best[None] == split.topic[:, None])).sum(axis=1)
    found = np.empty(SETS)
    for i, rows in enumerate(candidate_sets(split, rng)):
        # of each answer, the likeliest candidate
        found[i] = P[protected[rows]].max(axis=0).sum() / len(rows)
    result = {"topic": topic, "found": found}
    if split.author is not None:
        right = np.zeros(len(protected))
        for name in topics:  # the adversary knows the topic
            here = np.flatnonzero(split.topic == name)
            authors = np.unique(split.author[here])
            told = likely(known, split.known_author, authors)
            right[here] = _found_author(
                P[protected[here]], told, authors, split.author[here]
            )
        result["author"] = right
    return result


def _found_author(
    chances: np.ndarray, told: np.ndarray, authors: np.ndarray, truth: np.ndarray
) -> np.ndarray:
    best = authors[told.argmax(axis=0)]
    return (chances * (best[None] == truth[:, None])).sum(axis=1)


def candidate_sets(split: Split, rng: np.random.Generator) -> list[np.ndarray]:
    """Sets of protected documents, with as many of each topic as there can be."""
    _, numbers = np.unique(split.topic, return_inverse=True)
    weights = 1 / np.bincount(numbers)[numbers]
    n = min(CANDIDATES, len(numbers))
    return [
        rng.choice(len(numbers), n, replace=False, p=weights / weights.sum())
        for _ in range(SETS)
    ]


# -- words ---------------------------------------------------------------------------


def by_words(
    name: str, split: Split, epsilon: float, kind: str, rng: np.random.Generator
) -> dict[str, Any]:
    """The same for bags of words under noise, drawn once."""
    embedding, length = corpora.vocabulary(name, split), corpora.LENGTHS[name]
    mechanism: Any = Exponential()
    if kind == "topics":
        mechanism = TopicResponse.from_documents(
            split.public, split.public_topic, embedding=embedding
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        perturber = DPWordPerturber(
            embedding, epsilon=epsilon, lam=0.0, mechanism=mechanism,
            document_length=length, resize="sample",
            random_state=np.random.default_rng(rng.integers(2**62)),
        ).fit([])  # fmt: skip
        released = perturber.transform(split.protected)
        model = ChannelNaiveBayes(perturber, alpha=100.0, prior="uniform")
        said = model.fit(split.public, split.public_topic).predict(released)
        result = {"topic": (said == split.topic).astype(float)}
        hits = []
        for rows in candidate_sets(split, rng)[:3]:
            texts = [split.protected[i] for i in rows]
            logs = ReleaseLikelihood(perturber, texts)(released[rows])
            best = logs == logs.max(axis=1, keepdims=True)  # a guess among equals
            hits.append((np.diag(best) / best.sum(axis=1)).mean())
        result["found"] = np.array(hits)
        if split.author is not None:
            right = np.zeros(len(split.protected))
            for topic in np.unique(split.topic):
                here = np.flatnonzero(split.topic == topic)
                some = np.isin(split.known_author, np.unique(split.author[here]))
                model = ChannelNaiveBayes(perturber, alpha=100.0, prior="uniform")
                model.fit(
                    [split.known[i] for i in np.flatnonzero(some)],
                    split.known_author[some],
                )
                right[here] = model.predict(released[here]) == split.author[here]
            result["author"] = right
    return result


def clear(split: Split) -> dict[str, Any]:
    """Nothing is changed: every document is found."""
    said = labels_grouper().fit(split.public, split.public_topic)
    said = said.predict(split.protected)
    result = {"topic": (said == split.topic).astype(float), "found": np.ones(1)}
    if split.author is not None:
        right = np.zeros(len(split.protected))
        for topic in np.unique(split.topic):
            here = np.flatnonzero(split.topic == topic)
            some = np.isin(split.known_author, np.unique(split.author[here]))
            model = labels_grouper().fit(
                [split.known[i] for i in np.flatnonzero(some)], split.known_author[some]
            )
            told = model.predict([split.protected[i] for i in here])
            right[here] = told == split.author[here]
        result["author"] = right
    return result


def by_topic(values: np.ndarray, topic: np.ndarray) -> float:
    """Mean over documents of each topic, then over topics."""
    return float(np.mean([values[topic == name].mean() for name in np.unique(topic)]))
