"""What noisy sums say of public documents: post-processing, which costs no privacy.

Pure functions of what is released or public: the plan of the sums, which is made before
the private documents are read, and what is made of the noisy sums after it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from skdptext.replacement import words_of

# Persons times ε for each class: with fewer than the first, groups alone are summed,
# with at least the second vectors alone, and both in between.
_FEW, _MANY = 60.0, 500.0
# Part of the unit length of a document's features that counts the documents of a class;
# the rest is its vector.
_CONSTANT = 0.5

# -- before: which sums, of what, with which share of ε --------------------------------


@dataclass(frozen=True)
class Plan:
    """Which sums are made; of public numbers only."""

    n_groups: int  # 0: no groups
    groups_epsilon: float  # share of ε for the sums of groups
    vectors_epsilon: float  # share of ε for the sums of vectors; 0: no vectors
    constant: float = _CONSTANT


def make_plan(
    *,
    n_expected: int,
    epsilon: float,
    n_classes: int,
    n_public: int,
    vectors: bool,
    n_groups: int | None,
) -> Plan:
    """The plan for so many persons, about; `n_groups` None is chosen here.

    `vectors` says whether documents have vectors, and δ is above 0.
    """
    per_class = n_expected * epsilon / n_classes
    k = n_groups or auto_groups(n_expected, epsilon, n_public)
    if not vectors or per_class < _FEW:
        return Plan(k, epsilon, 0.0)
    if per_class >= _MANY:
        return Plan(0, 0.0, epsilon)
    return Plan(k, epsilon / 2, epsilon / 2)


def auto_groups(n_expected: int, epsilon: float, n_public: int) -> int:
    """Number of groups: fewer where noise would fill them, or public text is scarce."""
    most = max(2, min(300, n_public // 4))
    return int(min(max(n_expected * epsilon / 10, 8), most))


# -- after: what a noisy table says ----------------------------------------------------


@dataclass(frozen=True)
class NoisyTable:
    """Noisy sums in units of a person, and how noisy they are; None: not summed."""

    groups: np.ndarray | None  # (n_classes, n_groups): persons of a class in a group
    groups_scale: float  # of the Laplace noise of each cell
    vectors: np.ndarray | None  # (n_classes, n_dims): sums of unit vectors
    counts: np.ndarray | None  # (n_classes,): persons of a class
    vectors_sigma: float  # deviation of the noise of each cell
    counts_sigma: float

    @property
    def n_classes(self) -> int:
        table = self.groups if self.vectors is None else self.vectors
        assert table is not None
        return len(table)


def class_shares(table: NoisyTable) -> np.ndarray:
    """Shares of the classes, (n_classes,), none of them 0."""
    if table.counts is not None:
        counts, noise = table.counts, table.counts_sigma
    else:
        assert table.groups is not None
        counts, noise = denoised(table).sum(axis=1), table.groups_scale
    counts = np.maximum(counts, max(1.0, noise))
    return counts / counts.sum()


def denoised(table: NoisyTable) -> np.ndarray:
    """Counts of groups, with 0 in cells that are no larger than noise may be."""
    assert table.groups is not None
    threshold = max(1.0, 0.7 * math.log(table.groups.size) * table.groups_scale)
    return np.where(table.groups >= threshold, table.groups, 0.0)


def log_posterior_of_groups(table: NoisyTable) -> np.ndarray:
    """ln Pr[class | group], (n_groups, n_classes); without its prior where unknown."""
    counts = denoised(table)
    prior = class_shares(table)
    smoothing = max(1.0, table.groups_scale)
    shares = counts + smoothing * prior[:, None]
    return np.log(shares / shares.sum(axis=0)).T


def log_posterior_of_vectors(table: NoisyTable, vectors: np.ndarray) -> np.ndarray:
    """ln Pr[class | vector], (n_documents, n_classes)."""
    assert table.vectors is not None
    assert table.counts is not None
    n_dims = table.vectors.shape[1]
    prior = class_shares(table)
    counts = np.maximum(table.counts, max(1.0, table.counts_sigma))
    overall = table.vectors.sum(axis=0) / counts.sum()
    means = table.vectors / counts[:, None] - overall
    # what the noise alone would make of the squared length of a mean
    noise = n_dims * (table.vectors_sigma / counts) ** 2
    square = (means**2).sum(axis=1)
    kept = np.clip(1 - noise / np.maximum(square, 1e-300), 0.0, 1.0)
    means = overall + means * kept[:, None]
    # directions of unit variance, then unit length: each has the variance 1 / n_dims
    scores = vectors @ means.T - (means**2).sum(axis=1) / 2
    return _normalised(n_dims * scores + np.log(prior))


def log_posterior(
    table: NoisyTable, groups: np.ndarray | None, vectors: np.ndarray | None
) -> np.ndarray:
    """ln Pr[class | features], (n_documents, n_classes), of whatever was summed."""
    parts = []
    if table.groups is not None:
        assert groups is not None
        parts.append(log_posterior_of_groups(table)[groups])
    if table.vectors is not None:
        assert vectors is not None
        parts.append(log_posterior_of_vectors(table, vectors))
    if len(parts) == 1:
        return parts[0]
    return _normalised(parts[0] + parts[1] - np.log(class_shares(table)))


def _normalised(scores: np.ndarray) -> np.ndarray:
    scores = scores - scores.max(axis=1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))


# -- the student: a model of words, trained on public documents that the table labelled

# Words of the public documents, their idf, and the TF-IDF rows of these documents.
WordRows = tuple[tuple[str, ...], np.ndarray, Any]


@dataclass(frozen=True)
class Student:
    """TF-IDF and logistic regression, as plain arrays: all that a file keeps of it."""

    words: tuple[str, ...]
    idf: np.ndarray  # (n_words,)
    weights: np.ndarray  # (n_words, n_classes)
    bias: np.ndarray  # (n_classes,); −inf for classes that were never learned

    def log_proba(self, documents: Sequence[Any]) -> np.ndarray:
        """ln Pr[class | document], (n_documents, n_classes)."""
        rows = _tfidf(_counts(self.words, documents), self.idf)
        return _normalised(np.asarray(rows @ self.weights) + self.bias)


def words_of_public(documents: Sequence[Any]) -> WordRows:
    """Words of public documents, their idf, and the TF-IDF rows of these documents."""
    found = {word for document in documents for word in words_of(document)}
    words = tuple(sorted(found or {""}))
    counts = _counts(words, documents)
    in_documents = np.bincount(counts.indices, minlength=len(words))
    idf = np.log((1 + len(documents)) / (1 + in_documents)) + 1
    return words, idf, _tfidf(counts, idf)


def train_student(
    public: WordRows, log_proba: np.ndarray, shares: np.ndarray
) -> Student:
    """Learn the likeliest classes of public documents, given ln Pr[class | document].

    Where all have the same, it answers with the shares of the classes.
    """
    from sklearn.linear_model import LogisticRegression  # late, as it is slow to load

    words, idf, rows = public
    labels = log_proba.argmax(axis=1)
    present = np.unique(labels)
    if len(present) < 2:
        flat = np.zeros((len(words), len(shares)))
        return Student(words, idf, flat, np.log(shares))
    model = LogisticRegression(C=10.0, max_iter=1000).fit(rows, labels)
    coefficients, intercepts = model.coef_, model.intercept_
    if len(present) == 2:  # one row for both
        coefficients = np.concatenate([-coefficients / 2, coefficients / 2])
        intercepts = np.concatenate([-intercepts / 2, intercepts / 2])
    n_classes = log_proba.shape[1]
    weights = np.zeros((len(words), n_classes))
    bias = np.full(n_classes, -np.inf)
    weights[:, present], bias[present] = coefficients.T, intercepts
    return Student(words, idf, weights, bias)


def _counts(words: Sequence[str], documents: Sequence[Any]) -> sp.csr_array:
    number = {word: i for i, word in enumerate(words)}
    columns, ends = [], [0]
    for document in documents:
        columns += [number[w] for w in words_of(document) if w in number]
        ends.append(len(columns))
    counts = sp.csr_array(
        (np.ones(len(columns)), np.array(columns, dtype=np.int64), np.array(ends)),
        shape=(len(ends) - 1, len(words)),
    )
    counts.sum_duplicates()
    return counts


def _tfidf(counts: sp.csr_array, idf: np.ndarray) -> sp.csr_array:
    rows = counts.copy()
    rows.data = (1 + np.log(rows.data)) * idf[rows.indices]
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    lengths[lengths == 0] = 1
    rows.data /= np.repeat(lengths, np.diff(rows.indptr))
    return rows


# -- the labelled corpus ---------------------------------------------------------------


def draw_corpus(
    log_proba: np.ndarray,
    shares: np.ndarray,
    n_samples: int | None,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of public documents, and of the class of each.

    All of them once, with their likeliest class; or so many, the class of each by the
    shares of the classes, and a document by how well that class fits it.
    """
    if n_samples is None:
        return np.arange(len(log_proba)), log_proba.argmax(axis=1)
    labels = rng.choice(len(shares), size=n_samples, p=shares)
    drawn = np.empty(n_samples, dtype=np.int64)
    for label in np.unique(labels):
        at = np.flatnonzero(labels == label)
        fit = np.exp(log_proba[:, label] - log_proba[:, label].max())
        drawn[at] = rng.choice(len(fit), size=len(at), p=fit / fit.sum())
    return drawn, labels
