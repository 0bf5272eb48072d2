"""scikit-learn's neighbors estimators with Word Mover's Distance."""

from collections.abc import Callable
from operator import itemgetter
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    KNeighborsTransformer,
    NearestNeighbors,
)
from sklearn.utils.validation import check_is_fitted

from skdptext.embeddings import WordEmbedding, check_columns, check_embedding
from skdptext.exceptions import EmptyDocumentWarning, InvalidParameterError
from skdptext.neighbors._distance import as_bags, word_movers
from skdptext.neighbors._search import BagIndex
from skdptext.utils import (
    DocLinked,
    as_array,
    as_labels,
    check_integer,
    check_jobs,
    check_real,
    name_rows,
    parameter_errors,
    read_bags,
    validated,
    warn_once,
)

# CPU milliseconds of a query: a constant, a factor for its words times those of a
# training document, and a factor for its words times the number of training documents.
# Measured within a factor of two on docstrings, messages and fan fiction, in plain and
# in noisy text.
_EACH, _BY_WORDS, _BY_ROWS = 0.6, 1.2e-3, 1.6e-5
# A search that takes longer, in seconds, warns before it begins.
_SAID = 5.0

# With these options, scikit-learn does no search itself and gets all that it needs from
# `kneighbors` and `radius_neighbors`.
_OURS: dict[str, Any] = {"algorithm": "brute", "metric": word_movers}


