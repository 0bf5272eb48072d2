"""The search of one query: bounds from the fastest to the best, and the solver."""

from __future__ import annotations

from math import inf, isqrt, ldexp

import numpy as np

from skdptext.transport._bags import WordBags
from skdptext.transport._exact import pair_distance
from skdptext.transport._index import Bounds, IndexedBags
from skdptext.transport._kernels import Kernels
from skdptext.transport._solver import solver_address

# Rounding of an exact distance, in units of the largest norm, with room to spare.
_EXACT_SLACK = 1e-11


def n_likely(k: int, n_bags: int) -> int:
    """Bags to bound better before the first are solved.

    The more bags, the farther down the order by relaxed bounds are the nearest. Where
    they are missed, the first limit is loose and lets many others through.
    """
    return min(max(4 * k, 24, isqrt(n_bags // 2)), n_bags)


class Cascade:
    """The search of a query, as far as it has come.

    Relaxed bounds of all bags pick the likeliest few. The best of these by a better
    bound are solved, which gives a limit; then the others that no bound rules out, by
    ascending bound.

    Parameters
    ----------
    index : IndexedBags
    queries : WordBags
    i : int
        Number of the query.
    few : int
        Bags to bound better first.
    bounds : Bounds
        Of the same queries.
    skip : int
        A bag that must not be found, or -1.
    kernels : Kernels or None
    """

    def __init__(
        self,
        index: IndexedBags,
        queries: WordBags,
        i: int,
        few: int,
        bounds: Bounds,
        skip: int = -1,
        kernels: Kernels | None = None,
    ) -> None:
        self._index, self._bounds, self._kernels = index, bounds, kernels
        self._query = queries.row(i)
        self._others = bounds.relax(i)
        n = len(self._others)
        if skip >= 0:
            self._others[skip] = inf
            n -= 1
        self._likely, self._better = bounds.sample(self._others, min(few, n))
        self._bags = np.empty(0, np.intp)  # solved, and their distances
        self._distances = np.empty(0)

    @property
    def n_solved(self) -> int:
        """Exact problems solved."""
        return len(self._bags)

    def nearest(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Distances and numbers of the `k` nearest bags, by (distance, number)."""
        first = self._likely[:k]
        voted = self.n_solved > 0  # for a label that was not sure to win
        self._solve(first[~np.isin(first, self._bags)] if voted else first)
        best, limit = self._best(k)
        left, better = self._left(k, limit)
        if voted:
            new = ~np.isin(left, self._bags)
            left, better = left[new], better[new]
        for at in range(len(left)):
            if better[at] > limit:
                break
            self._solve(left[at : at + 1])
            best, limit = self._best(k)
        return self._distances[best], self._bags[best]

    def within(self, radius: float) -> tuple[np.ndarray, np.ndarray]:
        """Distances and numbers of the bags within a radius, by (distance, number)."""
        left, _ = self._left(0, self._scaled(radius))
        self._solve(left)
        order = np.lexsort((self._bags, self._distances))
        within = order[self._distances[order] <= radius]
        return self._distances[within], self._bags[within]

    def winner(self, k: int, labels: np.ndarray) -> int:
        """A label that is sure of more than half of the `k` nearest bags, or -1.

        Only as many bags are solved as this takes.
        """
        most = k // 2 + 1
        for n in range(most, k + 1):
            self._solve(self._likely[self.n_solved : n])
            label = labels[self._bags[-1]]
            if (labels[self._bags] == label).sum() == most:
                return int(label) if self._is_sure(k, labels, label) else -1
        return -1

    def _is_sure(self, k: int, labels: np.ndarray, label: int) -> bool:
        """Whether more than half of the k nearest bags have the label.

        Just more than half of `k` of the bags solved have it. These win the vote if at
        most the rest of `k` are bags of other labels that are as near as the farthest
        of them: nearer bags of the label can only take each other's places.
        """
        own = labels[self._bags] == label
        farthest = self._distances[own].max()
        spare = k - own.sum() - (self._distances[~own] <= farthest).sum()
        if spare < 0:
            return False
        limit = self._scaled(farthest)
        rivals = self._remaining(self.n_solved, limit)
        rivals = rivals[labels[rivals] != label]
        if len(rivals) <= spare:
            return True
        better = self._bounds.tighten(rivals, limit)
        rivals = rivals[np.argsort(better, kind="stable")]
        n_left = (better <= limit).sum()
        for at in range(n_left):
            if spare < 0 or n_left <= spare:
                break
            self._solve(rivals[at : at + 1])
            n_left -= 1
            spare -= self._distances[-1] <= farthest
        return bool(n_left <= spare)

    def _scaled(self, distance: float) -> float:
        """The bound up to which a bag may be as near."""
        return ldexp(distance, -self._index.table.exponent) + _EXACT_SLACK

    def _remaining(self, first: int, limit: float) -> np.ndarray:
        """Bags within the limit by first bounds: of the likeliest, from `first` on."""
        few = self._likely[first : self._better.searchsorted(limit, side="right")]
        others = (self._others <= limit).nonzero()[0]
        return np.concatenate([few, others]) if len(few) else others

    def _left(self, first: int, limit: float) -> tuple[np.ndarray, np.ndarray]:
        """Bags within the limit by the best bounds, and these, in ascending order."""
        left = self._remaining(first, limit)
        if not len(left):
            return left, np.empty(0)
        better = self._bounds.tighten(left, limit)
        order = (better <= limit).nonzero()[0]
        order = order[better[order].argsort(kind="stable")]
        return left[order], better[order]

    def _solve(self, bags: np.ndarray) -> None:
        """Add exact distances of bags that have none."""
        if not len(self._bags):
            self._bags, self._distances = bags, self._exact(bags)
        elif len(bags):
            self._bags = np.concatenate([self._bags, bags])
            self._distances = np.concatenate([self._distances, self._exact(bags)])

    def _exact(self, bags: np.ndarray) -> np.ndarray:
        """Exact distances."""
        index = self._index
        assert index.vectors is not None
        if self._kernels is not None:
            out = np.empty(len(bags))
            given = index.bags.arrays, bags, index.vectors, out
            if self._kernels.pairs(solver_address(), *self._query, *given):
                return out
            # solve again in Python, which says what is wrong
        others = map(index.bags.row, bags)
        return np.array([pair_distance(self._query, y, index.vectors) for y in others])

    def _best(self, k: int) -> tuple[np.ndarray, float]:
        """Places of the best `k` of those solved, and the bound that others must meet.

        Bags at the bound stay in: they may tie.
        """
        order = np.lexsort((self._bags, self._distances))[:k]
        return order, self._scaled(self._distances[order[-1]])
