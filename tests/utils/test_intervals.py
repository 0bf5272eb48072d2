"""Intervals against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, t

from skdptext.utils import half_width, lower_limit, share_interval, upper_limit


@pytest.mark.parametrize(("hits", "n"), [(0, 9), (1, 9), (5, 9), (9, 9), (3, 1000)])
@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_intervals_of_shares_are_scipys(hits, n, confidence):
    values, alpha = np.repeat([1.0, 0.0], [hits, n - hits]), 1 - confidence
    exact = binomtest(hits, n).proportion_ci(confidence, method="exact")
    np.testing.assert_allclose(share_interval(values, alpha), exact, atol=1e-12)
    ends = [
        limit(np.array([hits]), n, alpha / 2) for limit in (lower_limit, upper_limit)
    ]
    np.testing.assert_allclose(np.ravel(ends), exact, atol=1e-12)


def test_half_widths_are_students():
    expected = t.isf(0.05, 8) * 2 * (1 / 9 + 1 / 4) ** 0.5
    assert half_width(2.0, 9, 0.9, 0.25) == pytest.approx(expected)
    high = t.isf(0.025, 499) / 500**0.5
    assert half_width(1.0, 500) == pytest.approx(high)
