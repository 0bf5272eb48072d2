"""How far simulated counts of transitions are to be trusted, tried on further draws."""

from __future__ import annotations

import itertools

import numpy as np
import scipy.sparse as sp

__all__ = ["choose_smoothing"]

# Draws that are added to each transition, and to those of a word to itself.
_ANY = np.geomspace(1e-4, 10, 11)
_SELF = np.array([0.0, *np.geomspace(0.1, 1000, 13)])


def choose_smoothing(
    counts: sp.csr_array, prior: np.ndarray, written: np.ndarray, released: np.ndarray
) -> tuple[float, float]:
    """What to add to all counts, and to the diagonal, for the best posterior.

    The best has the least logarithmic loss on words that were `written` as often as
    `prior` says, and what they were `released` as: draws that are not in `counts`.
    """
    p = prior / prior.sum()
    drawn = np.asarray(counts[written, released]).ravel()
    totals = (counts.T @ p)[released]
    stayed = written == released

    def gain(pair: tuple[float, float]) -> float:
        a, b = pair
        chance = (drawn + a + b * stayed) / (totals + a + b * p[released])
        return float(np.log(chance).sum())

    return max(itertools.product(_ANY.tolist(), _SELF.tolist()), key=gain)
