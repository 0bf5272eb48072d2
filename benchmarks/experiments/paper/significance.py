"""What counts as a significant effect of λ: the paper's rule, and sound tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats


def disjoint_intervals(
    base: tuple[Any, Any], other: tuple[Any, Any], n_draws: int, *, direction: int
) -> np.ndarray:
    """The paper's rule: mean ± 1.96 std/√n_draws of the two do not overlap.

    `base` and `other` are (mean, std over the words); `direction` is +1 where `other`
    should be larger, −1 where it should be smaller. The rule compares the spread
    between words with the difference: it is not a test of the noise, see `paired_p`.
    """
    gap = direction * (np.asarray(other[0]) - np.asarray(base[0]))
    reach = 1.96 * (np.asarray(base[1]) + np.asarray(other[1])) / np.sqrt(n_draws)
    return gap > reach


def paired_p(base: Any, other: Any, *, direction: int) -> np.ndarray:
    """One-sided p-values of a paired t-test over independent repetitions.

    The first axis of both arrays is the repetition: the whole experiment again, with
    noise that is shared by `base` and `other` and by all words, but by no other
    repetition. Words of one repetition depend on each other, so they are averaged
    before the test and never counted as observations. Where nothing differs in any
    repetition, p is 1.
    """
    gain = direction * (np.asarray(other, float) - np.asarray(base, float))
    n = len(gain)
    if n < 2:
        raise ValueError(f"a paired test needs at least 2 repetitions, got {n}")
    middle, error = gain.mean(axis=0), gain.std(axis=0, ddof=1) / np.sqrt(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(middle == 0, 0.0, middle / error)
    return np.where((gain == 0).all(axis=0), 1.0, stats.t.sf(t, n - 1))


def holm(p: Any) -> np.ndarray:
    """p-values corrected for their number by Holm's method, in their own shape."""
    p = np.asarray(p, float)
    flat = p.ravel()
    order = np.argsort(flat)
    steps = flat[order] * np.arange(len(flat), 0, -1)
    corrected = np.empty_like(flat)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return corrected.reshape(p.shape)
