"""The cheapest way to match the words of two bags, where some may not be matched."""

from __future__ import annotations

import math

import numpy as np

from skdptext.transport._bottleneck import can_move
from skdptext.transport._exact import transport_cost

__all__ = ["matching_cost"]


def matching_cost(supply: np.ndarray, demand: np.ndarray, cost: np.ndarray) -> float:
    """Least total cost of matching each unit of supply with one of demand.

    Parameters
    ----------
    supply : ndarray of shape (n,), int
    demand : ndarray of shape (k,), int
        Of the same sum.
    cost : ndarray of shape (n, k)
        Non-negative; inf forbids a match.

    Returns
    -------
    total : float
        inf if nothing but forbidden matches is left.
    """
    masses = supply.astype(np.float64), demand.astype(np.float64)
    allowed = np.isfinite(cost)
    if allowed.all():
        return transport_cost(*masses, cost)
    if not can_move(supply, demand, allowed):
        return math.inf
    # One forbidden match must cost more than any way without.
    most = float(cost[allowed].max(initial=0.0))
    forbidden = 2 * int(supply.sum()) * most or 1.0
    return transport_cost(*masses, np.where(allowed, cost, forbidden))
