"""Match the words of two bags, if some matches are forbidden."""

import math
from bisect import bisect_left

import numpy as np

from skdptext.neighbors import solver


def matching_plan(
    supply: np.ndarray, demand: np.ndarray, cost: np.ndarray
) -> np.ndarray:
    """Find the cheapest matching with as few forbidden matches as possible.

    Parameters
    ----------
    supply : ndarray of shape (n,), int
    demand : ndarray of shape (k,), int
        With the same sum.
    cost : ndarray of shape (n, k)
        Non-negative costs; inf forbids a match.

    Returns
    -------
    plan : ndarray of shape (n, k), int
        Units of each supply that are matched with each demand.

    Raises
    ------
    RuntimeError
        If the solver does not return a matching.
    """
    # The solver knows no forbidden matches. One of them is made to cost more than any
    # matching without one.
    allowed = np.isfinite(cost)
    most = float(cost[allowed].max(initial=0.0))
    scaled = np.where(allowed, cost, 2 * int(supply.sum()) * most or 1.0)
    # The solver is made for costs below 1. Scaling by a power of two is exact.
    scaled = np.ascontiguousarray(scaled * 2.0 ** -math.frexp(float(scaled.max()))[1])
    flow = solver()(supply.astype(np.float64), demand.astype(np.float64), scaled, 0, 1)
    plan = np.rint(flow[0]).astype(np.int64)
    # A bound follows from a plan only if the plan moves all words. This is checked,
    # because the solver works in floating point.
    if (plan.sum(axis=1) != supply).any() or (plan.sum(axis=0) != demand).any():
        raise RuntimeError(
            f"The exact transport solver returned no matching for {len(supply)} and "
            f"{len(demand)} words."
        )
    return plan


def bottleneck_distance(
    supply: np.ndarray, demand: np.ndarray, cost: np.ndarray
) -> float:
    """Find the smallest step length with which all supply reaches the demand.

    Parameters
    ----------
    supply : ndarray of shape (n,), int
    demand : ndarray of shape (k,), int
        With the same sum.
    cost : ndarray of shape (n, k)
        Step lengths.
    """
    steps = np.unique(cost)

    def reaches(i: int) -> bool:
        longer = cost > steps[i]
        return not matching_plan(supply, demand, longer.astype(float))[longer].any()

    # The longest step always suffices and need not be tried.
    return float(steps[bisect_left(range(len(steps) - 1), True, key=reaches)])
