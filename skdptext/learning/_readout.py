"""What noisy sums say of public documents: post-processing, which costs no privacy.

Pure functions of what is released or public: the plan of the sums, which is made before
the private documents are read, and what is made of the noisy sums after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from skdptext.documents import words_of

# Persons times ε for each class: with fewer than the first, groups alone are summed,
# with at least the second vectors alone, and both in between. The noise on vectors is
# larger, and in every direction; but they say more of a document than its group does.
_FEW, _MANY = 100.0, 400.0
# So many persons times ε for each class allow one direction more.
_FOR_A_DIRECTION, _FEWEST_DIRECTIONS = 40.0, 5
# Public documents are grouped in so many directions, but no more than there are groups.
# Noise has no part in them: with 60 instead of 10, 16 topics of docstrings were told in
# .67 instead of .61 of cases, and with 30 two kinds of tweets in .72 instead of .69.
_DIRECTIONS_A_CLASS, _GROUPING, _FEWEST_GROUPING = 4, (30, 60), 10
# Part of the unit length of a document's features that counts the documents of a class;
# the rest is its vector.
_CONSTANT = 0.3
# What is expected of a cell before the noise is seen: most have next to nobody, few
# have many.
_SHAPE, _OFFSET = 0.3, 0.25
# Nobody in a cell proves nothing: it counts as so many persons.
_NOBODY = 0.05
# Of two classes, the likelier is more likely than features taken one by one make it.
_SHARPER = 2.0
# Inverse strength of the penalty of the student.
_C = 10.0

# -- before: which sums, of what, with which share of ε --------------------------------


@dataclass(frozen=True)
class Plan:
    """Which sums are made; of public numbers only."""

    n_groups: int  # 0: no groups
    groups_epsilon: float  # share of ε for the sums of groups
    vectors_epsilon: float  # share of ε for the sums of vectors; 0: no vectors
    constant: float = _CONSTANT
    n_components: int = 20  # directions of the default vectors, at most
    grouping: int = 10  # directions in which the default groups are found


def make_plan(
    *,
    n_expected: int,
    epsilon: float,
    n_classes: int,
    n_public: int,
    vectors: bool,
    n_groups: int | None,
    own: Literal["groups", "vectors"] | None = None,
) -> Plan:
    """The plan for so many persons, about; `n_groups` None is chosen here.

    `vectors` says whether documents have vectors, and δ is above 0. `own` is what an
    encoder of the user's gives: it has a part in any plan.
    """
    per_class = n_expected * epsilon / n_classes
    shares = (1.0, 0.0)  # of ε, for groups and for vectors
    if vectors and per_class >= _FEW:
        shares = (0.0, 1.0) if per_class >= _MANY else (0.5, 0.5)
    if vectors and own and not shares[own == "vectors"]:
        shares = (0.5, 0.5)
    of_groups, of_vectors = shares[0] * epsilon, shares[1] * epsilon
    k = n_groups or auto_groups(n_expected, of_groups, n_public)
    directions = int(per_class * shares[1] / _FOR_A_DIRECTION)
    return Plan(
        k if of_groups else 0,
        of_groups,
        of_vectors,
        n_components=max(directions, _FEWEST_DIRECTIONS),
        grouping=min(
            int(np.clip(_DIRECTIONS_A_CLASS * n_classes, *_GROUPING)),
            max(k, _FEWEST_GROUPING),
        ),
    )


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
        counts, noise = denoised(table).sum(axis=1), table.groups_scale
    counts = np.maximum(counts, max(1.0, noise))
    return counts / counts.sum()


def denoised(table: NoisyTable) -> np.ndarray:
    """Expected persons in each cell of the groups, given the noisy ones.

    Beforehand a count c has the density (c + ¼)^(s - 1) exp(-s c / m), nearly a gamma
    distribution of shape s, whose mean m is that of the noisy cells.
    """
    assert table.groups is not None
    noisy, scale = table.groups, table.groups_scale
    mean = max(float(noisy.mean()), _SHAPE)
    top = max(float(noisy.max()), 0.0) + 10 * scale + 10.0
    # points as near to each other, where a count is small, as the noise can tell
    points = np.expm1(np.linspace(0.0, np.log1p(top / _OFFSET), 400)) * _OFFSET
    widths = points + _OFFSET  # of equal steps in the logarithm
    before = (_SHAPE - 1) * np.log(points + _OFFSET) - _SHAPE * points / mean
    before += np.log(widths)
    expected = np.empty(noisy.shape)
    for row, values in zip(expected, noisy, strict=True):
        log = before - np.abs(values[:, None] - points) / scale
        weights = np.exp(log - log.max(axis=1, keepdims=True))
        row[:] = weights @ points / weights.sum(axis=1)
    return expected


def likelihood_of_groups(table: NoisyTable) -> np.ndarray:
    """ln Pr[group | class], (n_groups, n_classes), up to a constant of each group."""
    counts = np.maximum(denoised(table), _NOBODY)
    persons = np.maximum(counts.sum(axis=1), 1.0)
    return _normalised(np.log(counts / persons[:, None]).T)


def likelihood_of_vectors(table: NoisyTable, vectors: np.ndarray) -> np.ndarray:
    """ln p(vector | class), (n_documents, n_classes), up to a constant of each row.

    Classes are normal distributions of the variance of the public documents. Their
    means are moved towards that of all, by what noise alone would make of them.
    """
    assert table.vectors is not None
    assert table.counts is not None
    n_dims = table.vectors.shape[1]
    counts = np.maximum(table.counts, max(1.0, table.counts_sigma))
    overall = table.vectors.sum(axis=0) / counts.sum()
    means = table.vectors / counts[:, None] - overall
    # what the noise alone would make of the squared length of a mean
    noise = n_dims * (table.vectors_sigma / counts) ** 2
    square = (means**2).sum(axis=1)
    kept = np.clip(1 - noise / np.maximum(square, 1e-300), 0.0, 1.0)
    means = overall + means * kept[:, None]
    # directions of unit variance, then unit length: each has the variance 1 / n_dims
    return _normalised(n_dims * (vectors @ means.T - (means**2).sum(axis=1) / 2))


def likelihood(
    table: NoisyTable, groups: np.ndarray | None, vectors: np.ndarray | None
) -> np.ndarray:
    """ln Pr[features | class], (n_documents, n_classes), of whatever was summed.

    Up to a constant of each document: what is said of its class before the shares of
    the classes are. Groups and vectors count as independent.
    """
    parts = []
    if table.groups is not None:
        assert groups is not None
        parts.append(likelihood_of_groups(table)[groups])
    if table.vectors is not None:
        assert vectors is not None
        parts.append(likelihood_of_vectors(table, vectors))
    return _normalised(np.sum(parts, axis=0))


def targets(likelihoods: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Weights of public documents for each class, (n_documents, n_classes).

    Posteriors by the shares of the classes, so that a document of a rare class needs
    better reasons; then each class has the same weight in all. They are sharper than
    the likelihoods, which are those of noisy sums of few features.
    """
    posterior = np.exp(_normalised(_SHARPER * likelihoods + np.log(shares)))
    n, k = posterior.shape
    return posterior * (n / k / np.maximum(posterior.sum(axis=0), 1e-3 * n / k))


