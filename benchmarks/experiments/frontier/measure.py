"""What a release keeps of the topic, and what it shows of document and author.

Every adversary knows the mechanism. Topics count alike, whatever their sizes. Releases
by groups are measured without drawing noise: all that a group may become is weighed by
its probability. Values are per protected document, so that intervals can be over
documents and divisions.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from experiments.frontier import corpora
from experiments.frontier.corpora import Split
from experiments.texts import vectors
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import NMF, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer

from skdptext import DPDocumentReplacer, DPWordPerturber, WordEmbedding
from skdptext.documents import DocumentReader
from skdptext.mechanisms import Exponential
from skdptext.metrics import ReleaseLikelihood
from skdptext.naive_bayes import ChannelNaiveBayes
from skdptext.preprocessing import TopicEncoder

CANDIDATES = 100
SETS = 40  # sets of candidates in a division
NAMES = "NMF of names"


class MeanVectors(TransformerMixin, BaseEstimator):
    """The mean of the public vectors of a text's words, centred, of unit length."""

    def __init__(self, embedding: WordEmbedding) -> None:
        self.embedding = embedding

    def _vectors(self, bags: Any) -> np.ndarray:
        return self.embedding.vectors.astype(np.float64)

    def _means(self, X: Any) -> np.ndarray:
        bags = DocumentReader(self.embedding).read(list(X)).bags(len(self.embedding))
        totals = np.maximum(np.asarray(bags.sum(axis=1)).reshape(-1, 1), 1)
        return np.asarray(bags @ self._vectors(bags)) / totals

    def fit(self, X: Any, y: Any = None) -> MeanVectors:
        self.centre_ = self._means(X).mean(axis=0)
        return self

    def transform(self, X: Any) -> np.ndarray:
        return Normalizer().fit_transform(self._means(X) - self.centre_)


class Weighed(TopicEncoder):
    """Directions weighed by their squared correlation, so that late ones count less.

    As after one more step of the random walk between documents and words.
    """

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        return self._weighed(super().fit_transform(X))

    def transform(self, X: Any) -> np.ndarray:
        return self._weighed(super().transform(X))

    def _weighed(self, rows: np.ndarray) -> np.ndarray:
        return Normalizer().fit_transform(rows * self.singular_values_**2)


