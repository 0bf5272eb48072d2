"""Exact nearest bags by Word Mover's Distance, with most distances never solved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy

import numpy as np
from joblib import effective_n_jobs

from skdptext.transport._bags import WordBags, slice_bags, writable
from skdptext.transport._cascade import Cascade, n_likely
from skdptext.transport._exact import one_hot_distances
from skdptext.transport._index import Bounds, CompiledBounds, IndexedBags, PlainBounds
from skdptext.transport._kernels import bounds_for, kernels_for
from skdptext.transport._loops import GROUP
from skdptext.utils import (
    Threads,
    blocks,
    limit_blas_threads,
    progress_bar,
    working_memory_bytes,
)

# Queries of one run, which share one product.
_MAX_QUERIES = 16384


class BagIndex(IndexedBags):
    """Bags to search for the nearest.

    Of bags that are searched for among themselves, both ends of a pair share the
    products of their words: a run computes each once. They share their first bounds,
    the better of which rules out two thirds of what is left by one, where 4 n² bytes
    are at most half of the working memory. They share no exact distances: 1/7 of the
    problems are solved from both ends, in 3 to 6 % of the time
    (``benchmarks/bench_wmd_graph.py --both-ends``).
    """

    def _keeps_bounds(self) -> bool:
        """Whether first bounds from all bags to all have room."""
        return 4 * len(self.bags) ** 2 <= working_memory_bytes() / 2

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
        n = len(queries)
        distances = np.empty((n, k))
        rows = np.empty((n, k), dtype=np.intp)
        n_solved = np.zeros(n, dtype=np.intp)

        def find(i: int, cascade: Cascade) -> None:
            distances[i], rows[i] = cascade.nearest(k)
            n_solved[i] = cascade.n_solved

        def scan(i: int, exact: np.ndarray) -> None:
            rows[i] = np.argsort(exact, kind="stable")[:k]
            distances[i] = exact[rows[i]]

        self._search(queries, find, scan, k, exclude, n_jobs, verbose)
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
        near = [(np.empty(0), np.empty(0, np.intp))] * len(queries)

        def find(i: int, cascade: Cascade) -> None:
            near[i] = cascade.within(radius)

        def scan(i: int, exact: np.ndarray) -> None:
            rows = np.argsort(exact, kind="stable")
            rows = rows[exact[rows] <= radius]
            near[i] = exact[rows], rows

        self._search(queries, find, scan, 1, exclude, n_jobs, verbose)
        starts = np.cumsum([0] + [len(rows) for _, rows in near])
        distances, rows = map(np.concatenate, zip(*near, strict=True))
        return starts, rows, distances

    def vote(
        self,
        queries: WordBags,
        k: int,
        labels: np.ndarray,
        *,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The most frequent label of the `k` nearest bags to each query.

        A search may end before the neighbours are known, once one label is sure of more
        than half of them.

        Parameters
        ----------
        labels : ndarray of shape (n_bags,), int
            From 0 on.

        Returns
        -------
        winners : ndarray of shape (n_queries,), int
            Of equally frequent labels, the smallest.
        n_solved : ndarray of shape (n_queries,)
            Exact problems solved for each query.
        """
        winners = np.empty(len(queries), dtype=np.intp)
        n_solved = np.zeros(len(queries), dtype=np.intp)

        def find(i: int, cascade: Cascade) -> None:
            winners[i] = cascade.winner(k, labels)
            if winners[i] < 0:
                winners[i] = np.bincount(labels[cascade.nearest(k)[1]]).argmax()
            n_solved[i] = cascade.n_solved

        def scan(i: int, exact: np.ndarray) -> None:
            nearest = np.argsort(exact, kind="stable")[:k]
            winners[i] = np.bincount(labels[nearest]).argmax()

        self._search(queries, find, scan, k, None, n_jobs, verbose)
        return winners, n_solved

    def _search(
        self,
        queries: WordBags,
        find: Callable[[int, Cascade], None],
        scan: Callable[[int, np.ndarray], None],
        k: int,
        exclude: np.ndarray | None,
        n_jobs: int | None,
        verbose: int,
    ) -> None:
        """Search for each query: by a cascade, or all distances by a closed form."""
        queries = writable(queries)
        few = n_likely(k, len(self.bags))
        itself = exclude if self._keeps_bounds() else None
        loops, kernels = None, None
        if self.vectors is not None:
            n_pairs = len(self.bags.ids) * len(queries.ids)
            loops = bounds_for(n_pairs)
            kernels = kernels_for(1 if loops else 0)

        def search(part: slice) -> None:
            bounds = copy(shared)  # what it keeps of a query is its own
            for i in range(part.start, part.stop):
                skip = -1 if exclude is None else int(exclude[run.start + i])
                if bounds is None:
                    exact = one_hot_distances(asked.row(i), self.bags, self.n_words)
                    if skip >= 0:
                        exact[skip] = np.inf
                    scan(run.start + i, exact)
                else:
                    cascade = Cascade(self, asked, i, few, bounds, skip, kernels)
                    find(run.start + i, cascade)
            bar.update(part.stop - part.start)

        workers = effective_n_jobs(n_jobs)
        with (
            progress_bar(verbose, "neighbours", total=len(queries), unit="doc") as bar,
            # threads of a product's own wait for the next one, and keep ours waiting
            limit_blas_threads(1),
            Threads(workers) as threads,
        ):
            for run in self._runs(queries, few, workers, itself is not None):
                asked = slice_bags(queries, run)
                own = None if itself is None else itself[run]
                shared: Bounds | None = None
                if loops is not None:
                    shared = CompiledBounds(self, asked, loops, threads, own)
                elif self.vectors is not None:
                    shared = PlainBounds(self, asked, threads)
                size = len(asked) if workers == 1 else -(-len(asked) // (4 * workers))
                threads.each(search, blocks(len(asked), -(-size // GROUP) * GROUP))

    def _runs(
        self, queries: WordBags, few: int, n_workers: int, share: bool
    ) -> Iterator[slice]:
        """At most `_MAX_QUERIES` queries whose arrays fit in the working memory.

        Queries of a run share the product of each word that they hold.
        """
        memory = working_memory_bytes() - 4 * len(self.bags) ** 2 * share
        most_words = len(queries.ids)
        if self.vectors is not None:
            # what a worker needs for a query, or a group of them: bounds and numbers of
            # bags; of words, costs, potentials and places
            longest, n_words = int(queries.sizes.max(initial=0)), len(self.words)
            taken = (4 * GROUP + 24) * len(self.bags)
            taken += 4 * few * longest + (16 * longest + 64) * n_words
            each = 4 * n_words + 8 * self.vectors.shape[1]  # products, and a point
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
