"""The search of `BagIndex` in NumPy: bounds that rule most bags out."""

from __future__ import annotations

from bisect import insort
from itertools import pairwise
from math import ldexp

import numpy as np

from skdptext.transport._bags import WordBags
from skdptext.transport._bounds import (
    dual_bounds,
    match_residuals,
    relaxed_bounds,
    residual_relaxed_bounds,
    sinkhorn_bounds,
)
from skdptext.transport._carried import (
    COSTS_AT_ONCE,
    carried_bounds,
    query_potentials,
)
from skdptext.transport._exact import pair_distance
from skdptext.transport._index import IndexedBags, table_columns

__all__ = ["EXACT_SLACK", "Cascade", "n_likely"]

# Rounding of an exact distance, in units of the largest norm, with room to spare.
EXACT_SLACK = 1e-12

# Floats of padding that take as long as the array calls of one more run.
_CALLS_WORTH = 2**14

# Bags whose potentials are carried over to the others.
_N_CARRIED = 6


# Numbers of queries and of bags, and a lower bound for each pair.
_Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]


class Cascade:
    """A run of queries on its way through ever tighter and dearer bounds.

    All queries take a step together: one pair of short texts is too little work for
    an array operation, ten thousand are not.
    """

    def __init__(
        self, index: IndexedBags, queries: WordBags, k: int, skip: np.ndarray | None
    ) -> None:
        self.index, self.queries, self.k, self.skip = index, queries, k, skip
        # The nearest so far, k at most, and how many were solved to know them.
        self.nearest: list[list[tuple[float, int]]] = [[] for _ in range(len(queries))]
        self.n_solved = np.zeros(len(queries), dtype=np.intp)
        # Bounds above a query's limit, in scaled units, rule a bag out; ties stay in.
        self.limits = np.full(len(queries), np.inf)

    def run(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Distances and numbers of the nearest bags, and exact problems solved."""
        self.search()
        n, k = len(self.queries), self.k
        distances, rows = np.empty((n, k)), np.empty((n, k), dtype=np.intp)
        for i, nearest in enumerate(self.nearest):
            distances[i], rows[i] = zip(*nearest, strict=True)
        return distances, rows, self.n_solved

    def prepare(self) -> None:
        """Costs of all queries' words, and the places of the table's in the queries."""
        queries, table = self.queries, self.index.words
        words, places = np.unique(queries.ids, return_inverse=True)
        self.costs = self.index.table.distances(words)
        # the same queries, over rows of `costs`
        self.local = WordBags(queries.starts, places, queries.weights)
        n = len(queries)
        self.positions = np.full((n, len(table)), -1, dtype=np.int32)
        self.own = table_columns(table, queries.ids)
        known = np.flatnonzero(self.own >= 0)
        owner = np.repeat(np.arange(n), queries.sizes)[known]
        self.positions[owner, self.own[known]] = known - queries.starts[owner]

    def search(self) -> None:
        """Solve every pair that may be among the nearest of its query."""
        self.prepare()
        queries, matrices = self.queries, self.index.matrices
        n, k = len(queries), self.k
        bounds = np.empty((n, len(self.index.bags)))
        for i in range(n):
            rows, weights = self.local.row(i)
            own = self.own[queries.starts[i] : queries.starts[i + 1]]
            bounds[i] = relaxed_bounds(self.costs[rows], weights, own, *matrices)
        n_bags = bounds.shape[1]
        if self.skip is not None:
            bounds[np.arange(n), self.skip] = np.inf
            n_bags -= 1
        # The likeliest few, bounded better: the k best of them give a first limit.
        few = min(n_bags, n_likely(k))
        likely = np.argpartition(bounds, few - 1, axis=1)[:, :few]
        better, potentials = self.sample(likely)
        np.put_along_axis(bounds, likely, np.inf, axis=1)
        query = np.repeat(np.arange(n), few)
        pairs = self.solve_best((query, likely.ravel(), better.ravel()))
        best = np.argsort(better, axis=1)[:, :_N_CARRIED]
        left = [self.carry(i, bounds[i], potentials, best[i]) for i in range(n)]
        query = np.repeat(np.arange(n), [len(bags) for bags in left])
        more = self.tighten(query, np.concatenate(left))
        pairs = _joined([pairs, more])
        self.solve_all(self.tighten(pairs[0], pairs[1], last=True))

    def sample(self, likely: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds for so many bags of each query, and the potentials they are made of.

        Parameters
        ----------
        likely : ndarray of shape (n_queries, few)

        Returns
        -------
        bounds : ndarray of shape (n_queries, few)
        potentials : ndarray of shape (few, words of all queries), float32
        """
        few = likely.shape[1]
        query, rank = np.divmod(np.arange(likely.size), few)
        bag = likely.ravel()
        found = np.empty(likely.size)
        potentials = np.empty((few, len(self.local.ids)), dtype=np.float32)
        starts, sizes = self.queries.starts, self.queries.sizes
        order, chunks = _alike(sizes[query], self.index.bags.sizes[bag])
        for chunk in chunks:
            pairs = order[chunk]
            costs, a, b = self.problems(query[pairs], bag[pairs])
            least = residual_relaxed_bounds(costs, a, b)
            found[pairs], _, beta = dual_bounds(costs, a, b, *least[1:])
            values = query_potentials(costs, beta)
            slots = np.arange(len(values))[:, None]
            used = slots < sizes[query[pairs]]
            at = potentials.shape[1] * rank[pairs] + starts[query[pairs]] + slots
            potentials.ravel()[at[used]] = values[used]
        return found.reshape(likely.shape), potentials

    def carry(
        self, i: int, bounds: np.ndarray, potentials: np.ndarray, best: np.ndarray
    ) -> np.ndarray:
        """The bags that neither bounds rule out nor a query's potentials."""
        left = np.flatnonzero(bounds <= self.limits[i])
        # Each potential is carried to all words of the table.
        if self.index.bags.sizes[left].sum() <= self.costs.shape[1] // 2:
            return left
        rows, weights = self.local.row(i)
        words = slice(self.queries.starts[i], self.queries.starts[i + 1])
        bounds = carried_bounds(
            self.costs[rows], weights, self.positions[i], self.index.local, left,
            potentials[best, words], self.limits[i],
        )  # fmt: skip
        return left[bounds <= self.limits[i]]

    def solve(self, query: int, bag: int) -> None:
        """Solve one pair exactly and tighten the query's limit."""
        vectors = self.index.vectors
        assert vectors is not None
        x, y = self.queries.row(query), self.index.bags.row(bag)
        distance = pair_distance(*x, *y, vectors)
        nearest = self.nearest[query]
        insort(nearest, (distance, bag))
        del nearest[self.k :]
        self.n_solved[query] += 1
        if len(nearest) == self.k:
            kth = ldexp(nearest[-1][0], -self.index.table.exponent)
            self.limits[query] = kth + EXACT_SLACK

    def solve_best(self, pairs: _Pairs) -> _Pairs:
        """Solve each query's k most promising pairs, return the others in the race."""
        query, bag, bounds = _sorted(pairs)
        rank = np.arange(len(query)) - np.searchsorted(query, query)
        best = rank < self.k
        for i, j in zip(query[best].tolist(), bag[best].tolist(), strict=True):
            self.solve(i, j)
        left = np.flatnonzero(~best & (bounds <= self.limits[query]))
        return query[left], bag[left], bounds[left]

    def solve_all(self, pairs: _Pairs) -> None:
        """Solve by ascending bound until the bound rules the rest of a query out."""
        query, bag, bounds = _sorted(pairs)
        ends = np.searchsorted(query, np.arange(len(self.queries) + 1)).tolist()
        for i, (start, end) in enumerate(pairwise(ends)):
            some = bag[start:end].tolist(), bounds[start:end].tolist()
            for j, bound in zip(*some, strict=True):
                if bound > self.limits[i]:
                    break
                self.solve(i, j)

    def tighten(self, query: np.ndarray, bag: np.ndarray, last: bool = False) -> _Pairs:
        """The pairs that better bounds do not rule out, with these bounds.

        The `last` bounds are the best and the dearest.
        """
        sizes = self.queries.sizes[query], self.index.bags.sizes[bag]
        order, chunks = _alike(*sizes)
        query, bag = query[order], bag[order]
        return _joined([self._chunk(query[c], bag[c], last) for c in chunks])

    def problems(
        self, query: np.ndarray, bag: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Costs and residual masses of some pairs."""
        words, columns, a, b = match_residuals(
            self.local, query, self.positions, self.index.local, bag
        )
        words *= self.costs.shape[1]
        return self.costs.take(words[:, None, :] + columns), a, b

    def _chunk(self, query: np.ndarray, bag: np.ndarray, last: bool) -> _Pairs:
        costs, a, b = self.problems(query, bag)
        bounds, rows, columns = residual_relaxed_bounds(costs, a, b)
        kept = np.flatnonzero(bounds <= self.limits[query])
        if not len(kept):
            return query[:0], bag[:0], bounds[:0]
        if len(kept) < len(query):
            query, bag, costs, a, b, rows, columns = (
                part.take(kept, axis=-1)
                for part in (query, bag, costs, a, b, rows, columns)
            )
        bounds, alpha, beta = dual_bounds(costs, a, b, rows, columns)
        if last:
            soft = sinkhorn_bounds(costs, a, b, alpha, beta)
            bounds = np.maximum(bounds, soft)
        kept = np.flatnonzero(bounds <= self.limits[query])
        return query[kept], bag[kept], bounds[kept]


def n_likely(k: int) -> int:
    """Bags to bound better before the first are solved."""
    return max(4 * k, 24)


def _joined(parts: list[_Pairs]) -> _Pairs:
    if not parts:
        return np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0)
    query, bag, bounds = (np.concatenate(part) for part in zip(*parts, strict=True))
    return query, bag, bounds


def _sorted(pairs: _Pairs) -> _Pairs:
    """By query, then by bound."""
    query, bag, bounds = pairs
    order = np.lexsort((bag, bounds, query))
    return query[order], bag[order], bounds[order]


def _alike(n: np.ndarray, m: np.ndarray) -> tuple[np.ndarray, list[slice]]:
    """An order of problems of sizes n × m, and runs of it that are padded alike."""
    if not len(n):
        return np.empty(0, dtype=np.intp), []
    levels = np.unique(np.ceil(1.3 ** np.arange(64)))
    # to and fro, so that neighbouring groups are of neighbouring sizes
    n_level, m_level = np.searchsorted(levels, n), np.searchsorted(levels, m)
    key = n_level * 64 + np.where(n_level % 2, 63 - m_level, m_level)
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    tallest = np.maximum.reduceat(n[order], starts).tolist()
    widest = np.maximum.reduceat(m[order], starts).tolist()
    counts = np.diff(starts, append=len(n)).tolist()
    chunks: list[slice] = []
    begin, rows, columns, count = 0, tallest[0], widest[0], 0
    for group in range(len(starts)):
        new_rows, new_columns = max(rows, tallest[group]), max(columns, widest[group])
        apart = rows * columns * count + tallest[group] * widest[group] * counts[group]
        if new_rows * new_columns * (count + counts[group]) > apart + _CALLS_WORTH:
            chunks += _pieces(begin, count, rows * columns)
            begin, count = begin + count, 0
            new_rows, new_columns = tallest[group], widest[group]
        rows, columns, count = new_rows, new_columns, count + counts[group]
    return order, chunks + _pieces(begin, count, rows * columns)


def _pieces(begin: int, count: int, size: int) -> list[slice]:
    """A run of problems cut so that a piece's costs stay in the cache."""
    step = max(1, COSTS_AT_ONCE // size)
    end = begin + count
    return [slice(at, min(at + step, end)) for at in range(begin, end, step)]
