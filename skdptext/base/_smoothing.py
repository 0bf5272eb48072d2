"""How far simulated transitions can be trusted, tested on further draws."""

from __future__ import annotations

import itertools

import numpy as np

# Candidates: draws added to each transition, and to that of a word to itself.
_ANY = np.geomspace(1e-4, 10, 11)
_SELF = np.array([0.0, *np.geomspace(0.1, 1000, 13)])


def choose_smoothing(
    drawn: np.ndarray, totals: np.ndarray, stayed: np.ndarray, p_released: np.ndarray
) -> tuple[float, float]:
    """Pseudo-counts for all transitions and for the diagonal, by the posterior.

    The best posterior has the smallest logarithmic loss on held-out pairs of a word
    drawn from the prior and its release. For each pair: `drawn` is its count, in draws
    per word; `totals` the mean over the prior of the counts of its released word;
    `stayed` whether the word was released as itself; and `p_released` the prior of the
    released word.
    """

    def gain(weights: tuple[float, float]) -> float:
        a, b = weights
        top = drawn + a + b * stayed
        # ln of the posterior, less ln of the prior, which is the same for all weights
        return float(np.log(top / (totals + a + b * p_released)).sum())

    return max(itertools.product(_ANY.tolist(), _SELF.tolist()), key=gain)
