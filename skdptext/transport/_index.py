"""Bags to search, and the bounds of a run of queries to them: by NumPy, or compiled."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from skdptext.transport._bags import WordBags, as_matrix, writable
from skdptext.transport._bounds import ONE, LoweredTable, dual_bounds, relaxed_bounds
from skdptext.transport._kernels import BoundLoops
from skdptext.transport._loops import (
    GROUP,
    Bags,
    Holders,
    Products,
    Queries,
    Room,
    padded_width,
)
from skdptext.utils import Threads, blocks, runs

# Floats of costs handled at once: the work arrays then stay in the processor's cache.
_COSTS_AT_ONCE = 2**18

# Queries whose bounds to each other are compared at once: so do these.
_TILE = 256


class IndexedBags:
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
            # always of one type, as numba compiles its loops for each type
            self.vectors = np.ascontiguousarray(vectors).view()
            self.vectors.flags.writeable = False
            self.words, columns = np.unique(bags.ids, return_inverse=True)
            self.table = LoweredTable(vectors, self.words)
            self.bags = writable(bags)
            # the same bags, over the words that occur
            self.local = WordBags(self.bags.starts, columns, self.bags.weights)

    @cached_property
    def matrices(self) -> tuple[sp.csr_array, sp.csc_array]:
        """The bags by row and by column, over the words that occur."""
        by_bag = as_matrix(self.local, len(self.words))
        return by_bag, by_bag.tocsc()

    @cached_property
    def arrays(self) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
        """The same as arrays of one type for the loops, small to be read fast."""
        local = self.local
        ids, weights = local.ids.astype(np.int32), local.weights.astype(np.float32)
        owners = np.repeat(np.arange(len(local), dtype=np.int32), local.sizes)
        order = np.argsort(ids, kind="stable")
        starts = np.searchsorted(ids[order], np.arange(len(self.words) + 1))
        return (
            (local.starts, ids, weights),
            (starts, owners[order], local.weights[order]),
        )

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        # quick to build, and holds a scaled copy of the vectors
        return type(self), (self.bags, self.n_words, self.vectors)


def table_columns(table: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Places of words in a sorted table, -1 for those that are not in it."""
    at = np.minimum(np.searchsorted(table, words), len(table) - 1)
    return np.where(table[at] == words, at, -1)


class Bounds(Protocol):
    """Lower bounds of queries to bags, in the unit of the index's table.

    Threads take a copy each: what a call writes is not in the object before the first,
    or is of its query alone.
    """

    def relax(self, i: int) -> np.ndarray:
        """Bounds of query `i`, which the next calls are about, to all bags."""

    def sample(self, others: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Bags with the `n` least bounds, by ascending better bounds, and these.

        The first bounds are overwritten by infinity.
        """

    def tighten(self, bags: np.ndarray, limit: float) -> np.ndarray:
        """Better bounds to others, or any that exceed the limit."""


class PlainBounds:
    """`Bounds` by NumPy."""

    def __init__(
        self, index: IndexedBags, queries: WordBags, threads: Threads = ONE
    ) -> None:
        self._index, self._queries = index, queries
        words, self._rows = np.unique(queries.ids, return_inverse=True)
        self._costs = index.table.distances(words, threads)
        self._own = table_columns(index.words, queries.ids)

    def relax(self, i: int) -> np.ndarray:
        part = slice(self._queries.starts[i], self._queries.starts[i + 1])
        costs, own = self._costs[self._rows[part]], self._own[part]
        self._masses = self._queries.weights[part]
        self._place = np.full(len(self._index.words), -1)
        self._place[own[own >= 0]] = np.flatnonzero(own >= 0)
        self._local = np.ascontiguousarray(costs.T)
        return relaxed_bounds(costs, self._masses, own, *self._index.matrices)

    def sample(self, others: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        bags = np.argpartition(others, n - 1)[:n]
        others[bags] = np.inf
        bounds = self.tighten(bags, np.inf)
        order = bounds.argsort(kind="stable")
        return bags[order], bounds[order]

    def tighten(self, bags: np.ndarray, limit: float) -> np.ndarray:
        bounds = np.empty(len(bags))
        most = _COSTS_AT_ONCE // len(self._masses)
        ends = np.cumsum(self._index.bags.sizes[bags])
        for piece in runs(np.concatenate([[0], ends]), most):
            bounds[piece] = dual_bounds(
                self._local, self._masses, self._place, self._index.local, bags[piece]
            )
        return bounds


class CompiledBounds:
    """`Bounds` by compiled loops: better ones, as calls cost little there.

    Potentials of the likeliest few bags are carried over to all words; one pass over
    the costs of another bag then gives a bound that rules out nearly all.
    Where `itself` says which bag each query is, first bounds are made and kept for all
    queries at once, and a pair of them has the better of those from both ends.
    """

    def __init__(
        self,
        index: IndexedBags,
        queries: WordBags,
        loops: BoundLoops,
        threads: Threads = ONE,
        itself: np.ndarray | None = None,
    ) -> None:
        self._index, self._loops = index, loops
        words, rows = np.unique(queries.ids, return_inverse=True)
        own = table_columns(index.words, queries.ids)
        queried = Queries(queries.starts, rows, own, queries.weights)
        bags, holders = index.arrays
        self._lengths = Products(*index.table.products(words, threads)), queried
        self._all = Bags(*bags), Holders(*holders)
        self._bags = Bags(bags[0], bags[1], index.local.weights)
        self._widths = [padded_width(n) for n in queries.sizes.tolist()]
        self._room: np.ndarray | None = None
        self._first, n = 0, 0 if itself is None else len(queries)
        self._relaxed = np.empty((n, len(index.bags)), np.float32)
        if itself is not None:
            self._relax_both_ways(itself, threads)

    def _relax_both_ways(self, itself: np.ndarray, threads: Threads) -> None:
        bounds = self._relaxed

        def fill(part: slice) -> None:
            self._loops.relax(*self._lengths, part.start, *self._all, bounds[part])

        def share(part: slice) -> None:
            for other in blocks(part.stop, _TILE):
                there, back = bounds[part, itself[other]], bounds[other, itself[part]]
                better = np.maximum(there, back.T)
                bounds[part, itself[other]] = better
                bounds[other, itself[part]] = better.T

        threads.each(fill, blocks(len(bounds), GROUP))
        threads.each(share, blocks(len(bounds), _TILE))

    def relax(self, i: int) -> np.ndarray:
        n_words = len(self._index.words)
        # made here, so that copies share nothing that is written
        if self._room is None:
            self._room = np.empty(n_words * max(self._widths), np.float32)
            self._known = np.empty(n_words, np.uint8), np.empty(n_words, np.int32)
        if not self._first <= i < self._first + len(self._relaxed):
            self._first = i
            n = min(GROUP, len(self._widths) - i)
            self._relaxed = np.empty((n, len(self._index.bags)), np.float32)
            self._loops.relax(*self._lengths, i, *self._all, self._relaxed)
        width = self._widths[i]
        local = self._room[: n_words * width].reshape(n_words, width)
        potentials = np.empty((GROUP, width), np.float32)
        room = Room(*self._known, local, potentials)
        self._query = *self._lengths, i, room, self._bags
        return self._relaxed[i - self._first]

    def sample(self, others: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        bags, bounds = np.empty(n, np.intp), np.empty(n)
        self._loops.sample(*self._query, others, (bags, bounds))
        return bags, bounds

    def tighten(self, bags: np.ndarray, limit: float) -> np.ndarray:
        return self._loops.tighten(*self._query, bags, limit)
