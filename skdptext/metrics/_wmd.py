"""Word Mover's Distance between documents, solved exactly."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed

from skdptext.embeddings import WordEmbedding, check_columns, check_embedding
from skdptext.exceptions import InvalidParameterError
from skdptext.neighbors import as_bags, bag_of, one_hot_distances, word_movers
from skdptext.utils import check_jobs, limit_blas_threads, name_rows, read_bags


def word_movers_distance(x: Any, y: Any, embedding: WordEmbedding | str) -> float:
    """Compute the least total distance that words of `x` travel to become those of `y`.

    Parameters
    ----------
    x, y : array-like of shape (n_words,), row of a sparse matrix, or list of str
        Documents. Weights must be non-negative; each document is scaled to mass 1.
        Tokens that the embedding does not know are dropped.
    embedding : WordEmbedding or "one-hot"
        ``"one-hot"``, for weights only, puts every word at distance √2 from every
        other.

    Returns
    -------
    distance : float
        In the unit of the embedding. 0 if and only if both have the same word
        frequencies, up to rounding and words with equal vectors.

    Raises
    ------
    InvalidParameterError
        If an input breaks its rule, or a document has no known word.

    See Also
    --------
    pairwise_word_movers_distances : Many documents at once.

    Notes
    -----
    *Privacy.* The bag-level guarantees of skdptext scale with this distance [2]_.
    Computed from released bags, it costs no privacy; computed from raw documents, it is
    not private.

    References
    ----------
    .. [1] Kusner, Sun, Kolkin, Weinberger. "From word embeddings to document
       distances." ICML 2015.
    .. [2] Fernandes, Dras, McIver. "Generalised differential privacy for text document
       processing." POST 2019.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.metrics import word_movers_distance
    >>> embedding = WordEmbedding(["cat", "dog", "tea"], [[0.0], [1.0], [9.0]])
    >>> word_movers_distance(["cat", "tea"], ["dog", "tea"], embedding)
    0.5
    >>> word_movers_distance([2, 0, 0], [0, 1, 1], embedding)
    5.0
    """
    table = _table(embedding)
    first = _read_one(x, table, "x")
    second = _read_one(y, table, "y", first.shape[1])
    return float(_distances(first, second, table)[0, 0])


def pairwise_word_movers_distances(
    X: Any,
    Y: Any = None,
    *,
    embedding: WordEmbedding | str,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Compute Word Mover's Distance between every row of `X` and every row of `Y`.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_x, n_words)
        Non-negative word weights, counts or frequencies; each row is scaled to mass 1.
    Y : {array-like, sparse matrix} of shape (n_y, n_words), default=None
        None means `X` again; each pair is then solved once.
    embedding : WordEmbedding or "one-hot"
        Word j of the embedding is column j. ``"one-hot"`` puts every word at distance
        √2 from every other.
    n_jobs : int, default=None
        Threads over the rows of `X`. None means 1, -1 all processors. The result does
        not depend on it.

    Returns
    -------
    distances : ndarray of shape (n_x, n_y), float64
        In the unit of the embedding. If `Y` is None, symmetric and 0 on the diagonal.

    Raises
    ------
    InvalidParameterError
        If an input breaks its rule, or rows hold no word; the message names these rows.

    See Also
    --------
    skdptext.neighbors.WMDKNNClassifier : Finds the nearest without solving all pairs.

    Notes
    -----
    Every pair is solved exactly: milliseconds for documents of a hundred words.

    *Privacy.* As for `word_movers_distance`.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.metrics import pairwise_word_movers_distances
    >>> embedding = WordEmbedding(["cat", "dog", "tea"], [[0.0], [1.0], [9.0]])
    >>> X = [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
    >>> pairwise_word_movers_distances(X, embedding=embedding)
    array([[0., 1., 5.],
           [1., 0., 4.],
           [5., 4., 0.]])
    """
    table = _table(embedding)
    check_jobs(n_jobs)
    first = _read_many(X, table, "X")
    second = None if Y is None else _read_many(Y, table, "Y", first.shape[1])
    return _distances(first, second, table, n_jobs)


def _table(embedding: WordEmbedding | str) -> WordEmbedding | None:
    """Get the embedding, or None for "one-hot"."""
    one_hot = isinstance(embedding, str) and embedding == "one-hot"
    return None if one_hot else check_embedding(embedding)


def _distances(
    X: sp.csr_array,
    Y: sp.csr_array | None,
    table: WordEmbedding | None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Compute distances between rows; if `Y` is None, those of `X`, each pair once."""
    bags = as_bags(X)
    others = bags if Y is None else as_bags(Y)
    shape = bags.shape[0], others.shape[0]

    def row(i: int) -> np.ndarray:
        x = bag_of(bags, i)
        if table is None:
            return one_hot_distances(x, others)
        out = np.zeros(shape[1])
        for j in range(i + 1 if Y is None else 0, shape[1]):
            out[j] = word_movers(x, bag_of(others, j), table.vectors)
        return out

    # The threads of a matrix product wait for the next one and would slow ours down.
    with limit_blas_threads(1):
        rows = Parallel(n_jobs, require="sharedmem")(map(delayed(row), range(shape[0])))
    distances = np.reshape(rows, shape)
    # Only the upper triangle was solved. The distance is symmetric.
    if Y is None and table is not None:
        distances += distances.T
    return distances


def _read_many(
    X: Any, table: WordEmbedding | None, name: str, n_words: int | None = None
) -> sp.csr_array:
    if table is not None:
        n_words = len(table)
        check_columns(X, table)
    bags = read_bags(X, n_words=n_words, name=name)
    empty = np.flatnonzero(np.diff(bags.indptr) == 0)
    if len(empty):
        raise InvalidParameterError(
            f"{name} must hold documents with at least one word, got {len(empty)} "
            f"without any, in rows {name_rows(empty)}."
        )
    return bags


def _read_one(
    x: Any, table: WordEmbedding | None, name: str, n_words: int | None = None
) -> sp.csr_array:
    listed = isinstance(x, list | tuple | np.ndarray) and getattr(x, "ndim", 1) > 0
    if listed and any(isinstance(t, str) for t in x):
        if table is None:
            raise InvalidParameterError(
                f'{name} must hold word weights with embedding="one-hot", got tokens.'
            )
        # Unknown words have no position, and are left out as in a release.
        ids = table.find(list(x))
        x = np.bincount(ids[ids >= 0], minlength=len(table))
    bag = _read_many(x, table, name, n_words)
    if bag.shape[0] != 1:
        raise InvalidParameterError(
            f"{name} must be one document, got {bag.shape[0]}; see "
            "pairwise_word_movers_distances."
        )
    return bag
