"""Encode documents as means of public word vectors in directions of public texts."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from skdptext.documents._reader import DocumentReader
from skdptext.embeddings import WordEmbedding, check_embedding
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import SITE, DocLinked, blocks, check_integer, limit_blas_threads

# Number of documents encoded at a time, because their rows are dense.
_TOGETHER = 4096
# Lengths of means of unit vectors, and their variances, are at most 1. Smaller values
# than this are rounding errors.
_ROUNDING = 1e-9


class MeanVectorEncoder(
    DocLinked, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    r"""Encode documents in a few directions of public word vectors.

    A document is the sum of its word vectors, weighted by TF-IDF with the document
    frequencies of public texts, and scaled to unit length. The mean of the public texts
    is subtracted. The result is projected on the directions in which the public texts
    vary most, each scaled to unit variance, and scaled to unit length again.

    Parameters
    ----------
    embedding : WordEmbedding
        Public word vectors. Texts are lowercased and split into words of two letters or
        digits, or more; lists of words are taken as they are.
    n_components : int, default=20
        Number of directions; fewer if the public texts vary in fewer.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, dim)
        Directions, largest variance first, each divided by its standard deviation.
        The entry of each that is largest in size is positive.
    mean_ : ndarray of shape (dim,)
        Mean of the public documents' unit vectors.
    explained_variance_ : ndarray of shape (n_components,)
        Variances of the public documents' unit vectors along the directions.
    idf_ : ndarray of shape (n_words,)
        Weight of each word of the embedding, ``1 + log((1 + n) / (1 + df))`` for a word
        in ``df`` of ``n`` public texts.

    Raises
    ------
    InvalidParameterError
        In `fit`, if a parameter breaks its rule, or the texts do not differ in words
        that the embedding knows.

    See Also
    --------
    skdptext.DPDocumentReplacer : Groups such encoded documents.

    Notes
    -----
    *Use.* Words that occur in no public text still count by their vectors. Models in
    this space therefore transfer to texts from other sources. Documents without a known
    word are placed at the origin.

    *Privacy.* Weights, mean and directions come from the texts given to `fit`, which
    must be public. `transform` encodes each document by itself, with the same bits in
    every batch, and adds no privacy.

    *Cost.* Reading the texts, and one product of their sparse counts with the vectors
    of their words, some thousand texts at a time.

    References
    ----------
    .. [1] S. Arora, Y. Liang, T. Ma (2017). A simple but tough-to-beat baseline for
       sentence embeddings. ICLR 2017.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.preprocessing import MeanVectorEncoder
    >>> embedding = WordEmbedding(
    ...     ["cat", "dog", "milk", "tea"], [[1, 0], [0.9, 0.1], [0.1, 1], [0, 1]])
    >>> public = ["a cat", "cat and dog", "tea", "tea and milk"]
    >>> encoder = MeanVectorEncoder(embedding, n_components=1).fit(public)
    >>> encoder.transform(["dog", "milk", "a zebra"]).round(2) + 0.0
    array([[ 1.],
           [-1.],
           [ 0.]])
    """

    # Users import the class from this subpackage.
    _doc_link_template = (
        f"{SITE}api/generated/skdptext.preprocessing.{{estimator_name}}.html"
    )

    def __init__(self, embedding: WordEmbedding, n_components: int = 20) -> None:
        self.embedding = embedding
        self.n_components = n_components

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn weights and directions from public texts.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            Public documents. The words of the embedding are the columns of a count
            matrix.
        y : ignored
            Not used; here for scikit-learn's interface.

        Returns
        -------
        self : estimator
            The estimator itself.
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Learn from public texts, and encode the same texts; they are read once.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            Public documents.
        y : ignored
            Not used; here for scikit-learn's interface.

        Returns
        -------
        encoded : ndarray of shape (n_documents, n_components)
            Rows of unit length, or 0.
        """
        return self._place(self._fit(X))

    def _fit(self, X: Any) -> sp.csr_array:
        """Learn from texts, and return their counts."""
        n_components = check_integer("n_components", self.n_components, low=1)
        bags = self._read(X)
        n_documents = bags.shape[0]
        if not n_documents:
            raise InvalidParameterError("X must hold at least one document, got none.")
        in_documents = np.bincount(bags.indices, minlength=bags.shape[1])
        idf = 1 + np.log((1 + n_documents) / (1 + in_documents))
        axes = _directions(bags, idf, self.embedding.vectors, n_components)
        if axes is None:
            raise InvalidParameterError(
                "X must hold documents that differ in words that the embedding knows, "
                f"got n_samples={n_documents} that do not, with "
                f"n_features={np.count_nonzero(in_documents)} such words."
            )
        self.idf_ = idf
        self.mean_, self.explained_variance_, self.components_ = axes
        self._n_features_out = len(self.components_)
        return bags

    def transform(self, X: Any) -> np.ndarray:
        """Encode documents, each by itself.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            Texts or counts.

        Returns
        -------
        encoded : ndarray of shape (n_documents, n_components)
            Rows of unit length, or of zeros for documents without a known word.

        Raises
        ------
        InvalidParameterError
            If `X` breaks a rule; the message quotes no document.
        """
        check_is_fitted(self, "components_")
        return self._place(self._read(X))

    def _read(self, X: Any) -> sp.csr_array:
        embedding = check_embedding(self.embedding)
        return DocumentReader(embedding).read(X).bags(len(embedding))

    def _place(self, bags: sp.csr_array) -> np.ndarray:
        placed = [np.empty((0, len(self.components_)))]
        for rows in _unit_means(bags, self.idf_, self.embedding.vectors):
            rows[rows.any(axis=1)] -= self.mean_
            placed.append(_unit_rows(_each_by_itself(rows, self.components_.T)))
        return np.concatenate(placed)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False  # any one, with other columns than words
        tags.transformer_tags.preserves_dtype = []
        return tags


