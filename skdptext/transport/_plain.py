"""The search for the nearest bags in plain NumPy: two bounds, and the solver."""

from __future__ import annotations

from bisect import insort
from itertools import pairwise
from math import inf, ldexp

import numpy as np

from skdptext.transport._bags import WordBags
from skdptext.transport._bounds import dual_bounds, relaxed_bounds
from skdptext.transport._exact import pair_distance
from skdptext.transport._index import EXACT_SLACK, IndexedBags, n_likely, table_columns

__all__ = ["search_plainly"]

# Floats of costs handled at once: the work arrays then stay in the processor's cache.
_COSTS_AT_ONCE = 2**18


def search_plainly(
    index: IndexedBags, queries: WordBags, k: int, skip: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances and numbers of the nearest bags, and exact problems solved.

    Relaxed bounds of all bags pick the likeliest few. The best of these by a better
    bound are solved; then the others that neither bound rules out, by ascending bound.

    Parameters
    ----------
    skip : ndarray of shape (n_queries,) or None
        A bag that each query must not find.
    """
    vectors = index.vectors
    assert vectors is not None
    n = len(queries)
    words, rows = np.unique(queries.ids, return_inverse=True)
    costs = index.table.distances(words)
    columns = table_columns(index.words, queries.ids)
    distances, found = np.empty((n, k)), np.empty((n, k), dtype=np.intp)
    n_solved = np.zeros(n, dtype=np.intp)
    for i in range(n):
        part = slice(queries.starts[i], queries.starts[i + 1])
        mine, own, (ids, weights) = costs[rows[part]], columns[part], queries.row(i)
        bounds = relaxed_bounds(mine, weights, own, *index.matrices)
        order = np.argsort(bounds, kind="stable")
        if skip is not None:
            order = order[order != skip[i]]
        place = np.full(len(index.words), -1)
        place[own[own >= 0]] = np.flatnonzero(own >= 0)
        mine = np.ascontiguousarray(mine.T)
        nearest: list[tuple[float, int]] = []
        limit = inf  # bounds above it, in scaled units, rule a bag out; ties stay in
        for some in np.split(order, [n_likely(k)]):
            some = some[bounds[some] <= limit]
            better = np.empty(len(some))
            for piece in _pieces(index.bags.sizes[some], _COSTS_AT_ONCE // len(ids)):
                better[piece] = dual_bounds(
                    mine, weights, place, index.local, some[piece]
                )
            for at in np.argsort(better, kind="stable"):
                if better[at] > limit:
                    break
                bag = int(some[at])
                other = index.bags.row(bag)
                insort(nearest, (pair_distance(ids, weights, *other, vectors), bag))
                del nearest[k:]
                n_solved[i] += 1
                if len(nearest) == k:
                    kth = ldexp(nearest[-1][0], -index.table.exponent)
                    limit = kth + EXACT_SLACK
        distances[i], found[i] = zip(*nearest, strict=True)
    return distances, found, n_solved


def within_plainly(index, queries, radius, skip):
    """Temporary."""
    from skdptext.transport._exact import one_hot_distances

    for i in range(len(queries)):
        ids, weights = queries.row(i)
        if index.vectors is None:
            exact = one_hot_distances(ids, weights, index.bags, index.n_words)
            rows = np.arange(len(exact))
        else:
            columns = table_columns(index.words, ids)
            costs = index.table.distances(ids)
            bounds = relaxed_bounds(costs, weights, columns, *index.matrices)
            rows = np.flatnonzero(
                bounds <= ldexp(radius, -index.table.exponent) + EXACT_SLACK
            )
            exact = np.array(
                [
                    pair_distance(ids, weights, *pair, index.vectors)  # type: ignore[call-arg]
                    for pair in map(index.bags.row, rows)
                ]
            )
        keep = exact <= radius
        if skip is not None:
            keep &= rows != skip[i]
        rows, exact = rows[keep], exact[keep]
        order = np.lexsort((rows, exact))
        yield rows[order], exact[order]


def _pieces(sizes: np.ndarray, most: int) -> list[slice]:
    """Runs of bags with about `most` words, and at least one bag, each."""
    ends = np.cumsum(sizes)
    total = ends[-1] if len(ends) else 0
    cuts = np.searchsorted(ends, np.arange(most, total, max(1, most)), side="right")
    cuts = np.unique(np.concatenate([[0], cuts, [len(sizes)]]))
    return [slice(a, b) for a, b in pairwise(cuts)]
