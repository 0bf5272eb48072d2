"""The law of an exponential mechanism, and what follows from it."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from skdptext.mechanisms._lazy import LazySampler
from skdptext.mechanisms._rate import Fit, WordDistances, log_sums
from skdptext.utils import memo_property

__all__ = ["ExponentialLaw"]

# If fewer than one word in this many is asked about, avoid a pass over all pairs.
_FEW = 30
# Not pickled: as large as the vectors, or follows from the fit where it is asked for.
_DERIVED = ("table", "lazy", "log_normalizers")


class ExponentialLaw:
    """Pr[z | w] = μ_z e^(−a d(w, z)) / C_w, for the z that may be released.

    Parameters
    ----------
    *of_table
        Arguments of `WordDistances`, which is built on first use.
    rate : float > 0
        a.

    Attributes
    ----------
    rate : float
    mu : ndarray of shape (n_outputs,) or None
        Weights; None: all 1.
    """

    def __init__(self, *of_table: Any, rate: float) -> None:
        self._of_table = of_table
        self.rate = rate
        self.mu: np.ndarray | None = None

    @memo_property
    def table(self) -> WordDistances:
        return WordDistances(*self._of_table)

    def at(self, fit: Fit) -> ExponentialLaw:
        """The law with another rate and weights, over the same distances."""
        other = copy(self)
        vars(other)["table"] = self.table
        for name in ("fit", "log_normalizers", "worst_exponent", "lazy"):
            vars(other).pop(name, None)
        other.rate, other.mu = fit.rate, fit.weights
        if not np.isnan(fit.attained):
            vars(other)["fit"] = fit
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k not in _DERIVED}

    def knows(self, name: str) -> bool:
        """Whether a value has been computed already."""
        return name in vars(self)

    @memo_property
    def fit(self) -> Fit:
        """Rate and weights, with the normalisers and the loss attained."""
        return self.table.evaluated(Fit(self.rate, self.mu))

    @property
    def attained(self) -> float:
        """The largest privacy loss per unit of distance over all pairs; at most ε."""
        return self.fit.attained

    @memo_property
    def log_normalizers(self) -> np.ndarray:
        """ln C_w of every word, shape (n_words,)."""
        if not self.knows("fit"):  # no pass over pairs for what they attain
            logs = self.table.log_normalizers(self.rate, self.mu)
            fit = Fit(self.rate, self.mu, np.nan, logs)
            return self.table.log_normalizers_from(fit)
        return self.table.log_normalizers_from(self.fit)

    @memo_property
    def worst_exponent(self) -> float:
        """The largest exponent between two words, in nats."""
        return self.table.largest_loss(self.fit)

    @memo_property
    def lazy(self) -> LazySampler:
        return LazySampler(self.table, Fit(self.rate, self.mu))

    @property
    def weights(self) -> np.ndarray:
        """μ_z of every word, shape (n_words,); 0 for those that are never released."""
        found = np.zeros(self.table.n_words)
        found[self.table.outputs] = 1 if self.mu is None else self.mu
        return found

    @property
    def outputs(self) -> np.ndarray:
        """Ids of the words that may be released, ascending."""
        return np.flatnonzero(self.weights)

    @property
    def never_released(self) -> np.ndarray:
        """Ids of the words that are never released, ascending."""
        return np.flatnonzero(self.weights == 0)

    def log_masses(self, words: np.ndarray) -> np.ndarray:
        """ln μ_z e^(−a d(w, z)) for each of the words and every output."""
        return self.table.log_masses(words, Fit(self.rate, self.mu))

    def log_proba(self, words: np.ndarray) -> np.ndarray:
        """ln Pr[z | w] for each of the words and every z, shape (n, n_words)."""
        masses = self.log_masses(words)
        masses -= log_sums(masses)[:, None]
        if masses.shape[1] == self.table.n_words:
            return masses
        found = np.full((len(words), self.table.n_words), -np.inf)
        found[:, self.table.outputs] = masses
        return found

    def unchanged(self, words: np.ndarray) -> np.ndarray:
        """Pr[w | w] of words."""
        return self.weights[words] * np.exp(-self._logs(words))

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """a d(x, y) + ln C_y − ln C_x, shape (len(x), len(y))."""
        found = self.rate * self.table.between(x, y)
        found += self._logs(y) - self._logs(x)[:, None]
        return np.maximum(found, 0, out=found)  # rounding

    def _logs(self, words: np.ndarray) -> np.ndarray:
        """ln C_w of words; computed row by row for a small part of the vocabulary."""
        few = len(words) * _FEW <= len(self.table.inputs)
        if few and not (self.knows("fit") or self.knows("log_normalizers")):
            return self.table.log_normalizers_of(words, Fit(self.rate, self.mu))
        return self.log_normalizers[words]