def _unit_rows(places: np.ndarray) -> np.ndarray:
    """Divide rows by their lengths; rows without a direction become 0."""
    lengths = np.linalg.norm(places, axis=1, keepdims=True)
    # A row that is 0 up to rounding has no direction.
    return np.where(lengths > _ROUNDING, places / np.where(lengths > 0, lengths, 1), 0)


def _unit_means(
    bags: sp.csr_array, weights: np.ndarray, vectors: np.ndarray
) -> Iterator[np.ndarray]:
    """Yield weighted sums of word vectors, of unit length, in blocks of documents.

    Only vectors of words that occur are converted to double precision.
    """
    for at in blocks(bags.shape[0], _TOGETHER):
        part = bags[at]
        words, columns = np.unique(part.indices, return_inverse=True)
        weighted = sp.csr_array(
            (part.data * weights[part.indices], columns, part.indptr),
            shape=(part.shape[0], len(words)),
        )
        # A sparse product adds up each row by itself, in the order of its words.
        yield _unit_rows(weighted @ vectors[words].astype(np.float64))


def _each_by_itself(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Compute ``rows @ matrix`` such that a result does not depend on other rows."""
    # BLAS may round the same row differently in another batch. A sparse product does
    # not.
    n, dim = rows.shape
    starts = np.arange(n + 1) * dim
    columns = np.tile(np.arange(dim), n)
    wide = sp.csr_array((rows.ravel(), columns, starts), shape=rows.shape)
    return np.asarray(wide @ np.ascontiguousarray(matrix))


def _directions(
    bags: sp.csr_array, weights: np.ndarray, vectors: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Compute mean, variances and scaled directions of documents; None if all equal.

    Documents without a known word are left out.
    """
    dim = vectors.shape[1]
    n, total, products = 0, np.zeros(dim), np.zeros((dim, dim))
    with limit_blas_threads(1):  # the result must not depend on the number of threads
        for rows in _unit_means(bags, weights, vectors):
            known = np.compress(rows.any(axis=1), rows, axis=0)
            n += len(known)
            total += known.sum(axis=0)
            products += known.T @ known
        mean = total / max(n, 1)
        covariance = products / max(n, 1) - np.outer(mean, mean)
        _, variances, axes = np.linalg.svd((covariance + covariance.T) / 2)
    large = np.flatnonzero(variances > _ROUNDING)[:k]
    if not len(large):
        return None
    variances, axes = variances[large], axes[large]
    tops = np.abs(axes).argmax(axis=1)
    axes = axes * np.sign(axes[np.arange(len(axes)), tops])[:, None]
    return mean, variances, axes / np.sqrt(variances)[:, None]
