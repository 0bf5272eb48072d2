"""k nearest neighbours by exact Word Mover's Distance: a vote."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from skdptext.exceptions import InvalidParameterError
from skdptext.neighbors._base import Predictor, as_parameter_error
from skdptext.transport import WordBags

_FATE = "get the class prior"


class WMDKNNClassifier(ClassifierMixin, Predictor):
    """Classifier by the k nearest documents in Word Mover's Distance.

    The distance between two documents is the least total distance that the words of
    one must travel, in the embedding, to become the words of the other [1]_. The
    neighbours and distances are exactly those of a brute-force search: lower bounds
    rule most documents out before they are solved, and ties go to the document that
    comes first.

    Parameters
    ----------
    embedding : WordEmbedding or "one-hot"
        Word j of the embedding is column j of every matrix given. After a perturber it
        must be the perturber's: bags released by another one are refused. With
        ``"one-hot"`` all words are √2 apart, and the distance is √2 times the total
        variation between the documents' word frequencies.
    n_neighbors : int, default=5
        Neighbours that vote; at most the number of training documents with words.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        Weight of a neighbour's vote: 1, also for None; or one over its distance, where
        neighbours at distance 0 outvote all others; or the result of calling it with
        the distances, of shape (n_queries, n_neighbors), which returns weights of the
        same shape.
    n_jobs : int, default=None
        Threads over the queries. None means 1, -1 all processors. The result does not
        depend on it.
    verbose : int, default=0
        Above 0, show a progress bar over the queries on a terminal or in a notebook;
        above 1, anywhere.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of them
        Labels, sorted; of each output, if there are several.
    class_prior_ : ndarray of shape (n_classes,), or list of them
        Share of each class among the training documents that have words.
    outputs_2d_ : bool
        Whether the labels given to `fit` had a column per output.
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
    WMDKNNRegressor : The mean of numbers instead of a vote.
    WMDNeighbors : The neighbours alone, without labels.
    skdptext.metrics.pairwise_word_movers_distances : The distances themselves.

    Notes
    -----
    A document without words has no distance to any other. `fit` leaves such rows out;
    `predict` answers them with the most frequent class and `predict_proba` with
    `class_prior_`, each with one `EmptyDocumentWarning`; `kneighbors` and
    `kneighbors_graph` refuse them.

    *Cost.* CPU milliseconds a query, in plain and in noisy text (60% of the words
    changed), by words of each document and number of training documents. Docstrings in
    100 dimensions; in the last row fan fiction in 300, among 240 documents:

    ===== =========== ===========
    words 300         1,000
    ===== =========== ===========
    10    1.9, 2.2
    20    2.7, 3.6    3.4, 4.5
    40    4.6, 5.7    5.3, 7.8
    80    8, 15       11, 21
    160   20, 41
    200   54, 86
    ===== =========== ===========

    It is about 1.5 + w² (2.4 + .003 n) / 1000 ms with w different words a document and
    n training documents. A search of more than 5 s by this estimate warns, once. Noise
    makes more words differ, and all distances alike: leave out stop words, and take a
    `document_length` of 20 to 40.

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

    def fit(self, X: Any, y: Any) -> WMDKNNClassifier:
        """Keep the training documents and their labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Non-negative word weights: counts, frequencies or tf-idf; each row is given
            mass 1.
        y : array-like of shape (n_documents,) or (n_documents, n_outputs)
            Labels of at least two classes.

        Returns
        -------
        self : WMDKNNClassifier
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
        rule = "y must hold one label per document"
        weights, embedding, labels = self._read_targets(X, y, rule)
        with as_parameter_error():
            check_classification_targets(labels)
        several = labels.ndim == 2 and labels.shape[1] > 1
        columns = labels.reshape(len(labels), -1).T
        classes, codes = zip(
            *(np.unique(column, return_inverse=True) for column in columns),
            strict=True,
        )
        if not several and len(classes[0]) < 2:
            raise InvalidParameterError("y must hold at least 2 classes, got 1 class.")
        self._keep(X, weights, embedding)
        self.outputs_2d_ = several
        self._codes = np.array(codes)[:, self._rows]  # (n_outputs, n_filled)
        priors = [
            np.bincount(code, minlength=len(names)) / len(self._rows)
            for code, names in zip(self._codes, classes, strict=True)
        ]
        self.classes_ = list(classes) if several else classes[0]
        self.class_prior_ = priors if several else priors[0]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the labels of documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_words)

        Returns
        -------
        labels : ndarray of shape (n_queries,) or (n_queries, n_outputs)
            For equal votes, the class that comes first in `classes_`.

        Warns
        -----
        EmptyDocumentWarning
            If documents have no words; they get the most frequent class.
        UserWarning
            If the search takes more than 5 s by the estimate of *Cost*; once.
        """
        k, queries, filled = self._asked(X, _FATE)
        shares = self._shares(k, queries, filled)
        winners = [share.argmax(axis=1) for share in shares]
        named = [
            names[winner]
            for names, winner in zip(self._each(self.classes_), winners, strict=True)
        ]
        return np.stack(named, axis=1) if self.outputs_2d_ else named[0]

    def predict_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Share of the votes that each class gets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_words)

        Returns
        -------
        probabilities : ndarray of shape (n_queries, n_classes), or list of them
            Columns as in `classes_`; one array for each output, if there are several.

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
        shares = self._shares(*self._asked(X, _FATE))
        return shares if self.outputs_2d_ else shares[0]

    def _each(self, values: Any) -> list[np.ndarray]:
        """A list with an entry for each output."""
        return values if self.outputs_2d_ else [values]

    def _shares(
        self, k: int, queries: WordBags, filled: np.ndarray
    ) -> list[np.ndarray]:
        """The share of the votes that each class of each output gets."""
        priors = self._each(self.class_prior_)
        shares = [np.tile(prior, (len(filled), 1)) for prior in priors]
        if len(queries):
            rows, weights = self._neighbors(k, queries)
            voters = np.arange(len(queries))
            for share, codes in zip(shares, self._codes, strict=True):
                votes = np.zeros((len(queries), share.shape[1]))
                # by rank, as two neighbours of a row may have one class: a single
                # indexed += would count them once
                for rank in range(k):
                    votes[voters, codes[rows[:, rank]]] += weights[:, rank]
                share[filled] = votes / votes.sum(axis=1, keepdims=True)
        return shares

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
