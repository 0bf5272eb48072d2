"""Exact nearest bags by Word Mover's Distance, with most distances never solved."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator
from functools import cached_property
from math import inf, isqrt, ldexp

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs

from skdptext.transport._bags import Bag, WordBags, as_matrix, slice_bags
from skdptext.transport._bounds import (
    LoweredTable,
    dual_bounds,
    relaxed_bounds,
    shared_bounds,
)
from skdptext.transport._exact import one_hot_distances, pair_distance
from skdptext.utils import (
    Threads,
    blocks,
    limit_blas_threads,
    progress_bar,
    working_memory_bytes,
)

# Queries of one run, which share one product.
_MAX_QUERIES = 16384
# Costs that are bounded at once: the work arrays then stay in the processor's cache.
_COSTS_AT_ONCE = 2**18
# Bags beyond k that get the best bound before the first are solved.
_SPARE = 8
# Rounding of an exact distance, in units of the largest norm, with room to spare.
_EXACT_SLACK = 1e-11

# Distances and numbers of bags, and how many problems were solved for them.
Found = tuple[np.ndarray, np.ndarray, int]


class BagIndex:
    """Bags to search for the nearest; equal distances go to the bag that comes first.

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
            self.words, columns = np.unique(bags.ids, return_inverse=True)
            self.table = LoweredTable(vectors, self.words)
            # the same bags, over the words that occur
            self.local = WordBags(bags.starts, columns, bags.weights)

    @cached_property
    def matrices(self) -> tuple[sp.csr_array, sp.csc_array]:
        """The bags by row and by column, over the words that occur."""
        by_bag = as_matrix(self.local, len(self.words))
        return by_bag, by_bag.tocsc()

    def nearest(
        self,
        queries: WordBags,
        k: int,
        *,
        exclude: np.ndarray | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The `k` nearest bags to each query, by (distance, number of the bag).

        Parameters
        ----------
        queries : WordBags
            Non-empty bags of mass 1.
        exclude : ndarray of shape (n_queries,), default=None
            The bag that each query is, and must not find.

        Returns
        -------
        distances : ndarray of shape (n_queries, k)
        rows : ndarray of shape (n_queries, k)
        n_solved : ndarray of shape (n_queries,)
            Exact problems solved for each query.
        """
        found = self._search(queries, k, inf, exclude, n_jobs, verbose)
        distances = np.empty((len(found), k))
        rows = np.empty((len(found), k), dtype=np.intp)
        n_solved = np.empty(len(found), dtype=np.intp)
        for i, each in enumerate(found):
            distances[i], rows[i], n_solved[i] = each
        return distances, rows, n_solved

    def within(
        self,
        queries: WordBags,
        radius: float,
        *,
        exclude: np.ndarray | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All bags within a radius of each query, by (distance, number of the bag).

        Returns
        -------
        starts : ndarray of shape (n_queries + 1,)
            Those of query i are from ``starts[i]`` to ``starts[i + 1]``.
        rows, distances : ndarrays
        """
        found = self._search(queries, None, radius, exclude, n_jobs, verbose)
        starts = np.cumsum([0] + [len(rows) for _, rows, _ in found])
        distances, rows, _ = zip(*found, strict=True)
        return starts, np.concatenate(rows), np.concatenate(distances)

    def _search(
        self,
        queries: WordBags,
        k: int | None,
        radius: float,
        exclude: np.ndarray | None,
        n_jobs: int | None,
        verbose: int,
    ) -> list[Found]:
        """The `k` nearest bags to each query (None: all) that are within a radius."""
        found: list[Found] = [(np.empty(0), np.empty(0, np.intp), 0)] * len(queries)
        workers = effective_n_jobs(n_jobs)

        def search(part: slice) -> None:
            for i in range(part.start, part.stop):
                skip = -1 if exclude is None else int(exclude[run.start + i])
                found[run.start + i] = find(i, skip)
            bar.update(part.stop - part.start)

        def scan(i: int, skip: int) -> Found:
            exact = one_hot_distances(asked.row(i), self.bags, self.n_words)
            if skip >= 0:
                exact[skip] = inf
            rows = np.argsort(exact, kind="stable")[:k]
            rows = rows[exact[rows] <= radius]
            return exact[rows], rows, 0

        def prune(i: int, skip: int) -> Found:
            own = costs[rows[asked.starts[i] : asked.starts[i + 1]]]
            return _Query(self, asked.row(i), own, k, radius, skip).find()

        find: Callable[[int, int], Found] = scan if self.vectors is None else prune
        with (
            progress_bar(verbose, "neighbours", total=len(queries), unit="doc") as bar,
            # threads of a product's own wait for the next one, and keep ours waiting
            limit_blas_threads(1),
            Threads(workers) as threads,
        ):
            for run in self._runs(queries, workers):
                asked = slice_bags(queries, run)
                if self.vectors is not None:
                    words, rows = np.unique(asked.ids, return_inverse=True)
                    costs = self.table.distances(words, threads)
                size = len(asked) if workers == 1 else -(-len(asked) // (4 * workers))
                threads.each(search, blocks(len(asked), size))
        return found

    def _runs(self, queries: WordBags, n_workers: int) -> Iterator[slice]:
        """At most `_MAX_QUERIES` queries whose arrays fit in the working memory.

        Queries of a run share the product of each word that they hold.
        """
        memory = working_memory_bytes()
        most_words = len(queries.ids)
        if self.vectors is not None:
            # what a worker needs for a query: numbers and bounds of bags; of words, its
            # costs in three layouts and places
            longest, n_words = int(queries.sizes.max(initial=0)), len(self.words)
            taken = 48 * len(self.bags) + (12 * longest + 64) * n_words
            each = 4 * n_words + 8 * self.vectors.shape[1]  # costs, and a point
            room = max(memory - taken * n_workers, memory / 2)
            most_words = max(1, int(room // each))
        start = 0
        while start < len(queries):
            stop = min(start + _MAX_QUERIES, len(queries))
            low, high = queries.starts[start], queries.starts[stop]
            new = np.unique(queries.ids[low:high], return_index=True)[1]
            if len(new) > most_words:  # up to the query with one word too many
                limit = low + np.partition(new, most_words)[most_words]
                stop = int(np.searchsorted(queries.starts, limit, side="right")) - 1
                stop = max(stop, start + 1)
            yield slice(start, stop)
            start = stop


class _Query:
    """The search of one query, as far as it has come.

    Relaxed bounds of all bags pick the likeliest few. What the best of these ask for
    each word of the query gives another bound of all bags. The best few are bounded
    once more and solved, which gives a limit; then the others that no bound rules out,
    by ascending bound.
    """

    def __init__(
        self,
        index: BagIndex,
        query: Bag,
        costs: np.ndarray,
        k: int | None,
        radius: float,
        skip: int,
    ) -> None:
        self._index, self._query, self._costs = index, query, costs
        self._k, self._radius = k, radius
        self._solved: list[tuple[float, int]] = []  # the best k, ascending
        self._n_solved = 0
        self._limit = self._scaled(radius)
        words, masses = query
        at = np.minimum(index.words.searchsorted(words), len(index.words) - 1)
        own = np.where(index.words[at] == words, at, -1)
        self._place = np.full(len(index.words), -1)  # of each word within the query
        self._place[own[own >= 0]] = np.flatnonzero(own >= 0)
        self._by_word = np.ascontiguousarray(costs.T)
        self._mean_cost = float(costs.mean())
        self._left = relaxed_bounds(costs, masses, own, *index.matrices)
        self._n = len(self._left)
        if skip >= 0:
            self._left[skip] = inf
            self._n -= 1

    def find(self) -> Found:
        """Distances and numbers of the nearest, and how many problems were solved."""
        k, left = self._k, self._left
        if k is not None:
            # The more bags, the farther down the order by relaxed bounds the nearest
            # are. Where they are missed, the first limit is loose.
            few = min(max(4 * k, 24, isqrt(self._n // 2)), self._n)
            likely = left.argpartition(few - 1)[:few]
            parts = zip(*self._tighten(likely, -inf), strict=True)
            bounds, asked = map(np.concatenate, parts)
            best = bounds.argsort(kind="stable")
            np.maximum(left[likely], bounds, out=bounds)
            left[likely] = bounds
            ask = asked[best[: min(k, few)]].mean(axis=0)
            by_bag = self._index.matrices[0]
            shared = shared_bounds(self._costs, self._query[1], ask, by_bag)
            np.maximum(left, shared, out=left)
            self._solve(likely[best[: k + _SPARE]])
        order = np.flatnonzero(left <= self._limit)
        order = order[left[order] < inf]
        order = order[left[order].argsort(kind="stable")]
        for some in self._batches(order):
            some = some[left[some] <= self._limit]
            if len(some):
                self._solve(some)
        near = [pair for pair in sorted(self._solved) if pair[0] <= self._radius]
        distances = np.array([distance for distance, _ in near])
        return distances, np.array([i for _, i in near], np.intp), self._n_solved

    def _solve(self, bags: np.ndarray) -> None:
        """Bound some bags once more, and solve those that may be near."""
        better = np.concatenate([b for b, _ in self._tighten(bags, self._limit)])
        self._left[bags] = inf
        order = better.argsort(kind="stable")
        index = self._index
        assert index.vectors is not None
        for at in order.tolist():
            if better[at] > self._limit:
                break
            number = int(bags[at])
            other = index.bags.row(number)
            distance = pair_distance(self._query, other, index.vectors)
            self._n_solved += 1
            insort(self._solved, (distance, number))
            if self._k is not None and len(self._solved) >= self._k:
                del self._solved[self._k :]
                self._limit = self._scaled(self._solved[-1][0])

    def _tighten(
        self, bags: np.ndarray, limit: float
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Dual bounds of some bags and the potentials of the query's words."""
        given = self._by_word, self._query[1], self._place, self._index.local
        for some in self._batches(bags):
            yield dual_bounds(*given, some, limit, self._mean_cost)

    def _batches(self, bags: np.ndarray) -> Iterator[np.ndarray]:
        """Parts of some bags, whose costs fit in the cache, padded to the longest."""
        sizes = self._index.local.sizes
        while len(bags):
            longest = np.maximum.accumulate(sizes[bags[:1024]])
            padded = longest * np.arange(1, len(longest) + 1) * len(self._query[0])
            n = max(1, int(padded.searchsorted(_COSTS_AT_ONCE, side="right")))
            yield bags[:n]
            bags = bags[n:]

    def _scaled(self, distance: float) -> float:
        """The bound up to which a bag may be as near; at the bound, it may tie."""
        return ldexp(distance, -self._index.table.exponent) + _EXACT_SLACK