def _normalised(scores: np.ndarray) -> np.ndarray:
    scores = scores - scores.max(axis=1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))


# -- the student: a model of words, trained on public documents that the table labelled

# Words of the public documents, their idf, and the TF-IDF rows of these documents.
WordRows = tuple[tuple[str, ...], np.ndarray, Any]


@dataclass(frozen=True)
class Student:
    """TF-IDF and logistic regression, as plain arrays."""

    words: tuple[str, ...]
    idf: np.ndarray  # (n_words,)
    weights: np.ndarray  # (n_words, n_classes)
    bias: np.ndarray  # (n_classes,)

    def log_proba(self, documents: Sequence[Any]) -> np.ndarray:
        """ln Pr[class | document], (n_documents, n_classes)."""
        return self.log_proba_of_rows(_tfidf(_counts(self.words, documents), self.idf))

    def log_proba_of_rows(self, rows: Any) -> np.ndarray:
        """The same of documents whose TF-IDF rows are known."""
        return _normalised(np.asarray(rows @ self.weights) + self.bias)


def words_of_public(documents: Sequence[Any]) -> WordRows:
    """Words of public documents, their idf, and the TF-IDF rows of these documents."""
    found = {word for document in documents for word in words_of(document)}
    words = tuple(sorted(found or {""}))
    counts = _counts(words, documents)
    in_documents = np.bincount(counts.indices, minlength=len(words))
    idf = np.log((1 + len(documents)) / (1 + in_documents)) + 1
    return words, idf, _tfidf(counts, idf)


def train_student(public: WordRows, weights: np.ndarray) -> Student:
    """Logistic regression with weights of each document for each class.

    Documents may be of several classes in part: that keeps what the sums say of how
    sure they are, where labels would lose it.
    """
    from scipy.optimize import minimize  # late, as it is slow to load

    words, idf, rows = public
    n_words, k = len(words), weights.shape[1]
    of_documents = weights.sum(axis=1)
    across = sp.csr_array(rows.T)

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        coefficients, bias = flat[:-k].reshape(n_words, k), flat[-k:]
        log = _normalised(rows @ coefficients + bias)
        wrong = np.exp(log) * of_documents[:, None] - weights
        slope = across @ wrong + coefficients / _C
        value = (coefficients**2).sum() / 2 / _C - (weights * log).sum()
        return float(value), np.concatenate([slope.ravel(), wrong.sum(axis=0)])

    found = minimize(
        loss, np.zeros((n_words + 1) * k), jac=True, method="L-BFGS-B",
        options={"maxiter": 200},
    ).x  # fmt: skip
    return Student(words, idf, found[:-k].reshape(n_words, k), found[-k:])


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
    """Numbers of public documents, and of the class of each, by the student's answers.

    All of them once, with their likeliest class; or so many, the class of each by the
    shares of the classes, and a document by how well that class fits it.
    """
    if n_samples is None:
        return np.arange(len(log_proba)), log_proba.argmax(axis=1)
    labels = rng.choice(len(shares), size=n_samples, p=shares)
    posterior = np.exp(_normalised(_SHARPER * log_proba + np.log(shares)))
    posterior = np.maximum(posterior, 1e-300)
    drawn = np.empty(n_samples, dtype=np.int64)
    for label in np.unique(labels):
        at, fit = np.flatnonzero(labels == label), posterior[:, label]
        drawn[at] = rng.choice(len(fit), size=len(at), p=fit / fit.sum())
    return drawn, labels
