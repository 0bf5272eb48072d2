"""The longest step that moving one distribution onto another needs."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import maximum_flow

from skdptext.exceptions import InvalidParameterError


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
        return can_move(supply, demand, cost <= steps[i])

    # the longest step always does, and is not tried
    return float(steps[bisect_left(range(len(steps) - 1), True, key=reaches)])


def can_move(supply: np.ndarray, demand: np.ndarray, allowed: np.ndarray) -> bool:
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
