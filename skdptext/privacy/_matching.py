"""The cheapest way to match the words of two bags, where some matches are forbidden."""

from __future__ import annotations

import math

import numpy as np

from skdptext.neighbors import solver, transport_cost
from skdptext.privacy._bottleneck import can_move


def matching_cost(supply: np.ndarray, demand: np.ndarray, cost: np.ndarray) -> float:
    """Least total cost of matching each unit of supply with one of demand.

    Parameters
    ----------
    supply : ndarray of shape (n,), int
    demand : ndarray of shape (k,), int
        With the same sum.
    cost : ndarray of shape (n, k)
        Non-negative; inf forbids a match.

    Returns
    -------
    total : float
        inf if no matching avoids forbidden matches.
    """
    masses = supply.astype(np.float64), demand.astype(np.float64)
    allowed = np.isfinite(cost)
    if not allowed.all() and not can_move(supply, demand, allowed):
        return math.inf
    return transport_cost(*masses, _finite(supply, cost))


def matching_plan(
    supply: np.ndarray, demand: np.ndarray, cost: np.ndarray
) -> np.ndarray:
    """The cheapest matching itself, with as few forbidden matches as possible.

    Parameters
    ----------
    supply, demand, cost : ndarrays
        As in `matching_cost`.

    Returns
    -------
    plan : ndarray of shape (n, k), int
        Units of each supply that are matched with each demand.

    Raises
    ------
    RuntimeError
        If the solver does not return a matching.
    """
    scaled = _finite(supply, cost)
    # as `transport_cost` does; whole numbers stay whole in the solver
    scaled = np.ascontiguousarray(scaled * 2.0 ** -math.frexp(float(scaled.max()))[1])
    flow = solver()(supply.astype(np.float64), demand.astype(np.float64), scaled, 0, 1)
    plan = np.rint(flow[0]).astype(np.int64)
    if (plan.sum(axis=1) != supply).any() or (plan.sum(axis=0) != demand).any():
        raise RuntimeError(
            f"The exact transport solver returned no matching for {len(supply)} and "
            f"{len(demand)} words."
        )
    return plan


def _finite(supply: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """Finite costs: one forbidden match costs more than any matching without one."""
    allowed = np.isfinite(cost)
    most = float(cost[allowed].max(initial=0.0))
    return np.where(allowed, cost, 2 * int(supply.sum()) * most or 1.0)
