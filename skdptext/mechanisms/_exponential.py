"""The exponential mechanism on words, and randomized response."""

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import brentq

from skdptext.mechanisms._mechanism import Draws, TableMechanism
from skdptext.mechanisms._noise import MahalanobisMetric, embedding_spectrum
from skdptext.utils import (
    Memo,
    blocks,
    check_option,
    check_real,
    rounded_up,
    working_memory_bytes,
)

# Below this share of ‖φ‖², squared distances are computed from differences, because the
# matrix product would have lost more than three of their sixteen digits.
_NEAR = 2.2e-3
# Bound on rounding in a difference of two ln C, in nats; added before a division.
_ROUNDING = 2.0**-40
# Relative margin by which the search aims below ε. It outweighs rounding.
_MARGIN = 2.0**-33
# Number of words that the search for a rate starts with, and of pairs that each failed
# attempt adds.
_FIRST, _MORE = 256, 32

# The rates that were found last, by a digest of everything they depend on.
_rates: Memo[tuple[float, np.ndarray, float]] = Memo(32)


class Exponential(TableMechanism):
    r"""Replace each word by a random word, preferring near ones (recommended).

    Similar words become hard to distinguish: a bound on the privacy loss holds for
    every pair of words. Each word w becomes the word z with probability

    .. math::

        \Pr[z \mid w] = \frac{e^{-a\, d(w, z)}}{C_w}, \qquad
        C_w = \sum_z e^{-a\, d(w, z)},

    where d is the metric that λ selects: Euclidean at λ = 0, otherwise the regularized
    Mahalanobis metric.

    Parameters
    ----------
    calibration : {"exact", "half"}, default="exact"
        How ε determines the rate a.

        - "half": a = ε/2, which is SanText [1]_.
        - "exact": the largest a found for which the privacy loss is at most ε d(w, w')
          for every pair of words; some pair attains this bound. This a lies between ε/2
          and ε, and keeps several times as many words for the same proven ε.
    max_distance : float > 0, default=None
        If given, d is replaced by min(d, max_distance), so that the privacy loss
        between any two words is at most ε times `max_distance`. With "half" and
        γ = (2/ε) ln((1 − β)(V − 1)/β) this is TEM, the truncated exponential mechanism
        [2]_, for V words: it releases a word beyond γ with a probability of at most β.

    Attributes
    ----------
    rate : float
        The rate a: how much log probability a unit of distance costs. Set by
        `prepare`, like all attributes.
    attained : float
        The largest privacy loss per unit of distance over all pairs; at most ε.

    See Also
    --------
    RandomizedResponse : The same mechanism if all words are equally far apart.

    Notes
    -----
    *Privacy.* Pr[z | w] ≤ exp(a d(w, w') + ln C_w' − ln C_w) Pr[z | w'], with equality
    for z = w. So this is the exact exponent of a pair. Per unit of d it is at most ε.
    The 53-bit uniform and the float64 sums cost ``numerical_delta`` per word.

    *This ε cannot be compared with the ε of noise on vectors.* For the same share of
    words kept it is four to twelve times smaller than with `MahalanobisNoise`,
    depending on embedding and share.

    *Timing.* Run time reveals the number of distinct words, because each is looked up
    once per call. Nothing here hides it from an attacker who can time a call.

    *Cost.* "exact" passes over all pairs of words a few times when the mechanism is
    prepared. The result is kept until the process ends.

    References
    ----------
    .. [1] X. Yue, M. Du, T. Wang, Y. Li, H. Sun, S. S. M. Chow (2021). Differential
       privacy for text analytics via natural text sanitization. Findings of ACL 2021.
    .. [2] R. S. Carvalho, T. Vasiloudis, O. Feyisetan, K. Wang (2023). TEM: high
       utility metric differential privacy on text. SDM 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import Exponential
    >>> embedding = WordEmbedding(list("abcd"), [[0.0], [1.0], [2.0], [9.0]])
    >>> for calibration in "half", "exact":
    ...     prepared = Exponential(calibration).prepare(embedding, epsilon=2.0)
    ...     row = np.exp(prepared.log_proba(np.array([0])))[0]
    ...     print(f"{calibration}: a = {prepared.rate:.3f},", row.round(3))
    half: a = 1.000, [0.665 0.245 0.09  0.   ]
    exact: a = 1.897, [0.853 0.128 0.019 0.   ]
    """

    def __init__(
        self, calibration: str = "exact", max_distance: float | None = None
    ) -> None:
        self.calibration = calibration
        self.max_distance = max_distance

    def _prepare(self) -> None:
        check_option("calibration", self.calibration, ["exact", "half"])
        if self.max_distance is not None:
            check_real("max_distance", self.max_distance, low=0, open_low=True)
        if self.lam > 0:  # "half" would refuse a singular Σ only when it draws
            self._metric()
        if self.calibration == "half":
            self.rate: float = self.epsilon / 2
        else:
            found = _rates.get(self.fingerprint, self._calibrated)
            self.rate, self._log_normalizers, self.attained = found

    def _metric(self) -> MahalanobisMetric:
        return MahalanobisMetric(self.lam, embedding_spectrum(self.embedding))

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        # The points follow from the embedding, and are as large as it is.
        return {k: v for k, v in state.items() if k != "_right"}

    # -- distances -------------------------------------------------------------

    @cached_property
    def _right(self) -> np.ndarray:
        """Rows (x, 1, ‖x‖²) of points whose Euclidean distances are the metric's."""
        # Equal vectors become one point and are exactly 0 apart, although products
        # round.
        different, at = np.unique(self.embedding.vectors, axis=0, return_inverse=True)
        points = different.astype(np.float64)
        if self.lam > 0:
            points = self._metric().whiten(points)
        # Distances do not change when all points move. Around the mean the squares are
        # smallest, and so is the rounding error of their difference.
        points = (points - points.mean(axis=0))[at.ravel()]
        squares = np.einsum("ij,ij->i", points, points)
        return np.column_stack([points, np.ones(len(points)), squares])

    def _distances(self, words: Any, others: Any = slice(None)) -> np.ndarray:
        """Distances of words to others in float64; both are ids, or slices of all."""
        left, right = self._right[words], self._right[others]
        x, y, norms = left[:, :-2], right[:, :-2], left[:, -1:]
        # ‖x − y‖² = ‖x‖² + ‖y‖² − 2xᵀy as one product
        apart = np.column_stack([-2 * x, norms, np.ones(len(x))]) @ right.T
        # For near words this is a small difference of large numbers. These few pairs
        # are computed from the differences of their vectors.
        near = np.flatnonzero(apart <= _NEAR * norms)
        i, j = np.divmod(near, len(y))
        for block in blocks(len(near), max(1, 2**20 // x.shape[1])):
            gaps = x[i[block]] - y[j[block]]
            apart[i[block], j[block]] = np.einsum("ij,ij->i", gaps, gaps)
        np.sqrt(apart, out=apart)
        if self.max_distance is not None:
            np.minimum(apart, self.max_distance, out=apart)
        return apart

    def _pairs(self) -> Iterator[tuple[slice, slice, np.ndarray]]:
        """Yield a block of words, all words from its first on, and their distances."""
        n_words = len(self.embedding)
        size = int(np.clip(working_memory_bytes() // (40 * n_words), 1, 256))
        for rows in blocks(n_words, size):
            rest = slice(rows.start, None)
            yield rows, rest, self._distances(rows, rest)

    # -- the distribution ------------------------------------------------------

    def log_proba(self, words: np.ndarray) -> np.ndarray:
        logs = self._distances(words)
        logs *= -self.rate
        logs -= np.log(np.exp(logs).sum(axis=1))[:, None]
        return logs

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        # The exact loss is a d(x, y) + ln C_y − ln C_x.
        apart = self._distances(x, y)
        exponents = self.rate * apart + self._logs(y) - self._logs(x)[:, None]
        # Words with equal vectors have equal distributions: their exponent is 0, and
        # gets no margin for rounding.
        return np.where(apart > 0, np.maximum(exponents + _ROUNDING, 0), 0.0)

    def _logs(self, words: np.ndarray) -> np.ndarray:
        """Compute ln C_w of words."""
        if self.calibration == "exact":
            return self._log_normalizers[words]
        logs = np.empty(len(words))
        for rows in blocks(len(words), self._n_rows()):
            # ln Pr[w | w] is −ln C_w, as the distance of a word to itself is 0.
            proba = self.log_proba(words[rows])
            logs[rows] = -proba[np.arange(len(proba)), words[rows]]
        return logs

    @cached_property
    def attained(self) -> float:
        """The largest privacy loss per unit of distance over all pairs; at most ε."""
        return self._attained(self.rate, self._normalizers(self.rate))[0]

    # -- what a rate proves ----------------------------------------------------

    def _normalizers(self, rate: float) -> np.ndarray:
        """Compute ln C_w of all words at a rate."""
        sums = np.zeros(len(self.embedding))
        for rows, rest, apart in self._pairs():
            apart *= -rate
            masses = np.exp(apart, out=apart)
            sums[rows] += masses.sum(axis=1)
            # Distances are symmetric: these columns are rows below the diagonal.
            n = rows.stop - rows.start
            sums[rest][n:] += masses[:, n:].sum(axis=0)
        logs: np.ndarray = np.log(sums)
        logs.flags.writeable = False  # mechanisms of one rate share them
        return logs

    def _attained(self, rate: float, logs: np.ndarray) -> tuple[float, np.ndarray]:
        """Find the largest loss per unit of distance, and the words of worst pairs."""
        worst, mates = np.zeros(len(logs)), np.zeros(len(logs), dtype=np.intp)
        for rows, rest, apart in self._pairs():
            excess = _excess(apart, logs[rows], logs[rest])
            worst[rows], mates[rows] = excess.max(axis=1), excess.argmax(axis=1)
            mates[rows] += rows.start
        order = np.argsort(-worst, kind="stable")[:_MORE]
        # By the triangle inequality the excess is at most a, apart from rounding.
        return rate + min(float(worst.max()), rate), np.append(order, mates[order])

    def _calibrated(self) -> tuple[float, np.ndarray, float]:
        """Find a large rate that proves ε: chosen on some words, checked on all.

        ε/2 always holds. A rate that some words rule out cannot hold for all words, so
        the candidate falls from above while the words that broke it are added.
        """
        n_words = len(self.embedding)
        n_first = min(_FIRST, max(4, working_memory_bytes() // (64 * n_words)))
        # Which words are drawn hardly matters: all pairs are checked.
        some = np.random.default_rng(0).permutation(n_words)[:n_first]
        top = aim = self.epsilon * (1 - _MARGIN)
        while True:
            rows = self._distances(some)
            rate = _largest_rate(rows, rows[:, some], top, aim)
            logs = self._normalizers(rate)
            attained, worst = self._attained(rate, logs)
            if attained <= self.epsilon:
                return rate, logs, attained
            # If the worst pairs were already considered, only rounding keeps the loss
            # above ε, and a slightly smaller aim succeeds.
            if np.isin(worst, some).all():
                aim -= 2 * (attained - self.epsilon)
            some, top = np.union1d(some, worst), rate

    def sentences(self) -> list[str]:
        metric = "Euclidean" if self.lam == 0 else f"Mahalanobis (λ = {self.lam:g})"
        cap = "" if self.max_distance is None else f", at most {self.max_distance:g}"
        most = self.attained if self.calibration == "exact" else self.epsilon
        return [
            "A word w becomes the word z with probability proportional to "
            f"exp(−{self.rate:.4g}·d(w, z)), where d is the {metric} distance of their "
            f'vectors{cap} (calibration "{self.calibration}"); no two words lose more '
            f"than {rounded_up(most)} per unit of d."
        ]


def _largest_rate(rows: np.ndarray, among: np.ndarray, top: float, aim: float) -> float:
    """Find the largest rate on a grid of nine, `top` to aim/2, that proves `aim`.

    `rows` are the distances of some words to all words, `among` those to each other.
    The loss need not grow with the rate. The grid is searched from above, because the
    largest rate changes the fewest words at the same ε.
    """

    def beyond(rate: float) -> float:
        logs = np.log(np.exp(-rate * rows).sum(axis=1))
        return rate + min(float(_excess(among.copy(), logs, logs).max()), rate) - aim

    above = top
    for rate in np.linspace(top, aim / 2, 9).tolist():
        if beyond(rate) <= 0:
            if rate == top:
                return rate
            # The tolerance is relative: rates are as small as distances are large.
            return float(brentq(beyond, rate, above, xtol=1e-300, rtol=1e-13))
        above = rate
    return aim / 2


def _excess(apart: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Compute |ln C_w − ln C_w'| / d(w, w'), rounded up; overwrites the distances.

    The result is 0 for words 0 apart: their loss is 0, and only rounding says
    otherwise.
    """
    apart[apart == 0] = np.inf
    excess = np.abs(np.subtract.outer(ours, theirs))
    excess += _ROUNDING
    excess /= apart
    return excess


class RandomizedResponse(TableMechanism):
    r"""Keep each word or replace it by any other (k-ary randomized response).

    With V words,

    .. math::

        \Pr[w \mid w] = \frac{e^ε}{e^ε + V - 1}, \qquad
        \Pr[z \mid w] = \frac{1}{e^ε + V - 1} \quad (z \ne w).

    See Also
    --------
    Exponential : Prefers near words.

    Notes
    -----
    *Privacy.* Pure ε-local differential privacy: the privacy loss between any two words
    is ε, even if their vectors are close. λ and the vectors have no effect. This is the
    exponential mechanism of the metric in which all words are 1 apart, and the baseline
    for every mechanism that uses vectors.

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
    >>> prepared = RandomizedResponse().prepare(embedding, epsilon=np.log(2))
    >>> np.exp(prepared.log_proba(np.array([1])))
    array([[0.25, 0.5 , 0.25]])
    >>> prepared.exponents(np.array([0]), np.arange(3)).round(3)
    array([[0.   , 0.693, 0.693]])
    """

    # The error of a 53-bit uniform and of its rounded threshold.
    numerical_delta = 2.0**-52

    @property
    def _moved(self) -> float:
        """Probability that a word becomes another one."""
        others = (len(self.embedding) - 1) * math.exp(-self.epsilon)
        return others / (1 + others)

    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        # One uniform decides whether a word changes. The other word is drawn in any
        # case, because draws must not depend on the words or on each other.
        return rng.random(n), rng.integers(max(1, len(self.embedding) - 1), size=n)

    def apply(self, words: np.ndarray, draws: Draws) -> np.ndarray:
        uniforms, others = draws
        # Skipping the word itself by adding 1 keeps all other words equally likely.
        return np.where(uniforms < self._moved, others + (others >= words), words)

    def log_proba(self, words: np.ndarray) -> np.ndarray:
        moved = np.not_equal.outer(words, np.arange(len(self.embedding)))
        return math.log1p(-self._moved) - self.epsilon * moved

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self.epsilon * np.not_equal.outer(x, y)

    def sentences(self) -> list[str]:
        return [
            "This is pure ε-local differential privacy for each word: any two "
            "different words have the exponent ε, even very similar ones."
        ]
