"""Bounds of many documents from the potentials of a few.

As in `_bounds`, which see for the rounding, but of one query at a time: what its words'
potentials say is then worked out once for all words of the table.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skdptext.transport._bags import WordBags, entries
from skdptext.transport._bounds import POTENTIAL_SLACK

__all__ = ["COSTS_AT_ONCE", "carried_bounds", "query_potentials"]

# Floats of costs handled at once: the work arrays then stay in the processor's cache.
COSTS_AT_ONCE = 2**18

# For fewer costs the array calls would take longer than what a better bound saves.
_WORTH_GATHERING = 2**14

_MOST = np.float32(2.0)  # no useful potential is larger, and the slack then holds


def query_potentials(costs: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Largest potentials of the query's words, also of those without mass.

    Parameters
    ----------
    costs : ndarray of shape (n, L, S), float32
    beta : ndarray of shape (L, S), float32
        From `dual_bounds`.

    Returns
    -------
    potentials : ndarray of shape (n, S), float32
        0 where a bag has no mass left.
    """
    least = (costs - beta).min(axis=1)
    least[np.isinf(least)] = 0.0
    return np.clip(least, -_MOST, _MOST, out=least)


def carried_bounds(
    costs: np.ndarray,
    query: np.ndarray,
    place: np.ndarray,
    bags: WordBags,
    some: np.ndarray,
    potentials: np.ndarray,
    limit: float,
) -> np.ndarray:
    """Bounds of many bags from potentials that are good for a few others.

    Any α are feasible with β_w = min_i(C_iw − α_i), for all words w at once. The
    largest β_w that any of the α gives is feasible with none of them, but with
    α_i = min_w(C_iw − β_w) over the words of a bag, which is mostly better.

    Parameters
    ----------
    costs, query
        As in `relaxed_bounds`.
    place : ndarray of shape (n_table_words,), int
        Place of a table's word within the query, -1 where it is not in it.
    bags : WordBags
        Non-empty; their ids are columns of `costs`.
    some : ndarray of shape (S,)
        Numbers of the bags to bound, at least one.
    potentials : ndarray of shape (P, n), float32
        From `query_potentials`, of P bags.
    limit : float
        Bags with a bound above it need no better one; nor do bags so few and short that
        it is not worth the calls.

    Returns
    -------
    bounds : ndarray of shape (S,)
    """
    work = np.empty_like(costs)
    carried = np.empty((len(potentials), costs.shape[1]), dtype=np.float32)
    for alpha, beta in zip(potentials, carried, strict=True):
        np.subtract(costs, alpha[:, None], out=work)
        np.minimum(work.min(axis=0), _MOST, out=beta)
    del work  # as large as `local` will be
    bounds = np.empty(len(some))
    sizes = bags.starts[some + 1] - bags.starts[some]
    # half of the room for either of two work arrays
    for part in _parts(sizes, COSTS_AT_ONCE // 2 // len(carried)):
        bounds[part] = _Residuals(query, place, bags, some[part]).of_each(
            potentials, carried
        )
    left = np.flatnonzero(bounds <= limit)
    if len(query) * sizes[left].sum() < _WORTH_GATHERING:
        return bounds
    local, beta = np.ascontiguousarray(costs.T), carried.max(axis=0)
    for part in _parts(sizes[left], COSTS_AT_ONCE // len(query)):
        rows = left[part]
        better = _Residuals(query, place, bags, some[rows]).of_all(local, beta)
        bounds[rows] = np.maximum(bounds[rows], better)
    return bounds


def _parts(sizes: np.ndarray, most: int) -> Iterator[slice]:
    """Runs of bags with at most so many words, or of one bag."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = ends[start] - sizes[start]
        stop = int(np.searchsorted(ends, before + most, side="right"))
        yield slice(start, max(stop, start + 1))
        start = max(stop, start + 1)


class _Residuals:
    """Some bags laid end to end, and the mass that they and a query do not share."""

    def __init__(
        self, query: np.ndarray, place: np.ndarray, bags: WordBags, some: np.ndarray
    ) -> None:
        starts = bags.starts[some]
        sizes = bags.starts[some + 1] - starts
        self.first = np.cumsum(sizes) - sizes
        at = entries(starts, sizes)
        self.words, self.masses = bags.ids.take(at), bags.weights.take(at)
        places = place.take(self.words)
        self.shared = np.flatnonzero(places >= 0)
        self.own = places[self.shared]
        self.query = query
        self.kept = np.minimum(query[self.own], self.masses[self.shared])
        self.masses[self.shared] -= self.kept

    def of_each(self, potentials: np.ndarray, carried: np.ndarray) -> np.ndarray:
        """Largest bound of each bag by any of the potentials α and their β."""
        terms = carried.take(self.words, axis=1) * self.masses
        terms[:, self.shared] -= self.kept * potentials[:, self.own]
        sums = np.add.reduceat(terms, self.first, axis=1)
        sums += (potentials.astype(np.float64) @ self.query)[:, None]
        return sums.max(axis=0) - POTENTIAL_SLACK

    def of_all(self, local: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Bound of each bag by β and the α that are feasible with it."""
        beta = beta.take(self.words)
        start = np.where(self.masses > 0, beta, np.float32(-np.inf))
        costs = local.take(self.words, axis=0)
        costs -= start[:, None]
        alpha = np.minimum.reduceat(costs, self.first, axis=0)
        alpha[np.isinf(alpha)] = 0.0  # of a bag without mass
        masses = np.tile(self.query, (len(self.first), 1))
        bag = np.searchsorted(self.first, self.shared, side="right") - 1
        masses[bag, self.own] -= self.kept
        sums = np.einsum("ij,ij->i", masses, alpha)
        sums += np.add.reduceat(self.masses * beta, self.first)
        return sums - POTENTIAL_SLACK
