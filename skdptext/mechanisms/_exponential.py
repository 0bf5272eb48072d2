"""The exponential mechanism on words, and randomized response."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection
from copy import copy
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from skdptext.documents import word_ids
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms._calibration import CALIBRATIONS, calibrated_fit
from skdptext.mechanisms._channel import Draws, Law, WordMechanism
from skdptext.mechanisms._covariance import embedding_spectrum
from skdptext.mechanisms._finite import (
    FiniteChannel,
    InvertedChannel,
    Rows,
    inversion_delta,
)
from skdptext.mechanisms._law import ExponentialLaw
from skdptext.mechanisms._lazy import KEY_WORDS
from skdptext.mechanisms._metric import MahalanobisMetric
from skdptext.mechanisms._rate import Fit
from skdptext.mechanisms._sentences import exponential_sentences
from skdptext.utils import check_option, check_real, kept_property, kind_of, shown

__all__ = [
    "AmongChannel",
    "Exponential",
    "ExponentialChannel",
    "RandomizedResponse",
    "RandomizedResponseChannel",
]

# From this many words on, "auto" is lazy.
_LAZY_FROM = 100_000


class Exponential(WordMechanism):
    r"""Words by their distance: the exponential mechanism, exactly calibrated.

    Each word w becomes the word z with probability

    .. math::

        \Pr[z \mid w] = \frac{\mu_z\, e^{-a\, d(w, z)}}{C_w}, \qquad
        C_w = \sum_z \mu_z\, e^{-a\, d(w, z)},

    where d is the metric that λ selects: Euclidean at λ = 0, otherwise the regularized
    Mahalanobis metric.

    Parameters
    ----------
    calibration : {"exact", "half", "balanced", "tight"}, default="exact"
        How the rate a and the weights μ follow from ε.

        - "half": a = ε/2, μ = 1, which is SanText [1]_.
        - "exact": μ = 1, and the largest a found for which the privacy loss is at most
          ε d(w, w') for every pair of words; some pair attains it. This a lies between
          ε/2 and ε, and keeps several times as many words for the same proven ε.
        - "tight": a = ε, and the weights for which all C_w are 1, so that the loss is
          ε d(w, w') for every pair [3]_. It keeps still more words. For a small ε no
          such weights exist; the error then names an ε for which they do, if it finds
          one.
        - "balanced": the weights of "tight" where that is feasible. Otherwise the
          weights solved for some rate, with negative ones set to 0, and the largest a
          found for them; of a few such rates, the one that leaves the most words
          unchanged. Words of weight 0 are never released: see ``never_released`` of
          the channel.
    max_distance : float > 0, default=None
        If given, d is replaced by min(d, max_distance), so that the privacy loss
        between any two words is at most ε times `max_distance`. With "half" this is the
        distribution of TEM, the truncated exponential mechanism [2]_, whose γ is
        `max_distance`; `skdptext.privacy.tem_distance` computes γ.
    sampler : {"auto", "rows", "lazy"}, default="auto"
        How words are drawn. The distribution is the same, but the same seed gives other
        noise. "rows" sums up the probabilities of each distinct word once. "lazy"
        scores the √V nearest words and a few of the others, anew for every token [4]_;
        it suits few words of a large vocabulary. "auto" is "lazy" from 100,000 words
        on.
    outputs : collection of str, default=None
        The words that may be released, all known to the embedding. Any other word is
        answered with one of these, too, and ε is proven between any two words of the
        embedding. The list must be public. None: all words.

    See Also
    --------
    RandomizedResponse : The same mechanism with all words equally far apart.

    Notes
    -----
    *Privacy.* Pr[z | w] ≤ exp(a d(w, w') + ln C_w' − ln C_w) Pr[z | w'], with equality
    for z = w. So this is the exact exponent of a pair, unless w is never released. Per
    unit of d it is at most ε. The 53-bit uniform and the float64 sums cost
    ``numerical_delta`` per word. "tight" needs an ε that is not too small.

    *ε does not compare with that of noise on vectors.* For the same share of words kept
    it is four to twelve times smaller than that of `MahalanobisNoise`, depending on
    embedding and share.

    *Time* tells on how many different words there are: each is looked up once in a
    call, so that documents of few different words take less of it. Anyone who can
    measure the time of a call learns about their number; nothing here hides it.

    *Cost.* All calibrations but "half" pass over all pairs of words several times when
    the mechanism is prepared; the result is kept for the process. "balanced" and
    "tight" solve linear systems of n_words equations: seconds while a matrix of
    n_words² floats fits into half of scikit-learn's ``working_memory``, else minutes.

    References
    ----------
    .. [1] X. Yue, M. Du, T. Wang, Y. Li, H. Sun, S. S. M. Chow (2021). Differential
       privacy for text analytics via natural text sanitization. Findings of ACL 2021.
    .. [2] R. S. Carvalho, T. Vasiloudis, O. Feyisetan, K. Wang (2023). TEM: high
       utility metric differential privacy on text. SDM 2023.
    .. [3] K. Chatzikokolakis, E. ElSalamouny, C. Palamidessi (2017). Efficient utility
       improvement for location privacy. PoPETs 2017(4).
    .. [4] S. Mussmann, D. Levy, S. Ermon (2017). Fast amortized inference and learning
       in log-linear models with randomly perturbed nearest neighbor search. UAI 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import Exponential
    >>> embedding = WordEmbedding(list("abcd"), [[0.0], [1.0], [2.0], [9.0]])
    >>> for calibration in "half", "exact", "tight":
    ...     channel = Exponential(calibration).prepare(embedding, epsilon=2.0, lam=0.0)
    ...     row = np.exp(channel.log_proba(np.array([0])))[0]
    ...     print(f"{calibration}: a = {channel.rate:.3f},", row.round(3))
    half: a = 1.000, [0.665 0.245 0.09  0.   ]
    exact: a = 1.897, [0.853 0.128 0.019 0.   ]
    tight: a = 2.000, [0.881 0.103 0.016 0.   ]
    """

    # without it, the noise of a seed is that of earlier versions
    _unkeyed: ClassVar[dict[str, None]] = {"outputs": None}

    def __init__(
        self,
        calibration: str = "exact",
        max_distance: float | None = None,
        *,
        sampler: str = "auto",
        outputs: Collection[str] | None = None,
    ) -> None:
        self.calibration = calibration
        self.max_distance = max_distance
        self.sampler = sampler
        self.outputs = outputs

    def prepare(
        self, embedding: WordEmbedding, epsilon: float, lam: float
    ) -> ExponentialChannel:
        if self.outputs is None:
            return ExponentialChannel(self, embedding, epsilon, lam)
        if not isinstance(self.outputs, Collection | np.ndarray) or not len(
            self.outputs
        ):
            raise InvalidParameterError(
                "outputs must be None or a public collection of at least one str, got "
                f"{kind_of(self.outputs)}."
            )
        ids = word_ids(self.outputs, embedding)
        return AmongChannel(self, embedding, epsilon, lam, ids)

    def prepare_among(
        self,
        embedding: WordEmbedding,
        epsilon: float,
        lam: float,
        outputs: np.ndarray,
    ) -> ExponentialChannel:
        """The same mechanism, releasing only some of the words.

        Parameters
        ----------
        embedding : WordEmbedding
            Public words and their vectors.
        epsilon : float > 0
            In nats per unit of distance, proven between any two words of the embedding.
        lam : float in [0, 1]
            Shape λ of the metric.
        outputs : array-like of int, shape (n_outputs,)
            Ids of the words that may be released, at least one; public.

        Returns
        -------
        channel : ExponentialChannel
            It accepts any word of the embedding. Pr[z | w] ∝ e^(−a d(w, z)) for z in
            `outputs`, and 0 for others. ``exponents`` holds for all pairs of words, and
            is exact where the first is in `outputs`. A word far from all outputs loses
            up to 2a per unit of distance, so that little more than the rate of "half"
            can be proven.

        Raises
        ------
        InvalidParameterError
            As `prepare`, or if `outputs` is empty or contains a number that belongs to
            no word, or if `calibration` is "tight" and some word is not in `outputs`.
        """
        if self.outputs is not None:
            raise InvalidParameterError(
                "outputs of the mechanism must be None where the words that may be "
                f"released are given by number, got {kind_of(self.outputs)}."
            )
        return AmongChannel(self, embedding, epsilon, lam, outputs)


def _of_law(name: str) -> Any:
    """A property of the distribution that its channel has, too."""
    doc = getattr(ExponentialLaw, name).__doc__
    return property(attrgetter(f"_law.{name}"), doc=doc)


class ExponentialChannel(InvertedChannel):
    """`Exponential` for one embedding."""

    mechanism: Exponential
    _outputs: np.ndarray | None = None  # all words
    # whether ε is proven for all words, or only for those that may be released
    _for_all = True

    def _setup(self) -> None:
        options, cap = self.mechanism, self.mechanism.max_distance
        check_option("calibration", options.calibration, CALIBRATIONS)
        check_option("sampler", options.sampler, ["auto", "rows", "lazy"])
        if cap is not None:
            cap = check_real("max_distance", cap, low=0, open_low=True)
        if self.lam == 1:  # which "half" would look at only when it draws
            MahalanobisMetric(self.lam, embedding_spectrum(self.embedding))
        of_table = self.embedding, self.lam, cap, self._outputs, self._for_all
        self._law = ExponentialLaw(*of_table, rate=self.epsilon / 2)
        if options.calibration != "half":
            given = self._law.table, options.calibration, self.epsilon
            self._law = self._law.at(calibrated_fit(*given))
        n_outputs = len(self.embedding if self._outputs is None else self._outputs)
        auto = options.sampler == "auto" and n_outputs >= _LAZY_FROM
        self._is_lazy = auto or options.sampler == "lazy"

    @property
    def rate(self) -> float:
        """a: how much log probability a unit of distance costs."""
        return self._law.rate

    attained = _of_law("attained")
    log_normalizers = _of_law("log_normalizers")
    worst_exponent = _of_law("worst_exponent")
    weights = _of_law("weights")
    outputs = _of_law("outputs")
    never_released = _of_law("never_released")

    def log_proba(self, words: np.ndarray) -> np.ndarray:
        """ln Pr[z | w] for each of the words and every z, shape (n, n_words)."""
        return self._law.log_proba(np.asarray(words))

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """a d(x, y) + ln C_y − ln C_x, shape (len(x), len(y)).

        This is the exact privacy loss where x may be released, and a bound elsewhere.
        """
        return self._law.exponents(x, y)

    def law(self) -> Law:
        """The probabilities, in closed form."""
        exact = self.mechanism.calibration == "exact"
        return Law(
            log_proba=self.log_proba,
            numerical_delta=inversion_delta(len(self.embedding)),
            sentences=self._sentences,
            at_rate=self._at_rate if exact else None,
            unchanged=self._law.unchanged,
        )

    def _sentences(self) -> list[str]:
        """The distribution, its exponents, and the words that are never released.

        Their figures are exact for up to 3,000 words, or where they are already
        known. Otherwise they are upper bounds.
        """
        given = self.mechanism.calibration, self.epsilon, self.embedding.words
        return exponential_sentences(self._law, *given)

    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        """One uniform number per word; for the lazy sampler, a key of 256 bits."""
        if not self._is_lazy:
            return super().draw(rng, n)
        top = np.iinfo(np.uint64).max
        return (rng.integers(0, top, (n, KEY_WORDS), np.uint64, endpoint=True),)

    def _log_masses(self, words: np.ndarray) -> np.ndarray:
        return self._law.log_masses(words)

    def _drawn(
        self, words: np.ndarray, uniforms: np.ndarray, memory: int, kept: Rows
    ) -> np.ndarray:
        if self._is_lazy:
            found = self._law.lazy(words, uniforms, kept, memory // 2)
        else:
            found = super()._drawn(words, uniforms, memory, kept)
        return found if self._outputs is None else self._outputs[found]

    def _at_rate(self, rate: float) -> ExponentialChannel:
        """The channel of a rate, whatever ε it proves."""
        other = copy(self)
        vars(other).pop("fingerprint", None)
        # the rate of "half" is ε/2, and need not be looked for
        other.mechanism = Exponential(
            "half", self.mechanism.max_distance, outputs=self.mechanism.outputs
        )
        other.epsilon = 2 * rate
        other._law = self._law.at(Fit(rate))
        return other


class AmongChannel(ExponentialChannel):
    """The exponential mechanism with only some of the words as outputs.

    Parameters
    ----------
    mechanism : Exponential
    embedding : WordEmbedding
    epsilon : float > 0
    lam : float in [0, 1]
    outputs : array-like of int
        Ids of these words.
    for_all : bool, default=True
        Whether ε is proven between any two words, or only between any two of
        `outputs`, which gives a larger rate.
    """

    def __init__(
        self,
        mechanism: WordMechanism,
        embedding: WordEmbedding,
        epsilon: float,
        lam: float,
        outputs: Any,
        *,
        for_all: bool = True,
    ) -> None:
        self._for_all = for_all
        self._outputs = _checked_outputs(outputs, len(embedding))
        super().__init__(mechanism, embedding, epsilon, lam)

    @kept_property
    def fingerprint(self) -> bytes:
        """Digest of all that the distribution depends on, the outputs included."""
        numbers = np.asarray(self._outputs, dtype="<i8").tobytes()
        return hashlib.blake2b(super().fingerprint + numbers, digest_size=32).digest()


def _checked_outputs(outputs: Any, n_words: int) -> np.ndarray:
    """Word ids, each once, ascending."""
    numbers = np.asarray(outputs)
    whole = numbers.ndim == 1 and len(numbers) and numbers.dtype.kind in "iu"
    if not whole or not 0 <= numbers.min() <= numbers.max() < n_words:
        raise InvalidParameterError(
            "outputs must be word ids of the embedding, at least one integer "
            f"in [0, {n_words}), got {shown(outputs)}."
        )
    return np.unique(numbers).astype(np.int32)  # pickles are smaller


class RandomizedResponseChannel(FiniteChannel):
    """`RandomizedResponse` for the words of one embedding."""

    def law(self) -> Law:
        """The probabilities, and that nearness does not matter."""
        said = (
            "This is pure ε-local differential privacy for each word: any two words "
            "that differ have the exponent ε, however near they are."
        )
        # a 53-bit uniform, and rounding of its threshold
        return Law(
            log_proba=self.log_proba, numerical_delta=2.0**-52, sentences=(said,)
        )

    @property
    def _moved(self) -> float:
        """Probability of another word."""
        others = (len(self.embedding) - 1) * math.exp(-self.epsilon)
        return others / (1 + others)

    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        """A uniform that decides whether a word changes, and the other word."""
        return rng.random(n), rng.integers(max(1, len(self.embedding) - 1), size=n)

    def apply(self, words: np.ndarray, draws: Draws) -> np.ndarray:
        """The words, or others."""
        uniforms, others = draws
        return np.where(uniforms < self._moved, others + (others >= words), words)

    def log_proba(self, words: np.ndarray) -> np.ndarray:
        """ln Pr[z | w] for each of the words and every z, shape (n, n_words)."""
        everything = np.arange(len(self.embedding))
        kept = math.log1p(-self._moved)
        return kept - self.epsilon * np.not_equal.outer(words, everything)

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ε for words that differ, shape (len(x), len(y))."""
        return self.epsilon * np.not_equal.outer(x, y)


class RandomizedResponse(WordMechanism):
    r"""A word stays as it is, or becomes any other word: k-ary randomized response.

    With V words,

    .. math::

        \Pr[w \mid w] = \frac{e^ε}{e^ε + V - 1}, \qquad
        \Pr[z \mid w] = \frac{1}{e^ε + V - 1} \quad (z \ne w).

    See Also
    --------
    Exponential : Prefers words that are near.

    Notes
    -----
    *Privacy.* Pure ε-local differential privacy: the privacy loss between any two words
    is ε, however near they are. λ and the vectors have no effect. It is the exponential
    mechanism of the metric in which all words are 1 apart, and the baseline for every
    mechanism that uses vectors.

    References
    ----------
    P. Kairouz, S. Oh, P. Viswanath (2016). Extremal mechanisms for local differential
    privacy. JMLR 17.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import RandomizedResponse
    >>> embedding = WordEmbedding(list("abc"), [[0.0], [1.0], [9.0]])
    >>> channel = RandomizedResponse().prepare(embedding, epsilon=np.log(2), lam=0.0)
    >>> np.exp(channel.log_proba(np.array([1])))
    array([[0.25, 0.5 , 0.25]])
    >>> channel.exponents(np.array([0]), np.arange(3)).round(3)
    array([[0.   , 0.693, 0.693]])
    """

    channel_class = RandomizedResponseChannel
