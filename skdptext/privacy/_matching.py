"""How the words of two bags are matched, where some matches are forbidden."""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import maximum_flow

from skdptext.exceptions import InvalidParameterError
from skdptext.neighbors import solver


def matching_plan(
    supply: np.ndarray, demand: np.ndarray, cost: np.ndarray
) -> np.ndarray:
    """The cheapest matching itself, with as few forbidden matches as possible.

    Parameters
    ----------
    supply : ndarray of shape (n,), int
    demand : ndarray of shape (k,), int
        With the same sum.
    cost : ndarray of shape (n, k)
        Non-negative; inf forbids a match.

    Returns
    -------
    plan : ndarray of shape (n, k), int
        Units of each supply that are matched with each demand.

    Raises
    ------
    RuntimeError
        If the solver does not return a matching.
    """
    # one forbidden match costs more than any matching without one
    allowed = np.isfinite(cost)
    most = float(cost[allowed].max(initial=0.0))
    scaled = np.where(allowed, cost, 2 * int(supply.sum()) * most or 1.0)
    # a power of two moves no digit, and costs below 1 are what the solver is made for
    scaled = np.ascontiguousarray(scaled * 2.0 ** -math.frexp(float(scaled.max()))[1])
    flow = solver()(supply.astype(np.float64), demand.astype(np.float64), scaled, 0, 1)
    plan = np.rint(flow[0]).astype(np.int64)
    if (plan.sum(axis=1) != supply).any() or (plan.sum(axis=0) != demand).any():
        raise RuntimeError(
            f"The exact transport solver returned no matching for {len(supply)} and "
            f"{len(demand)} words."
        )
    return plan


def bottleneck_distance(
    supply: np.ndarray, demand: np.ndarray, cost: np.ndarray
) -> float:
    """Smallest step length with which all supply reaches the demand.

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
        return _can_move(supply, demand, cost <= steps[i])

    # the longest step always does, and is not tried
    return float(steps[bisect_left(range(len(steps) - 1), True, key=reaches)])


def _can_move(supply: np.ndarray, demand: np.ndarray, allowed: np.ndarray) -> bool:
    """Whether all supply reaches the demand along the allowed steps (maximum flow)."""
    if int(supply.sum()) > np.iinfo(np.int32).max:
        raise InvalidParameterError(
            "documents must have at most 2^31 pairs of words for the bottleneck "
            f"distance, got {int(supply.sum())}."
        )
    # places in the graph: the source, the supply, the demand, the sink
    n, k = allowed.shape
    sink = n + k + 1
    rows, columns = allowed.nonzero()
    # in CSR format at once: to convert a list of edges takes longer than the flow
    leaving = np.concatenate([[0, n], allowed.sum(axis=1), np.ones(k, int), [0]])
    end = np.concatenate([np.arange(1, n + 1), columns + n + 1, np.full(k, sink)])
    between = np.minimum(supply[rows], demand[columns])
    capacity = np.concatenate([supply, between, demand]).astype(np.int32)
    edges = capacity, end.astype(np.int32), leaving.cumsum(dtype=np.int32)
    graph = sp.csr_array(edges, shape=(sink + 1, sink + 1))
    return bool(maximum_flow(graph, 0, sink).flow_value == supply.sum())
