"""Measure how unevenly the words of an embedding, or of a corpus, lie in space."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skdptext.documents import DocumentReader
from skdptext.embeddings import WordEmbedding, k_nearest_words
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer, check_kind


@dataclass(frozen=True, eq=False)
class DensityStatistics:
    """The result of `density_statistics`.

    Attributes
    ----------
    words : ndarray of str objects, shape (n_words,)
        The vocabulary: all words of the embedding, or those that occur in the corpus.
    distances : ndarray of shape (n_words,)
        Euclidean distance of each word to its nearest neighbor.
    sparsest, densest : ndarray of str objects, shape (n_extreme,)
        Words with the largest distances, and with the smallest.
    max_over_min : float
        Ratio of the extreme distances; inf if two words have the same vector.
    sparse_over_dense : float
        Mean distance of the sparsest words over that of the densest words.
    n_records : int or None
        Number of documents. This and all following attributes are None without a
        corpus.
    mean_record_size, std_record_size : float or None
        Known words per document.
    records_with_sparse : float or None
        Share of the documents that contain at least one of the sparsest words.
    records_per_sparse : float or None
        Share of the documents that contain a given sparsest word, averaged over these
        words: p̄ of the paper.
    """

    words: np.ndarray = field(repr=False)
    distances: np.ndarray = field(repr=False)
    sparsest: np.ndarray = field(repr=False)
    densest: np.ndarray = field(repr=False)
    max_over_min: float
    sparse_over_dense: float
    n_records: int | None = None
    mean_record_size: float | None = None
    std_record_size: float | None = None
    records_with_sparse: float | None = None
    records_per_sparse: float | None = None


def density_statistics(
    embedding: WordEmbedding, X: Any = None, *, n_extreme: int = 50
) -> DensityStatistics:
    """Compare the sparse regions of a vocabulary with its dense regions.

    These are the statistics of table 5 of [1]_. A word far from all others is hard to
    hide: spherical noise rarely carries it to another word.

    Parameters
    ----------
    embedding : WordEmbedding
        Public words and their vectors.
    X : iterable of str, of lists of str, or count matrix, default=None
        Documents. If given, the vocabulary is their known words, and the shares of
        documents with sparse words are also computed. Strings are split as
        `DPWordPerturber` splits them by default.
    n_extreme : int, default=50
        Number of sparsest and of densest words; all, if there are fewer.

    Returns
    -------
    statistics : DensityStatistics
        The statistics.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule, or there are fewer than two words.

    Notes
    -----
    *Privacy.* With `X` the result depends on the documents: it may be published only
    if they may.

    *Cost.* A matrix product of the vocabulary with itself, in blocks that stay within
    ``working_memory``.

    References
    ----------
    .. [1] Xu, Aggarwal, Feyisetan, Teissier (2020), appendix A.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.metrics import density_statistics
    >>> embedding = WordEmbedding(["a", "b", "far"], [[0.0], [1.0], [5.0]])
    >>> density = density_statistics(embedding, [["a", "b"], ["far"]], n_extreme=1)
    >>> density.max_over_min, density.sparsest.tolist(), density.records_with_sparse
    (4.0, ['far'], 0.5)
    """
    check_kind(embedding, WordEmbedding, "embedding must be a WordEmbedding")
    n_extreme = check_integer("n_extreme", n_extreme, low=1)
    ids = np.arange(len(embedding))
    if X is not None:
        bags = DocumentReader(embedding).read(X).bags(len(embedding))
        ids = np.unique(bags.indices)
    if len(ids) < 2:
        where = "embedding" if X is None else "X"
        raise InvalidParameterError(
            f"{where} must have at least 2 words of the embedding, got {len(ids)}."
        )
    vectors = embedding.vectors[ids]
    _, distances = k_nearest_words(vectors, vectors, 1, exclude=np.arange(len(ids)))
    distances = distances.ravel()
    order = np.argsort(distances, kind="stable")
    dense, sparse = order[:n_extreme], order[::-1][:n_extreme]
    names = embedding.word_array[ids]
    corpus: dict[str, Any] = {}
    if X is not None:
        holds = bags[:, ids[sparse]]
        # Only whether a document contains the word counts, not how often.
        holds.data[:] = 1
        sizes = np.asarray(bags.sum(axis=1)).ravel()
        corpus = {
            "n_records": bags.shape[0],
            "mean_record_size": float(sizes.mean()),
            "std_record_size": float(sizes.std()),
            "records_with_sparse": float(np.mean(np.diff(holds.indptr) > 0)),
            "records_per_sparse": float(holds.nnz / np.prod(holds.shape)),
        }
    return DensityStatistics(
        words=names,
        distances=distances,
        sparsest=names[sparse],
        densest=names[dense],
        max_over_min=_ratio(distances.max(), distances.min()),
        sparse_over_dense=_ratio(distances[sparse].mean(), distances[dense].mean()),
        **corpus,
    )


def _ratio(over: np.floating, under: np.floating) -> float:
    # The ratio is inf for equal vectors of some words, and NaN if all are equal.
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(over / under)
