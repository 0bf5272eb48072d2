"""Documents as means of public word vectors, in the directions of public texts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from skdptext.documents._encoders import (
    ROUNDING,
    TOGETHER,
    DocumentEncoder,
    in_parts,
    unit_rows,
)
from skdptext.documents._reader import DocumentReader
from skdptext.embeddings import WordEmbedding, check_columns, check_embedding
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer, limit_blas_threads, plain_documents


class MeanVectorEncoder(DocumentEncoder):
    r"""Place documents in a few directions of public word vectors.

    A document is the sum of its words' vectors, each weighted by how often the document
    has the word and how few public texts have it (TF-IDF), scaled to unit length. Of
    this the mean of the public texts is subtracted; what is left is projected on the
    directions in which the public texts vary most, each scaled to unit variance, and
    scaled to unit length again.

    Parameters
    ----------
    embedding : WordEmbedding or "one-hot"
        Public word vectors. ``"one-hot"``, with count matrices only: each column is a
        word with a direction of its own.
    n_components : int, default=20
        Number of directions; fewer where the public texts vary in fewer.
    lowercase : bool, default=True
        Lowercase texts before they are split into words.
    stop_words : {"english"} or list of str, default=None
        Words to leave out.
    token_pattern : str, default=None
        Regular expression of a word. None: two letters or digits, or more, with their
        marks, and one letter of a script other than Latin. Not used if `tokenizer` is
        given.
    tokenizer : callable, default=None
        Splits a string into words.

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
    n_components_ : int
        Directions found.
    n_features_in_ : int
        Number of columns, if `fit` was given a count matrix.

    Raises
    ------
    InvalidParameterError
        In `fit`, if a parameter breaks its rule, or the texts do not differ in words
        that the embedding knows.

    See Also
    --------
    skdptext.DPDocumentReplacer : Groups documents that are encoded so.

    Notes
    -----
    *Use.* Words that no public text has still count, by their vectors: what is learned
    in this space travels to text of another source. Documents without a known word are
    placed at the origin.

    *Privacy.* Weights, mean and directions come from the texts given to `fit`, which
    must be public. `transform` looks at each document by itself, to the last bit
    whatever is in the batch, and adds no privacy.

    *Cost.* That of reading the texts, and one product of their sparse counts with the
    vectors of the words that they have, some thousand texts at a time.

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

    def __init__(
        self,
        embedding: WordEmbedding | Literal["one-hot"],
        n_components: int = 20,
        *,
        lowercase: bool = True,
        stop_words: Literal["english"] | Iterable[str] | None = None,
        token_pattern: str | None = None,
        tokenizer: Callable[[str], list[str]] | None = None,
    ) -> None:
        self.embedding = embedding
        self.n_components = n_components
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.tokenizer = tokenizer

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Learn from public texts, and place the same; they are read once.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            Public.
        y : ignored
            Not used; here for scikit-learn's interface.

        Returns
        -------
        encoded : ndarray of shape (n_documents, n_components)
            Rows of unit length, or 0.
        """
        parts, embedding = self._fit(X)
        return self._place(parts, embedding)

    def _fit(self, X: Any) -> tuple[list[sp.csr_array], WordEmbedding]:
        """Learn from texts, and return their counts and the embedding."""
        n_components = check_integer("n_components", self.n_components, low=1)
        bags, embedding = self._read(X, reset=True)
        parts = list(self._counted(X, bags, embedding))
        n_documents = sum(part.shape[0] for part in parts)
        if not n_documents:
            raise InvalidParameterError("X must hold at least one document, got none.")
        in_documents = sum(
            np.bincount(part.indices, minlength=len(embedding)) for part in parts
        )
        idf = 1 + np.log((1 + n_documents) / (1 + in_documents))
        axes = _directions(
            (_unit_means(part, idf, embedding.vectors) for part in parts),
            embedding.dim,
            n_components,
        )
        if axes is None:
            raise InvalidParameterError(
                "X must hold documents that differ in words that the embedding knows, "
                f"got n_samples={n_documents} that do not, with "
                f"n_features={np.count_nonzero(in_documents)} such words."
            )
        mean, variances, components = axes
        learned = {
            "idf_": idf,
            "mean_": mean,
            "explained_variance_": variances,
            "components_": components,
        }
        self._keep(learned, of_counts=bags is not None)
        return parts, embedding

    def transform(self, X: Any) -> np.ndarray:
        """Place documents, each by itself.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            As in `fit`, texts or counts.

        Returns
        -------
        encoded : ndarray of shape (n_documents, n_components)
            Rows of unit length; of zeros for documents without a word that is known.

        Raises
        ------
        InvalidParameterError
            If `X` breaks a rule; the message quotes no document.
        """
        check_is_fitted(self, "components_")
        bags, embedding = self._read(X, reset=False)
        return self._place(self._counted(X, bags, embedding), embedding)

    def _read(
        self, X: Any, *, reset: bool
    ) -> tuple[sp.csr_array | None, WordEmbedding]:
        """X if it is a count matrix, and the embedding."""
        one_hot = isinstance(self.embedding, str)
        n_words = None if one_hot else len(check_embedding(self.embedding))
        bags = self._read_counts(X, reset=reset, n_words=n_words)
        if bags is None:
            return None, check_embedding(self.embedding)
        embedding = check_embedding(self.embedding, one_hot_words=bags.shape[1])
        if not one_hot:
            check_columns(X, embedding)
        return bags, embedding

    def _counted(
        self, X: Any, bags: sp.csr_array | None, embedding: WordEmbedding
    ) -> Iterator[sp.csr_array]:
        """Counts of the embedding's words, some documents at a time."""
        if bags is not None:
            return in_parts(bags)
        documents = iter(plain_documents(X))
        groups = iter(lambda: list(itertools.islice(documents, TOGETHER)), [])
        read = DocumentReader.of(self, embedding).read_texts
        return (read(group).bags(len(embedding)) for group in groups)

    def _place(
        self, parts: Iterable[sp.csr_array], embedding: WordEmbedding
    ) -> np.ndarray:
        placed = [np.empty((0, self.n_components_))]
        for part in parts:
            rows = _unit_means(part, self.idf_, embedding.vectors)
            known = rows.any(axis=1)
            rows[known] -= self.mean_
            placed.append(unit_rows(_each_by_itself(rows, self.components_.T)))
        return np.concatenate(placed)


