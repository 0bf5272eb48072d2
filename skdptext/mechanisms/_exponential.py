"""The exponential mechanism on words, and randomized response."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any

import numpy as np

from skdptext.embeddings import WordEmbedding
from skdptext.mechanisms._channel import Apply, Draws, WordChannel, WordMechanism
from skdptext.mechanisms._rate import Fit, WordDistances, exact_fit
from skdptext.utils import blocks, check_option, check_real, working_memory_bytes

__all__ = [
    "Exponential",
    "ExponentialChannel",
    "RandomizedResponse",
    "RandomizedResponseChannel",
]

Kept = dict[int, np.ndarray]


class Exponential(WordMechanism):
    r"""Words by their distance: the exponential mechanism, exactly calibrated.

    Each word w becomes the word z with probability

    .. math::

        \Pr[z \mid w] = \frac{e^{-a\, d(w, z)}}{C_w}, \qquad
        C_w = \sum_z e^{-a\, d(w, z)},

    where d is the metric named by λ: Euclid's at λ = 0, else the regularized
    Mahalanobis metric.

    Parameters
    ----------
    calibration : {"exact", "half"}, default="exact"
        How the rate a follows from ε. "half": a = ε/2, which is SanText [1]_. "exact":
        the largest a found for which the privacy loss is at most ε d(w, w') for every
        pair of words, which the loss attains for one of them. It lies between ε/2 and
        ε, and keeps several times the words for the same proven ε.
    max_distance : float > 0, default=None
        d is then min(d, max_distance), so that no two words are told apart by more than
        ε times it. This is the law of TEM, the truncated exponential mechanism [2]_,
        whose `max_distance` is its γ, with "half".

    Notes
    -----
    *Privacy.* Pr[z | w] ≤ exp(a d(w, w') + ln C_w' − ln C_w) Pr[z | w'], with equality
    for z = w; so this is the exponent of a pair, without slack. ε bounds it per unit of
    d. A 53-bit uniform and float64 sums leave ``numerical_delta`` per word.

    *ε is not that of the noise.* For the same share of words kept it is seven to ten
    times smaller than that of `MahalanobisNoise`: see the guide.

    *Cost.* "exact" looks at all pairs of words, some times over, when it is prepared;
    the result is kept for the process.

    References
    ----------
    .. [1] X. Yue, M. Du, T. Wang, Y. Li, H. Sun, S. S. M. Chow (2021). Differential
       privacy for text analytics via natural text sanitization. Findings of ACL 2021.
    .. [2] R. S. Carvalho, T. Vasiloudis, O. Feyisetan, K. Wang (2023). TEM: high
       utility metric differential privacy on text. SDM 2023.

    See Also
    --------
    RandomizedResponse : The same where all words are equally far apart.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import Exponential
    >>> embedding = WordEmbedding(list("abcd"), [[0.0], [1.0], [2.0], [9.0]])
    >>> exact = Exponential().prepare(embedding, epsilon=2.0, lam=0.0)
    >>> half = Exponential(calibration="half").prepare(embedding, 2.0, 0.0)
    >>> print(f"{exact.rate:.3f} {half.rate:.3f}")
    1.897 1.000
    >>> for channel in exact, half:
    ...     print(np.exp(channel.log_proba(np.array([0]))).round(3))
    [[0.853 0.128 0.019 0.   ]]
    [[0.665 0.245 0.09  0.   ]]
    """

    def __init__(
        self, calibration: str = "exact", max_distance: float | None = None
    ) -> None:
        self.calibration = calibration
        self.max_distance = max_distance

    def prepare(
        self, embedding: WordEmbedding, epsilon: float, lam: float
    ) -> ExponentialChannel:
        """The mechanism of one embedding, ε and λ; with "exact", calibrated.

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
            If a parameter breaks its rule, or λ > 0 and the embedding has no
            covariance.
        """
        return ExponentialChannel(self, embedding, epsilon, lam)


class ExponentialChannel(WordChannel):
    """`Exponential` for one embedding.

    Parameters
    ----------
    mechanism : Exponential
    embedding : WordEmbedding
    epsilon : float > 0
    lam : float in [0, 1]

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
    ) -> None:
        super().__init__(mechanism, embedding, epsilon, lam)
        options = self.mechanism
        check_option("calibration", options.calibration, ["exact", "half"])
        self._cap = options.max_distance
        if self._cap is not None:
            self._cap = check_real("max_distance", self._cap, low=0, open_low=True)
        self.rate = self.epsilon / 2
        if options.calibration == "exact":
            self._fit = exact_fit(
                embedding, self.lam, self._cap, self.epsilon, self._table
            )
            self.rate = self._fit.rate

    @cached_property
    def _table(self) -> WordDistances:
        return WordDistances(self.embedding, self.lam, self._cap)

    @cached_property
    def _fit(self) -> Fit:
        logs = self._table.log_normalizers(self.rate)
        return Fit(self.rate, self._table.attained(self.rate, logs)[0], logs)

    def __getstate__(self) -> dict[str, Any]:
        # it holds the table once more, and must not be pickled
        return {k: v for k, v in vars(self).items() if k != "_table"}

    @property
    def attained(self) -> float:
        """The largest privacy loss per unit of distance over all pairs; at most ε."""
        return self._fit.attained

    @property
    def log_normalizers(self) -> np.ndarray:
        """ln C_w of every word, shape (n_words,)."""
        return self._fit.log_normalizers

    @property
    def numerical_delta(self) -> float:  # type: ignore[override]
        """Probability per word of another word than with real numbers.

        Each probability is off by some 2⁻⁵², for the sums and for the steps of a
        53-bit uniform, and the distances may be off by some 1e-12 of themselves.
        """
        return 2.0**-36 + len(self.embedding) * 2.0**-51

    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        """One uniform number per word."""
        return (rng.random(n),)

    def apply(
        self,
        words: np.ndarray,
        draws: Draws,
        memory: int | None = None,
        kept: Kept | None = None,
    ) -> np.ndarray:
        """The words at which the cumulative probabilities pass the uniforms.

        Parameters
        ----------
        words : ndarray of int, shape (n,)
        draws : tuple of ndarray
        memory : int, default=None
            Bytes for rows of probabilities; None: scikit-learn's ``working_memory``.
        kept : dict, default=None
            Rows of earlier calls, to which this one adds while there is room: seven
            eighths of `memory`.
        """
        (uniforms,) = draws
        memory = working_memory_bytes() if memory is None else memory
        kept = {} if kept is None else kept
        row_bytes = 8 * len(self.embedding)
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
            rows = np.exp(-self.rate * self._table.rows(np.array(missing[some])))
            np.cumsum(rows, axis=1, out=rows)
            for word, upto in zip(missing[some], rows, strict=True):
                invert(word, upto)
            if (len(kept) + len(rows)) * row_bytes <= memory // 8 * 7:
                kept.update(zip(missing[some], rows, strict=True))
        noisy = np.empty(len(words), dtype=np.intp)
        noisy[order] = found
        return noisy

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
        found = -self.rate * self._table.rows(np.asarray(words))
        found -= np.log(np.exp(found).sum(axis=1, keepdims=True))
        return found

    @property
    def at_rate(self) -> Callable[[float], ExponentialChannel] | None:  # type: ignore[override]
        """The channel of a rate, whichever ε it proves; None where ε gives the rate."""
        return self._at_rate if self.mechanism.calibration == "exact" else None

    def _at_rate(self, rate: float) -> ExponentialChannel:
        # the rate of "half" is ε/2, and need not be looked for
        mechanism = Exponential("half", self._cap)
        other = ExponentialChannel(mechanism, self.embedding, 2 * rate, self.lam)
        vars(other)["_table"] = self._table  # made once for all rates
        return other

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """a d(x, y) + ln C_y − ln C_x, which is exact; shape (len(x), len(y))."""
        logs = self.log_normalizers
        found = self.rate * self._table.between(x, y)
        found += logs[y] - logs[x][:, None]
        return np.maximum(found, 0, out=found)  # rounding


class RandomizedResponse(WordMechanism):
    r"""A word keeps its place, or becomes any other: k-ary randomized response.

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
        """ε for words that differ."""
        return self.epsilon * np.not_equal.outer(x, y)
