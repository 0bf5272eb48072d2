"""The longest step that moving one distribution onto another needs."""

from __future__ import annotations

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
    low, high = 0, len(steps) - 1
    while low < high:
        middle = (low + high) // 2
        if can_move(supply, demand, cost <= steps[middle]):
            high = middle
        else:
            low = middle + 1
    return float(steps[low])


def can_move(supply: np.ndarray, demand: np.ndarray, allowed: np.ndarray) -> bool:
    """Whether all supply reaches the demand along the allowed steps (maximum flow)."""
    if int(supply.sum()) > np.iinfo(np.int32).max:
        raise InvalidParameterError(
            "documents must have at most 2^31 pairs of words for the bottleneck "
            f"distance, got {int(supply.sum())}."
        )
    # places in the graph: the source, the supply, the demand, the sink
    sink = len(supply) + len(demand) + 1
    left, right = np.split(np.arange(1, sink, dtype=np.int32), [len(supply)])
    rows, columns = allowed.nonzero()
    begin = np.concatenate([np.zeros_like(left), left[rows], right])
    end = np.concatenate([left, right[columns], np.full_like(right, sink)])
    between = np.minimum(supply[rows], demand[columns])
    capacity = np.concatenate([supply, between, demand]).astype(np.int32)
    graph = sp.csr_array((capacity, (begin, end)), shape=(sink + 1, sink + 1))
    return bool(maximum_flow(graph, 0, sink).flow_value == supply.sum())
