"""What documents are released as, for the words of some releases, from few draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from skdptext.base._simulated import SimulatedReleases
from skdptext.mechanisms import TableMechanism, WordMechanism, probabilities
from skdptext.utils import blocks, working_memory_bytes

# Draws in all, and the fewest where there are so many words that memory is short.
_MOST_DRAWS, _FEWEST_DRAWS = 4000, 500
# Share of the draws that is spread evenly over all words, so that rare ones are drawn.
_EVEN = 0.1
# A word that is e¹⁵ times less likely than the likeliest is ruled out by a draw: how
# much less likely it is, which may be hundreds of nats, would swamp the means.
_RULED_OUT = 15.0
# Draws that the form below counts for, beside those of a released word, and after which
# the residual of the word counts in half. And what every word is given, so that none is
# impossible.
_FORM, _ANY = 20.0, 1e-3
# Coordinates that the form sees, its ridge, and the rounds that calibrate it.
_COORDINATES, _RIDGE, _ROUNDS = 500, 0.01, 5
# Stands in for probabilities that are too small for float32.
_LEAST = 1e-35
_ROWS = 512


def released_profiles_of(
    mechanism: WordMechanism,
    ids: np.ndarray,
    profiles: Any,
    released: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Σ_w p(w) Pr[z | w] up to a factor for each z, shape (n_profiles, n_released).

    `profiles` have a column for each of the words `ids`, and `released` are the words z
    that are asked for. All entries are above 0. Exact where the mechanism states its
    probabilities; else an estimate, from some thousand draws.
    """
    if not isinstance(mechanism, TableMechanism):
        return _Form(mechanism, ids, profiles, rng).profiles(profiles, released)
    exact = np.zeros((profiles.shape[0], len(released)), dtype=np.float32)
    for rows, part in probabilities(mechanism, ids):
        exact += profiles[:, rows] @ part[:, released]
    return np.maximum(exact, np.float32(_LEAST))


class _Form:
    """Pr[z | w] from the draws that end at z, and from those that end near it.

    Few draws end at any one z. So we fit a form with few parameters to all draws: what
    the noisy vector of a draw says of the words, as logarithms, is linear in the vector
    of the word that it is released as, but for a residual of that word. A factor for
    each word makes the posteriors of the form add up to the frequencies of the words,
    as true ones do. The form counts for `_FORM` draws beside those that end at z.
    """

    def __init__(
        self,
        mechanism: WordMechanism,
        ids: np.ndarray,
        profiles: Any,
        rng: np.random.Generator,
    ) -> None:
        prior = np.asarray(profiles.mean(axis=0)).ravel()
        prior = (1 - _EVEN) * prior / prior.sum() + _EVEN / len(ids)
        most = working_memory_bytes() // (32 * len(ids))
        n = int(np.clip(most, _FEWEST_DRAWS, _MOST_DRAWS))
        ends = np.empty(n, dtype=np.intp)
        ratios = np.zeros((n, len(ids)), dtype=np.float32)  # posterior over prior
        at = 0
        simulated = SimulatedReleases(mechanism, ids, prior)
        for written, noisy, posterior in simulated.draw(rng, n, even=True):
            rows = slice(at, at + len(written))
            ends[rows], at = noisy, rows.stop
            if posterior is None:  # that of the word that was drawn
                ratios[np.arange(rows.start, rows.stop), written] = 1 / prior[written]
            else:
                np.divide(posterior, prior, out=ratios[rows], casting="same_kind")
        self._log_prior = np.log(prior).astype(np.float32)
        self._ends, row, self._counts = np.unique(
            ends, return_inverse=True, return_counts=True
        )
        shape = len(self._ends), n
        collect = sp.csr_array((np.ones(n, np.float32), (row, np.arange(n))), shape)
        self._direct = collect @ ratios
        least = ratios.max(axis=1, keepdims=True) * np.float32(np.exp(-_RULED_OUT))
        logs = np.log(np.maximum(ratios, least, out=ratios), out=ratios)
        self._fit(mechanism.embedding.vectors[:, :_COORDINATES], collect @ logs)

    def _fit(self, vectors: np.ndarray, sums: np.ndarray) -> None:
        """Fit the form to the `sums` of the logarithms of the draws of each end."""
        counts = self._counts.astype(np.float32)[:, None]
        n = counts.sum()
        self._mean = sums.sum(axis=0) / n
        points = vectors[self._ends]
        self._center = (points * counts).sum(axis=0) / n
        self._vectors = vectors
        points = points - self._center
        square = (points * counts).T @ points
        square += np.eye(len(square)) * (_RIDGE * square.trace() / len(square) + 1e-6)
        sums = sums - counts * self._mean
        self._slopes = np.linalg.solve(square, points.T @ sums).astype(np.float32)
        self._residual = (sums - counts * (points @ self._slopes)) / (counts + _FORM)
        self._factor = np.zeros(len(self._mean), dtype=np.float32)
        for _ in range(_ROUNDS):
            expected = np.zeros(len(self._mean))
            for rows in blocks(len(self._ends), _ROWS):
                posterior = np.exp(self._log_form(self._ends[rows]) + self._log_prior)
                expected += counts[rows, 0] @ posterior / n
            self._factor += self._log_prior - np.log(np.maximum(expected, 1e-9))

    def _log_form(self, released: np.ndarray) -> np.ndarray:
        """The form for each z; its mean over the prior is 1."""
        at, drawn = self._found(released)
        logs = (self._vectors[released] - self._center) @ self._slopes
        logs += self._mean + self._factor
        logs[drawn] += self._residual[at[drawn]]
        logs -= logs.max(axis=1, keepdims=True)
        mean = np.exp(logs + self._log_prior).sum(axis=1, keepdims=True)
        return logs - np.log(mean)

    def _found(self, released: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows of released words among the ends of draws, and which have one."""
        at = np.minimum(self._ends.searchsorted(released), len(self._ends) - 1)
        return at, self._ends[at] == released

    def profiles(self, profiles: Any, released: np.ndarray) -> np.ndarray:
        """As `released_profiles_of`."""
        found = np.empty((profiles.shape[0], len(released)), dtype=np.float32)
        for rows in blocks(len(released), _ROWS):
            proba = np.exp(self._log_form(released[rows])) * np.float32(_FORM)
            at, drawn = self._found(released[rows])
            proba[drawn] += self._direct[at[drawn]]
            proba += np.float32(_ANY)
            found[:, rows] = profiles @ proba.T
        return found
