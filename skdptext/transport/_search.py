"""Exact nearest bags by Word Mover's Distance, with most distances never solved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn import get_config

from skdptext.transport._bags import WordBags, slice_bags
from skdptext.transport._compiled_cascade import search_for
from skdptext.transport._exact import one_hot_distances
from skdptext.transport._index import IndexedBags, n_likely
from skdptext.transport._plain import search_plainly, within_plainly
from skdptext.utils import limit_blas_threads, progress_bar

__all__ = ["BagIndex"]

# Queries of one run, which share one product.
_MOST = 1024


class BagIndex(IndexedBags):
    """Bags to search for the nearest."""

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
            A bag that each query must not find.

        Returns
        -------
        distances : ndarray of shape (n_queries, k)
        rows : ndarray of shape (n_queries, k)
        n_solved : ndarray of shape (n_queries,)
            Exact problems solved for each query.
        """
        return self._find(queries, k, exclude=exclude, n_jobs=n_jobs, verbose=verbose)[
            :3
        ]

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

        Compiled, a search may end before the neighbours are known, once one label is
        sure of more than half of them.

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
        # always one type, as numba compiles the search for each type
        labels = np.require(labels, np.intp, ["C", "W"])
        _, rows, n_solved, winners = self._find(
            queries, k, labels=labels, n_jobs=n_jobs, verbose=verbose
        )
        unsure = np.flatnonzero(winners < 0)
        votes = np.zeros((len(unsure), labels.max() + 1), dtype=np.intp)
        np.add.at(votes, (np.arange(len(unsure))[:, None], labels[rows[unsure]]), 1)
        winners[unsure] = votes.argmax(axis=1)
        return winners, n_solved

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
        found = [
            within_plainly(
                self,
                slice_bags(queries, block),
                radius,
                None if exclude is None else exclude[block],
            )
            for block in self._blocks(queries, 1, 1)
        ]
        flat = [each for block in found for each in block]
        starts = np.concatenate([[0], np.cumsum([len(rows) for rows, _ in flat])])
        rows, distances = (np.concatenate(parts) for parts in zip(*flat, strict=True))
        return starts, rows, distances

    def _find(
        self,
        queries: WordBags,
        k: int,
        *,
        exclude: np.ndarray | None = None,
        labels: np.ndarray | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """As `nearest`, and the label that is certain to win the vote, or -1.

        For a certain label, neighbours are not computed.
        """
        n = len(queries)
        distances = np.empty((n, k))
        rows = np.empty((n, k), dtype=np.intp)
        n_solved = np.zeros(n, dtype=np.intp)
        winners = np.full(n, -1)
        compiled = None
        if self.vectors is not None:
            compiled = search_for(len(self.bags.ids) * len(queries.ids))

        def search(block: slice) -> None:
            some = slice_bags(queries, block)
            skip = None if exclude is None else exclude[block]
            found: tuple[Any, ...]
            if compiled is not None:
                found = compiled.run(self, some, k, skip, labels)
            elif self.vectors is not None:
                found = *search_plainly(self, some, k, skip), -1
            else:
                found = *self._scan(some, k, skip), -1
            distances[block], rows[block], n_solved[block], winners[block] = found
            bar.update(block.stop - block.start)

        workers = effective_n_jobs(n_jobs)
        # One BLAS thread: with threads over queries, more would only interfere.
        with (
            limit_blas_threads(1),
            progress_bar(verbose, "neighbours", total=n, unit="doc") as bar,
        ):
            Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem")(
                delayed(search)(block) for block in self._blocks(queries, k, workers)
            )
        return distances, rows, n_solved, winners

    def _blocks(self, queries: WordBags, k: int, n_workers: int) -> Iterator[slice]:
        """Runs of at most `_MOST` queries whose arrays fit in the working memory."""
        memory = get_config()["working_memory"] * 2**20 / n_workers
        if self.vectors is None:
            most_words, most_queries = np.inf, len(queries)
        else:
            # per word: its costs and three arrays made of them, point and potentials;
            # per query: places of words, and bounds of bags
            few = min(n_likely(k), len(self.bags))
            per_word = 16 * len(self.words) + 8 * self.vectors.shape[1] + 4 * few
            per_query = 8 * len(self.words) + 24 * len(self.bags)
            most_words = max(1, memory // 2 // per_word)
            most_queries = min(_MOST, max(1, memory // 2 // per_query))
        if n_workers > 1:  # no run so long that a worker idles
            most_queries = min(most_queries, -(-len(queries) // (4 * n_workers)))
        most_queries = int(most_queries)
        start = 0
        while start < len(queries):
            limit = queries.starts[start] + most_words
            stop = int(np.searchsorted(queries.starts, limit, side="right")) - 1
            stop = min(max(stop, start + 1), start + most_queries, len(queries))
            yield slice(start, stop)
            start = stop

    def __reduce__(self) -> Any:
        return BagIndex, (self.bags, self.n_words, self.vectors)

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