class _WordMovers(DocLinked):
    """Mixin that finds the neighbors for an estimator of scikit-learn."""

    embedding: WordEmbedding | str | None
    n_neighbors: int
    radius: float | None
    n_jobs: int | None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Store and index the training documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Non-negative word weights: counts, frequencies or tf-idf. Each row is scaled
            to mass 1.
        y : array-like of shape (n_documents,) or (n_documents, n_outputs)
            Labels or targets, if the estimator uses them.

        Returns
        -------
        self : estimator
            The estimator itself.

        Raises
        ------
        InvalidParameterError
            If a parameter or an input breaks its rule, or no document has words.

        Warns
        -----
        EmptyDocumentWarning
            If documents have no words. They are left out.
        """
        one_hot = isinstance(self.embedding, str) and self.embedding == "one-hot"
        embedding = None if one_hot else check_embedding(self.embedding)
        check_integer("n_neighbors", self.n_neighbors, low=1)
        if self.radius is not None:
            check_real("radius", self.radius, low=0)
        check_jobs(self.n_jobs)
        bags = as_bags(self._read(X, embedding, reset=True))
        filled = np.diff(bags.indptr) > 0
        if not filled.any():
            message = "X must hold at least one document with words, got"
            raise InvalidParameterError(f"{message} {len(filled)} without any.")
        if y is not None:  # an error of scikit-learn would quote bad labels
            numbers = is_regressor(self)
            given, y = y, as_array(y, "y must be an array", float if numbers else None)
            if y.ndim == 1:  # labels that only look alike would count as two classes
                y = as_labels("y", y if numbers else given)
        with parameter_errors():
            super().fit(X, y)  # type: ignore[misc]
        if not filled.all():
            _warn_empty(~filled, "are left out of the training set", stacklevel=3)
        # The index holds bags with words only. Its bag i is row _rows[i] of X.
        self._rows, self.empty_rows_ = np.flatnonzero(filled), np.flatnonzero(~filled)
        self._index, self._targets = BagIndex(bags[self._rows], embedding), y
        return self

    def _read(self, X: Any, embedding: Any, reset: bool = False) -> sp.csr_array:
        """Read and check the word weights of documents."""
        matrix = validated(self, X, reset=reset)
        if embedding is None:
            return read_bags(matrix)
        check_columns(X, embedding)
        return read_bags(matrix, n_words=len(embedding))

    def kneighbors(
        self,
        X: Any = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
    ) -> Any:
        """Find the nearest training documents, exactly as brute force does.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_words), default=None
            Documents, each with at least one word. None means the training documents,
            and none of them counts as its own neighbor.
        n_neighbors : int, default=None
            Number of neighbors; if None, that of the estimator.
        return_distance : bool, default=True
            Whether to also return the distances.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            Ascending, in the unit of the embedding. Only if `return_distance`.
        indices : ndarray of shape (n_queries, n_neighbors), int
            Rows of the matrix given to `fit`. Equal distances are in ascending order of
            rows.

        Raises
        ------
        InvalidParameterError
            If a document has no words (the message names the rows), or `n_neighbors`
            exceeds the number of available training documents.

        Warns
        -----
        UserWarning
            If the search is estimated to take more than 5 s; once.
        """
        queries, exclude = self._asked(X)
        given = self.n_neighbors if n_neighbors is None else n_neighbors
        k = check_integer("n_neighbors", given, low=1)
        available = len(self._rows) - (exclude is not None)
        if k > available:
            raise InvalidParameterError(
                "n_neighbors must be <= the number of training documents with words "
                f"to choose from ({available}), got {k}."
            )
        search = self._index.search
        pairs = np.array(search(queries, k, exclude=exclude, n_jobs=self.n_jobs))
        rows = self._rows[pairs[:, :, 1].astype(np.intp)]
        return (pairs[:, :, 0].copy(), rows) if return_distance else rows

    def radius_neighbors(
        self,
        X: Any = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> Any:
        """Find all training documents within a radius, exactly as brute force does.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_words), default=None
            As in `kneighbors`.
        radius : float, default=None
            Largest distance of a neighbor, in the unit of the embedding; if None, that
            of the estimator.
        return_distance : bool, default=True
            Whether to also return the distances.
        sort_results : bool, default=False
            Whether neighbors are sorted by distance instead of by row.

        Returns
        -------
        distances : ndarray of shape (n_queries,), of ndarrays
            Distances, only if `return_distance`.
        indices : ndarray of shape (n_queries,), of ndarrays of int
            Rows of the matrix given to `fit`.

        Raises
        ------
        InvalidParameterError
            If a document has no words, or there is no radius.
        """
        queries, exclude = self._asked(X)
        given = self.radius if radius is None else radius
        radius = check_real("radius", given, low=0.0)
        found = self._index.search(
            queries, radius=radius, exclude=exclude, n_jobs=self.n_jobs
        )
        # Two separate arrays: keeping the pairs would hold on to unwanted distances.
        far, near = (np.empty(len(found), dtype=object) for _ in range(2))
        for i, pairs in enumerate(found):
            ordered = pairs if sort_results else sorted(pairs, key=itemgetter(1))
            far[i] = np.array([distance for distance, _ in ordered])
            near[i] = self._rows[[bag for _, bag in ordered]]
        return (far, near) if return_distance else near

    def _asked(self, X: Any) -> tuple[sp.csr_array, np.ndarray | None]:
        """Get the bags of the queries, and which bag of the index each of them is."""
        check_is_fitted(self, "_index")
        if X is None:
            # A training document is not its own neighbor, but its copies are.
            bags, exclude = self._index.bags, np.arange(len(self._rows))
            empty = self.empty_rows_
        else:
            bags, exclude = as_bags(self._read(X, self._index.embedding)), None
            empty = np.flatnonzero(np.diff(bags.indptr) == 0)
        if len(empty):
            raise InvalidParameterError(
                "X (or the training documents) must hold documents with words, got "
                f"{len(empty)} without any, in rows {name_rows(empty)}. Remove them, "
                "for a sparse matrix by X = X[X.getnnz(axis=1) > 0]."
            )
        if self._index.embedding is not None:
            _warn_of_cost(bags, self._index.sizes)
        return bags, exclude

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


class _Predictor(_WordMovers):
    """Predictions from neighbors; documents without words get the overall answer."""

    def __init__(
        self,
        embedding: WordEmbedding | str | None = None,
        *,
        n_neighbors: int = 5,
        weights: Callable[[np.ndarray], np.ndarray] | str | None = "uniform",
        n_jobs: int | None = None,
    ) -> None:
        options = {"weights": weights, "n_jobs": n_jobs, **_OURS}
        super().__init__(n_neighbors, **options)  # type: ignore[call-arg]
        self.embedding = embedding

    def predict(self, X: Any) -> np.ndarray:
        """Predict the labels or the targets of documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_words)
            Documents. None means the training documents, and none of them counts for
            itself.

        Returns
        -------
        answers : ndarray of shape (n_queries,) or (n_queries, n_outputs)
            The class with most votes, the first in `classes_` if several have equally
            many; or the mean target of the neighbors.

        Warns
        -----
        EmptyDocumentWarning
            If documents have no words. They get the most frequent class or the mean of
            all targets.
        UserWarning
            If the search is estimated to take more than 5 s; once.
        """
        return self._answered("predict", X)

    def _answered(self, method: str, X: Any) -> Any:
        answer = getattr(super(), method)
        check_is_fitted(self, "_index")
        if X is None:
            return answer(X)
        # Documents without words are answered first. scikit-learn only sees the others,
        # so that its messages and results stay those of complete documents.
        weights = self._read(X, self._index.embedding)
        empty = np.diff(weights.indptr) == 0
        if not empty.any():
            return answer(X)
        _warn_empty(empty, "get the answer for all", stacklevel=4)
        simple = DummyRegressor() if is_regressor(self) else DummyClassifier()
        simple.fit(self._rows[:, None], self._targets[self._rows])
        usual = getattr(simple, method)(weights)
        if empty.all():
            return usual
        # Rows of a data frame keep their column names, which scikit-learn checks.
        found = answer((X if hasattr(X, "iloc") else weights)[~empty])
        if isinstance(found, list):  # probabilities of several outputs
            for shares, others in zip(usual, found, strict=True):
                shares[~empty] = others
            return usual
        usual = usual.astype(found.dtype).reshape(len(usual), *found.shape[1:])
        usual[~empty] = found
        return usual


class WMDKNNClassifier(_Predictor, KNeighborsClassifier):
    """Classifier by the k nearest documents in Word Mover's Distance.

    The distance between two documents is the least total distance that the words of
    one must travel, in the embedding, to become the words of the other [1]_. Neighbors
    and distances are exactly those of a brute-force search: lower bounds rule out most
    documents before they are solved, and ties go to the first document.

    Parameters
    ----------
    embedding : WordEmbedding or "one-hot"
        Word j of the embedding is column j of every matrix given. After a perturber it
        must be the embedding of the perturber: bags with another one are refused. With
        ``"one-hot"`` all words are √2 apart, and the distance is √2 times the total
        variation between the documents' word frequencies.
    n_neighbors : int, default=5
        Number of neighbors that vote; at most the number of training documents with
        words.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        Weight of a neighbor's vote. "uniform" or None is 1. "distance" is one over the
        distance, and neighbors at distance 0 outvote all others. A callable maps
        distances of shape (n_queries, n_neighbors) to weights of the same shape.
    n_jobs : int, default=None
        Threads over the queries. None means 1, -1 all processors. The result does not
        depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of them
        Labels, sorted; of each output, if there are several.
    outputs_2d_ : bool
        Whether the labels given to `fit` had more than one column.
    n_features_in_ : int
        Number of columns, the number of words.
    feature_names_in_ : ndarray of str, shape (n_words,)
        Column names, if `fit` was given a data frame.
    n_samples_fit_ : int
        Number of documents given to `fit`, including those without words.
    empty_rows_ : ndarray of int
        Rows given to `fit` that hold no word, and were left out.

    See Also
    --------
    WMDKNNRegressor : Averages numbers instead of voting on labels.
    WMDNeighbors : Finds the neighbors, without labels.
    skdptext.metrics.pairwise_word_movers_distances : Computes the distances.

    Notes
    -----
    A document without words has no distance to any other. `fit` leaves such rows out.
    `predict` gives them the most frequent class and `predict_proba` the share of each
    class, each with one `EmptyDocumentWarning`. `kneighbors` and the graphs refuse
    them.

    *Cost.* CPU milliseconds per query, in plain and in noisy text (40% of the words
    changed), by words of each document and number of training documents. Docstrings in
    100 dimensions; the last row is fan fiction in 300 dimensions, among 200 documents:

    ===== =========== ===========
    words 300         1,000
    ===== =========== ===========
    10    0.6, 0.6
    20    1.1, 1.3    1.8, 1.5
    40    3.2, 3.3    3.8, 3.9
    80    6.0, 6.8    7.1, 8.3
    160   15, 17
    200   ––, 50
    ===== =========== ===========

    It is about 0.6 + w (1.2 w + 0.016 n) / 1000 ms with w distinct words per document
    and n training documents. A search of more than 5 s by this estimate warns, once.
    Noise makes more words differ, and distances more similar: leave out stop words, and
    use a `document_length` of 20 to 40.

    *Privacy.* The classifier adds none: it stores its training documents. Fitted on
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

    def predict_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Compute the share of the votes that each class gets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_words)
            Documents. None means the training documents, and none of them votes on
            itself.

        Returns
        -------
        probabilities : ndarray of shape (n_queries, n_classes), or list of them
            Columns as in `classes_`; one array for each output, if there are several.

        Warns
        -----
        EmptyDocumentWarning
            If documents have no words. They get the share of each class among the
            training documents with words.
        """
        return self._answered("predict_proba", X)


class WMDKNNRegressor(_Predictor, KNeighborsRegressor):
    """Regression by the k nearest documents in Word Mover's Distance.

    The prediction is the mean of the neighbors' targets. As in `WMDNeighbors`, the
    neighbors are exactly those of brute force.

    Parameters
    ----------
    embedding : WordEmbedding or "one-hot"
        Word j of the embedding is column j of every matrix given. With ``"one-hot"``
        all words are √2 apart.
    n_neighbors : int, default=5
        Number of neighbors whose targets are averaged; at most the number of training
        documents with words.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        Weight of a neighbor in the mean. "uniform" or None is 1. "distance" is one over
        the distance, and neighbors at distance 0 leave no weight to others. A callable
        maps distances of shape (n_queries, n_neighbors) to weights of the same shape.
    n_jobs : int, default=None
        Threads over the queries. None means 1, -1 all processors. The result does not
        depend on it.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns, the number of words.
    feature_names_in_ : ndarray of str, shape (n_words,)
        Column names, if `fit` was given a data frame.
    n_samples_fit_ : int
        Number of documents given to `fit`, including those without words.
    empty_rows_ : ndarray of int
        Rows given to `fit` that hold no word, and were left out.

    See Also
    --------
    WMDKNNClassifier : Votes on labels.
    WMDNeighbors : Finds the neighbors.

    Notes
    -----
    `fit` leaves out documents without words. `predict` gives them the mean of all
    targets, with one `EmptyDocumentWarning`.

    *Privacy.* The model adds none: it stores its training documents and targets. Fitted
    on bags released by a perturber, it is post-processing of the documents, but the
    targets are stored unchanged.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.neighbors import WMDKNNRegressor
    >>> embedding = WordEmbedding(
    ...     ["awful", "bad", "good", "superb"], [[0.0], [1.0], [8.0], [9.0]])
    >>> X = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
    >>> model = WMDKNNRegressor(embedding, n_neighbors=2).fit(X, [1.0, 2.0, 5.0])
    >>> model.predict([[1, 1, 0, 0]])
    array([1.5])
    """


class WMDNeighbors(_WordMovers, NearestNeighbors):
    """Find the nearest documents in Word Mover's Distance, like `NearestNeighbors`.

    The distance between two documents is the least total distance that the words of
    one must travel, in the embedding, to become the words of the other [1]_. Neighbors
    and distances are exactly those of brute force.

    Parameters
    ----------
    embedding : WordEmbedding or "one-hot"
        Word j of the embedding is column j of every matrix given. With ``"one-hot"``
        all words are √2 apart, and the distance is √2 times the total variation
        between the documents' word frequencies.
    n_neighbors : int, default=5
        Number of neighbors that `kneighbors` and `kneighbors_graph` find.
    radius : float, default=None
        Largest distance of the neighbors that `radius_neighbors` and
        `radius_neighbors_graph` find, in the unit of the embedding. If None, pass it to
        these methods.
    n_jobs : int, default=None
        Threads over the queries. None means 1, -1 all processors. The result does not
        depend on it.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns, the number of words.
    feature_names_in_ : ndarray of str, shape (n_words,)
        Column names, if `fit` was given a data frame.
    n_samples_fit_ : int
        Number of documents given to `fit`, including those without words.
    empty_rows_ : ndarray of int
        Rows given to `fit` that hold no word, and were left out.

    See Also
    --------
    WMDNeighborsTransformer : Makes the graph of neighbors as a step of a pipeline.
    WMDKNNClassifier : Lets the neighbors vote.

    Notes
    -----
    Documents may be weighted in any way, such as by tf-idf without normalization to
    unit length (``TfidfVectorizer(norm="l1")``): each row is scaled to mass 1.

    Distances are rounded to 42 binary digits, some 12 decimal ones. Distances that are
    equal in exact arithmetic then tie, and ties go to the first document.

    *Privacy.* The estimator adds none: it stores its documents. Fitted on bags released
    by a perturber, it is post-processing and costs no privacy.

    References
    ----------
    .. [1] Kusner, Sun, Kolkin, Weinberger. "From word embeddings to document
       distances." ICML 2015.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.neighbors import WMDNeighbors
    >>> embedding = WordEmbedding(
    ...     ["cat", "dog", "tea", "milk"], [[0.0], [1.0], [9.0], [8.0]])
    >>> X = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    >>> model = WMDNeighbors(embedding, n_neighbors=1).fit(X)
    >>> model.kneighbors(return_distance=False).tolist()
    [[1], [0], [1]]
    >>> distances, rows = model.radius_neighbors([[0, 0, 1, 1]], radius=8.0)
    >>> rows[0], distances[0]
    (array([1, 2]), array([7.5, 0.5]))
    """

    def __init__(
        self,
        embedding: WordEmbedding | str | None = None,
        *,
        n_neighbors: int = 5,
        radius: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(n_neighbors=n_neighbors, radius=radius, n_jobs=n_jobs, **_OURS)
        self.embedding = embedding


class WMDNeighborsTransformer(_WordMovers, KNeighborsTransformer):
    """Make the graph of nearest documents in Word Mover's Distance, in a pipeline.

    It works like scikit-learn's `KNeighborsTransformer`. The next step takes the graph
    as precomputed distances, such as ``TSNE(metric="precomputed", init="random")``,
    ``KNeighborsClassifier(metric="precomputed")``, ``Isomap(metric="precomputed")``
    or ``SpectralClustering(affinity="precomputed_nearest_neighbors")``.

    Parameters
    ----------
    embedding : WordEmbedding or "one-hot"
        As for `WMDNeighbors`.
    mode : {"distance", "connectivity"}, default="distance"
        Whether edges carry distances or ones.
    n_neighbors : int, default=5
        Number of neighbors of each document. In ``"distance"`` mode the document itself
        is returned as an extra neighbor; in ``"connectivity"`` mode it counts as one of
        the neighbors.
    n_jobs : int, default=None
        Threads over the queries. None means 1, -1 all processors. The result does not
        depend on it.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns, the number of words.
    feature_names_in_ : ndarray of str, shape (n_words,)
        Column names, if `fit` was given a data frame.
    n_samples_fit_ : int
        Number of documents given to `fit`, including those without words.
    empty_rows_ : ndarray of int
        Rows given to `fit` that hold no word, and were left out.

    See Also
    --------
    WMDNeighbors : Finds the neighbors, also within a radius.

    Notes
    -----
    Rows are sorted by distance, and equal distances by row. As in scikit-learn, a
    document is at distance 0 from itself, after earlier copies of it. `fit` leaves out
    documents without words, and `transform` refuses them.

    *Privacy.* The graph reveals which documents are similar. The estimator stores its
    documents. Fitted on bags released by a perturber, it is post-processing.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.neighbors import WMDNeighborsTransformer
    >>> embedding = WordEmbedding(
    ...     ["cat", "dog", "tea", "milk"], [[0.0], [1.0], [9.0], [8.0]])
    >>> X = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    >>> WMDNeighborsTransformer(embedding, n_neighbors=1).fit_transform(X).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 8., 0.]])
    """

    def __init__(
        self,
        embedding: WordEmbedding | str | None = None,
        *,
        mode: str = "distance",
        n_neighbors: int = 5,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(mode=mode, n_neighbors=n_neighbors, n_jobs=n_jobs, **_OURS)
        self.embedding = embedding


def _warn_of_cost(queries: sp.csr_array, sizes: np.ndarray) -> None:
    """Warn of the time of a search before it begins, if it is long."""
    # The estimate was fitted to measured times; see "Cost" of the classifier.
    n, size = queries.shape[0], float(sizes.mean())
    by_words = _BY_WORDS * size + _BY_ROWS * len(sizes)
    seconds = (_EACH * n + by_words * queries.nnz) / 1000
    if seconds >= _SAID:
        warn_once(
            f"Finding the Word Mover's neighbors of {n:,} documents among "
            f"{len(sizes):,} will take about {seconds:,.0f} s of CPU time. It grows "
            "with the square of the number of distinct words per document, here "
            f"{size:.0f}: reduce it with a document_length of 20 to 40, and use "
            "n_jobs. A parameter search repeats this for each candidate and split.",
            UserWarning,
            "cost",
        )


def _warn_empty(empty: np.ndarray, fate: str, stacklevel: int) -> None:
    """Warn once of documents without words, at the line of the user."""
    rows = np.flatnonzero(empty)
    warn_once(
        f"{len(rows)} of {len(empty)} documents contain no word and {fate}: rows "
        f"{name_rows(rows)}.",
        EmptyDocumentWarning,
        fate,
        stacklevel=stacklevel,
    )
