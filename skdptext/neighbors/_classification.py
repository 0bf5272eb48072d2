"""k nearest neighbours by exact Word Mover's Distance."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_X_y
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from skdptext.embeddings import WordEmbedding, check_columns, check_embedding
from skdptext.exceptions import EmptyDocumentWarning, InvalidParameterError
from skdptext.transport import (
    BagIndex,
    WordBags,
    as_word_bags,
    name_rows,
    take_bags,
)
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
)

__all__ = ["WMDKNNClassifier"]

Weights = Callable[[np.ndarray], np.ndarray]


class WMDKNNClassifier(DocLinked, ClassifierMixin, BaseEstimator):
    """Classifier by the k nearest documents in Word Mover's Distance.

    The distance between two documents is the least total distance that the words of
    one must travel, in the embedding, to become the words of the other [1]_. The
    neighbours and distances are exactly those of a brute-force search: lower bounds
    rule most documents out before they are solved, and ties go to the document that
    comes first.

    Parameters
    ----------
    embedding : WordEmbedding or "one-hot"
        Word j of the embedding is column j of every matrix given. With ``"one-hot"``
        all words are √2 apart, and the distance is √2 times the total variation
        between the documents' word frequencies.
    n_neighbors : int, default=5
        Neighbours that vote; at most the number of training documents with words.
    weights : {"uniform", "distance"} or callable, default="uniform"
        Weight of a neighbour's vote: 1; or one over its distance, where neighbours at
        distance 0 outvote all others; or the result of calling it with the distances,
        of shape (n_queries, n_neighbors), which returns weights of the same shape.
    n_jobs : int, default=None
        Threads over the queries. None means 1, -1 all processors. The result does not
        depend on it.
    verbose : int, default=0
        Above 0, show a progress bar over the queries.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    class_prior_ : ndarray of shape (n_classes,)
        Share of each class among the training documents that have words.
    n_features_in_ : int
        Number of columns, the number of words.
    feature_names_in_ : ndarray of str, shape (n_words,)
        Column names, if `fit` was given a data frame.
    n_samples_fit_ : int
        Number of documents given to `fit`, those without words included.
    empty_rows_ : ndarray of int
        Rows given to `fit` that hold no word, and were left out.

    See Also
    --------
    skdptext.metrics.pairwise_word_movers_distances : The distances themselves.
    compile_search : Compile the search before it is used.

    Notes
    -----
    A document without words has no distance to any other. `fit` leaves such rows out;
    `predict` answers them with the most frequent class and `predict_proba` with
    `class_prior_`, each with one `EmptyDocumentWarning`; `kneighbors` and
    `kneighbors_graph` refuse them.

    *Privacy.* The classifier adds none: it keeps its training documents. Fitted on
    bags released by a perturber, it is post-processing and costs no privacy.

    References
    ----------
    .. [1] Kusner, Sun, Kolkin, Weinberger. "From word embeddings to document
       distances." ICML 2015.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.neighbors import WMDKNNClassifier
    >>> embedding = WordEmbedding(
    ...     ["cat", "dog", "tea", "milk"], [[0.0], [1.0], [9.0], [8.0]])
    >>> X = [[1, 0, 0, 0], [0, 0, 1, 0]]
    >>> model = WMDKNNClassifier(embedding, n_neighbors=1).fit(X, ["pet", "drink"])
    >>> model.predict([[0, 2, 0, 0], [0, 0, 0, 1]])
    array(['pet', 'drink'], dtype='<U5')
    >>> distances, rows = model.kneighbors([[0, 2, 0, 0]])
    >>> distances, rows
    (array([[1.]]), array([[0]]))
    """

    def __init__(
        self,
        embedding: WordEmbedding | str | None = None,
        *,
        n_neighbors: int = 5,
        weights: str | Weights = "uniform",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.embedding = embedding
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose

    # -- fitting ---------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> WMDKNNClassifier:
        """Keep the training documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Non-negative word weights, counts or frequencies; each row is given mass 1.
        y : array-like of shape (n_documents,)
            Labels of at least two classes.

        Returns
        -------
        self : WMDKNNClassifier

        Raises
        ------
        InvalidParameterError
            If a parameter or an input breaks its rule; if no document has words; if
            `n_neighbors` exceeds the number of documents that have.

        Warns
        -----
        EmptyDocumentWarning
            If documents have no words; they are left out.
        """
        one_hot = isinstance(self.embedding, str) and self.embedding == "one-hot"
        embedding = None if one_hot else check_embedding(self.embedding)
        k = check_integer("n_neighbors", self.n_neighbors, low=1)
        self._check_voting()
        check_matrix(X)  # or scikit-learn would quote what is not a number
        as_array(y, "y must hold one label per document")
        with _as_parameter_error():
            weights, y = check_X_y(
                X, y, accept_sparse="csr", dtype=np.float64, estimator=self
            )
            check_classification_targets(y)
        n_words = weights.shape[1] if embedding is None else len(embedding)
        bags = as_word_bags(check_bags(weights, n_words=n_words))
        if embedding is not None:
            check_columns(X, embedding)
        classes, labels = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise InvalidParameterError("y must hold at least 2 classes, got 1 class.")
        empty = bags.empty_rows
        n_kept = len(bags) - len(empty)
        if not n_kept:
            raise InvalidParameterError(
                f"X must hold at least one document with words, got {len(bags)} "
                "without any."
            )
        if k > n_kept:
            raise InvalidParameterError(
                "n_neighbors must be <= the number of training documents with words "
                f"({n_kept}), got {k}."
            )
        if len(empty):
            _warn_empty(empty, len(bags), "are left out of the training set")

        # Only now is anything written: a refused fit leaves the model as it was.
        validate_data(self, X, skip_check_array=True)
        self.classes_ = classes
        self.n_samples_fit_ = len(bags)
        self.empty_rows_ = empty
        self._rows = np.setdiff1d(np.arange(len(bags)), empty)
        self._labels = labels[self._rows]
        votes = np.bincount(self._labels, minlength=len(classes))
        self.class_prior_ = votes / n_kept
        self._bags = take_bags(bags, self._rows)
        self._embedding = embedding
        self._build()
        return self

    def _check_voting(self) -> None:
        if not callable(self.weights):
            try:
                check_option("weights", self.weights, ("uniform", "distance"))
            except InvalidParameterError:
                raise InvalidParameterError(
                    "weights must be 'uniform', 'distance' or a callable, got "
                    f"{shown(self.weights)}."
                ) from None
        check_n_jobs(self.n_jobs)
        check_integer("verbose", self.verbose, low=0)

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
        """
        check_is_fitted(self, "classes_")
        check_n_jobs(self.n_jobs)
        check_integer("verbose", self.verbose, low=0)
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
            queries, k, exclude=exclude, n_jobs=self.n_jobs, verbose=self.verbose
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
            As `kneighbors`, and if `mode` is neither of the two.
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
        """Bags of the queries; for training rows, also their own numbers."""
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
        check_matrix(X)
        with _as_parameter_error():
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

    # -- prediction ------------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray:
        """Labels of documents.

        With uniform weights and compiled loops (the extra `fast`), the search for a
        document may end before its neighbours are known, once one class is sure of
        more than half of the votes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_words)

        Returns
        -------
        labels : ndarray of shape (n_queries,)
            For equal votes, the class that comes first in `classes_`.

        Warns
        -----
        EmptyDocumentWarning
            If documents have no words; they get the most frequent class.
        """
        voting = k, queries, filled = self._voting(X)
        if self.weights != "uniform":
            return self.classes_[np.argmax(self._shares(*voting), axis=1)]
        best = np.full(len(queries), np.argmax(self.class_prior_))
        if len(filled):
            best[filled], _ = self._index.vote(
                take_bags(queries, filled),
                k,
                self._labels,
                n_jobs=self.n_jobs,
                verbose=self.verbose,
            )
        return self.classes_[best]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Share of the votes that each class gets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_words)

        Returns
        -------
        probabilities : ndarray of shape (n_queries, n_classes)
            Columns as in `classes_`.

        Raises
        ------
        InvalidParameterError
            If callable `weights` return a different shape, a negative or non-finite
            weight, or only zeros for a document.

        Warns
        -----
        EmptyDocumentWarning
            If documents have no words; they get `class_prior_`.
        """
        return self._shares(*self._voting(X))

    def _voting(self, X: Any) -> tuple[int, WordBags, np.ndarray]:
        """k, the queries, and the rows of those that have neighbours."""
        check_is_fitted(self, "classes_")
        self._check_voting()
        k = self._check_k(None)
        queries = self._read(X)
        empty = queries.empty_rows
        if len(empty):
            _warn_empty(empty, len(queries), "get the class prior", stacklevel=4)
        return k, queries, np.setdiff1d(np.arange(len(queries)), empty)

    def _shares(self, k: int, queries: WordBags, filled: np.ndarray) -> np.ndarray:
        """The share of the votes that each class gets."""
        result = np.tile(self.class_prior_, (len(queries), 1))
        if len(filled):
            distances, rows, _ = self._index.nearest(
                take_bags(queries, filled),
                k,
                n_jobs=self.n_jobs,
                verbose=self.verbose,
            )
            votes = np.zeros((len(filled), len(self.classes_)))
            voters = np.arange(len(filled))
            weights = self._weigh(distances)
            for rank in range(k):
                votes[voters, self._labels[rows[:, rank]]] += weights[:, rank]
            result[filled] = votes / votes.sum(axis=1, keepdims=True)
        return result

    def _weigh(self, distances: np.ndarray) -> np.ndarray:
        if callable(self.weights):
            weights = np.asarray(self.weights(distances), dtype=np.float64)
            if weights.shape != distances.shape:
                raise InvalidParameterError(
                    "weights must return an array of the shape of the distances "
                    f"{distances.shape}, got {weights.shape}."
                )
            if not np.isfinite(weights).all() or (weights < 0).any():
                raise InvalidParameterError(
                    "weights must return finite numbers >= 0, got "
                    f"{weights[~(np.isfinite(weights) & (weights >= 0))][0]}."
                )
            if not weights.any(axis=1).all():
                row = int(np.argmin(weights.any(axis=1)))
                raise InvalidParameterError(
                    "weights must return at least one weight > 0 per document, got "
                    f"only zeros for document {row}."
                )
            return weights
        if self.weights == "uniform":
            return np.ones_like(distances)
        # Relative to the nearest, so that the inverse of a tiny distance is finite.
        nearest = distances[:, :1]
        with np.errstate(invalid="ignore", divide="ignore"):
            weights = nearest / distances
        return np.where(nearest > 0, weights, distances == 0)

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


@contextmanager
def _as_parameter_error() -> Iterator[None]:
    """scikit-learn's message under this library's error."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(str(error)) from None


def _warn_empty(rows: np.ndarray, n: int, fate: str, stacklevel: int = 3) -> None:
    warnings.warn(
        f"{len(rows)} of {n} documents hold no word and {fate}: rows "
        f"{name_rows(rows)}.",
        EmptyDocumentWarning,
        stacklevel=stacklevel,
    )
