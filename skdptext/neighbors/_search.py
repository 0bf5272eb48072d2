"""Exact nearest bags by Word Mover's Distance, most of them never solved."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from math import ldexp

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn import get_config
from threadpoolctl import threadpool_limits

from skdptext.transport import (
    LoweredTable,
    WordBags,
    dual_bounds,
    match_residuals,
    one_hot_distances,
    pair_distance,
    relaxed_bounds,
    residual_relaxed_bounds,
    sinkhorn_bounds,
    take_bags,
)

__all__ = ["BagIndex"]

# Rounding of an exact distance, in units of the largest norm, with room to spare.
_EXACT_SLACK = 1e-12

# Floats of costs handled at once: the work arrays then stay in the processor's cache.
_COSTS_AT_ONCE = 2**18

# Floats of padding that take as long as the array calls of one more run.
_CALLS_WORTH = 2**14


# Numbers of queries and of bags, and a lower bound for each pair.
_Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]


class BagIndex:
    """Bags to search, with what the bounds need of them.

    Parameters
    ----------
    bags : WordBags
        Non-empty bags of mass 1.
    n_words : int
        Number of words that ids may refer to.
    vectors : ndarray of shape (n_words, dim) or None
        None: every word is √2 from every other.
    """

    def __init__(
        self, bags: WordBags, n_words: int, vectors: np.ndarray | None
    ) -> None:
        self.bags = bags
        self.n_words = n_words
        self.vectors = vectors
        if vectors is not None:
            self._words, columns = np.unique(bags.ids, return_inverse=True)
            self._table = LoweredTable(vectors, self._words)
            # the same bags, over the words that occur
            self._local = WordBags(bags.starts, columns, bags.weights)

    def nearest(
        self,
        queries: WordBags,
        k: int,
        *,
        exclude: np.ndarray | None = None,
        n_jobs: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The `k` nearest bags to each query, by (distance, number of the bag).

        Parameters
        ----------
        queries : WordBags
            Non-empty bags of mass 1.
        exclude : ndarray of shape (n_queries,), default=None
            A bag that each query must not find.

        Returns
        -------
        distances : ndarray of shape (n_queries, k)
        rows : ndarray of shape (n_queries, k)
        n_solved : ndarray of shape (n_queries,)
            Exact problems solved for each query.
        """
        n = len(queries)
        distances = np.empty((n, k))
        rows = np.empty((n, k), dtype=np.intp)
        n_solved = np.zeros(n, dtype=np.intp)

        def search(block: slice) -> None:
            some = take_bags(queries, np.arange(block.start, block.stop))
            skip = None if exclude is None else exclude[block]
            if self.vectors is None:
                found = self._scan(some, k, skip)
            else:
                found = _Cascade(self, some, k, skip).run()
            distances[block], rows[block], n_solved[block] = found

        workers = effective_n_jobs(n_jobs)
        # One BLAS thread: with threads over queries more would only get in the way.
        with threadpool_limits(limits=1, user_api="blas"):
            Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem")(
                delayed(search)(block) for block in self._blocks(queries, workers)
            )
        return distances, rows, n_solved

    def _blocks(self, queries: WordBags, n_workers: int) -> Iterator[slice]:
        """Runs of queries whose arrays fit in the working memory."""
        memory = get_config()["working_memory"] * 2**20 / n_workers
        if self.vectors is None:
            most_words, most_queries = np.inf, len(queries)
        else:
            # costs and points of a word; bounds and places of words of a query
            per_word = 8 * (len(self._words) + self.vectors.shape[1])
            per_query = 8 * len(self._words) + 24 * len(self.bags)
            most_words = max(1, memory // 2 // per_word)
            most_queries = min(256, max(1, memory // 2 // per_query))
        if n_workers > 1:  # no run so long that a worker idles
            most_queries = min(most_queries, -(-len(queries) // (2 * n_workers)))
        most_queries = int(most_queries)
        start = 0
        while start < len(queries):
            limit = queries.starts[start] + most_words
            stop = int(np.searchsorted(queries.starts, limit, side="right")) - 1
            stop = min(max(stop, start + 1), start + most_queries, len(queries))
            yield slice(start, stop)
            start = stop

    def _scan(
        self, queries: WordBags, k: int, skip: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All distances, where a closed form gives them."""
        distances = np.empty((len(queries), k))
        rows = np.empty((len(queries), k), dtype=np.intp)
        for i in range(len(queries)):
            exact = one_hot_distances(*queries.row(i), self.bags, self.n_words)
            if skip is not None:
                exact[skip[i]] = np.inf
            rows[i] = np.argsort(exact, kind="stable")[:k]
            distances[i] = exact[rows[i]]
        return distances, rows, np.zeros(len(queries), dtype=np.intp)


class _Cascade:
    """A run of queries on its way through ever tighter and dearer bounds.

    All queries take a step together: one pair of short texts is too little work for
    an array operation, ten thousand are not.
    """

    def __init__(
        self, index: BagIndex, queries: WordBags, k: int, skip: np.ndarray | None
    ) -> None:
        self.index, self.queries, self.k, self.skip = index, queries, k, skip
        table = index._words
        words, places = np.unique(queries.ids, return_inverse=True)
        self.costs = index._table.distances(words)
        # the same queries, over rows of `costs`
        self.local = WordBags(queries.starts, places, queries.weights)
        n = len(queries)
        self.positions = np.full((n, len(table)), -1, dtype=np.int32)
        at = np.minimum(np.searchsorted(table, queries.ids), len(table) - 1)
        known = np.flatnonzero(table[at] == queries.ids)
        owner = np.repeat(np.arange(n), queries.sizes)[known]
        self.positions[owner, at[known]] = known - queries.starts[owner]
        self.solved: list[list[tuple[float, int]]] = [[] for _ in range(n)]
        # Bounds above a query's limit, in scaled units, rule a bag out; ties stay in.
        self.limits = np.full(n, np.inf)

    def run(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n, k = len(self.queries), self.k
        bounds = np.empty((n, len(self.index.bags)))
        for i in range(n):
            rows, weights = self.local.row(i)
            bounds[i] = relaxed_bounds(
                self.costs[rows], weights, self.positions[i], self.index._local
            )
        n_bags = bounds.shape[1]
        if self.skip is not None:
            bounds[np.arange(n), self.skip] = np.inf
            n_bags -= 1
        # The likeliest few, bounded better: the k best of them give a first limit.
        few = min(n_bags, max(4 * k, 24))
        likely = np.argpartition(bounds, few - 1, axis=1)[:, :few]
        pairs = self.tighten(np.repeat(np.arange(n), few), likely.ravel())
        np.put_along_axis(bounds, likely, np.inf, axis=1)
        pairs = self.solve_best(pairs)
        query, bag = np.nonzero(bounds <= self.limits[:, None])
        more = self.tighten(query, bag)
        pairs = _joined([pairs, more])
        self.solve_all(self.tighten(pairs[0], pairs[1], last=True))
        distances, rows = np.empty((n, k)), np.empty((n, k), dtype=np.intp)
        for i, solved in enumerate(self.solved):
            distances[i], rows[i] = zip(*solved[:k], strict=True)
        return distances, rows, np.array([len(solved) for solved in self.solved])

    def solve(self, query: int, bag: int) -> None:
        """Solve one pair exactly and tighten the query's limit."""
        vectors = self.index.vectors
        assert vectors is not None
        distance = pair_distance(
            *self.queries.row(query), *self.index.bags.row(bag), vectors
        )
        solved = self.solved[query]
        insort(solved, (distance, bag))
        if len(solved) >= self.k:
            kth = ldexp(solved[self.k - 1][0], -self.index._table.exponent)
            self.limits[query] = kth + _EXACT_SLACK

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
        for i, j, bound in zip(*(x.tolist() for x in _sorted(pairs)), strict=True):
            if bound <= self.limits[i]:
                self.solve(i, j)

    def tighten(self, query: np.ndarray, bag: np.ndarray, last: bool = False) -> _Pairs:
        """The pairs that better bounds do not rule out, with these bounds.

        The `last` bounds are the best and the dearest.
        """
        sizes = self.queries.sizes[query], self.index.bags.sizes[bag]
        order, chunks = _alike(*sizes)
        query, bag = query[order], bag[order]
        return _joined([self._chunk(query[c], bag[c], last) for c in chunks])

    def _chunk(self, query: np.ndarray, bag: np.ndarray, last: bool) -> _Pairs:
        words, columns, a, b = match_residuals(
            self.local, query, self.positions, self.index._local, bag
        )
        words *= self.costs.shape[1]
        costs = self.costs.take(words[:, None, :] + columns)
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
    step = max(1, _COSTS_AT_ONCE // size)
    end = begin + count
    return [slice(at, min(at + step, end)) for at in range(begin, end, step)]
