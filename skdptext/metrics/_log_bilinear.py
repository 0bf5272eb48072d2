"""A log-bilinear form of transitions, towards which estimates are smoothed."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from skdptext.utils import blocks, working_memory_bytes

__all__ = ["LogBilinear"]

# Values of κ that are tried, in units of one over the mean squared norm; words that
# they are tried on, and that h is fitted on; rounds of fitting.
_KAPPA = np.geomspace(0.02, 50, 12)
_N_TRIED, _N_FITTED, _ROUNDS = 1000, 2000, 6


class LogBilinear:
    r"""Transitions of the form ln P[z | w] = h_z + κ⟨φ_z, φ_w⟩ − g_w.

    κ maximizes the posterior of simulated pairs; h makes words as frequent among
    releases as they are (iterative proportional fitting); g makes rows sum to 1. It has
    one number per word, where a table of transitions has one per pair: so few draws
    suffice, and pairs that were never drawn get the probability of pairs like them.

    Parameters
    ----------
    points : ndarray of shape (n_released, dim)
        Vectors of all words that may be released.
    ids : ndarray of int, shape (n_words,)
        Rows of the words that may have been written.
    prior : ndarray of shape (n_words,)
        How frequent these are.
    marginal : ndarray of shape (n_released,)
        How frequent words are among releases; an estimate, which may be 0.
    pairs : tuple of two ndarrays of int
        Simulated pairs: places in `ids`, and the words that they were released as.
    """

    def __init__(
        self,
        points: np.ndarray,
        ids: np.ndarray,
        prior: np.ndarray,
        marginal: np.ndarray,
        pairs: tuple[np.ndarray, np.ndarray],
    ) -> None:
        points = points - prior @ points[ids]
        points /= np.sqrt(max(prior @ (points[ids] ** 2).sum(axis=1), 1e-300))
        self._points = points.astype(np.float32)
        self._words = self._points[ids]
        log_marginal = np.log(marginal + 1e-2 * marginal[marginal > 0].min())
        written, released = pairs
        rng = np.random.default_rng(0)  # of words to try on, which are public
        shuffled = rng.permutation(len(written))
        tried = shuffled[:_N_TRIED]

        products = self._points[released[tried]] @ self._words[written[tried]].T

        def likelihood(kappa: float) -> float:
            """Of the written word among all that were tried, by its release."""
            _, g = self._fit(kappa, written[tried], log_marginal, 2)
            scores = kappa * products - g
            return float((np.diagonal(scores) - logsumexp(scores, axis=1)).mean())

        self.kappa = max(_KAPPA.tolist(), key=likelihood)
        step = _KAPPA[1] / _KAPPA[0]
        finer = self.kappa * step ** np.linspace(-2 / 3, 2 / 3, 5)
        self.kappa = max(finer.tolist(), key=likelihood)
        self._h, _ = self._fit(
            self.kappa, written[shuffled[:_N_FITTED]], log_marginal, _ROUNDS
        )
        self._g = np.empty(len(ids))
        for rows in blocks(len(ids), self._rows()):
            self._g[rows] = logsumexp(
                self._h + self.kappa * (self._words[rows] @ self._points.T), axis=1
            )

    def _rows(self) -> int:
        return max(1, working_memory_bytes() // (32 * len(self._points)))

    def _fit(
        self, kappa: float, words: np.ndarray, log_marginal: np.ndarray, rounds: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """h, and g of words that were drawn from the prior."""
        h = log_marginal.astype(np.float32)
        g = np.empty(len(words), dtype=np.float32)
        for last in range(rounds + 1):
            released = np.zeros(len(h))
            for rows in blocks(len(words), self._rows()):
                scores = np.float32(kappa) * (self._words[words[rows]] @ self._points.T)
                scores += h
                g[rows] = top = scores.max(axis=1)
                scores -= top[:, None]
                np.exp(scores, out=scores)
                totals = scores.sum(axis=1)
                g[rows] += np.log(totals)
                released += (1 / totals) @ scores
            if last < rounds:
                gap = log_marginal - np.log(np.maximum(released / len(words), 1e-30))
                h = (h + gap).astype(np.float32)
        return h, g

    def __call__(self, released: np.ndarray) -> np.ndarray:
        """P[z | w] of some released words, shape (n_released, n_words)."""
        logs = self._points[released] @ self._words.T
        logs *= np.float32(self.kappa)
        logs += (self._h[released])[:, None]
        logs -= self._g.astype(np.float32)
        return np.exp(logs, out=logs)
