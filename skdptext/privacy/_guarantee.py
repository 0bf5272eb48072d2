"""Exact numbers behind the privacy claim."""

from __future__ import annotations

import math
from collections.abc import Iterable
from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import maximum_flow
from scipy.spatial.distance import cdist
from scipy.special import gammainc

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import MahalanobisMechanism, embedding_spectrum
from skdptext.transport import transport_cost
from skdptext.utils import check_bags, check_flag, check_integer, check_real

__all__ = ["PrivacyGuarantee"]


class PrivacyGuarantee:
    r"""What a word-by-word release promises, relative to a metric on words.

    For two inputs x, x' and any set S of releases, Pr[S | x] ≤ e^t Pr[S | x'], where
    the exponent t is:

    - between two words, ε d(w, w');
    - between two ordered texts of n words, ε Σ d(w_i, w'_i);
    - between two bags of N words, ε N E, with E their Earth Mover's Distance [1]_;
    - between two documents that are first redrawn to N words, ε N W_∞, with W_∞ the
      bottleneck distance of their word frequencies;
    - between documents of different size, infinite: the size is released.

    The metric d is ‖φ(w) − φ(w')‖_RM [2]_; for λ = 0 it is the Euclidean distance.

    Parameters
    ----------
    epsilon : float > 0
        Privacy parameter, in nats per unit of distance.
    lam : float in [0, 1]
        0: Euclidean metric, up to 1: Mahalanobis metric.
    embedding : WordEmbedding
        The public table.
    n_words : int, default=None
        Words per document N, if it is fixed.
    resampled : bool, default=False
        Whether documents are redrawn to `n_words` words of their own before the
        noise (``resize="sample"``), rather than cut to their first words.
    ordered : bool, default=False
        Whether the order of the words is released (token and text output).

    Attributes
    ----------
    epsilon, lam, embedding, n_words, resampled, ordered
        As given.
    metric : {"mahalanobis", "euclidean"}
        The metric the exponents refer to.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule.

    Notes
    -----
    *Not promised*: that lengths stay hidden, unless `n_words` is fixed; anything on
    unknown words that are kept; anything at all if the embedding, its vocabulary or
    its covariance was learned from the documents to be protected. k releases of one
    document with fresh noise cost k times the exponent. A repeatable release protects
    as long as its seed is secret.

    The 2018 paper states the bag exponent without the factor N, a slip with mass 1/N
    per word; the 2019 statement is the right one.

    References
    ----------
    .. [1] Fernandes, Dras, McIver (2019), Theorem 1.
    .. [2] Xu, Aggarwal, Feyisetan, Teissier (2020), Lemmas 1 to 3.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.privacy import PrivacyGuarantee
    >>> embedding = WordEmbedding(["a", "b", "c"], [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> guarantee = PrivacyGuarantee(3.0, 0.0, embedding, n_words=2)
    >>> guarantee.exponent("a", "b")
    3.0
    >>> guarantee.exponent(["a", "b"], ["b", "c"])
    6.0
    >>> print(f"{guarantee.utility_probability(delta=1.0):.3f}")
    0.849
    """

    def __init__(
        self,
        epsilon: float,
        lam: float,
        embedding: WordEmbedding,
        *,
        n_words: int | None = None,
        resampled: bool = False,
        ordered: bool = False,
    ) -> None:
        if not isinstance(embedding, WordEmbedding):
            raise InvalidParameterError(
                f"embedding must be a WordEmbedding, got {embedding!r:.80}."
            )
        spectrum = embedding_spectrum(embedding)
        self._mechanism = MahalanobisMechanism(epsilon, lam, spectrum)
        self.epsilon = self._mechanism.epsilon
        self.lam = self._mechanism.lam
        self.embedding = embedding
        if n_words is not None:
            n_words = check_integer("n_words", n_words, low=1)
        self.n_words = n_words
        self.resampled = check_flag("resampled", resampled)
        self.ordered = check_flag("ordered", ordered)
        if resampled and n_words is None:
            raise InvalidParameterError(
                "n_words must be given with resampled=True, got None."
            )
        self.metric = "euclidean" if self.lam == 0 else "mahalanobis"

    # -- the metric ------------------------------------------------------------

    @property
    def euclidean_bounds(self) -> tuple[float, float]:
        """The best constants (a, b) with a‖v‖₂ ≤ ε‖v‖_RM ≤ b‖v‖₂.

        They are ε over the square roots of the extreme eigenvalues of
        M = λΣ + (1−λ)I, which no bound by its trace (2020, Lemma 3) can improve.
        """
        spread = np.sqrt(self._mechanism.eigenvalues)
        epsilon = self._mechanism.epsilon
        return float(epsilon / spread[-1]), float(epsilon / spread[0])

    def euclidean(self) -> PrivacyGuarantee:
        """The same promise relative to the Euclidean metric on word vectors.

        Returns
        -------
        guarantee : PrivacyGuarantee
            Its `epsilon` is the upper one of `euclidean_bounds`; its exponents are
            never smaller than those of this one.
        """
        converted = copy(self)
        converted.epsilon = self.euclidean_bounds[1]
        converted.metric = "euclidean"
        return converted

    def _points(self, ids: np.ndarray) -> np.ndarray:
        """Vectors of words, such that Euclidean distance is the metric."""
        vectors = self.embedding.vectors[ids].astype(np.float64)
        return (
            vectors if self.metric == "euclidean" else self._mechanism.whiten(vectors)
        )

    # -- exponents -------------------------------------------------------------

    def exponent(self, x: Any, y: Any) -> float:
        """The t with Pr[S | x] ≤ e^t Pr[S | y] for every set S of releases.

        Parameters
        ----------
        x, y : str, or list of str, or counts of shape (n_words_of_embedding,)
            Two words; or two documents as lists of known words; or two bags. Documents
            are cut or redrawn to `n_words` as in a release, if that is set.

        Returns
        -------
        exponent : float
            In nats; infinite for documents that are released with different sizes.

        Raises
        ------
        InvalidParameterError
            If a word is unknown, or a document is shorter than `n_words`.
        """
        if isinstance(x, str) and isinstance(y, str):
            points = self._points(self._ids([x, y]))
            return float(self.epsilon * np.linalg.norm(points[0] - points[1]))
        first, second = self._document(x), self._document(y)
        if self.resampled:
            assert self.n_words is not None
            distance = self._bottleneck(first, second)
            return float(self.epsilon * self.n_words * distance)
        if self.n_words is not None:
            first, second = self._cut(first), self._cut(second)
        if len(first) != len(second):
            return math.inf
        if not len(first):
            return 0.0
        if self.ordered:
            steps = self._points(first) - self._points(second)
            return float(self.epsilon * np.linalg.norm(steps, axis=1).sum())
        return float(self.epsilon * len(first) * self._earth_movers(first, second))

    def _ids(self, words: list[str]) -> np.ndarray:
        ids = self.embedding.find(words)
        if (ids < 0).any():
            unknown = [w for w, i in zip(words, ids, strict=True) if i < 0]
            raise InvalidParameterError(
                f"words must be known to the embedding, got {unknown[:5]}."
            )
        return ids

    def _document(self, document: Any) -> np.ndarray:
        """Word numbers of a token list or of a row of counts."""
        if isinstance(document, str) or not (
            sp.issparse(document) or isinstance(document, Iterable)
        ):
            raise InvalidParameterError(
                "x and y must be two words, two lists of words or two rows of counts, "
                f"got {document!r:.80}."
            )
        if not sp.issparse(document):
            document = list(document)
            if all(isinstance(word, str) for word in document):
                return self._ids(document)
        row = check_bags(
            document, n_words=len(self.embedding), counts=True, name="a document"
        )
        if row.shape[0] != 1:
            raise InvalidParameterError(
                f"a document must be a single row of counts, got {row.shape[0]} rows."
            )
        return np.repeat(row.indices, row.data.astype(np.int64))

    def _cut(self, ids: np.ndarray) -> np.ndarray:
        if len(ids) < (self.n_words or 0):
            raise InvalidParameterError(
                f"a document must have at least n_words={self.n_words} words, got "
                f"{len(ids)}."
            )
        return ids[: self.n_words]

    def _ground(
        self, first: np.ndarray, second: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Counts of the distinct words of both, and the distances between them."""
        (words, n_first), (others, n_second) = (
            np.unique(ids, return_counts=True) for ids in (first, second)
        )
        return n_first, n_second, cdist(self._points(words), self._points(others))

    def _earth_movers(self, first: np.ndarray, second: np.ndarray) -> float:
        n_first, n_second, cost = self._ground(first, second)
        a, b = n_first / len(first), n_second / len(second)
        return transport_cost(a, b, cost)

    def _bottleneck(self, first: np.ndarray, second: np.ndarray) -> float:
        """Smallest step length with which one distribution can be moved to the other.

        A document without words is redrawn from the whole vocabulary.
        """
        everything = np.arange(len(self.embedding))
        first = first if len(first) else everything
        second = second if len(second) else everything
        n_first, n_second, cost = self._ground(first, second)
        # Over the common denominator the frequencies are whole numbers.
        supply, demand = n_first * len(second), n_second * len(first)
        steps = np.unique(cost)
        low, high = 0, len(steps) - 1
        while low < high:
            middle = (low + high) // 2
            if _can_move(supply, demand, cost <= steps[middle]):
                high = middle
            else:
                low = middle + 1
        return float(steps[low])

    # -- utility ---------------------------------------------------------------

    def utility_probability(self, delta: float) -> float:
        """Lower bound on Pr[E(bag, noisy bag before rounding) ≤ delta].

        Parameters
        ----------
        delta : float >= 0
            Earth Mover's Distance in `metric`, mass 1 per bag.

        Returns
        -------
        probability : float
            P(N m, ε N Δ), the regularised lower incomplete gamma function: the N
            lengths of the noise sum to Gamma(N m, 1/ε) and bound N E from above. For
            the Euclidean metric at λ > 0 a length grows by up to the largest
            stretch of the noise, so ε is the lower one of `euclidean_bounds`.

        Notes
        -----
        Theorem 3 of the 2019 paper gives P(m, ε N Δ), which is larger, and false for
        N ≥ 2: for N copies of one word our bound is an equality.
        """
        delta = check_real("delta", delta, low=0)
        if self.n_words is None:
            raise InvalidParameterError(
                "n_words must be given to know the utility, got None."
            )
        rate = self._mechanism.epsilon
        if self.metric == "euclidean":
            rate = self.euclidean_bounds[0]
        n = self.n_words
        return float(gammainc(n * self.embedding.dim, rate * n * delta))

    # -- in words --------------------------------------------------------------

    def __repr__(self) -> str:
        return (
            f"PrivacyGuarantee(epsilon={self.epsilon:g}, lam={self.lam:g}, "
            f"n_words={self.n_words}, metric={self.metric!r})"
        )

    def __str__(self) -> str:
        norm = "‖·‖₂" if self.metric == "euclidean" else "‖·‖_RM"
        words = (
            f"Who sees a release tells a word w from any other word w' with odds "
            f"changed by at most exp({self.epsilon:.4g}·d(w, w')), where d is the "
            f"distance {norm} of their vectors (λ = {self.lam:g})"
        )
        if self.n_words is None:
            return (
                f"{words}; the number of words of each document is released, and "
                "documents of different length are not protected from being told apart."
            )
        kind = (
            "bottleneck distance W_∞ of their word frequencies"
            if self.resampled
            else "mean distance of their words, in order"
            if self.ordered
            else "Earth Mover's Distance E of their bags"
        )
        return (
            f"{words}, and a document from any other with odds changed by at most "
            f"exp({self.epsilon:.4g}·{self.n_words}·D), D the {kind}. All documents "
            f"are released with {self.n_words} words."
        )


def _can_move(supply: np.ndarray, demand: np.ndarray, allowed: np.ndarray) -> bool:
    """Whether all supply reaches the demand along the allowed steps (maximum flow)."""
    source, sink = 0, len(supply) + len(demand) + 1
    rows, columns = np.nonzero(allowed)
    begin = np.concatenate(
        [np.zeros(len(supply)), rows + 1, np.arange(len(demand)) + 1 + len(supply)]
    )
    end = np.concatenate(
        [
            np.arange(len(supply)) + 1,
            columns + 1 + len(supply),
            np.full(len(demand), sink),
        ]
    )
    capacity = np.concatenate(
        [supply, np.minimum(supply[rows], demand[columns]), demand]
    )
    if int(supply.sum()) > np.iinfo(np.int32).max:
        raise InvalidParameterError(
            "documents must have at most 2^31 pairs of words for the bottleneck "
            f"distance, got {int(supply.sum())}."
        )
    graph = sp.csr_array(
        (capacity.astype(np.int32), (begin.astype(int), end.astype(int))),
        shape=(sink + 1, sink + 1),
    )
    return bool(maximum_flow(graph, source, sink).flow_value == supply.sum())
