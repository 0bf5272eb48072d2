"""How far simulated transitions can be trusted, tested on further draws."""

from __future__ import annotations

import itertools

import numpy as np

__all__ = ["choose_smoothing"]

# Candidates: draws added to each transition, and to that of a word to itself.
_ANY = np.geomspace(1e-4, 10, 11)
_SELF = np.array([0.0, *np.geomspace(0.1, 1000, 13)])


def choose_smoothing(
    drawn: np.ndarray, totals: np.ndarray, stayed: np.ndarray, p_released: np.ndarray
) -> tuple[float, float]:
    """Pseudo-counts for all transitions, and for the diagonal, with the best posterior.

    The best posterior has the smallest logarithmic loss on held-out pairs of a word
    drawn from the prior and its release.

    Parameters
    ----------
    drawn : ndarray of shape (n_pairs,)
        Count of each pair, in draws per word.
    totals : ndarray of shape (n_pairs,)
        Mean over the prior of the counts of its released word.
    stayed : ndarray of bool, shape (n_pairs,)
        Whether the word was released as itself.
    p_released : ndarray of shape (n_pairs,)
        Prior of the released word.
    """

    def gain(pair: tuple[float, float]) -> float:
        a, b = pair
        chance = (drawn + a + b * stayed) / (totals + a + b * p_released)
        return float(np.log(chance).sum())

    return max(itertools.product(_ANY.tolist(), _SELF.tolist()), key=gain)
