"""What all estimators by Word Mover's neighbours share: training bags and a search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_X_y
from sklearn.utils.validation import check_is_fitted, validate_data

from skdptext.embeddings import WordEmbedding, check_columns, check_embedding
from skdptext.exceptions import EmptyDocumentWarning, InvalidParameterError
from skdptext.transport import BagIndex, WordBags, as_word_bags, name_rows, take_bags
from skdptext.utils import (
    DocLinked,
    as_array,
    check_bags,
    check_flag,
    check_integer,
    check_matrix,
    check_n_jobs,
    check_option,
    shown,
    sparse_result,
    warn_once,
)

Weights = Callable[[np.ndarray], np.ndarray] | str | None
UNIFORM = "uniform", None

# CPU milliseconds of a query: a constant, and by its words times those of a training
# document, with and without the number of training documents. Measured within a factor
# of two on docstrings, messages and fan fiction, in plain and in noisy text.
_EACH, _BY_WORDS, _BY_WORDS_AND_ROWS = 1.5, 2.4e-3, 3e-6
# Seconds of a search that are said before they pass.
_SAID = 5.0


class WMDNeighborsBase(DocLinked, BaseEstimator):
    """Training documents, and the nearest of them to others."""

    embedding: WordEmbedding | str | None
    n_neighbors: int
    n_jobs: int | None
    verbose: int

    # -- fitting ---------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_integer("n_neighbors", self.n_neighbors, low=1)
        check_n_jobs(self.n_jobs)
        check_integer("verbose", self.verbose, low=0)

    def _n_needed(self) -> int:
        """Training documents with words that are needed."""
        return self.n_neighbors

    def _check_fit(self, X: Any) -> WordEmbedding | None:
        """The embedding, if the parameters and the kind of `X` break no rule."""
        one_hot = isinstance(self.embedding, str) and self.embedding == "one-hot"
        embedding = None if one_hot else check_embedding(self.embedding)
        self._check_parameters()
        check_matrix(X)  # or scikit-learn would quote what is not a number
        return embedding

    def _keep(self, X: Any, weights: Any, embedding: WordEmbedding | None) -> None:
        """Keep training documents; a refused fit has left the model as it was.

        Parameters
        ----------
        weights : array-like or sparse matrix
            `X` as scikit-learn's checks return it.
        """
        n_words = weights.shape[1] if embedding is None else len(embedding)
        bags = as_word_bags(check_bags(weights, n_words=n_words))
        if embedding is not None:
            check_columns(X, embedding)
        empty, least = bags.empty_rows, self._n_needed()
        n_filled = len(bags) - len(empty)
        if not n_filled:
            raise InvalidParameterError(
                f"X must hold at least one document with words, got {len(bags)} "
                "without any."
            )
        if least > n_filled:
            itself = least > self.n_neighbors  # is one more
            raise InvalidParameterError(
                f"n_neighbors must be {'<' if itself else '<='} the number of training "
                f"documents with words (n_samples={n_filled}), got {self.n_neighbors}."
            )
        if len(empty):
            _warn_empty(empty, len(bags), "are left out of the training set")
        validate_data(self, X, skip_check_array=True)
        self.n_samples_fit_ = len(bags)
        self.empty_rows_ = empty
        # the index numbers bags with words only: place i there is row _rows[i] of X
        self._rows = np.setdiff1d(np.arange(len(bags)), empty)
        self._bags = take_bags(bags, self._rows) if len(empty) else bags
        self._embedding = embedding
        self._build()

    def _build(self) -> None:
        vectors = None if self._embedding is None else self._embedding.vectors
        self._index = BagIndex(self._bags, self.n_features_in_, vectors)

    # -- neighbours ------------------------------------------------------------

    def kneighbors(
        self,
        X: Any = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
    ) -> tuple[np.ndarray, np.ndarray] | np.ndarray:
        """Nearest training documents, exactly as brute force finds them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_words), default=None
            Documents, each with at least one word. None: the training documents, none
            of which counts as its own neighbour.
        n_neighbors : int, default=None
            Number of neighbours; None: the estimator's.
        return_distance : bool, default=True
            Whether to return the distances too.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            Ascending, in the unit of the embedding. Only if `return_distance`.
        indices : ndarray of shape (n_queries, n_neighbors), int
            Rows of the matrix given to `fit`; equal distances by ascending row.

        Raises
        ------
        InvalidParameterError
            If a document has no words (the message names the rows), or `n_neighbors`
            exceeds the training documents available.

        Warns
        -----
        UserWarning
            If the search is estimated to take more than 5 s; once.
        """
        self._check_ready()
        with_distance = check_flag("return_distance", return_distance)
        queries, itself = self._query_bags(X)
        k = self._check_k(n_neighbors, itself=itself)
        distances, places = self._nearest(queries, k, itself=itself)
        rows = self._rows[places]
        return (distances, rows) if with_distance else rows

    def kneighbors_graph(
        self,
        X: Any = None,
        n_neighbors: int | None = None,
        mode: str = "connectivity",
    ) -> Any:
        """Sparse graph from documents to their nearest training documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_words), default=None
            As in `kneighbors`.
        n_neighbors : int, default=None
            Number of neighbours; None: the estimator's.
        mode : {"connectivity", "distance"}, default="connectivity"
            Whether edges carry ones or distances.

        Returns
        -------
        graph : sparse matrix in CSR format, of shape (n_queries, n_samples_fit)
            Edges of a row in order of distance. Zero distances are stored.

        Raises
        ------
        InvalidParameterError
            As `kneighbors`, and if `mode` is neither of the two.
        """
        self._check_ready()
        check_option("mode", mode, ("connectivity", "distance"))
        distances, rows = self.kneighbors(X, n_neighbors)
        n, k = rows.shape
        return self._graph(np.arange(0, n * k + 1, k), rows, distances, mode)

    def _graph(
        self, starts: np.ndarray, rows: np.ndarray, distances: np.ndarray, mode: str
    ) -> Any:
        data = distances.ravel() if mode == "distance" else np.ones(rows.size)
        shape = (len(starts) - 1, self.n_samples_fit_)
        return sparse_result(sp.csr_array((data, rows.ravel(), starts), shape=shape))

    def _nearest(
        self, queries: WordBags, k: int, *, itself: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Distances of the nearest, and their places among the bags kept."""
        if self._embedding is not None:
            _warn_of_cost(queries, self._bags)
        distances, places, _ = self._index.nearest(
            queries,
            k,
            exclude=np.arange(len(queries)) if itself else None,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        return distances, places

    def _check_ready(self) -> None:
        check_is_fitted(self, "n_samples_fit_")
        check_n_jobs(self.n_jobs)
        check_integer("verbose", self.verbose, low=0)

    def _query_bags(self, X: Any) -> tuple[WordBags, bool]:
        """Bags of the queries, and whether they are the training documents."""
        if X is not None:
            queries = self._read(X)
            empty = queries.empty_rows
            if len(empty):
                raise InvalidParameterError(
                    "X must hold documents with at least one word, got "
                    f"{len(empty)} without any, in rows {name_rows(empty)}."
                )
            return queries, False
        if len(self.empty_rows_):
            raise InvalidParameterError(
                "X=None needs training documents with at least one word, got "
                f"{len(self.empty_rows_)} without any, in rows "
                f"{name_rows(self.empty_rows_)} of the matrix given to fit. Leave them "
                "out before: X = X[X.getnnz(axis=1) > 0] for a sparse matrix."
            )
        return self._bags, True

    def _read(self, X: Any) -> WordBags:
        check_matrix(X)
        if self._embedding is not None:
            check_columns(X, self._embedding)
        with as_parameter_error():
            X = validate_data(
                self, X, accept_sparse="csr", dtype=np.float64, reset=False
            )
        return as_word_bags(check_bags(X))

    def _asked(
        self, X: Any, fate: str, stacklevel: int = 4
    ) -> tuple[int, WordBags, np.ndarray]:
        """k, the queries that have words, and whether each of `X` has."""
        check_is_fitted(self, "n_samples_fit_")
        self._check_parameters()
        k = self._check_k(self._n_needed())
        queries = self._read(X)
        empty, filled = queries.empty_rows, queries.sizes > 0
        if len(empty):
            _warn_empty(empty, len(queries), fate, stacklevel)
            queries = take_bags(queries, filled)
        return k, queries, filled

    def _check_k(self, n_neighbors: int | None, *, itself: bool = False) -> int:
        given = self.n_neighbors if n_neighbors is None else n_neighbors
        k = check_integer("n_neighbors", given, low=1)
        available = len(self._bags) - itself
        if k > available:
            others = "other " if itself else ""
            raise InvalidParameterError(
                f"n_neighbors must be <= the number of {others}training documents "
                f"with words ({available}), got {k}."
            )
        return k

    # -- scikit-learn's own ----------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        # The index is quick to rebuild, and holds a scaled copy of the vectors.
        state = super().__getstate__()
        return {name: state[name] for name in state if name != "_index"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "_bags"):
            self._build()


class Predictor(WMDNeighborsBase):
    """Votes and means of neighbours, weighted by their distances."""

    def __init__(
        self,
        embedding: WordEmbedding | str | None = None,
        *,
        n_neighbors: int = 5,
        weights: Weights = "uniform",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.embedding = embedding
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        weights = self.weights
        named = isinstance(weights, str) and weights in ("uniform", "distance")
        if not (named or weights is None or callable(weights)):
            raise InvalidParameterError(
                "weights must be 'uniform', 'distance', a callable or None, got "
                f"{shown(weights)}."
            )

    def _read_targets(
        self, X: Any, y: Any, rule: str, dtype: Any = None
    ) -> tuple[Any, WordEmbedding | None, np.ndarray]:
        """`X` as scikit-learn's checks return it, the embedding, and the targets."""
        embedding = self._check_fit(X)
        # scikit-learn would quote what is no array of the kind
        given: Any = y if y is None else as_array(y, rule, dtype)
        with as_parameter_error():
            weights, targets = check_X_y(
                X,
                given,
                accept_sparse="csr",
                dtype=np.float64,
                multi_output=np.ndim(given) == 2,
                estimator=self,
            )
        return weights, embedding, targets

    def _neighbors(self, k: int, queries: WordBags) -> tuple[np.ndarray, np.ndarray]:
        """Places of the neighbours among the bags kept, and their weights."""
        distances, places = self._nearest(queries, k)
        return places, _weigh(self.weights, distances)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _weigh(weights: Weights, distances: np.ndarray) -> np.ndarray:
    """Weights of neighbours at some distances; at least one of a row is above 0."""
    if callable(weights):
        given = np.asarray(weights(distances), dtype=np.float64)
        if given.shape != distances.shape:
            raise InvalidParameterError(
                "weights must return an array of the shape of the distances "
                f"{distances.shape}, got {given.shape}."
            )
        wrong = given[~(np.isfinite(given) & (given >= 0))]
        if len(wrong):
            raise InvalidParameterError(
                f"weights must return finite numbers >= 0, got {wrong[0]}."
            )
        if not given.any(axis=1).all():
            row = int(np.argmin(given.any(axis=1)))
            raise InvalidParameterError(
                "weights must return at least one weight > 0 per document, got "
                f"only zeros for document {row}."
            )
        return given
    if weights in UNIFORM:
        return np.ones_like(distances)
    # Relative to the nearest, so that the inverse of a tiny distance is finite.
    # Rows ascend; where the first distance is 0, only those at 0 count.
    nearest = distances[:, :1]
    with np.errstate(invalid="ignore", divide="ignore"):
        inverse = nearest / distances
    return np.where(nearest > 0, inverse, distances == 0)


@contextmanager
def as_parameter_error() -> Iterator[None]:
    """scikit-learn's message under this library's error.

    Its first line: the others may quote the matrix, or give advice on it.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(str(error).partition("\n")[0]) from None


def _warn_of_cost(queries: WordBags, bags: WordBags) -> None:
    """Say what a search costs before it begins, if it is long."""
    size = float(bags.sizes.mean())
    by_words = _BY_WORDS + _BY_WORDS_AND_ROWS * len(bags)
    cost = _EACH * len(queries) + by_words * size * float(queries.sizes.sum())
    if (seconds := cost / 1000) < _SAID:
        return
    minutes = f" ({seconds / 60:,.0f} minutes)" if seconds >= 120 else ""
    warn_once(
        f"The Word Mover's neighbours of {len(queries):,} documents among "
        f"{len(bags):,} take about {seconds:,.0f} s of CPU{minutes}. It grows with the "
        f"square of the number of different words, here {size:.0f} a document: a "
        "document_length of 20 to 40 makes it short, and n_jobs divides it. A search "
        "over parameters does this for each candidate and split.",
        UserWarning,
        "cost",
    )


def _warn_empty(rows: np.ndarray, n: int, fate: str, stacklevel: int = 4) -> None:
    """One warning for documents without words, at the line of the user."""
    warn_once(
        f"{len(rows)} of {n} documents hold no word and {fate}: rows "
        f"{name_rows(rows)}.",
        EmptyDocumentWarning,
        fate,
        stacklevel=stacklevel,
    )
