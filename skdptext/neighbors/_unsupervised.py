"""Neighbours by exact Word Mover's Distance, without labels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.neighbors._base import WMDNeighborsBase, as_parameter_error
from skdptext.utils import check_flag, check_option, check_real


class Unlabelled(WMDNeighborsBase):
    """Documents without labels."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Non-negative word weights: counts, frequencies or tf-idf; each row is given
            mass 1.
        y : None
            Ignored.

        Returns
        -------
        self : estimator
            The estimator itself.

        Raises
        ------
        InvalidParameterError
            If a parameter or the input breaks its rule; if no document has words; of a
            `WMDNeighborsTransformer`, if too few have for its neighbours.

        Warns
        -----
        EmptyDocumentWarning
            If documents have no words; they are left out.
        """
        embedding = self._check_fit(X)
        with as_parameter_error():
            options = {"accept_sparse": "csr", "dtype": np.float64}
            weights = check_array(X, estimator=self, input_name="X", **options)
        self._keep(X, weights, embedding)
        return self


class WMDNeighbors(Unlabelled):
    """Nearest documents in Word Mover's Distance, as `NearestNeighbors` finds points.

    The distance between two documents is the least total distance that the words of
    one must travel, in the embedding, to become the words of the other [1]_. Neighbours
    and distances are exactly those of brute force.

    Parameters
    ----------
    embedding : WordEmbedding or "one-hot"
        Word j of the embedding is column j of every matrix given. With ``"one-hot"``
        all words are √2 apart, and the distance is √2 times the total variation
        between the documents' word frequencies.
    n_neighbors : int, default=5
        Neighbours that `kneighbors` and `kneighbors_graph` find.
    radius : float, default=None
        Largest distance of the neighbours that `radius_neighbors` and
        `radius_neighbors_graph` find, in the unit of the embedding. None: it is given
        to these methods.
    n_jobs : int, default=None
        Threads over the queries. None means 1, -1 all processors. The result does not
        depend on it.
    verbose : int, default=0
        Above 0, show a progress bar over the queries on a terminal or in a notebook;
        above 1, anywhere.

    Attributes
    ----------
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
    WMDNeighborsTransformer : The graph of neighbours as a step of a pipeline.
    WMDKNNClassifier : A vote of the neighbours.

    Notes
    -----
    Documents may be weighted in any way, such as by tf-idf without normalisation to
    unit length (``TfidfVectorizer(norm="l1")``): each row is given mass 1.

    Distances are rounded to 42 binary digits, some 12 decimal ones: those that are
    equal in exact arithmetic then tie, and ties go to the document that comes first.

    *Privacy.* The estimator adds none: it keeps its documents. Fitted on bags released
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
        verbose: int = 0,
    ) -> None:
        self.embedding = embedding
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.radius is not None:
            check_real("radius", self.radius, low=0.0)

    def _n_needed(self) -> int:
        return 1  # calls give the number of neighbours, or a radius

    def radius_neighbors(
        self,
        X: Any = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> tuple[np.ndarray, np.ndarray] | np.ndarray:
        """All training documents within a radius, exactly as brute force finds them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_words), default=None
            As in `kneighbors`.
        radius : float, default=None
            Largest distance of a neighbour, in the unit of the embedding; None: the
            estimator's.
        return_distance : bool, default=True
            Whether to return the distances too.
        sort_results : bool, default=False
            Whether neighbours come by ascending distance, or by ascending row.

        Returns
        -------
        distances : ndarray of shape (n_queries,), of ndarrays
            Only if `return_distance`.
        indices : ndarray of shape (n_queries,), of ndarrays of int
            Rows of the matrix given to `fit`.

        Raises
        ------
        InvalidParameterError
            If a document has no words, or there is no radius.
        """
        with_distance = check_flag("return_distance", return_distance)
        starts, rows, distances = self._within(X, radius, sort_results)
        # two arrays, as the rows must not keep distances that are not asked for
        far, near = (np.empty(len(starts) - 1, dtype=object) for _ in range(2))
        for i, part in enumerate(map(slice, starts[:-1], starts[1:])):
            far[i], near[i] = distances[part], rows[part]
        return (far, near) if with_distance else near

    def radius_neighbors_graph(
        self,
        X: Any = None,
        radius: float | None = None,
        mode: str = "connectivity",
        sort_results: bool = False,
    ) -> Any:
        """Sparse graph from documents to all training documents within a radius.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_words), default=None
            As in `kneighbors`.
        radius : float, default=None
            As in `radius_neighbors`.
        mode : {"connectivity", "distance"}, default="connectivity"
            Whether edges carry ones or distances.
        sort_results : bool, default=False
            Whether edges of a row come by ascending distance, or by ascending column.

        Returns
        -------
        graph : sparse matrix in CSR format, of shape (n_queries, n_samples_fit)
            Zero distances are stored.

        Raises
        ------
        InvalidParameterError
            As `radius_neighbors`, and if `mode` is neither of the two.
        """
        check_option("mode", mode, ("connectivity", "distance"))
        starts, rows, distances = self._within(X, radius, sort_results)
        return self._graph(starts, rows, distances, mode)

    def _within(
        self, X: Any, radius: float | None, sort_results: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        self._check_ready()
        by_distance = check_flag("sort_results", sort_results)
        given = self.radius if radius is None else radius
        if given is None:
            raise InvalidParameterError(
                "radius must be given, to the estimator or to the method, got None."
            )
        # Without X the training documents ask, and none of them is its own neighbour.
        queries, itself = self._query_bags(X)
        starts, rows, distances = self._index.within(
            queries,
            check_real("radius", given, low=0.0),
            exclude=np.arange(len(queries)) if itself else None,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        if not by_distance:  # which is how the search returns them
            owner = np.repeat(np.arange(len(queries)), np.diff(starts))
            order = np.lexsort((rows, owner))
            rows, distances = rows[order], distances[order]
        return starts, self._rows[rows], distances


class WMDNeighborsTransformer(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, Unlabelled
):
    """Graph of nearest documents in Word Mover's Distance, as a step of a pipeline.

    As scikit-learn's `KNeighborsTransformer`: what follows takes the graph as
    precomputed distances, such as ``TSNE(metric="precomputed", init="random")``,
    ``KNeighborsClassifier(metric="precomputed")``, ``Isomap(metric="precomputed")``
    or ``SpectralClustering(affinity="precomputed_nearest_neighbors")``.

    Parameters
    ----------
    embedding : WordEmbedding or "one-hot"
        As for `WMDNeighbors`.
    mode : {"distance", "connectivity"}, default="distance"
        Whether edges carry distances or ones.
    n_neighbors : int, default=5
        Neighbours of each document. Of mode ``"distance"`` itself is one more; of mode
        ``"connectivity"`` it is among them.
    n_jobs : int, default=None
        Threads over the queries. None means 1, -1 all processors. The result does not
        depend on it.
    verbose : int, default=0
        Above 0, show a progress bar over the queries on a terminal or in a notebook;
        above 1, anywhere.

    Attributes
    ----------
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
    WMDNeighbors : The neighbours themselves, also within a radius.

    Notes
    -----
    Rows are sorted by distance. `fit_transform` puts each document first in its own
    row, at distance 0, also where copies of it come before it; `transform`, which
    cannot know that documents are those of `fit`, gives equal distances by row.

    *Privacy.* The graph tells which documents are alike. The estimator keeps its
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
        verbose: int = 0,
    ) -> None:
        self.embedding = embedding
        self.mode = mode
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_option("mode", self.mode, ("distance", "connectivity"))

    def _n_needed(self) -> int:
        return self.n_neighbors + (self.mode == "distance")

    @property
    def _n_features_out(self) -> int:
        return self.n_samples_fit_

    def transform(self, X: Any) -> Any:
        """Graph from documents to their nearest training documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_words)
            Non-negative word weights.

        Returns
        -------
        graph : sparse matrix in CSR format, of shape (n_queries, n_samples_fit)
            Row i holds the neighbours of document i.

        Warns
        -----
        EmptyDocumentWarning
            If documents have no words; their rows are empty.
        """
        # one more frame to the user's line: scikit-learn wraps this method
        k, queries, filled = self._asked(X, "have no neighbours", stacklevel=5)
        distances, places = self._nearest(queries, k)
        starts = np.concatenate([[0], np.cumsum(k * filled)])  # none, or k in each
        return self._graph(starts, self._rows[places], distances, self.mode)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Graph from documents to themselves and their nearest.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Non-negative word weights.
        y : None
            Ignored.

        Returns
        -------
        graph : sparse matrix in CSR format, of shape (n_documents, n_documents)
            Row i holds the neighbours of document i.

        Raises
        ------
        InvalidParameterError
            As `fit`.

        Warns
        -----
        EmptyDocumentWarning
            If documents have no words; they are neighbours of themselves alone.
        """
        self.fit(X)
        k = self.n_neighbors - (self.mode == "connectivity")
        distances, places = np.empty(0), np.empty(0, dtype=np.intp)
        if k:
            distances, places = self._nearest(self._bags, k, itself=True)
        n_edges = np.ones(self.n_samples_fit_, dtype=np.intp)  # to itself
        n_edges[self._rows] += k
        starts = np.concatenate([[0], np.cumsum(n_edges)])
        itself = np.zeros(starts[-1], dtype=bool)
        itself[starts[:-1]] = True
        end, length = np.empty(starts[-1], dtype=np.intp), np.zeros(starts[-1])
        end[itself] = np.arange(self.n_samples_fit_)
        end[~itself] = self._rows[places].ravel()
        length[~itself] = distances.ravel()
        return self._graph(starts, end, length, self.mode)
