"""Word Mover's Distance between documents, solved exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs

from skdptext.embeddings import WordEmbedding, check_columns, check_embedding
from skdptext.exceptions import InvalidParameterError
from skdptext.transport import (
    BagBlock,
    WordBags,
    as_word_bags,
    name_rows,
    one_hot_distances,
    pair_distance,
    take_bags,
)
from skdptext.utils import (
    Threads,
    as_array,
    check_bags,
    check_n_jobs,
    kind_of,
    runs,
    shown_words,
    working_memory_bytes,
)


def word_movers_distance(x: Any, y: Any, embedding: WordEmbedding | str) -> float:
    """Smallest total distance that the words of `x` travel to become those of `y`.

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
    one_hot = _is_one_hot(embedding)
    table = None if one_hot else check_embedding(embedding)
    x_bags = _read_one(x, table, "x")
    n_words = x_bags.shape[1]
    y_bags = _read_one(y, table, "y")
    _check_columns(y_bags.shape[1], n_words, "y", "x")
    first, second = as_word_bags(x_bags), as_word_bags(y_bags)
    if table is None:
        return float(one_hot_distances(first.row(0), second, n_words)[0])
    return pair_distance(first.row(0), second.row(0), table.vectors)


def pairwise_word_movers_distances(
    X: Any,
    Y: Any = None,
    *,
    embedding: WordEmbedding | str,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Word Mover's Distance between every row of `X` and every row of `Y`.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_x, n_words)
        Non-negative word weights, counts or frequencies; each row is scaled to mass 1.
    Y : {array-like, sparse matrix} of shape (n_y, n_words), default=None
        None: `X` again; each pair is then solved once.
    embedding : WordEmbedding or "one-hot"
        Word j of the embedding is column j. ``"one-hot"`` puts every word at distance
        √2 from every other.
    n_jobs : int, default=None
        Threads over the rows of `X`. None means 1, -1 all processors. The result does
        not depend on it.

    Returns
    -------
    distances : ndarray of shape (n_x, n_y), float64
        In the unit of the embedding. Where `Y` is None, symmetric and 0 on the
        diagonal.

    Raises
    ------
    InvalidParameterError
        If an input breaks its rule, or rows hold no word; the message names these rows.

    See Also
    --------
    skdptext.neighbors.WMDKNNClassifier : The nearest few, without solving all pairs.

    Notes
    -----
    Apart from the result, memory is bounded by scikit-learn's ``working_memory``.

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
    one_hot = _is_one_hot(embedding)
    table = None if one_hot else check_embedding(embedding)
    check_n_jobs(n_jobs)
    n_words = None if table is None else len(table)
    matrix = _read_many(X, n_words, "X")
    x_bags = as_word_bags(matrix)
    y_bags = x_bags
    if Y is not None:
        other = _read_many(Y, n_words, "Y")
        _check_columns(other.shape[1], matrix.shape[1], "Y", "X")
        y_bags = as_word_bags(other)
    if table is not None:
        for frame in (X, Y):
            check_columns(frame, table)
    distances = np.zeros((len(x_bags), len(y_bags)))
    if not distances.size:
        return distances

    def fill(rows: range) -> None:
        for i in rows:
            # if the result is symmetric, only what is right of the diagonal
            first = max(i + 1 - part.start, 0) if Y is None else 0
            if first >= len(bags):
                continue
            if block is None:
                row = one_hot_distances(x_bags.row(i), bags, matrix.shape[1])[first:]
            else:
                row = block.distances(x_bags.row(i), first)
            distances[i, part.start + first : part.stop] = row

    workers = effective_n_jobs(n_jobs)
    with Threads(workers) as threads:
        for part in _blocks(y_bags, x_bags, table, workers):
            bags = take_bags(y_bags, np.arange(part.start, part.stop))
            block = None if table is None else BagBlock(bags, table.vectors)
            # dealt in turn: if the result is symmetric, the first rows take longest
            shares = (range(i, len(x_bags), 4 * workers) for i in range(4 * workers))
            threads.each(fill, shares)
    if Y is None:
        distances += distances.T
    return distances


def _is_one_hot(embedding: Any) -> bool:
    return isinstance(embedding, str) and embedding == "one-hot"


def _blocks(
    bags: WordBags, queries: WordBags, table: WordEmbedding | None, n_workers: int
) -> list[slice]:
    """Blocks of bags whose vectors and costs fit in the working memory."""
    width = 4  # arrays as long as the bags, per worker
    if table is not None:
        width = 2 * table.dim + n_workers * (4 + int(queries.sizes.max()))
    return runs(bags.starts, max(1, working_memory_bytes() // (8 * width)))


def _check_columns(n: int, expected: int, name: str, other: str) -> None:
    if n != expected:
        raise InvalidParameterError(
            f"{name} must have as many columns as {other} ({expected}), got {n}."
        )


def _read_many(X: Any, n_words: int | None, name: str) -> sp.csr_array:
    wanted = f"{name} must be a matrix of word weights"
    if not sp.issparse(X) and as_array(X, wanted).ndim == 0:
        raise InvalidParameterError(f"{wanted}, got {kind_of(X)}.")
    bags = check_bags(X, n_words=n_words, name=name)
    empty = np.flatnonzero(np.diff(bags.indptr) == 0)
    if len(empty):
        raise InvalidParameterError(
            f"{name} must hold documents with at least one word, got {len(empty)} "
            f"without any, in rows {name_rows(empty)}."
        )
    return bags


def _read_one(x: Any, table: WordEmbedding | None, name: str) -> sp.csr_array:
    tokens = _as_tokens(x)
    if tokens is None:
        bag = _read_many(x, None if table is None else len(table), name)
        if bag.shape[0] != 1:
            raise InvalidParameterError(
                f"{name} must be one document, got {bag.shape[0]}; see "
                "pairwise_word_movers_distances."
            )
        return bag
    if table is None:
        raise InvalidParameterError(
            f'{name} must hold word weights with embedding="one-hot", got tokens.'
        )
    ids = table.find(tokens)
    ids = ids[ids >= 0]
    if not len(ids):
        raise InvalidParameterError(
            f"{name} must hold at least one word of the embedding, got "
            f"{len(tokens)} unknown: {shown_words(tokens)}."
        )
    bag = sp.csr_array(
        (np.ones(len(ids)), (np.zeros(len(ids), dtype=np.intp), ids)),
        shape=(1, len(table)),
    )
    return check_bags(bag)


def _as_tokens(x: Any) -> list[str] | None:
    """The tokens as a list; None if `x` is not a sequence of tokens."""
    if isinstance(x, np.ndarray) and x.dtype.kind in "UO":
        x = x.tolist()
    if isinstance(x, list | tuple) and any(isinstance(token, str) for token in x):
        if all(isinstance(token, str) for token in x):
            return list(x)
        raise InvalidParameterError(
            "x and y must be tokens or weights, got both in one document."
        )
    return None
