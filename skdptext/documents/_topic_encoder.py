"""Documents as points in a few directions of topics, by correspondence analysis."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.utils.extmath import svd_flip
from sklearn.utils.sparsefuncs import inplace_column_scale, inplace_row_scale
from sklearn.utils.validation import check_is_fitted

from skdptext.documents._encoders import (
    ROUNDING,
    TOGETHER,
    DocumentEncoder,
    in_parts,
    unit_rows,
)
from skdptext.documents._reader import DocumentReader
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer, plain_documents, shown

# A large corpus leaves out words that fewer documents have: a direction of a rare word
# would set a few documents apart and group nothing. Chosen, not measured.
_MIN_DF = 5
# A matrix of at most this many entries is decomposed in full, since that needs no
# iteration and its dense residuals take less than a megabyte. Chosen, not measured.
_DENSE = 10**5


class TopicEncoder(DocumentEncoder):
    r"""Place documents in a few directions of topics, learned from public texts.

    Correspondence analysis of the matrix of word counts. With P the counts divided by
    their sum, r and c its row and column sums, the standardised residuals

    .. math::

        S = D_r^{-1/2} (P - r c^\top) D_c^{-1/2} \approx U Σ V^\top

    are decomposed, and a document with word frequencies h is placed at
    :math:`h^\top D_c^{-1/2} V`, the transition formula, scaled to unit length. For a
    document that was fitted these are its principal coordinates.

    Parameters
    ----------
    n_components : int, default=10
        Number of directions; fewer where the counts have a lower rank.
    min_df : int, default=None
        Leave out words that are in fewer documents. None: 5, or for fewer than 50
        documents a tenth of their number.
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
    components_ : ndarray of shape (n_components, n_words)
        Standard coordinates of the words, one row per direction.
    singular_values_ : ndarray of shape (n_components,)
        Σ: canonical correlations between documents and words, largest first.
    n_components_ : int
        Directions found.
    words_ : ndarray of str, shape (n_words,)
        The words that are counted. Absent if `fit` was given a count matrix.
    n_features_in_ : int
        Number of columns, if `fit` was given a count matrix.

    Raises
    ------
    InvalidParameterError
        In `fit`, if a parameter breaks its rule, or the texts do not differ in the
        words that are counted.

    See Also
    --------
    skdptext.DPDocumentReplacer : Groups documents that are encoded so.

    Notes
    -----
    *Use.* Euclidean distances between the rows are cosine distances, so that k-means
    after it groups documents by direction. Documents without a known word are placed at
    the origin. Common words weigh little, as every word is measured by how far its
    counts are from what the sizes of the documents make of them.

    *Privacy.* The words and directions come from the texts given to `fit`, which
    must be public. `transform` looks at each document by itself, and adds no privacy.

    *Cost.* Some dozens of products of the sparse counts with a vector.

    References
    ----------
    .. [1] M. Greenacre (2007). Correspondence Analysis in Practice. 2nd edition.

    Examples
    --------
    >>> from skdptext.preprocessing import TopicEncoder
    >>> texts = ["cat and dog", "dog and cat and dog", "tea and milk", "milk and tea"]
    >>> encoder = TopicEncoder(n_components=1).fit(texts)
    >>> encoder.transform(["a dog", "tea", "a zebra"]).round(2) + 0.0
    array([[-1.],
           [ 1.],
           [ 0.]])
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        min_df: int | None = None,
        lowercase: bool = True,
        stop_words: Literal["english"] | Iterable[str] | None = None,
        token_pattern: str | None = None,
        tokenizer: Callable[[str], list[str]] | None = None,
    ) -> None:
        self.n_components = n_components
        self.min_df = min_df
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.tokenizer = tokenizer

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Find the directions, and place the same texts; they are read once.

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
        return unit_rows(_profiles(self._fit(X)) @ self.components_.T)

    def _fit(self, X: Any) -> sp.csr_array:
        """Learn from texts, and return their counts of the words that are used."""
        n_components = check_integer("n_components", self.n_components, low=1)
        if self.min_df is not None:
            check_integer("min_df", self.min_df, low=1)
        reader = DocumentReader.of(self, None)
        given = self._read_counts(X, reset=True)
        bags, words = _all_counted(reader, X) if given is None else (given, None)
        n_documents = bags.shape[0]
        min_df = self.min_df
        if min_df is None:
            min_df = min(_MIN_DF, max(1, n_documents // 10))
        in_documents = np.bincount(bags.indices, minlength=bags.shape[1])
        used = np.flatnonzero(in_documents >= min_df)
        axes = _correspondence(bags[:, used], n_components)
        if axes is None:
            raise InvalidParameterError(
                f"X must hold documents that differ in words of at least {min_df} of "
                f"them (min_df={shown(self.min_df)}), got n_samples={n_documents} with "
                f"n_features={len(used)} such words."
            )
        values, coordinates = axes
        learned: dict[str, Any] = {"singular_values_": values}
        if words is None:
            learned["components_"] = np.zeros((len(values), bags.shape[1]))
            learned["components_"][:, used] = coordinates
        else:
            learned |= {"words_": words[used], "components_": coordinates}
            bags = bags[:, used]
        self._keep(learned, of_counts=words is None)
        return bags

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
        bags = self._read_counts(X, reset=False)
        if bags is None:
            number = {word: i for i, word in enumerate(self.words_.tolist())}
            parts = _counted(DocumentReader.of(self, None), X, number)
        else:
            parts = in_parts(bags)
        placed = [unit_rows(_profiles(part) @ self.components_.T) for part in parts]
        return np.concatenate([np.empty((0, self.n_components_)), *placed])


def _all_counted(reader: DocumentReader, X: Any) -> tuple[sp.csr_array, np.ndarray]:
    """Counts of all words that documents have, and the words."""
    number: dict[str, int] = {}
    parts = list(_counted(reader, X, number, grow=True))
    if not parts:
        raise InvalidParameterError("X must hold at least one document, got none.")
    for part in parts:  # earlier ones know fewer words
        part.resize(part.shape[0], max(1, len(number)))
    return sp.vstack(parts, format="csr"), np.array(list(number), dtype=object)


def _counted(
    reader: DocumentReader, X: Any, number: dict[str, int], *, grow: bool = False
) -> Iterator[sp.csr_array]:
    """Counts of numbered words, some documents at a time; new ones are numbered."""
    documents = iter(plain_documents(X))
    while group := list(itertools.islice(documents, TOGETHER)):
        read = reader.read(group)
        for word in read.in_clear if grow else ():
            number.setdefault(word, len(number))
        # codes -1, -2, … stand for words in the clear; -1 is then what has no column
        columns = np.array(
            [number.get(word, -1) for word in read.in_clear], dtype=np.int64
        )
        codes = columns[-1 - read.codes] if len(columns) else read.codes
        yield replace(read, codes=codes).bags(max(1, len(number)))


def counts_of_topics(encoder: TopicEncoder, X: Any) -> sp.csr_array:
    """Counts of the words that an encoder, fitted on texts, places documents by."""
    number = {word: i for i, word in enumerate(encoder.words_.tolist())}
    parts = list(_counted(DocumentReader.of(encoder, None), X, number))
    return sp.csr_array(sp.vstack(parts)) if parts else sp.csr_array((0, len(number)))


def _correspondence(
    counts: sp.csr_array, k: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """The first axes of correspondence analysis; None where no rows differ.

    Singular values, and standard coordinates of the columns, (k, n_columns).
    """
    # A document without words has no profile, and a row of zeros would divide by 0.
    counts = sp.csr_array(counts)  # older versions of scikit-learn count in matrices
    rows = counts[np.flatnonzero(counts.sum(axis=1) > 0)]
    k = min(k, min(rows.shape) - 1)
    if k < 1:
        return None
    scaled = rows / rows.sum()
    r, c = np.sqrt(scaled.sum(axis=1)), np.sqrt(scaled.sum(axis=0))
    inplace_row_scale(scaled, 1 / r)
    inplace_column_scale(scaled, 1 / c)
    if scaled.shape[0] * scaled.shape[1] <= _DENSE or k >= min(scaled.shape) - 1:
        residuals = scaled.toarray() - np.outer(r, c)
        u, values, v = np.linalg.svd(residuals, full_matrices=False)
        u, values, v = u[:, :k], values[:k], v[:k]
    else:
        # S x = D_r^-1/2 P D_c^-1/2 x - r (c · x): the dense residuals are never made
        across = sp.csr_array(scaled.T)
        operator = LinearOperator(
            scaled.shape,
            matvec=lambda x: scaled @ np.ravel(x) - r * (c @ np.ravel(x)),
            rmatvec=lambda x: across @ np.ravel(x) - c * (r @ np.ravel(x)),
            dtype=np.float64,
        )
        # a fixed start, so that the same texts give the same axes
        start = np.random.default_rng(0).normal(size=min(scaled.shape))
        # twice the basis that svds would take: the values that follow are close
        u, values, v = svds(
            operator, k, v0=start, ncv=min(4 * k, min(scaled.shape) - 1)
        )
        u, values, v = u[:, ::-1], values[::-1], v[::-1]  # the largest first
    v = svd_flip(u, v, u_based_decision=False)[1]
    large = values > ROUNDING
    return (values[large], v[large] / c) if large.any() else None


def _profiles(bags: sp.csr_array) -> sp.csr_array:
    """Word frequencies of each document."""
    totals = np.asarray(bags.sum(axis=1)).ravel()
    return sp.csr_array(bags.multiply(1 / np.where(totals > 0, totals, 1)[:, None]))
