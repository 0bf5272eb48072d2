"""Confidence intervals of shares and means."""

from typing import Any

import numpy as np
from scipy.special import betaincinv, stdtrit


def lower_limit(hits: Any, n: Any, tail: float) -> Any:
    """Compute Clopper and Pearson's lower limit, with an error rate of at most `tail`.

    It is exact for hits among n independent trials, and too wide for sums of fractions.
    """
    # Clopper and Pearson (1934): quantiles of Beta(hits, n − hits + 1) and of
    # Beta(hits + 1, n − hits). Hits may be a sum of floats, which ends just below n.
    with np.errstate(invalid="ignore"):
        return np.where(hits > 0, betaincinv(hits, n - hits + 1, tail), 0.0)


def upper_limit(hits: Any, n: Any, tail: float) -> Any:
    """Compute Clopper and Pearson's upper limit."""
    with np.errstate(invalid="ignore"):
        high = betaincinv(hits + 1, n - hits, 1 - tail)
    return np.where(hits < n - 1e-9, high, 1.0)


def share_interval(values: np.ndarray, alpha: float = 0.05) -> tuple[float, float]:
    """Compute Clopper and Pearson's interval of a mean of values in [0, 1]."""
    hits, n = float(values.sum()), len(values)
    limits = lower_limit(hits, n, alpha / 2), upper_limit(hits, n, alpha / 2)
    return float(limits[0]), float(limits[1])


def half_width(
    std: Any, n: int, confidence: float = 0.95, test_over_train: float = 0.0
) -> Any:
    """Compute half of Student's interval of a mean of n values with a deviation.

    Values of splits that share training documents are not independent: the variance of
    their mean is estimated as (1/n + n_test/n_train) s² (Nadeau and Bengio, 2003).
    """
    quantile = stdtrit(n - 1, (1 + confidence) / 2)
    return quantile * std * np.sqrt(1 / n + test_over_train)
