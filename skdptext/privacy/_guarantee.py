"""What releases promise, in exact numbers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy.special import gammainc

from skdptext.documents import DocumentReader
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import (
    Exponential,
    MahalanobisMetric,
    NoiseMechanism,
    WordMechanism,
)
from skdptext.privacy._base import Guarantee, Statement
from skdptext.privacy._part import PerturbationPart, listed
from skdptext.privacy._wording import (
    broken_by,
    head,
    limits_of,
    scale_rows,
    sentences_of,
    statement_of,
)
from skdptext.utils import (
    bisect,
    check_flag,
    check_integer,
    check_option,
    check_real,
    kind_of,
    shown,
)


class PrivacyGuarantee(Guarantee):
    r"""What one or several releases promise; made by `DPWordPerturber.guarantee`.

    A release changes the odds between two words or documents by a factor of at most
    e^t, and t is their *exponent*: for two inputs x, x' and any set S of releases,
    Pr[S | x] ≤ e^t Pr[S | x']. The mechanism states t(w, w') of two words; that of
    `~skdptext.mechanisms.MahalanobisNoise` is ε d(w, w'), where d is
    ‖φ(w) − φ(w')‖_RM [2]_, for λ = 0 the Euclidean distance. From it follows t

    - between two ordered texts of n words, Σ t(w_i, w'_i);
    - between two bags of N words, the sum over their cheapest matching: for a metric,
      ε N E, with E their Earth Mover's Distance [1]_;
    - between two documents that are first redrawn to N words, N times that of one
      drawn word, which is exact where the mechanism's distributions are known in full.
      For noise on vectors it is at most the bottleneck of moving one document's word
      frequencies to the other's, ε W_∞ [1]_, and less where only some of the words
      differ [3]_;
    - between documents of different size, inf: the size is released;
    - of several releases with independent noise, the sum.

    Allowing a failure probability δ, Pr[S | x] ≤ e^t Pr[S | x'] + δ holds for a t that
    may be far smaller, in all these cases: ``exponent(x, y, delta=1e-6)``.

    Documents are read exactly as in a release: split into words, without stop words
    and unknown words, truncated to `n_words`.

    Parameters
    ----------
    mechanism : WordMechanism
        The prepared mechanism, such as ``perturber.mechanism_``.
    reader : DocumentReader, default=None
        How documents are read. None: they are lists of known words.
    ordered : bool, default=False
        Whether the order of the words is released (token and text output).
    releases : int >= 1, default=1
        How many times each document is released, with fresh noise each time.
    n_words : int, default=None
        Words per document, where the reader does not fix them. It is an assumption:
        documents of another size are refused.
    caveats : iterable of str, default=()
        Sentences on what voids the guarantee; they are printed before it.

    Attributes
    ----------
    parts : tuple of PerturbationPart
        One for each kind of release that is composed here. An attribute below is None
        where the parts differ in it.
    embedding : WordEmbedding
        The public embedding, the same for all parts.
    releases : int
        Number of releases, of all parts together.
    unit : "word"
        What its numbers are about.
    epsilon : float or None
        The sum of the ε of all releases, relative to `metric` where there is one.
    lam : float or None
        λ of the noise.
    metric : {"mahalanobis", "euclidean"} or None
        The metric the exponents refer to; None also for a mechanism that has none.
    metric_lam : float or None
        The λ of that metric: `lam`, unless the guarantee was converted.
    n_words : int or None
        Words per document, if that is fixed.
    resampled, ordered, unknown_kept : bool or None
        Whether documents are redrawn, the order of words is released, and words unknown
        to the embedding are released in the clear.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule.

    Notes
    -----
    *Not promised*: that lengths stay hidden, unless `n_words` is fixed; anything at all
    if the embedding, its vocabulary or its covariance was learned from the documents to
    be protected. k releases of one document with fresh noise cost k times the exponent
    (`compose`). A repeatable release (an integer `random_state`) shows which documents
    are equal: the odds are for fresh noise, or for documents that are released under
    different ids. Finite arithmetic fails with probability `numerical_delta`.

    *Several releases.* The sum is a bound for whatever an adversary does with them. It
    holds for fresh noise in each: repeating a release with the same integer seed shows
    nothing new and costs nothing.

    Printed, or shown in a notebook, a guarantee says what this comes to, with
    typical exponents: to the nearest word, between two random words, and
    between documents of such words (of 10 words, where `n_words` does not say), pure
    and, where it is lower, with δ = 1e-6. `details` has every promise and limit.

    The 2018 paper states the bag exponent without the factor N, a slip with mass 1/N
    per word; the 2019 statement is the right one. Its proof needs a metric; that the
    cheapest matching bounds bags for exponents of any kind follows from the ordered
    bound, taken at the best of all orders.

    References
    ----------
    .. [1] Fernandes, Dras, McIver (2019), Theorem 1.
    .. [2] Xu, Aggarwal, Feyisetan, Teissier (2020), Lemmas 1 to 3.
    .. [3] B. Balle, G. Barthe, M. Gaboardi (2018). Privacy amplification by
       subsampling: tight analyses via couplings and divergences. NeurIPS. Its advanced
       joint convexity, with the cheapest plan for the words that move.

    Examples
    --------
    The noise of the papers, since its exponents are plain: ε times a distance.

    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> embedding = WordEmbedding(["a", "b", "c"], [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> perturber = DPWordPerturber(
    ...     embedding, epsilon=3.0, lam=0.0, document_length=2, resize="truncate",
    ...     token_pattern=r"\w+")
    >>> guarantee = perturber.fit([]).guarantee()
    >>> guarantee.exponent("a", "b")
    3.0
    >>> guarantee.exponent(["a", "b"], ["b", "c"])
    6.0
    >>> guarantee.compose(4).exponent("a", "b")    # four releases
    12.0
    >>> other = perturber.set_params(epsilon=2.0, lam=0.5).fit([]).guarantee()
    >>> both = guarantee.compose(other)            # of different ε and λ
    >>> both.releases, both.epsilon
    (2, None)
    >>> print(f"{both.exponent('a', 'b'):.2f}")
    5.44
    >>> print(f"{guarantee.utility_probability(delta=1.0):.3f}")
    0.849
    """

    parts: tuple[PerturbationPart, ...]
    _part_class = PerturbationPart

    def __init__(
        self,
        mechanism: WordMechanism,
        reader: DocumentReader | None = None,
        *,
        ordered: bool = False,
        releases: int = 1,
        n_words: int | None = None,
        caveats: Iterable[str] = (),
    ) -> None:
        rule = "mechanism must be a prepared one, such as perturber.mechanism_"
        if not isinstance(mechanism, WordMechanism) or not hasattr(
            mechanism, "embedding"
        ):
            raise InvalidParameterError(f"{rule}, got {shown(mechanism)}.")
        if reader is None:
            reader = DocumentReader(mechanism.embedding, oov="error")
        if not isinstance(reader, DocumentReader) or reader.embedding is None:
            raise InvalidParameterError(
                "reader must be a DocumentReader with an embedding, got "
                f"{kind_of(reader)}."
            )
        if reader.embedding.fingerprint != mechanism.embedding.fingerprint:
            raise InvalidParameterError(
                "reader must read words of the mechanism's embedding, got "
                f"{reader.embedding!r:.60} beside {mechanism.embedding!r:.60}."
            )
        if n_words is not None:
            n_words = check_integer("n_words", n_words, low=1)
            if reader.document_length is not None:
                n_words = None  # the reader makes them so
        ordered = check_flag("ordered", ordered)
        releases = check_integer("releases", releases, low=1)
        part = PerturbationPart.of(
            mechanism,
            reader,
            ordered=ordered,
            releases=releases,
            size=n_words,
            caveats=tuple(caveats),
        )
        self.parts = (part,)

    @classmethod
    def _check(cls, parts: Sequence[Any]) -> None:
        for part in parts[1:]:
            one, other = parts[0].facts, part.facts
            if one.embedding != other.embedding:
                raise InvalidParameterError(
                    "other must be a guarantee over the same embedding, got "
                    f"{other.n_vocabulary} words beside {one.n_vocabulary}, of other "
                    "fingerprints."
                )

    # -- what the parts have in common -----------------------------------------

    @property
    def embedding(self) -> WordEmbedding:
        """The public embedding."""
        return self.parts[0].embedding

    @property
    def epsilon(self) -> float | None:
        """Sum of the ε of all releases, if they are of one unit; else None."""
        if self._shared("ruler") is None:
            return None
        return float(sum(part.releases * part.epsilon for part in self.parts))

    @property
    def lam(self) -> float | None:
        """Shape λ of the noise."""
        return self._shared("lam")

    @property
    def metric(self) -> str | None:
        """Name of the metric that the exponents refer to."""
        return None if self.metric_lam is None else self._shared("metric_name")

    @property
    def metric_lam(self) -> float | None:
        """Shape λ of that metric."""
        return self._shared("metric_lam")

    @property
    def n_words(self) -> int | None:
        """Words per document, if that is fixed."""
        return self._shared("n_words")

    @property
    def resampled(self) -> bool | None:
        """Whether documents are redrawn before the noise."""
        return self._shared("resampled")

    @property
    def ordered(self) -> bool | None:
        """Whether the order of the words is released."""
        return self._shared("ordered")

    @property
    def unknown_kept(self) -> bool | None:
        """Whether unknown words are released in the clear."""
        return self._shared("unknown_kept")

    @property
    def numerical_delta(self) -> float | None:
        """Probability that finite arithmetic changes a release.

        Of all releases of a document, or of a single word where `n_words` is not fixed:
        except with this probability a release is the one that exact arithmetic would
        have made. The odds hold for exact arithmetic. In (t, δ) form it costs
        (1 + e^t) times this number, and says nothing useful once t exceeds some 30.
        The noise comes from ChaCha20, so the whole promise is computational: it is for
        adversaries who cannot tell that stream from random bits. None where a
        mechanism does not say.
        """
        each = [part.numerical_delta for part in self.parts]
        return None if None in each else sum(d for d in each if d is not None)

    # -- the metric ------------------------------------------------------------

    def _only(self, what: str) -> PerturbationPart:
        """The one part."""
        if len(self.parts) > 1:
            raise InvalidParameterError(
                f"{what} needs a single kind of release, got {len(self.parts)} parts."
            )
        return self.parts[0]

    def _single(self, what: str) -> tuple[PerturbationPart, float, MahalanobisMetric]:
        """The one part, and ε and metric of its noise."""
        part = self._only(what)
        return part, part.drawn_by.epsilon, _noise_metric(part, what)

    @property
    def euclidean_bounds(self) -> tuple[float, float]:
        """The best constants (a, b) with a‖v‖₂ ≤ ε‖v‖_RM ≤ b‖v‖₂, for one release.

        They are ε over the square roots of the extreme eigenvalues of
        M = λΣ + (1−λ)I, and each is attained by some v.
        """
        _, epsilon, metric = self._single("euclidean_bounds")
        spread = np.sqrt(metric.eigenvalues)
        return float(epsilon / spread[-1]), float(epsilon / spread[0])

    @property
    def lemma3_bounds(self) -> tuple[float, float]:
        """(a, b) by Lemma 3 of the 2020 paper, never closer than `euclidean_bounds`.

        They are ε/√(λm + 1 − λ), which takes the trace m of Σ for its largest
        eigenvalue, and ε/√(λc + 1 − λ), c the smallest one, which is exact.
        """
        _, epsilon, metric = self._single("lemma3_bounds")
        widest = _lemma3_widest(metric.lam, metric)
        return epsilon / math.sqrt(widest), self.euclidean_bounds[1]

    def euclidean(self, *, by: str = "eigenvalues") -> PrivacyGuarantee:
        """The same promise relative to the Euclidean metric on word vectors.

        Parameters
        ----------
        by : {"eigenvalues", "lemma3"}, default="eigenvalues"
            As in `relative_to`.

        Returns
        -------
        guarantee : PrivacyGuarantee
            Its `epsilon` is the sum of the upper one of `euclidean_bounds` over all
            releases; its exponents are never smaller than those of this one.
        """
        return self.relative_to(0, by=by)

    def relative_to(self, lam: float, *, by: str = "eigenvalues") -> PrivacyGuarantee:
        """The same promise relative to the metric of another λ.

        The ε of releases with different `lam` can be compared, and added up, relative
        to one metric.

        Parameters
        ----------
        lam : float in [0, 1]
            Of the metric; 0 is Euclid's.
        by : {"eigenvalues", "lemma3"}, default="eigenvalues"
            "eigenvalues": the smallest ε for which the promise follows, from the
            eigenvalues of the two matrices M, which share their axes. "lemma3": the
            larger one by Lemma 3 of the 2020 paper, which uses only the trace and the
            smallest eigenvalue of Σ.

        Returns
        -------
        guarantee : PrivacyGuarantee
            With the ε that bounds the exponent in that metric; `lam` stays that of
            the noise, and `metric_lam` is the new one.

        Raises
        ------
        InvalidParameterError
            If a parameter breaks a rule, λ = 1 and the covariance is singular, or a
            mechanism has no metric on vectors.

        Examples
        --------
        >>> from skdptext import WordEmbedding
        >>> from skdptext.mechanisms import MahalanobisNoise
        >>> from skdptext.privacy import PrivacyGuarantee
        >>> embedding = WordEmbedding(list("abc"), [[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
        >>> laplace = PrivacyGuarantee(MahalanobisNoise().prepare(embedding, 3.0, 0.0))
        >>> for by in ("eigenvalues", "lemma3"):
        ...     print(f"{laplace.relative_to(0.5, by=by).epsilon:.2f}")
        3.58
        3.67
        """
        check_option("by", by, ("eigenvalues", "lemma3"))
        lam = check_real("lam", lam, low=0, high=1)
        converted = []
        for part in self.parts:
            own, epsilon = _noise_metric(part, "relative_to"), part.drawn_by.epsilon
            metric = own.at(lam)
            if lam != own.lam:  # Lemma 3 is not for a metric and itself
                squares = own.eigenvalues / metric.eigenvalues
                if by == "lemma3":
                    squares = own.eigenvalues / _lemma3_widest(lam, own)
                epsilon = float(epsilon / math.sqrt(squares.min()))
            converted.append(part.stated_relative_to(metric, epsilon))
        made: PrivacyGuarantee = self._of(converted)
        return made

    # -- exponents -------------------------------------------------------------

    def exponent(self, x: Any, y: Any, delta: float = 0.0) -> float:
        """The t with Pr[S | x] ≤ e^t Pr[S | y] + δ for every set S of releases.

        Parameters
        ----------
        x, y : str, or list of str, or counts of shape (n_words_of_embedding,)
            Two words; or two documents as lists of words; or two bags. Documents are
            read as in a release: stop words and unknown words are treated as there, and
            what is left is cut or redrawn to `n_words`.
        delta : float in [0, 1), default=0.0
            Failure probability δ allowed for all `releases` of whole documents, not for
            each word. 0: the pure exponent.

        Returns
        -------
        exponent : float
            In nats, for all `releases` together; inf for documents that are released
            with different sizes, or that differ in unknown words that are kept. With
            δ > 0 an upper bound on the least such t, which never grows with δ.

        Raises
        ------
        InvalidParameterError
            If a single word is unknown, if a list holds a text that is not split into
            words, if a release would refuse a document, such as one shorter than
            `n_words`, or if `delta` breaks its rule.

        Warns
        -----
        UserWarning
            If unknown words are left out of a document, as they are of a release.

        Notes
        -----
        *What δ means.* Except with probability δ, releases of x are at most e^t times
        as likely as from y. So δ should be far below one over the number of documents
        released.

        *How it is found.* By the privacy loss of each pair of words, as a distribution:
        exact for mechanisms whose probabilities are known in full, from cells of the
        noise for `~skdptext.mechanisms.MahalanobisNoise`, else the worst that the
        exponents allow (`~skdptext.mechanisms.word_losses`). Those of independent words
        and releases add up. The words of a redrawn document are independent draws from
        one mixture, whose loss is exact where the mechanism's distributions are known
        in full. The result is always rounded up.

        *Converted guarantees* (`relative_to`) are still about the same noise, and so
        have the same losses; only the pure exponent, which t never exceeds, is theirs.

        `numerical_delta` is not part of δ: in (t, δ) form it costs
        (1 + e^t) `numerical_delta` more, and says nothing useful once t exceeds some
        30.

        Examples
        --------
        A message of 16 words, each moved by 4:

        >>> import numpy as np
        >>> from skdptext import WordEmbedding
        >>> from skdptext.mechanisms import MahalanobisNoise
        >>> from skdptext.privacy import PrivacyGuarantee
        >>> vectors = np.zeros((2, 300))
        >>> vectors[1, 0] = 4.0
        >>> embedding = WordEmbedding(["a", "b"], vectors)
        >>> prepared = MahalanobisNoise().prepare(embedding, 15.0)
        >>> guarantee = PrivacyGuarantee(prepared)
        >>> x, y = ["a"] * 16, ["b"] * 16
        >>> for delta in (0, 1e-6):
        ...     print(f"{guarantee.exponent(x, y, delta=delta):.0f}")
        960
        159
        """
        return self._exponent(*self._inputs(x, y), delta)

    def _inputs(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Both, to be read several times, and a warning of words that are left out."""
        x, y = listed(x), listed(y)
        left_out = max(part.n_left_out(x, y) for part in self.parts)
        if left_out:
            warnings.warn(
                f"{left_out} words of x and y are unknown to the embedding. A release "
                "leaves them out, and so does this exponent: what differs in them "
                "alone has exponent 0. For the words that a release reads in a text, "
                "call known_words of the perturber.",
                stacklevel=3,
            )
        return x, y

    def epsilon_for(self, x: Any, y: Any, *, factor: float) -> float:
        """The largest ε at which the odds between two inputs change by `factor`.

        Parameters
        ----------
        x, y : str, or list of str, or counts of shape (n_words_of_embedding,)
            Two words, two documents or two bags, as in `exponent`.
        factor : float > 1
            The factor e^t allowed, over all `releases`.

        Returns
        -------
        epsilon : float
            The largest ε with which `exponent` is at most log(factor), if every
            perturber has this ε and keeps its other parameters. inf if the mechanism
            cannot tell the two apart, so that any ε will do; 0 if none will: their
            sizes differ.

        Notes
        -----
        The ε of the parts do not matter. Where exponents are proportional to ε, as for
        a metric, the result is exact; else mechanisms are prepared for one ε after the
        other until log(factor) is met to a relative error of 1e-9, which takes their
        exponent to grow with ε. Where ε is calibrated by a search for a rate, the rate
        is looked for, and ε worked out once.

        *Privacy.* Pairs further apart than this one are promised less. Choose the pair
        from public text: an ε worked out from private documents tells about them.

        Examples
        --------
        >>> from skdptext import WordEmbedding
        >>> from skdptext.mechanisms import MahalanobisNoise
        >>> from skdptext.privacy import PrivacyGuarantee
        >>> embedding = WordEmbedding(list("abc"), [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
        >>> prepared = MahalanobisNoise().prepare(embedding, 3.0)
        >>> guarantee = PrivacyGuarantee(prepared)
        >>> x, y = ["a", "a", "b"], ["b", "c", "b"]
        >>> print(f"{guarantee.epsilon_for(x, y, factor=20.0):.3f}")
        0.999
        """
        allowed = math.log(check_real("factor", factor, low=1, open_low=True))
        x, y = self._inputs(x, y)
        linear = [part for part in self.parts if part.is_linear(x, y)]
        searched = [
            (part, part.exponent_between(x, y))
            for part in self.parts
            if not part.is_linear(x, y)
        ]
        # each exponent per unit of its noise's ε
        rate = sum(part.exponent(x, y) / part.drawn_by.epsilon for part in linear)

        def total(epsilon: float) -> float:
            at = [exponent(part.at_epsilon(epsilon)) for part, exponent in searched]
            return float(rate * epsilon + sum(at))

        if not searched or rate == math.inf:
            return allowed / rate if rate else math.inf
        part, exponent = searched[0]
        drawn_by = part.drawn_by
        start = drawn_by.epsilon
        if (
            len(self.parts) == 1
            and isinstance(drawn_by, Exponential)
            and drawn_by.calibration == "exact"
        ):
            half = Exponential("half", drawn_by.max_distance)

            def of_rate(rate: float) -> Exponential:
                return half.prepare(drawn_by.embedding, 2 * rate, drawn_by.lam)

            # a rate takes no search, so that it is looked for first, and ε once
            largest = _largest_within(
                lambda a: exponent(part.with_mechanism(of_rate(a))),
                allowed,
                start,
            )
            if largest in (0.0, math.inf):
                return largest
            start = of_rate(largest).attained
            if total(start) <= allowed:
                return start
        return _largest_within(total, allowed, start)

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
            a metric other than the noise's a length grows by up to the largest
            stretch between the two, so ε is divided by it (for the Euclidean metric
            this is the lower one of `euclidean_bounds`). With `resampled`, the bag is
            the redrawn one; the draw itself adds its own distance.

        Notes
        -----
        Theorem 3 of the 2019 paper gives P(m, ε N Δ), which is larger, and false for
        N ≥ 2: for N copies of one word our bound is an equality.
        """
        delta = check_real("delta", delta, low=0)
        part, epsilon, of_noise = self._single("utility_probability")
        if not isinstance(part.drawn_by, NoiseMechanism):
            raise InvalidParameterError(
                "utility_probability is for mechanisms that release the word nearest "
                "to a vector with noise of Gamma-distributed length, such as "
                f"MahalanobisNoise; {part.facts.mechanism} does not."
            )
        if part.n_words is None:
            raise InvalidParameterError(
                "n_words must be given to know the utility, got None."
            )
        stated = part.metric or of_noise
        rate = epsilon * math.sqrt((stated.eigenvalues / of_noise.eigenvalues).min())
        n = part.n_words
        return float(gammainc(n * self.embedding.dim, rate * n * delta))

    # -- in words --------------------------------------------------------------

    @property
    def sentences(self) -> list[str]:
        """The promise in sentences, what matters most first."""
        return sentences_of(self.parts)

    @property
    def limits(self) -> list[str]:
        """What is not promised."""
        return limits_of(self.parts)

    def _broken(self) -> list[str]:
        return broken_by(self.parts)

    def _statement(self) -> Statement:
        return statement_of(self.parts)

    def _head(self) -> str:
        return head(self.parts)

    def scale(self) -> list[dict[str, Any]]:
        """The exponents on a human scale that are printed, as numbers.

        Returns
        -------
        rows : list of dict
            Two rows or four, ready for JSON. ``between`` says what is compared, at the
            median of the embedding: a word and its nearest neighbour, two random words,
            and documents of such words. ``exponent`` is pure, in nats;
            ``exponent_with_delta`` holds except for a probability ``delta``, 1e-6. Both
            are for all `releases`, and inf where nothing is promised.

        Raises
        ------
        InvalidParameterError
            If the guarantee is of several kinds of release.

        Examples
        --------
        >>> from skdptext import WordEmbedding
        >>> from skdptext.mechanisms import MahalanobisNoise
        >>> from skdptext.privacy import PrivacyGuarantee
        >>> embedding = WordEmbedding(list("abc"), [[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
        >>> prepared = MahalanobisNoise().prepare(embedding, 1.0)
        >>> *_, last = PrivacyGuarantee(prepared, n_words=40).scale()
        >>> last["between"]
        'documents, all 40 words become random words'
        >>> last["exponent"], last["delta"], round(last["exponent_with_delta"])
        (120.0, 1e-06, 98)
        """
        return scale_rows(self._only("scale"))


def _noise_metric(part: PerturbationPart, what: str) -> MahalanobisMetric:
    """The metric on vectors that bounds a mechanism's own loss, if it has one."""
    metric = part.drawn_by.metric
    if metric is None:
        raise InvalidParameterError(
            f"{what} is for mechanisms whose exponent is ε times a metric on vectors, "
            f"such as MahalanobisNoise; {part.facts.mechanism} has none."
        )
    return metric


def _lemma3_widest(lam: float, metric: MahalanobisMetric) -> float:
    """The lemma's bound on the largest eigenvalue of M, by the trace of Σ."""
    return float(lam * metric.spectrum.eigenvalues.sum() + 1 - lam)


def _largest_within(total: Any, allowed: float, start: float) -> float:
    """Largest ε with ``total(ε) <= allowed``, for a growing total; 0 if none."""
    low = high = start
    while total(low) > allowed:
        high, low = low, low / 2
        if low < start * 2.0**-60:
            return 0.0
    while total(high) <= allowed:
        low, high = high, high * 2
        if high > start * 2.0**60:
            return math.inf
    low, _ = bisect(lambda t: total(t) <= allowed, low, high, precision=1e-9)
    return low