def _unit_means(
    bags: sp.csr_array, weights: np.ndarray, vectors: np.ndarray
) -> np.ndarray:
    """Weighted sums of word vectors, of unit length; (n_documents, dim).

    Only the vectors of words that are there are taken, in double precision.
    """
    words, columns = np.unique(bags.indices, return_inverse=True)
    weighted = sp.csr_array(
        (bags.data * weights[bags.indices], columns, bags.indptr),
        shape=(bags.shape[0], len(words)),
    )
    # a sparse product adds up each row by itself, in the order of its words
    return unit_rows(weighted @ vectors[words].astype(np.float64))


def _each_by_itself(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """``rows @ matrix``, where other rows do not matter.

    BLAS rounds the same row otherwise in another batch; a sparse product does not.
    """
    n, dim = rows.shape
    starts = np.arange(n + 1) * dim
    columns = np.tile(np.arange(dim), n)
    wide = sp.csr_array((rows.ravel(), columns, starts), shape=rows.shape)
    return np.asarray(wide @ np.ascontiguousarray(matrix))


def _directions(
    parts: Iterable[np.ndarray], dim: int, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Mean, variances and scaled directions of rows; None where no rows differ.

    Rows of zeros, which are documents without a known word, are left out.
    """
    n, total, products = 0, np.zeros(dim), np.zeros((dim, dim))
    with limit_blas_threads(1):  # so that the number of threads does not matter
        for rows in parts:
            known = np.compress(rows.any(axis=1), rows, axis=0)
            n += len(known)
            total += known.sum(axis=0)
            products += known.T @ known
        mean = total / max(n, 1)
        covariance = products / max(n, 1) - np.outer(mean, mean)
        _, variances, axes = np.linalg.svd((covariance + covariance.T) / 2)
    large = np.flatnonzero(variances > ROUNDING)[:k]
    if not len(large):
        return None
    variances, axes = variances[large], axes[large]
    tops = np.abs(axes).argmax(axis=1)
    axes = axes * np.sign(axes[np.arange(len(axes)), tops])[:, None]
    return mean, variances, axes / np.sqrt(variances)[:, None]
