"""The longest step that moving one distribution onto another needs."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import maximum_flow

from skdptext.exceptions import InvalidParameterError

__all__ = ["bottleneck_distance", "can_move"]


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
    source, sink = 0, len(supply) + len(demand) + 1
    rows, columns = np.nonzero(allowed)
    begin = np.concatenate(
        [np.zeros(len(supply)), rows + 1, np.arange(len(demand)) + 1 + len(supply)]
    )
    end = np.concatenate(
        [
            np.arange(len(supply)) + 1,
            columns + 1 + len(supply),
            np.full(len(demand), sink),
        ]
    )
    capacity = np.concatenate(
        [supply, np.minimum(supply[rows], demand[columns]), demand]
    )
    if int(supply.sum()) > np.iinfo(np.int32).max:
        raise InvalidParameterError(
            "documents must have at most 2^31 pairs of words for the bottleneck "
            f"distance, got {int(supply.sum())}."
        )
    graph = sp.csr_array(
        (capacity.astype(np.int32), (begin.astype(np.int32), end.astype(np.int32))),
        shape=(sink + 1, sink + 1),
    )
    return bool(maximum_flow(graph, source, sink).flow_value == supply.sum())
