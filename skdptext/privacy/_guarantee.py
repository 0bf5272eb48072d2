"""Exact numbers behind the privacy claim."""

from __future__ import annotations

import math
from collections.abc import Iterable
from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from scipy.special import gammainc

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import MahalanobisMechanism, embedding_spectrum
from skdptext.transport import transport_cost
from skdptext.transport._bottleneck import bottleneck_distance
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
    unknown_kept : bool, default=False
        Whether words unknown to the embedding are released in clear (``oov="keep"``).
        Nothing is promised for them, and exponents are for known words only.

    Attributes
    ----------
    epsilon, lam, embedding, n_words, resampled, ordered, unknown_kept
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
        unknown_kept: bool = False,
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
        self.unknown_kept = check_flag("unknown_kept", unknown_kept)
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

    def _in_metric(self, vectors: np.ndarray) -> np.ndarray:
        """Points whose Euclidean distance is the distance of the metric."""
        vectors = np.asarray(vectors, dtype=np.float64)
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
            first, second = self._in_metric(self._words([x, y]))
            return float(self.epsilon * np.linalg.norm(first - second))
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
        points, first, second = self._number(first, second)
        if self.ordered:
            steps = np.linalg.norm(points[first] - points[second], axis=1)
            return float(self.epsilon * steps.sum())
        distance = _earth_movers(points, first, second)
        return float(self.epsilon * len(first) * distance)

    def _words(self, words: list[str]) -> np.ndarray:
        """Vectors of words; those of unknown ones are made from subwords, if any."""
        ids = self.embedding.find(words)
        vectors = self.embedding.vectors[ids]
        unknown = []
        for i in np.flatnonzero(ids < 0):
            vector = self.embedding.infer(words[i])
            if vector is None:
                unknown.append(words[i])
            else:
                vectors[i] = vector
        if unknown:
            raise InvalidParameterError(
                "words must be known to the embedding (a str is one word, a document "
                f"a list of them), got {unknown[:5]}."
            )
        return vectors

    def _document(self, document: Any) -> np.ndarray:
        """Vectors of the words of a token list or of a row of counts."""
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
                return self._words(document)
        row = check_bags(
            document, n_words=len(self.embedding), counts=True, name="a document"
        )
        if row.shape[0] != 1:
            raise InvalidParameterError(
                f"a document must be a single row of counts, got {row.shape[0]} rows."
            )
        ids = np.repeat(row.indices, row.data.astype(np.int64))
        return self.embedding.vectors[ids]

    def _cut(self, vectors: np.ndarray) -> np.ndarray:
        if len(vectors) < (self.n_words or 0):
            raise InvalidParameterError(
                f"a document must have at least n_words={self.n_words} words, got "
                f"{len(vectors)}."
            )
        return vectors[: self.n_words]

    def _number(
        self, first: np.ndarray, second: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Distinct points of two documents, and the number of each word's.

        A word of both has one point, so that its distance to itself is exactly 0.
        """
        both = np.concatenate([first, second])
        vectors, numbers = np.unique(both, axis=0, return_inverse=True)
        numbers = numbers.ravel()
        return self._in_metric(vectors), numbers[: len(first)], numbers[len(first) :]

    def _bottleneck(self, first: np.ndarray, second: np.ndarray) -> float:
        """Smallest step length with which one distribution can be moved to the other.

        A document without words is redrawn from the whole vocabulary.
        """
        if not len(first) and not len(second):
            return 0.0
        first = first if len(first) else self.embedding.vectors
        second = second if len(second) else self.embedding.vectors
        points, first, second = self._number(first, second)
        words, n_words = np.unique(first, return_counts=True)
        others, n_others = np.unique(second, return_counts=True)
        # Over the common denominator the frequencies are whole numbers.
        supply, demand = n_words * len(second), n_others * len(first)
        if np.array_equal(words, others) and np.array_equal(supply, demand):
            return 0.0
        cost = cdist(points[words], points[others])
        return bottleneck_distance(supply, demand, cost)

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
            stretch of the noise, so ε is the lower one of `euclidean_bounds`. With
            `resampled`, the bag is the redrawn one: what the draw itself moves comes
            on top.

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
        if self.unknown_kept:
            words = f"Words unknown to the embedding are released in clear. {words}"
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


def _earth_movers(points: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Earth Mover's Distance of two bags of numbered points, each of mass 1."""
    words, n_words = np.unique(first, return_counts=True)
    others, n_others = np.unique(second, return_counts=True)
    masses = n_words / len(first), n_others / len(second)
    return transport_cost(*masses, cdist(points[words], points[others]))
