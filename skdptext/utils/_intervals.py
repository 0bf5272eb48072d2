"""Intervals of shares, means and ratios, which know nothing of what was counted."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betaincinv, stdtrit


def clopper_pearson(hits: Any, n: Any, tail: float) -> tuple[Any, Any]:
    """Limits of shares, each of which errs with probability `tail` at most.

    Exact for hits among n independent trials, too wide for sums of fractions.
    """
    return lower_limit(hits, n, tail), upper_limit(hits, n, tail)


def lower_limit(hits: Any, n: Any, tail: float) -> Any:
    """The lower one of Clopper and Pearson's limits."""
    # Clopper and Pearson (1934): quantiles of Beta(hits, n − hits + 1) and of
    # Beta(hits + 1, n − hits). Hits may be a sum of floats, which ends just below n.
    with np.errstate(invalid="ignore"):
        return np.where(hits > 0, betaincinv(hits, n - hits + 1, tail), 0.0)


def upper_limit(hits: Any, n: Any, tail: float) -> Any:
    """The upper one of Clopper and Pearson's limits."""
    with np.errstate(invalid="ignore"):
        high = betaincinv(hits + 1, n - hits, 1 - tail)
    return np.where(hits < n - 1e-9, high, 1.0)


def share_interval(values: np.ndarray, alpha: float = 0.05) -> tuple[float, float]:
    """Clopper and Pearson's interval of a mean of values in [0, 1], 95 % by default."""
    low, high = clopper_pearson(float(values.sum()), len(values), alpha / 2)
    return float(low), float(high)


def pair_interval(values: np.ndarray) -> tuple[float, float]:
    """The same, as if there were half as many values.

    For documents that are each attacked by what was learned from the others: of two
    that are most like each other, each is named rightly where their labels are equal.
    Both are right or wrong together, and the variance of the mean is at most twice that
    of independent answers. (Of docstrings whose authors are drawn at random it was up
    to twice, and 5 % of the intervals began above chance; so 2 % do.)
    """
    low, high = clopper_pearson(float(values.sum()) / 2, len(values) / 2, 0.025)
    return float(low), float(high)


def mean_interval(values: np.ndarray) -> tuple[float, float]:
    """Student's 95 % interval of a mean of shares.

    Two more values, a 0 and a 1, are counted: where all are equal, another could still
    have differed. (Agresti and Coull, 1998, do so with shares of 0 and 1.)
    """
    more = np.append(values, [0.0, 1.0])
    half = float(half_width(more.std(ddof=1), len(more)))
    middle = float(more.mean())
    return max(0.0, middle - half), min(1.0, middle + half)


def split_interval(
    by_split: np.ndarray, confidence: float, test_over_train: float
) -> tuple[np.ndarray, np.ndarray]:
    """Student's intervals of mean scores over splits, (…, n_splits).

    If all scores lie in [0, 1], they are taken to be shares, and so are the limits.
    """
    k = by_split.shape[-1]
    mean, std = by_split.mean(axis=-1), by_split.std(axis=-1, ddof=1)
    margin = half_width(std, k, confidence, test_over_train)
    low, high = mean - margin, mean + margin
    known = by_split[~np.isnan(by_split)]
    if ((known >= 0) & (known <= 1)).all():
        low, high = low.clip(0, 1), high.clip(0, 1)
    return low, high


def half_width(
    std: Any, n: int, confidence: float = 0.95, test_over_train: float = 0.0
) -> Any:
    """Half of Student's interval of a mean of n values with this standard deviation.

    Values of splits that share training documents are no independent ones: the variance
    of their mean is taken as (1/n + n_test/n_train) s² (Nadeau and Bengio, 2003).
    """
    quantile = stdtrit(n - 1, (1 + confidence) / 2)
    return quantile * std * np.sqrt(1 / n + test_over_train)


def log_ratio_bound(
    hits: np.ndarray, n: np.ndarray, level: float, delta: float = 0.0
) -> Any:
    """Lower limit of log((p − δ)/q), each side at error rate `level`.

    `hits` has the counts of p in its first row and those of q in its second.
    """
    # of thousands of counts a few hundred differ
    (p, of_p), (q, of_q) = (np.unique(each, return_inverse=True) for each in hits)
    low = lower_limit(p, n[0], level)[of_p.reshape(np.shape(hits[0]))]
    high = upper_limit(q, n[1], level)[of_q.reshape(np.shape(hits[1]))]
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(low - delta, 0.0)) - np.log(high)
