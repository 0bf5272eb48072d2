"""How far simulated transitions can be trusted, tested on further draws."""

from __future__ import annotations

import itertools

import numpy as np

# Candidates: draws added to each transition, and to that of a word to itself; draws
# added to a word, as a form with few parameters distributes them.
_ANY = np.geomspace(1e-4, 10, 11)
_SELF = np.array([0.0, *np.geomspace(0.1, 1000, 13)])
_FORM = np.array([0.0, *np.geomspace(0.3, 3000, 9)])


def choose_smoothing(
    drawn: np.ndarray,
    totals: np.ndarray,
    stayed: np.ndarray,
    p_released: np.ndarray,
    form: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[float, float, float]:
    """Pseudo-counts for all transitions, the diagonal and a form, by the posterior.

    The best posterior has the smallest logarithmic loss on held-out pairs of a word
    drawn from the prior and its release. For each pair: `drawn` is its count, in draws
    per word; `totals` the mean over the prior of the counts of its released word;
    `stayed` whether the word was released as itself; `p_released` the prior of the
    released word; and `form` the probability by a form with few parameters, and the
    mean of that over the prior. Without a form its pseudo-count is 0.
    """
    chance, mean = (0.0, 0.0) if form is None else form

    def gains(weights: tuple[float, float, float]) -> np.ndarray:
        a, b, c = weights
        top = drawn + a + b * stayed + c * chance
        # ln of the posterior, less ln of the prior, which is the same for all weights
        return np.log(top / (totals + a + b * p_released + c * mean))

    def gain(weights: tuple[float, float, float]) -> float:
        return float(gains(weights).sum())

    forms = [0.0] if form is None else _FORM.tolist()
    best = max(itertools.product(_ANY.tolist(), _SELF.tolist(), forms), key=gain)
    if best[2] == 0:
        return best
    # Of forms that cannot be told apart from the best, the one that varies least: its
    # loss is within one standard error, from the differences pair by pair.
    for c in reversed(forms):
        lost = gains(best) - gains((*best[:2], c))
        if lost.mean() <= lost.std() / np.sqrt(len(lost)):
            break
    return best[0], best[1], c
