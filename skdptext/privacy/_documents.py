"""Words and documents as vectors, and the distances between two documents."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import MahalanobisMechanism
from skdptext.transport import transport_cost
from skdptext.transport._bottleneck import bottleneck_distance
from skdptext.utils import check_bags, shown_words

__all__ = ["input_distance"]


def input_distance(
    embedding: WordEmbedding,
    metric: MahalanobisMechanism,
    x: Any,
    y: Any,
    *,
    n_words: int | None,
    resampled: bool,
    ordered: bool,
) -> float:
    """What ε is multiplied with to give the exponent between two inputs.

    Parameters
    ----------
    embedding : WordEmbedding
    metric : MahalanobisMechanism
        Its `whiten` gives points whose Euclidean distance is that of the metric.
    x, y : str, list of str, or row of counts
    n_words, resampled, ordered
        As in `PrivacyGuarantee`.

    Returns
    -------
    distance : float
        d of two words; Σ d(w_i, w'_i) of ordered texts; N E of bags; N W_∞ of
        documents that are redrawn; infinite for different sizes.
    """
    if isinstance(x, str) and isinstance(y, str):
        one, two = metric.whiten(_word_vectors(embedding, [x, y]))
        return float(np.linalg.norm(one - two))
    first, second = _document_vectors(embedding, x), _document_vectors(embedding, y)
    if not resampled and n_words is not None:
        first, second = _cut(first, n_words), _cut(second, n_words)
    if not len(first) and not len(second):
        return 0.0
    if resampled and n_words is not None:
        # A document without words is redrawn from the whole vocabulary.
        first = first if len(first) else embedding.vectors
        second = second if len(second) else embedding.vectors
    elif len(first) != len(second):
        return math.inf
    vectors, one, two = _numbered(first, second)
    points = metric.whiten(vectors)
    if resampled and n_words is not None:
        return n_words * _bottleneck(points, one, two)
    if ordered:
        return float(np.linalg.norm(points[one] - points[two], axis=1).sum())
    return len(one) * _earth_movers(points, one, two)


def _word_vectors(embedding: WordEmbedding, words: list[str]) -> np.ndarray:
    """Vectors of words; those of unknown ones are made from subwords, if any."""
    ids = embedding.find(words)
    vectors = embedding.vectors[ids]
    unknown = []
    for i in np.flatnonzero(ids < 0):
        vector = embedding.infer(words[i])
        if vector is None:
            unknown.append(words[i])
        else:
            vectors[i] = vector
    if unknown:
        text = any(len(word.split()) > 1 for word in unknown)
        raise InvalidParameterError(
            "words must be known to the embedding (a str is one word, a document "
            f"a list of them), got {shown_words(unknown)}."
            + (" Split the text into words." if text else "")
        )
    return vectors


def _document_vectors(embedding: WordEmbedding, document: Any) -> np.ndarray:
    """Vectors of the words of a token list or of a row of counts."""
    if isinstance(document, str) or not (
        sp.issparse(document) or isinstance(document, Iterable)
    ):
        raise InvalidParameterError(
            "x and y must be two words, two lists of words or two rows of counts, "
            f"got {document!r:.80}."
        )
    if not sp.issparse(document):
        document = list(document)
        if all(isinstance(word, str) for word in document):
            return _word_vectors(embedding, document)
    row = check_bags(document, n_words=len(embedding), counts=True, name="a document")
    if row.shape[0] != 1:
        raise InvalidParameterError(
            f"a document must be a single row of counts, got {row.shape[0]} rows."
        )
    ids = np.repeat(row.indices, row.data.astype(np.int64))
    return embedding.vectors[ids]


def _cut(vectors: np.ndarray, n_words: int) -> np.ndarray:
    """The first words, as truncation takes them."""
    if len(vectors) < n_words:
        raise InvalidParameterError(
            f"a document must have at least n_words={n_words} words, got "
            f"{len(vectors)}."
        )
    return vectors[:n_words]


def _numbered(
    first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct vectors of two documents, and the number of each word's.

    A word of both has one vector, so that its distance to itself is exactly 0.
    """
    both = np.concatenate([first, second])
    vectors, numbers = np.unique(both, axis=0, return_inverse=True)
    numbers = numbers.ravel()
    return vectors, numbers[: len(first)], numbers[len(first) :]


def _earth_movers(points: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Earth Mover's Distance of two bags of numbered points, each of mass 1."""
    words, n_words = np.unique(first, return_counts=True)
    others, n_others = np.unique(second, return_counts=True)
    masses = n_words / len(first), n_others / len(second)
    return transport_cost(*masses, cdist(points[words], points[others]))


def _bottleneck(points: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Smallest step length with which one distribution can be moved to the other."""
    words, n_words = np.unique(first, return_counts=True)
    others, n_others = np.unique(second, return_counts=True)
    # Over the common denominator the frequencies are whole numbers.
    supply, demand = n_words * len(second), n_others * len(first)
    if np.array_equal(words, others) and np.array_equal(supply, demand):
        return 0.0
    return bottleneck_distance(supply, demand, cdist(points[words], points[others]))
