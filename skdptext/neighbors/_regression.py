"""k nearest neighbours by exact Word Mover's Distance: a mean."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from skdptext.neighbors._base import Predictor


class WMDKNNRegressor(RegressorMixin, Predictor):
    """Regression by the k nearest documents in Word Mover's Distance.

    The prediction is the mean of the neighbours' targets. Neighbours are found as by
    `WMDNeighbors`: exactly the ones that brute force finds.

    Parameters
    ----------
    embedding : WordEmbedding or "one-hot"
        Word j of the embedding is column j of every matrix given. With ``"one-hot"``
        all words are √2 apart.
    n_neighbors : int, default=5
        Neighbours whose targets are averaged; at most the number of training documents
        with words.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        Weight of a neighbour in the mean: 1, also for None; or one over its distance,
        where neighbours at distance 0 leave no weight to others; or the result of
        calling it with the distances, of shape (n_queries, n_neighbors), which returns
        weights of the same shape.
    n_jobs : int, default=None
        Threads over the queries. None means 1, -1 all processors. The result does not
        depend on it.
    verbose : int, default=0
        Above 0, show a progress bar over the queries on a terminal or in a notebook;
        above 1, anywhere.

    Attributes
    ----------
    target_mean_ : float, or ndarray of shape (n_outputs,)
        Mean target of the training documents that have words.
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
    WMDKNNClassifier : A vote on labels.
    WMDNeighbors : The neighbours alone.

    Notes
    -----
    Documents without words are left out by `fit`; `predict` answers them with
    `target_mean_` and one `EmptyDocumentWarning`.

    *Privacy.* The model adds none: it keeps its training documents and targets. Fitted
    on bags released by a perturber, it is post-processing of the documents; the targets
    are kept as they are.

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

    def fit(self, X: Any, y: Any) -> WMDKNNRegressor:
        """Keep the training documents and their targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Non-negative word weights: counts, frequencies or tf-idf; each row is given
            mass 1.
        y : array-like of shape (n_documents,) or (n_documents, n_outputs)
            Finite numbers.

        Returns
        -------
        self : WMDKNNRegressor
            The estimator itself.

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
        rule = "y must hold numbers"
        weights, embedding, targets = self._read_targets(X, y, rule, float)
        self._keep(X, weights, embedding)
        self._targets = targets[self._rows]
        mean = self._targets.mean(axis=0)
        self.target_mean_ = mean if self._targets.ndim == 2 else float(mean)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the targets of documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_words)

        Returns
        -------
        targets : ndarray of shape (n_queries,) or (n_queries, n_outputs)
            A mean over the neighbours for each query.

        Raises
        ------
        InvalidParameterError
            If callable `weights` return a different shape, a negative or non-finite
            weight, or only zeros for a document.

        Warns
        -----
        EmptyDocumentWarning
            If documents have no words; they get `target_mean_`.
        """
        k, queries, filled = self._asked(X, "get the mean target")
        result = np.empty((len(filled), *self._targets.shape[1:]))
        result[:] = self.target_mean_
        if len(queries):
            rows, weights = self._neighbors(k, queries)
            share = weights / weights.sum(axis=1, keepdims=True)
            # neighbours j of query i; the dots are the outputs, if there are several
            result[filled] = np.einsum("ij,ij...->i...", share, self._targets[rows])
        return result

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # scikit-learn's check fits signed data to a line, as it does for its own
        # neighbours
        tags.regressor_tags.poor_score = True
        return tags
