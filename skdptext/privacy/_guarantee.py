"""Exact numbers behind the privacy claim."""

from __future__ import annotations

import math
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammainc

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import MahalanobisMechanism, embedding_spectrum
from skdptext.privacy._documents import input_distance
from skdptext.privacy._wording import as_html, head, in_words, wrapped
from skdptext.utils import check_flag, check_integer, check_option, check_real

if TYPE_CHECKING:
    from skdptext.privacy._composition import ComposedGuarantee

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
    releases : int >= 1, default=1
        How many times each document is released so, with fresh noise each time.

    Attributes
    ----------
    epsilon, lam, embedding, n_words, resampled, ordered, unknown_kept, releases
        As given. `epsilon` is that of one release, relative to `metric`.
    metric : {"mahalanobis", "euclidean"}
        The metric the exponents refer to.
    metric_lam : float
        The λ of that metric: `lam`, unless the guarantee was converted.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule.

    Notes
    -----
    *Not promised*: that lengths stay hidden, unless `n_words` is fixed; anything on
    unknown words that are kept; anything at all if the embedding, its vocabulary or
    its covariance was learned from the documents to be protected. k releases of one
    document with fresh noise cost k times the exponent (`compose`). A repeatable
    release protects as long as its seed is secret.

    Printed, or shown in a notebook, a guarantee says all this in sentences, with
    exponents on a human scale: to the nearest word, and between two random words.

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
    >>> guarantee.compose(4).exponent("a", "b")    # four releases
    12.0
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
        releases: int = 1,
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
        self.releases = check_integer("releases", releases, low=1)
        self._metric = self._mechanism

    # -- the metric ------------------------------------------------------------

    @property
    def metric_lam(self) -> float:
        """λ of the metric that the exponents refer to."""
        return self._metric.lam

    @property
    def metric(self) -> str:
        """Name of that metric."""
        return "euclidean" if self.metric_lam == 0 else "mahalanobis"

    @property
    def euclidean_bounds(self) -> tuple[float, float]:
        """The best constants (a, b) with a‖v‖₂ ≤ ε‖v‖_RM ≤ b‖v‖₂, for one release.

        They are ε over the square roots of the extreme eigenvalues of
        M = λΣ + (1−λ)I, and each is attained by some v.
        """
        spread = np.sqrt(self._mechanism.eigenvalues)
        epsilon = self._mechanism.epsilon
        return float(epsilon / spread[-1]), float(epsilon / spread[0])

    @property
    def lemma3_bounds(self) -> tuple[float, float]:
        """(a, b) by Lemma 3 of the 2020 paper, never closer than `euclidean_bounds`.

        They are ε/√(λm + 1 − λ), which takes the trace m of Σ for its largest
        eigenvalue, and ε/√(λc + 1 − λ), c the smallest one, which is exact.
        """
        widest = self._lemma3_widest(self.lam)
        lower = self._mechanism.epsilon / math.sqrt(widest)
        return lower, self.euclidean_bounds[1]

    def _lemma3_widest(self, lam: float) -> float:
        """What the lemma knows of the largest eigenvalue of M."""
        return lam * self.embedding.dim + 1 - lam

    def euclidean(self, *, by: str = "eigenvalues") -> PrivacyGuarantee:
        """The same promise relative to the Euclidean metric on word vectors.

        Parameters
        ----------
        by : {"eigenvalues", "lemma3"}, default="eigenvalues"
            As in `relative_to`.

        Returns
        -------
        guarantee : PrivacyGuarantee
            Its `epsilon` is the upper one of `euclidean_bounds`; its exponents are
            never smaller than those of this one.
        """
        return self.relative_to(0, by=by)

    def relative_to(self, lam: float, *, by: str = "eigenvalues") -> PrivacyGuarantee:
        """The same promise relative to the metric of another λ.

        The ε of releases with different `lam` can be compared relative to one metric.

        Parameters
        ----------
        lam : float in [0, 1]
            Of the metric; 0 is Euclid's.
        by : {"eigenvalues", "lemma3"}, default="eigenvalues"
            "eigenvalues": the smallest ε for which the promise follows, from the
            eigenvalues of the two matrices M, which share their axes. "lemma3": the
            larger one by Lemma 3 of the 2020 paper, which knows the trace of Σ and its
            smallest eigenvalue only.

        Returns
        -------
        guarantee : PrivacyGuarantee
            With the ε that bounds the exponent in that metric; `lam` stays that of
            the noise, and `metric_lam` is the new one.

        Raises
        ------
        InvalidParameterError
            If a parameter breaks a rule, or λ = 1 and the covariance is singular.

        Examples
        --------
        >>> from skdptext import WordEmbedding
        >>> from skdptext.privacy import PrivacyGuarantee
        >>> embedding = WordEmbedding(list("abc"), [[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
        >>> laplace = PrivacyGuarantee(3.0, 0.0, embedding)
        >>> for by in ("eigenvalues", "lemma3"):
        ...     print(f"{laplace.relative_to(0.5, by=by).epsilon:.2f}")
        3.58
        3.67
        """
        check_option("by", by, ("eigenvalues", "lemma3"))
        noise = self._mechanism
        converted = copy(self)
        converted._metric = MahalanobisMechanism(noise.epsilon, lam, noise.spectrum)
        if converted.metric_lam != noise.lam:  # Lemma 3 is not for a metric and itself
            squares = noise.eigenvalues / converted._metric.eigenvalues
            if by == "lemma3":
                squares = noise.eigenvalues / self._lemma3_widest(converted.metric_lam)
            converted.epsilon = float(noise.epsilon / math.sqrt(squares.min()))
        else:
            converted.epsilon = noise.epsilon
        return converted

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
            In nats, for all `releases` together; infinite for documents that are
            released with different sizes.

        Raises
        ------
        InvalidParameterError
            If a word is unknown, or a document is shorter than `n_words`.
        """
        distance = input_distance(
            self.embedding,
            self._metric,
            x,
            y,
            n_words=self.n_words,
            resampled=self.resampled,
            ordered=self.ordered,
        )
        # In this order, so that k releases cost k times as much exactly.
        return self.releases * (self.epsilon * distance)

    def epsilon_for(self, x: Any, y: Any, *, factor: float) -> float:
        """The ε at which the odds between two inputs change by a factor at most.

        Parameters
        ----------
        x, y : str, or list of str, or counts of shape (n_words_of_embedding,)
            Two words, two documents or two bags, as in `exponent`.
        factor : float > 1
            The factor e^t allowed, over all `releases`.

        Returns
        -------
        epsilon : float
            The largest `epsilon` that the perturber may have; at it, `exponent` is
            log(factor). Infinite if the two are the same to the mechanism, so that
            any ε will do; 0 if their sizes tell them apart, so that none will.

        Notes
        -----
        *Privacy.* Pairs further apart than this one are promised less. Choose the pair
        from public text: an ε worked out from private documents tells about them.

        Examples
        --------
        >>> from skdptext import WordEmbedding
        >>> from skdptext.privacy import PrivacyGuarantee
        >>> embedding = WordEmbedding(list("abc"), [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
        >>> guarantee = PrivacyGuarantee(3.0, 0.0, embedding)
        >>> x, y = ["a", "a", "b"], ["b", "c", "b"]
        >>> print(f"{guarantee.epsilon_for(x, y, factor=20.0):.3f}")
        0.999
        """
        factor = check_real("factor", factor, low=1, open_low=True)
        # In the units of this metric, then back to the ε of the noise.
        exponent = self.exponent(x, y)
        if exponent == 0:
            return math.inf
        if exponent == math.inf:
            return 0.0
        return self._mechanism.epsilon * (math.log(factor) / exponent)

    # -- several releases ------------------------------------------------------

    def compose(
        self, other: int | PrivacyGuarantee | ComposedGuarantee
    ) -> PrivacyGuarantee | ComposedGuarantee:
        """What several releases of one document promise together.

        Parameters
        ----------
        other : int >= 1, PrivacyGuarantee or ComposedGuarantee
            An integer k: k releases like this, with fresh noise each. A guarantee:
            this release and that one, over the same embedding; ε, λ and all the
            rest may differ.

        Returns
        -------
        guarantee : PrivacyGuarantee or ComposedGuarantee
            k times the exponents, or the sum of both.

        Raises
        ------
        InvalidParameterError
            If `other` is neither, or over another embedding.
        """
        from skdptext.privacy._composition import ComposedGuarantee, check_times

        if isinstance(other, PrivacyGuarantee | ComposedGuarantee):
            return ComposedGuarantee([self, other])
        together = copy(self)
        together.releases *= check_times(other)
        return together

    # -- utility ---------------------------------------------------------------

    def utility_probability(self, delta: float) -> float:
        """Lower bound on Pr[E(bag, noisy bag before rounding) ≤ delta], per release.

        Parameters
        ----------
        delta : float >= 0
            Earth Mover's Distance in `metric`, mass 1 per bag.

        Returns
        -------
        probability : float
            P(N m, ε N Δ), the regularised lower incomplete gamma function: the N
            lengths of the noise sum to Gamma(N m, 1/ε) and bound N E from above. In
            a metric other than that of the noise a length grows by up to the largest
            stretch between the two, so ε is divided by it (for the Euclidean metric
            this is the lower one of `euclidean_bounds`). With `resampled`, the bag is
            the redrawn one: what the draw itself moves comes on top.

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
        squares = self._metric.eigenvalues / self._mechanism.eigenvalues
        rate = self._mechanism.epsilon * math.sqrt(squares.min())
        n = self.n_words
        return float(gammainc(n * self.embedding.dim, rate * n * delta))

    # -- in words --------------------------------------------------------------

    def __repr__(self) -> str:
        return f"{head(self)}\n{wrapped(str(self))}"

    def __str__(self) -> str:
        return in_words(self)

    def _repr_html_(self) -> str:
        return as_html(self)
