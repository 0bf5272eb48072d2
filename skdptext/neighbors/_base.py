"""Neighbour queries of estimators that keep bags of words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.neighbors._search import BagIndex
from skdptext.transport import WordBags, as_word_bags, name_rows
from skdptext.utils import (
    check_bags,
    check_flag,
    check_integer,
    check_n_jobs,
    check_option,
)

__all__ = ["WMDNeighborsBase", "as_parameter_error"]


class WMDNeighborsBase(BaseEstimator):
    """Neighbours among `_bags`, which are rows `_rows` of the matrix given to `fit`.

    A subclass has the parameters `n_neighbors` and `n_jobs`; its `fit` sets the
    attributes declared here and calls `_build`.
    """

    n_neighbors: int
    n_jobs: int | None
    n_features_in_: int
    n_samples_fit_: int
    empty_rows_: np.ndarray
    _bags: WordBags
    _rows: np.ndarray
    _table: WordEmbedding | None

    def _build(self) -> None:
        vectors = None if self._table is None else self._table.vectors
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
        """
        check_is_fitted(self, "classes_")
        check_n_jobs(self.n_jobs)
        with_distance = check_flag("return_distance", return_distance)
        queries, exclude = self._query_bags(X)
        k = self._check_k(n_neighbors, itself=exclude is not None)
        empty = queries.empty_rows
        if len(empty):
            raise InvalidParameterError(
                "X must hold documents with at least one word, got "
                f"{len(empty)} without any, in rows {name_rows(empty)}."
            )
        distances, rows, _ = self._index.nearest(
            queries, k, exclude=exclude, n_jobs=self.n_jobs
        )
        rows = self._rows[rows]
        return (distances, rows) if with_distance else rows

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> sp.csr_matrix:
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
            As `kneighbors`, and if `mode` is none of the two.
        """
        check_is_fitted(self, "classes_")
        check_option("mode", mode, ("connectivity", "distance"))
        distances, rows = self.kneighbors(X, n_neighbors)
        n, k = rows.shape
        data = distances.ravel() if mode == "distance" else np.ones(n * k)
        starts = np.arange(0, n * k + 1, k)
        shape = (n, self.n_samples_fit_)
        return sp.csr_matrix((data, rows.ravel(), starts), shape=shape)

    def _query_bags(self, X: Any) -> tuple[WordBags, np.ndarray | None]:
        """Bags of the queries; and of training rows, their own numbers."""
        if X is not None:
            return self._read(X), None
        if len(self.empty_rows_):
            raise InvalidParameterError(
                "X=None needs training documents with at least one word, got "
                f"{len(self.empty_rows_)} without any, in rows "
                f"{name_rows(self.empty_rows_)} of the matrix given to fit."
            )
        return self._bags, np.arange(len(self._bags))

    def _read(self, X: Any) -> WordBags:
        with as_parameter_error():
            X = validate_data(
                self, X, accept_sparse="csr", dtype=np.float64, reset=False
            )
        return as_word_bags(check_bags(X))

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

    def __getstate__(self) -> dict[str, Any]:
        # The index is quick to rebuild, and holds a scaled copy of the vectors.
        state = super().__getstate__()
        return {name: state[name] for name in state if name != "_index"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "_bags"):
            self._build()


@contextmanager
def as_parameter_error() -> Iterator[None]:
    """scikit-learn's message under this library's error."""
    try:
        yield
    except (TypeError, ValueError) as error:
        message = str(error)
        if "could not convert string" in message:
            message = f"X must be a matrix of word weights, got text: {message}."
        raise InvalidParameterError(message) from error
