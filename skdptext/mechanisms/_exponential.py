"""The exponential mechanism on words, and randomized response."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from skdptext.mechanisms._calibration import (
    Fit,
    WordDistances,
    calibrated_fit,
    log_sums,
)
from skdptext.mechanisms._mechanism import Draws, TableMechanism
from skdptext.mechanisms._metric import MahalanobisMetric, embedding_spectrum
from skdptext.utils import check_option, check_real, rounded_up

# If fewer than one word in this many is asked about, we compute their rows only, and no
# pass over all pairs. Chosen, not measured.
_FEW = 30
# Not pickled: as large as the vectors, or follows from the fit where it is asked for.
_DERIVED = ("_distances", "log_normalizers")


class Exponential(TableMechanism):
    r"""Replace each word by a random one, nearer ones more often; recommended.

    Similar words become hard to tell apart: a bound on the loss holds for every pair of
    words. Each word w becomes the word z with probability

    .. math::

        \Pr[z \mid w] = \frac{e^{-a\, d(w, z)}}{C_w}, \qquad
        C_w = \sum_z e^{-a\, d(w, z)},

    where d is the metric that λ selects: Euclidean at λ = 0, otherwise the regularized
    Mahalanobis metric.

    Parameters
    ----------
    calibration : {"exact", "half"}, default="exact"
        How the rate a follows from ε.

        - "half": a = ε/2, which is SanText [1]_.
        - "exact": the largest a found for which the privacy loss is at most ε d(w, w')
          for every pair of words; some pair attains it. This a lies between ε/2 and ε,
          and keeps several times as many words for the same proven ε.
    max_distance : float > 0, default=None
        If given, d is replaced by min(d, max_distance), so that the privacy loss
        between any two words is at most ε times `max_distance`. With "half" this is the
        distribution of TEM, the truncated exponential mechanism [2]_, whose γ is
        `max_distance`; `tem_distance` computes γ.

    Attributes
    ----------
    rate : float
        A: how much log probability a unit of distance costs. Once prepared, as all
        attributes.

    See Also
    --------
    RandomizedResponse : The same mechanism with all words equally far apart.

    Notes
    -----
    *Privacy.* Pr[z | w] ≤ exp(a d(w, w') + ln C_w' − ln C_w) Pr[z | w'], with equality
    for z = w. So this is the exact exponent of a pair. Per unit of d it is at most ε.
    The 53-bit uniform and the float64 sums cost ``numerical_delta`` per word.

    *ε does not compare with the ε of noise on vectors.* For the same share of words
    kept it is four to twelve times smaller than with `MahalanobisNoise`, depending on
    embedding and share.

    *Time* tells on how many different words there are: each is looked up once in a
    call, so that documents of few different words take less of it. Anyone who can
    measure the time of a call learns about their number; nothing here hides it.

    *Cost.* "exact" passes over all pairs of words a few times when the mechanism is
    prepared; the result is kept for the process.

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
        if self.lam > 0:  # which "half" would look at only when it draws
            MahalanobisMetric(self.lam, embedding_spectrum(self.embedding))
        self.rate: float = self.epsilon / 2
        if self.calibration == "exact":
            key = self.embedding.fingerprint, self.lam, self.max_distance
            fit = calibrated_fit(self._distances, key, self.epsilon)
            self.rate = fit.rate
            self.__dict__["_fit"] = fit

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k not in _DERIVED}

    # -- what follows from the rate --------------------------------------------

    @cached_property
    def _distances(self) -> WordDistances:
        return WordDistances(self.embedding, self.lam, self.max_distance)

    @cached_property
    def _fit(self) -> Fit:
        """The rate, with the normalisers and the loss attained."""
        return self._distances.evaluated(self.rate)

    @property
    def attained(self) -> float:
        """The largest privacy loss per unit of distance over all pairs; at most ε."""
        return self._fit.attained

    @cached_property
    def log_normalizers(self) -> np.ndarray:
        """ln C_w of every word, shape (n_words,)."""
        if "_fit" in vars(self):
            return self._fit.log_normalizers
        # no pass over pairs for what they attain
        return self._distances.log_normalizers(self.rate)

    def _logs(self, words: np.ndarray) -> np.ndarray:
        """ln C_w of words; computed row by row for a small part of the vocabulary."""
        known = vars(self).keys() & {"_fit", "log_normalizers"}
        if not known and len(words) * _FEW <= len(self.embedding):
            return self._distances.log_normalizers_of(words, self.rate)
        return self.log_normalizers[words]

    # -- the distribution ------------------------------------------------------

    def log_proba(self, words: np.ndarray) -> np.ndarray:
        """ln Pr[z | w] for each of the words and every z, shape (n, n_words)."""
        distances = self._distances.rows(np.asarray(words))
        return -self.rate * distances - log_sums(distances, self.rate)[:, None]

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """a d(x, y) + ln C_y − ln C_x, shape (len(x), len(y)): the exact loss."""
        exponents = self.rate * self._distances.between(x, y)
        exponents += self._logs(y) - self._logs(x)[:, None]
        return np.maximum(exponents, 0, out=exponents)  # rounding

    def sentences(self) -> list[str]:
        metric = "Euclidean" if self.lam == 0 else f"Mahalanobis (λ = {self.lam:g})"
        calibration, cap = self.calibration, self.max_distance
        most = self.attained if calibration == "exact" else self.epsilon
        said = [
            "A word w becomes the word z with probability proportional to "
            f"exp(−{self.rate:.4g}·d(w, z)), where d is the {metric} distance of their "
            f"vectors{'' if cap is None else f', at most {cap:g}'} (calibration "
            f'"{calibration}"); no two words lose more than {rounded_up(most)} per '
            "unit of d."
        ]
        if cap is not None:
            said.append(
                "Between any two words, however far apart, the exponent is at most "
                f"{rounded_up(most * cap)}."
            )
        return said


class RandomizedResponse(TableMechanism):
    r"""Keep each word, or replace it by any other: k-ary randomized response.

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
    >>> prepared = RandomizedResponse().prepare(embedding, epsilon=np.log(2))
    >>> np.exp(prepared.log_proba(np.array([1])))
    array([[0.25, 0.5 , 0.25]])
    >>> prepared.exponents(np.array([0]), np.arange(3)).round(3)
    array([[0.   , 0.693, 0.693]])
    """

    # a 53-bit uniform, and rounding of its threshold
    numerical_delta = 2.0**-52

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
        stays = math.log1p(-self._moved)
        return stays - self.epsilon * np.not_equal.outer(words, everything)

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ε for words that differ, shape (len(x), len(y))."""
        return self.epsilon * np.not_equal.outer(x, y)

    def sentences(self) -> list[str]:
        return [
            "This is pure ε-local differential privacy for each word: any two words "
            "that differ have the exponent ε, however near they are."
        ]