def names(text: str) -> str:
    """Words with a capital in the middle of a sentence: of stories, names."""
    return " ".join(re.findall(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b", text))


def names_encoder(**options: Any) -> Pipeline:
    """Which names are together in a story: other worlds have some of the same."""
    counts = TfidfVectorizer(preprocessor=names, sublinear_tf=True, min_df=3, **options)
    return make_pipeline(counts, NMF(20, max_iter=300, random_state=0), Normalizer())


def rarer_encoder() -> Pipeline:
    """Without frequent words, which tell writers."""
    counts = CountVectorizer(stop_words="english", min_df=3, max_df=0.2)
    return make_pipeline(counts, TopicEncoder(20))


def encoders(name: str) -> dict[str, Any]:
    """Public encoders: none has seen a protected document."""

    means = MeanVectors(vectors(name))
    lsa = make_pipeline(
        TfidfVectorizer(sublinear_tf=True, min_df=3),
        TruncatedSVD(20, random_state=0),
        Normalizer(),
    )
    every = {
        "correspondence analysis 10": TopicEncoder(10),
        "correspondence analysis 30": TopicEncoder(30),
        "correspondence analysis 30, weighed": Weighed(30),
        "TF-IDF, SVD 20": lsa,
        "mean vectors": means,
        "mean GloVe vectors": MeanVectors(corpora.glove()),
        "correspondence analysis and mean vectors": FeatureUnion(
            [("topics", TopicEncoder(10)), ("means", means)]
        ),
    }
    if name == "fan fiction":
        # elsewhere they keep less, see tried.py
        rarer = TfidfVectorizer(
            stop_words="english", sublinear_tf=True, min_df=3, max_df=0.2
        )
        every["NMF of TF-IDF"] = make_pipeline(
            rarer, NMF(12, max_iter=300, random_state=0), Normalizer()
        )
        every["correspondence analysis 20, no frequent words"] = rarer_encoder()
        every[NAMES] = names_encoder()
    return every


def classifiers(name: str) -> dict[str, Any]:
    """For which all labels are equally likely, whatever their frequencies."""
    words = TfidfVectorizer(sublinear_tf=True)
    both = FeatureUnion([("words", words), ("means", MeanVectors(corpora.glove()))])
    options = {"class_weight": "balanced", "max_iter": 300}
    return {
        "words": labels_grouper(),
        "words and mean vectors": make_pipeline(
            both, LogisticRegression(C=3.0, **options)
        ),
        "naive Bayes": make_pipeline(CountVectorizer(), MultinomialNB(fit_prior=False)),
    }


def labels_grouper() -> Pipeline:
    return make_pipeline(
        TfidfVectorizer(sublinear_tf=True, min_df=2),
        LogisticRegression(C=10.0, class_weight="balanced", max_iter=300),
    )


def chosen(
    split: Split, candidates: dict[str, Any], linked: float, **options: Any
) -> Any:
    """What `compare_groupings` chooses on public text and its labels."""
    # It is gone from the package, and this benchmark goes, too.
    from skdptext.replacement import compare_groupings  # type: ignore[attr-defined]

    texts, labels = split.public, split.public_topic
    if split.elsewhere:
        texts, labels = split.elsewhere, np.asarray(split.elsewhere_topic)
    return compare_groupings(texts, labels, candidates, **options).best(linked)


# -- replaced documents --------------------------------------------------------------


def grouped(
    split: Split, grouper: Any, *, by_labels: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Groups of public, protected and known documents, by a clusterer or classifier."""
    public, options = split.elsewhere or split.public, {}
    if by_labels:
        public, options = split.public, {"public_labels": split.public_topic}
    with warnings.catch_warnings(action="ignore"):
        replacer = DPDocumentReplacer(public, grouper, **options).fit()
        number = {label: i for i, label in enumerate(replacer.groups_.tolist())}
        groups = [
            np.array([number[g] for g in replacer.groups_of(texts).tolist()], int)
            if texts
            else np.empty(0, int)
            for texts in (split.public, split.protected, split.known)
        ]
    if by_labels:
        # the classifier knows the labels it learned: groups of texts it did not see
        names = cross_val_predict(grouper, split.public, split.public_topic, cv=4)
        groups[0] = np.array([number[name] for name in names.tolist()])
    return groups[0], groups[1], groups[2]


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

    def right(best: np.ndarray, truth: np.ndarray, rows: Any = slice(None)) -> Any:
        return (P[protected[rows]] * (best[None] == truth[rows, None])).sum(axis=1)

    topics = np.unique(split.topic)
    shares = likely(public, split.public_topic, topics)
    often = shares * frequencies(split)
    result = {
        "topic": right(topics[shares.argmax(axis=0)], split.topic),
        "documents": right(topics[often.argmax(axis=0)], split.topic),
        # of each answer, the likeliest candidate
        "found": np.array(
            [
                P[protected[rows]].max(axis=0).sum() / len(rows)
                for rows in candidate_sets(split, rng)
            ]
        ),
    }
    if split.author is not None:
        result["author"] = np.zeros(len(protected))
        for name in topics:  # the adversary knows the topic
            here = np.flatnonzero(split.topic == name)
            authors = np.unique(split.author[here])
            best = likely(known, split.known_author, authors).argmax(axis=0)
            result["author"][here] = right(authors[best], split.author, here)
    return result


def frequencies(split: Split) -> np.ndarray:
    """Of the topics, among public documents, as a column."""
    topics = np.unique(split.topic)
    return np.array([[np.mean(split.public_topic == name)] for name in topics])


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
    name: str, split: Split, epsilon: float, rng: np.random.Generator
) -> dict[str, Any]:
    """The same for bags of words under noise, drawn once."""
    embedding, length = corpora.vocabulary(name, split), corpora.LENGTHS[name]
    perturber = DPWordPerturber(
        embedding, epsilon=epsilon, lam=0.0, mechanism=Exponential(),
        document_length=length, resize="sample",
        random_state=np.random.default_rng(rng.integers(2**62)),
    ).fit([])  # fmt: skip
    released = perturber.transform(split.protected)
    model = ChannelNaiveBayes(perturber, alpha=100.0, prior="uniform")
    model.fit(split.public, split.public_topic)
    result = said(split, model.classes_, model.predict_log_proba(released))
    hits = []
    for rows in candidate_sets(split, rng)[:3]:
        texts = [split.protected[i] for i in rows]
        logs = ReleaseLikelihood(perturber, texts)(released[rows])
        best = logs == logs.max(axis=1, keepdims=True)  # a guess among equals
        hits.append((np.diag(best) / best.sum(axis=1)).mean())
    result["found"] = np.array(hits)
    if split.author is not None:
        result["author"] = author_right(split, model, lambda rows: released[rows])
    return result


def author_right(
    split: Split, model: Any, release: Callable[[np.ndarray], Any]
) -> np.ndarray:
    """Whether a model names the author of what is released of rows, the topic known."""
    right = np.zeros(len(split.protected))
    for topic in np.unique(split.topic):
        here = np.flatnonzero(split.topic == topic)
        own = np.isin(split.known_author, np.unique(split.author[here]))
        known = [split.known[i] for i in np.flatnonzero(own)]
        model.fit(known, split.known_author[own])
        right[here] = model.predict(release(here)) == split.author[here]
    return right


def said(split: Split, classes: np.ndarray, logs: np.ndarray) -> dict[str, Any]:
    """Whether the topic is right, with topics equally likely and by frequency."""
    there = np.isin(classes, np.unique(split.topic))
    classes, logs = classes[there], logs[:, there]
    by_frequency = logs + np.log(frequencies(split)).T
    return {
        what: (classes[part.argmax(axis=1)] == split.topic).astype(float)
        for what, part in (("topic", logs), ("documents", by_frequency))
    }


def clear(split: Split, classifier: Any) -> dict[str, Any]:
    """Nothing is changed: every document is found."""
    model = classifier.fit(split.public, split.public_topic)
    logs = np.log(model.predict_proba(split.protected) + 1e-300)
    result = said(split, model.classes_, logs) | {"found": np.ones(1)}
    if split.author is not None:
        result["author"] = author_right(
            split, labels_grouper(), lambda rows: [split.protected[i] for i in rows]
        )
    return result


def by_topic(values: np.ndarray, topic: np.ndarray) -> float:
    """Mean over documents of each topic, then over topics."""
    return float(np.mean([values[topic == name].mean() for name in np.unique(topic)]))


def bootstrapped(
    values: np.ndarray, label: np.ndarray, split: Split, n_draws: int
) -> list[float]:
    """Means over labels in draws of writers, and of so many stories of each.

    Pieces of a story are one trial, and stories of a writer are alike. Without stories,
    each document is one.
    """
    rng = np.random.default_rng(0)
    single = np.arange(len(values))
    story = single if split.story is None else split.story
    units = np.unique(story, return_inverse=True)[1]
    labels = np.unique(label, return_inverse=True)[1]
    writer_of = np.zeros(units.max() + 1, dtype=int)
    writers = single if split.story is None else split.author
    writer_of[units] = np.unique(writers, return_inverse=True)[1]
    stories = np.argsort(writer_of, kind="stable")  # a writer's are neighbours
    sizes = np.bincount(writer_of)
    starts = np.cumsum(sizes) - sizes
    means = []
    for _ in range(n_draws):
        drawn = rng.integers(0, len(sizes), len(sizes))
        owner = np.repeat(drawn, sizes[drawn])
        picks = stories[starts[owner] + rng.integers(0, sizes[owner])]
        weights = np.bincount(picks, minlength=len(writer_of))[units].astype(float)
        totals = np.bincount(labels, weights)
        sums = np.bincount(labels, weights * values)
        means.append(float(np.mean(sums[totals > 0] / totals[totals > 0])))
    return means
