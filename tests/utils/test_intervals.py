"""Intervals against scipy's, and against what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, binomtest, t

from skdptext.utils import (
    half_width,
    log_ratio_bound,
    mean_interval,
    share_interval,
)


@pytest.mark.parametrize(("hits", "n"), [(0, 9), (1, 9), (5, 9), (9, 9), (3, 1000)])
def test_intervals_of_shares_are_scipys(hits, n):
    values = np.repeat([1.0, 0.0], [hits, n - hits])
    for confidence in (0.95, 0.8):
        alpha = 1 - confidence
        test = binomtest(hits, n)
        exact = test.proportion_ci(confidence, method="exact")
        np.testing.assert_allclose(share_interval(values, alpha), exact, atol=1e-12)
        # one-sided limits of two shares, and so with half the error rate
        (low, _), (_, high) = exact, test.proportion_ci(confidence, method="exact")
        with np.errstate(divide="ignore"):
            ratio = np.log(low) - np.log(high)
        bound = log_ratio_bound(np.array([hits] * 2), np.array([n] * 2), alpha / 2)
        assert bound == pytest.approx(ratio)


def test_intervals_of_means_are_students():
    values = np.random.default_rng(0).random(500)
    low, high = mean_interval(values)
    expected = t.interval(0.95, 499, values.mean(), values.std(ddof=1) / 500**0.5)
    np.testing.assert_allclose((low, high), expected, rtol=5e-3)
    assert half_width(2.0, 9, 0.9, 0.25) == pytest.approx(
        t.isf(0.05, 8) * 2 * (1 / 9 + 1 / 4) ** 0.5
    )


@pytest.mark.parametrize("n", [1, 2, 5, 12, 40, 1000])
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_few_equal_values_leave_room_for_another(share, n):
    """Of 12 documents that all were copied, 100 % [100 %, 100 %] was said."""
    low, high = mean_interval(np.full(n, share))
    assert low <= share <= high
    # shares for which so many equal values are no surprise
    assert high - low > 1 / (n + 1)
    assert high - low < 1 if n > 2 else (low, high) == (0, 1)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 0.9, 0.98])
@pytest.mark.parametrize("n", [8, 12, 40])
def test_intervals_of_means_hold_rare_shares(share, n):
    """They missed .98 of 12 documents in 78 of 100 cases. Here, by enumeration."""
    hits = np.arange(n + 1)
    held = []
    for h in hits:
        low, high = mean_interval(np.repeat([1.0, 0.0], [h, n - h]))
        held.append(low <= share <= high)
    assert binom.pmf(hits, n, share) @ held >= 0.92
