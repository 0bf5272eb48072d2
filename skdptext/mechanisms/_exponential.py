"""The exponential mechanism on words, and randomized response."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any

import numpy as np

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms._calibration import CALIBRATIONS, calibrated_fit
from skdptext.mechanisms._channel import Apply, Draws, WordChannel, WordMechanism
from skdptext.mechanisms._lazy import KEY_WORDS, LazySampler
from skdptext.mechanisms._rate import Fit, WordDistances, log_sums
from skdptext.utils import (
    blocks,
    check_option,
    check_real,
    shown,
    working_memory_bytes,
)

__all__ = [
    "Exponential",
    "ExponentialChannel",
    "RandomizedResponse",
    "RandomizedResponseChannel",
]

Kept = dict[int, Any]

# Where fewer than one word in so many is asked about, all pairs are not looked at.
_FEW = 30
# Words up to which looking at all pairs takes a second or so.
_AT_ONCE = 3000
# Words from which on "auto" is lazy.
_LAZY_FROM = 100_000


class Exponential(WordMechanism):
    r"""Words by their distance: the exponential mechanism, exactly calibrated.

    Each word w becomes the word z with probability

    .. math::

        \Pr[z \mid w] = \frac{\mu_z\, e^{-a\, d(w, z)}}{C_w}, \qquad
        C_w = \sum_z \mu_z\, e^{-a\, d(w, z)},

    where d is the metric named by λ: Euclid's at λ = 0, else the regularized
    Mahalanobis metric.

    Parameters
    ----------
    calibration : {"exact", "half", "balanced", "tight"}, default="exact"
        How the rate a and the weights μ follow from ε.

        - "half": a = ε/2, μ = 1, which is SanText [1]_.
        - "exact": μ = 1, and the largest a found for which the privacy loss is at most
          ε d(w, w') for every pair of words, which the loss attains for one of them. It
          lies between ε/2 and ε, and keeps several times the words for the same proven
          ε.
        - "tight": a = ε, and the weights for which all C_w are 1, so that the loss is
          ε d(w, w') for every pair [3]_. It keeps more words again. For a small ε there
          are no such weights; the error then names an ε for which there are.
        - "balanced": the weights of "tight" where it is feasible, else those with
          negative ones set to 0, and the largest a found for them. Words of weight 0
          are never released: see ``never_released`` of the channel.
    max_distance : float > 0, default=None
        d is then min(d, max_distance), so that no two words are told apart by more than
        ε times it. This is the law of TEM, the truncated exponential mechanism [2]_,
        whose `max_distance` is its γ, with "half"; `skdptext.privacy.tem_distance`
        gives γ.
    sampler : {"auto", "rows", "lazy"}, default="auto"
        How words are drawn; the law is the same, the noise of a seed is not. "rows"
        sums up the probabilities of each distinct word. "lazy" looks closely at its √V
        nearest words, and at few of the others, anew for every token [4]_: for some
        words of a large table. "auto" is "lazy" from 100,000 words on.

    Notes
    -----
    *Privacy.* Pr[z | w] ≤ exp(a d(w, w') + ln C_w' − ln C_w) Pr[z | w'], with equality
    for z = w; so this is the exponent of a pair, without slack, but for a w that is
    never released. ε bounds it per unit of d. A 53-bit uniform and float64 sums leave
    ``numerical_delta`` per word.

    *ε is not that of the noise.* For the same share of words kept it is four to twelve
    times smaller than that of `MahalanobisNoise`, by embedding and share: see the
    guide.

    *Cost.* All but "half" look at all pairs of words, some times over, when they are
    prepared; the result is kept for the process. "balanced" and "tight" solve linear
    systems of n_words equations: seconds while a matrix of n_words² floats fits into
    half of scikit-learn's ``working_memory``, else minutes.

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

    See Also
    --------
    RandomizedResponse : The same where all words are equally far apart.

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

    def __init__(
        self,
        calibration: str = "exact",
        max_distance: float | None = None,
        *,
        sampler: str = "auto",
    ) -> None:
        self.calibration = calibration
        self.max_distance = max_distance
        self.sampler = sampler

    def prepare(
        self, embedding: WordEmbedding, epsilon: float, lam: float
    ) -> ExponentialChannel:
        """The mechanism of one embedding, ε and λ, calibrated.

        Parameters
        ----------
        embedding : WordEmbedding
        epsilon : float > 0
            In nats per unit of distance, proven.
        lam : float in [0, 1]
            1 needs a regular Σ.

        Returns
        -------
        channel : ExponentialChannel

        Raises
        ------
        InvalidParameterError
            If a parameter breaks its rule, λ > 0 and the embedding has no covariance,
            or ε is too small for "tight".
        """
        return ExponentialChannel(self, embedding, epsilon, lam)

    def prepare_among(
        self,
        embedding: WordEmbedding,
        epsilon: float,
        lam: float,
        outputs: np.ndarray,
    ) -> ExponentialChannel:
        """The mechanism that releases some of the words only.

        Parameters
        ----------
        embedding : WordEmbedding
        epsilon : float > 0
            In nats per unit of distance, proven between any two of `outputs`.
        lam : float in [0, 1]
        outputs : array-like of int, shape (n_outputs,)
            Numbers of the words that may be released, at least one; public.

        Returns
        -------
        channel : ExponentialChannel
            Of any word of the embedding, with Pr[z | w] ∝ e^(−a d(w, z)) for the z in
            `outputs` and 0 for others. ``exponents`` holds for all pairs of words: for
            the words in `outputs` it is exact.

        Raises
        ------
        InvalidParameterError
            As `prepare`, or if `outputs` is empty or contains a number that belongs to
            no word.
        """
        return ExponentialChannel(self, embedding, epsilon, lam, outputs)


class ExponentialChannel(WordChannel):
    """`Exponential` for one embedding.

    Parameters
    ----------
    mechanism : Exponential
    embedding : WordEmbedding
    epsilon : float > 0
    lam : float in [0, 1]
    outputs : array-like of int, default=None
        Numbers of the words that may be released; None: all.

    Attributes
    ----------
    rate : float
        a: the log probability that a unit of distance costs.
    """

    mechanism: Exponential

    def __init__(
        self,
        mechanism: WordMechanism,
        embedding: WordEmbedding,
        epsilon: float,
        lam: float,
        outputs: Any = None,
    ) -> None:
        super().__init__(mechanism, embedding, epsilon, lam)
        options = self.mechanism
        check_option("calibration", options.calibration, CALIBRATIONS)
        check_option("sampler", options.sampler, ["auto", "rows", "lazy"])
        self._cap = options.max_distance
        if self._cap is not None:
            self._cap = check_real("max_distance", self._cap, low=0, open_low=True)
        self._outputs = None
        if outputs is not None:
            self._outputs = _checked_outputs(outputs, len(embedding))
        n_outputs = len(embedding if self._outputs is None else self._outputs)
        auto = "lazy" if n_outputs >= _LAZY_FROM else "rows"
        self._is_lazy = "lazy" in (options.sampler, auto) and options.sampler != "rows"
        self.rate, self._weights = self.epsilon / 2, None
        if options.calibration != "half":
            self._fit = calibrated_fit(
                embedding, self.lam, options.calibration, self.epsilon, self._table
            )
            self.rate, self._weights = self._fit.rate, self._fit.weights

    @cached_property
    def _table(self) -> WordDistances:
        return WordDistances(self.embedding, self.lam, self._cap, self._outputs)

    @property
    def _law(self) -> Fit:
        return Fit(self.rate, self._weights)

    @cached_property
    def _fit(self) -> Fit:
        return self._table.evaluated(self._law)

    def __getstate__(self) -> dict[str, Any]:
        # they hold the table once more, and must not be pickled
        return {k: v for k, v in vars(self).items() if k not in ("_table", "_lazy")}

    @cached_property
    def _lazy(self) -> LazySampler:
        return LazySampler(self._table, self._law)

    @cached_property
    def fingerprint(self) -> bytes:
        """Digest of all that the law depends on; it keys the noise."""
        digest = super().fingerprint
        if self._outputs is None:
            return digest
        digest += self._outputs.astype("<i8").tobytes()
        return hashlib.blake2b(digest, digest_size=32).digest()

    @property
    def attained(self) -> float:
        """The largest privacy loss per unit of distance over all pairs; at most ε.

        With `outputs`, over all pairs of these.
        """
        return self._fit.attained

    @cached_property
    def log_normalizers(self) -> np.ndarray:
        """ln C_w of every word, shape (n_words,)."""
        return self._table.log_normalizers_from(self._fit)

    @property
    def weights(self) -> np.ndarray:
        """μ_z of every word, shape (n_words,); 0 for those that are never released."""
        found = np.zeros(len(self.embedding))
        found[self._table.outputs] = 1 if self._weights is None else self._weights
        return found

    @property
    def outputs(self) -> np.ndarray:
        """Numbers of the words that may be released, ascending."""
        return np.flatnonzero(self.weights)

    @property
    def never_released(self) -> np.ndarray:
        """Numbers of the words that are not, ascending."""
        return np.flatnonzero(self.weights == 0)

    @cached_property
    def worst_exponent(self) -> float:
        """The largest exponent of two of the words that may be released, in nats."""
        return self._table.largest_loss(self._fit)

    def describe(self) -> list[str]:
        """Sentences on the law, for the printed guarantee.

        They are exact where that takes no long look at the words: in tables of up to
        3,000, or where it was asked for before.
        """
        metric = "Euclidean" if self.lam == 0 else f"Mahalanobis (λ = {self.lam:g})"
        distance = f"the {metric} distance of their vectors"
        if self._cap is not None:
            distance += f", at most {self._cap:g}"
        weighted = "" if self._weights is None else "μ(z)·"
        law = (
            f"A word w becomes the word z with probability in proportion to {weighted}"
            f"exp(−{self.rate:.4g}·d(w, z)), where d is {distance}"
        )
        law += f' (calibration "{self.mechanism.calibration}")'
        fast = len(self._table) <= _AT_ONCE
        if not self._table.alike.any():  # there is no pair of different vectors
            return [law + ".", *self._never_described()]
        if fast or "_fit" in vars(self):
            kappa = self.attained / self.rate - 1
            law += (
                f"; no two words lose more than ε* = {_rounded_up(self.attained)} per "
                f"unit of d (1 + κ times the rate, with κ = {_rounded_up(kappa)})"
            )
            if self._weights is None:
                law += ", and some pair loses exactly that"
        else:
            law += f"; no two words lose more than {self.epsilon:.4g} per unit of d"
        if fast or "worst_exponent" in vars(self):
            worst = self.worst_exponent
        else:
            worst = self.epsilon * self._table.diameter
        sentences = [
            law + ".",
            "Between any two words, however far apart, the exponent is at most "
            f"{_rounded_up(worst)}.",
        ]
        return sentences + self._never_described()

    def _never_described(self) -> list[str]:
        never = self.never_released
        if not len(never):
            return []
        names = ", ".join(repr(self.embedding.words[i]) for i in never[:5])
        more = ", …" if len(never) > 5 else ""
        return [
            f"{len(never)} of the {len(self.embedding)} words are never released: "
            f"{names}{more}."
        ]

    @property
    def numerical_delta(self) -> float:  # type: ignore[override]
        """Probability that a word differs from the one exact arithmetic would give.

        Each probability is off by some 2⁻⁵², for the sums and for the steps of a
        53-bit uniform, and the distances may be off by some 1e-12 of themselves.
        """
        return 2.0**-36 + len(self.embedding) * 2.0**-51

    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        """One uniform number per word; a key of 256 bits each, if they are lazy."""
        if self._is_lazy:
            top = np.iinfo(np.uint64).max
            size = n, KEY_WORDS
            return (rng.integers(0, top, size, dtype=np.uint64, endpoint=True),)
        return (rng.random(n),)

    def apply(
        self,
        words: np.ndarray,
        draws: Draws,
        memory: int | None = None,
        kept: Kept | None = None,
    ) -> np.ndarray:
        """The words at which the cumulative probabilities pass the uniforms.

        If they are lazy, the words whose scores and Gumbel noise are the largest.

        Parameters
        ----------
        words : ndarray of int, shape (n,)
        draws : tuple of ndarray
        memory : int, default=None
            Bytes for rows of probabilities; None: scikit-learn's ``working_memory``.
        kept : dict, default=None
            What earlier calls found out about words, such as rows, to which this one
            adds while there is room: seven eighths of `memory`.
        """
        (uniforms,) = draws
        memory = working_memory_bytes() if memory is None else memory
        kept = {} if kept is None else kept
        if self._is_lazy:
            found = self._lazy(words, uniforms, kept, memory // 2)
            return self._table.outputs[found]
        row_bytes = 8 * len(self._table)
        order = np.argsort(words, kind="stable")
        distinct, starts = np.unique(words[order], return_index=True)
        ends = np.append(starts[1:], len(words)).tolist()
        places = dict(
            zip(distinct.tolist(), map(slice, starts.tolist(), ends), strict=True)
        )
        # so that no product with a sum rounds up to the sum
        below = uniforms[order] * (1 - 2.0**-53)
        found = np.empty(len(words), dtype=np.intp)

        def invert(word: int, upto: np.ndarray) -> None:
            at = places[word]
            found[at] = upto.searchsorted(below[at] * upto[-1], side="right")

        missing = []
        for word in places:
            upto = kept.get(word)
            if upto is None:
                missing.append(word)
            else:
                invert(word, upto)
        at_once = int(np.clip(memory // 8 // (3 * row_bytes), 1, 512))
        for some in blocks(len(missing), at_once):
            rows = self._log_masses(np.array(missing[some]))
            if self._outputs is not None:  # all may be too small for floats
                rows -= rows.max(axis=1, keepdims=True)
            np.exp(rows, out=rows)
            np.cumsum(rows, axis=1, out=rows)
            for word, upto in zip(missing[some], rows, strict=True):
                invert(word, upto)
            if (len(kept) + len(rows)) * row_bytes <= memory // 8 * 7:
                kept.update(zip(missing[some], rows, strict=True))
        noisy = np.empty(len(words), dtype=np.intp)
        noisy[order] = found
        return noisy if self._outputs is None else self._outputs[noisy]

    def _log_masses(self, words: np.ndarray) -> np.ndarray:
        return self._table.log_masses(words, self._law)

    @contextmanager
    def session(self, n_threads: int, memory: int) -> Iterator[Apply]:
        """`apply` that keeps rows of probabilities for the next call."""
        yield partial(self.apply, memory=memory, kept={})

    @property
    def row_bytes(self) -> int:
        """A uniform, numbers and their order; `apply` sees to its rows itself."""
        return 128

    def log_proba(self, words: np.ndarray) -> np.ndarray:
        """ln Pr[z | w] for each of the words and every z, shape (n, n_words)."""
        found = self._log_masses(np.asarray(words))
        found -= log_sums(found)[:, None]
        if self._outputs is None:
            return found
        everything = np.full((len(found), len(self.embedding)), -np.inf)
        everything[:, self._outputs] = found
        return everything

    @property
    def at_rate(self) -> Callable[[float], ExponentialChannel] | None:  # type: ignore[override]
        """The channel of a rate, whichever ε it proves; None where ε gives the rate."""
        return self._at_rate if self.mechanism.calibration == "exact" else None

    def _at_rate(self, rate: float) -> ExponentialChannel:
        # the rate of "half" is ε/2, and need not be looked for
        mechanism = Exponential("half", self._cap)
        given = self.embedding, 2 * rate, self.lam, self._outputs
        other = ExponentialChannel(mechanism, *given)
        vars(other)["_table"] = self._table  # made once for all rates
        return other

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """a d(x, y) + ln C_y − ln C_x, shape (len(x), len(y)).

        That is the privacy loss where x may be released, and at least it elsewhere.
        """
        found = self.rate * self._table.between(x, y)
        found += self._logs(y) - self._logs(x)[:, None]
        return np.maximum(found, 0, out=found)  # rounding

    def _logs(self, words: np.ndarray) -> np.ndarray:
        """ln C_w of words; of few words in a large table by a row each."""
        few = len(words) * _FEW <= len(self._table)
        if few and not ({"_fit", "log_normalizers"} & vars(self).keys()):
            return self._table.log_normalizers_of(words, self._law)
        return self.log_normalizers[words]


def _rounded_up(x: float) -> str:
    """Four digits of a number, not below it."""
    if x <= 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(x)) - 3)
    return f"{math.ceil(x / unit * (1 - 1e-12)) * unit:.4g}"


def _checked_outputs(outputs: Any, n_words: int) -> np.ndarray:
    """Numbers of words, each once, ascending."""
    numbers = np.asarray(outputs)
    whole = numbers.ndim == 1 and len(numbers) and numbers.dtype.kind in "iu"
    if not whole or not 0 <= numbers.min() <= numbers.max() < n_words:
        raise InvalidParameterError(
            "outputs must be numbers of words of the embedding, at least one integer "
            f"in [0, {n_words}), got {shown(outputs)}."
        )
    return np.unique(numbers).astype(np.intp)


class RandomizedResponse(WordMechanism):
    r"""A word stays as it is, or becomes any other word: k-ary randomized response.

    With V words,

    .. math::

        \Pr[w \mid w] = \frac{e^ε}{e^ε + V - 1}, \qquad
        \Pr[z \mid w] = \frac{1}{e^ε + V - 1} \quad (z \ne w).

    Notes
    -----
    *Privacy.* Pure ε-local differential privacy: any two words are told apart by ε,
    however near they are, and λ and the vectors do not matter. It is the exponential
    mechanism of the metric in which all words are 1 apart, and the baseline for every
    mechanism that asks for vectors.

    References
    ----------
    P. Kairouz, S. Oh, P. Viswanath (2016). Extremal mechanisms for local differential
    privacy. JMLR 17.

    See Also
    --------
    Exponential : Prefers words that are near.

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

    def prepare(
        self, embedding: WordEmbedding, epsilon: float, lam: float
    ) -> RandomizedResponseChannel:
        """The mechanism for the words of one embedding.

        Parameters
        ----------
        embedding : WordEmbedding
        epsilon : float > 0
            In nats per word that differs.
        lam : float in [0, 1]
            Without effect.

        Returns
        -------
        channel : RandomizedResponseChannel
        """
        return RandomizedResponseChannel(self, embedding, epsilon, lam)


class RandomizedResponseChannel(WordChannel):
    """`RandomizedResponse` for the words of one embedding."""

    numerical_delta = 2.0**-52  # a 53-bit uniform, and rounding of its threshold

    @property
    def _moved(self) -> float:
        """Probability of another word."""
        others = (len(self.embedding) - 1) * math.exp(-self.epsilon)
        return others / (1 + others)

    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        """A uniform that says whether, and the number of another word."""
        return rng.random(n), rng.integers(max(1, len(self.embedding) - 1), size=n)

    def apply(self, words: np.ndarray, draws: Draws) -> np.ndarray:
        """The words, or others."""
        uniforms, others = draws
        return np.where(uniforms < self._moved, others + (others >= words), words)

    @property
    def row_bytes(self) -> int:
        """Two numbers drawn, and what becomes of them."""
        return 64

    def log_proba(self, words: np.ndarray) -> np.ndarray:
        """ln Pr[z | w] for each of the words and every z, shape (n, n_words)."""
        everything = np.arange(len(self.embedding))
        kept = math.log1p(-self._moved)
        return kept - self.epsilon * np.not_equal.outer(words, everything)

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ε for words that differ, shape (len(x), len(y))."""
        return self.epsilon * np.not_equal.outer(x, y)
