"""A log-bilinear form of transitions, towards which estimates are smoothed."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from skdptext.utils import blocks, working_memory_bytes

# Forms that are tried: powers of the length, and of the variance along each principal
# axis, that the vectors of released words are divided by.
_FORMS = ((0.0, 0.0), (1.0, 0.0), (1.0, 0.1), (1.0, 0.2))
# Bounds of ln κ; words that it is fitted on, and h; rounds of fitting.
_LOG_KAPPA = -4.0, 4.0
_N_TRIED, _N_FITTED, _TRIED_ROUNDS, _ROUNDS = 300, 2000, 2, 6


class LogBilinear:
    r"""Transitions of the form ln P[z | w] = h_z + κ⟨φ_z, x_w⟩ − g_w.

    x are the vectors of words. Large noise releases z if it points towards z, rather
    than any of the others: less noise will do for a long vector, and more words compete
    along axes of large variance. So φ_z is the vector, its direction, or a direction
    that is partly whitened, whichever is most likely with its κ. h makes words as
    frequent among releases as they are (iterative proportional fitting); g makes rows
    sum to 1. There is one number per word, where a table of transitions has one per
    pair: so few draws suffice, and pairs that were never drawn get the probability of
    pairs like them.

    `points` are the vectors of all words that may be released, `ids` the rows of the
    words that may have been written, and `prior` how frequent these are; `by_released`
    are estimated transitions, a row per released word, whose likelihood is maximized.
    """

    def __init__(
        self,
        points: np.ndarray,
        ids: np.ndarray,
        prior: np.ndarray,
        by_released: np.ndarray,
    ) -> None:
        # mean 0 and mean squared length 1, so that bounds of κ suit vectors of any unit
        points = points - prior @ points[ids]
        points /= np.sqrt(max(prior @ (points[ids] ** 2).sum(axis=1), 1e-300))
        self._words = points[ids].astype(np.float32)
        marginal = by_released @ prior
        marginal /= marginal.sum()
        # of the written vector, by what it was released as: all that the draws say
        moments = by_released @ (self._words * prior[:, None]).astype(np.float32)
        # words that were never released are taken for a hundred times rarer than others
        log_marginal = np.log(marginal + 1e-2 * marginal[marginal > 0].min())
        upto = np.cumsum(prior)
        # at equally spaced quantiles: as often as the prior says, without chance
        few, many = (
            np.searchsorted(upto, (np.arange(n) + 0.5) / n * upto[-1])
            for n in (_N_TRIED, _N_FITTED)
        )

        def lost(log_kappa: float) -> float:
            """Minus the likelihood of releases, given what was written."""
            kappa = float(np.exp(log_kappa))
            h, g = self._fit(kappa, few, log_marginal, _TRIED_ROUNDS)
            # ln P[z | w] = h_z + κ⟨φ_z, x_w⟩ − g_w, averaged term by term
            gain = kappa * np.einsum("ij,ij->", moments, self._points)
            return float(g.mean() - marginal @ h - gain)

        least = np.inf
        for powers in _FORMS:
            self._points = _directions(points, marginal, *powers)
            options = {"xatol": 0.05, "maxiter": 12}
            best = minimize_scalar(lost, bounds=_LOG_KAPPA, options=options)
            if best.fun < least:
                least, self.powers, chosen = best.fun, powers, self._points
                self.kappa = float(np.exp(best.x))
        self._points = chosen
        self._h, _ = self._fit(self.kappa, many, log_marginal, _ROUNDS)
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
                # logsumexp in place, as the exponentials are needed for column sums
                g[rows] = top = scores.max(axis=1)
                scores -= top[:, None]
                np.exp(scores, out=scores)
                totals = scores.sum(axis=1)
                g[rows] += np.log(totals)
                released += (1 / totals) @ scores
            if last < rounds:
                # proportional fitting: by the ratio of wanted to attained frequency
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


def _directions(
    points: np.ndarray, marginal: np.ndarray, by_length: float, by_variance: float
) -> np.ndarray:
    """Vectors divided by powers of their lengths and of the variances of releases."""
    vectors = points
    if by_variance:
        centred = points - marginal @ points
        # a power of the covariance of releases, by its eigenvectors; a floor on its
        # eigenvalues keeps axes without variance from being blown up
        variances, axes = np.linalg.eigh((centred.T * marginal) @ centred)
        variances = np.maximum(variances / max(variances.max(), 1e-300), 1e-6)
        vectors = points @ (axes * variances**-by_variance) @ axes.T
    lengths = np.sqrt(np.einsum("ij,ij->i", points, points))
    vectors = vectors / np.maximum(lengths, 1e-12)[:, None] ** by_length
    return vectors.astype(np.float32)
