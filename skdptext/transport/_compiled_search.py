"""The search of `BagIndex` in loops for numba to compile, from query to neighbours.

Python is not needed on the way, so other threads can run meanwhile. These are plain
functions: without numba they would run slowly, and nothing calls them.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heapreplace
from math import isnan, ldexp
from typing import Any, NamedTuple

import numpy as np

from skdptext.transport._compiled_bounds import (
    extend_potentials,
    fill_costs,
    padded_width,
    relax_query,
    sample_query,
    tighten_query,
)
from skdptext.transport._compiled_exact import looped_distance
from skdptext.transport._solver import ask_python

__all__ = [
    "Bags",
    "Exact",
    "Queries",
    "helpers",
    "likeliest",
    "make_search",
]

# Bags whose potentials are carried over to all words: more of them rule more bags out,
# and cost more.
_N_POTENTIALS = 8


class Queries(NamedTuple):
    """A run of queries, and the products of their words with the table's."""

    starts: np.ndarray
    ids: np.ndarray
    weights: np.ndarray
    rows: np.ndarray  # of `products`, for each word
    columns: np.ndarray  # of `products`, for each word; -1 where the table lacks it
    products: np.ndarray
    row_norms: np.ndarray
    column_norms: np.ndarray
    skip: np.ndarray  # a bag that each query must not find, or -1


class Bags(NamedTuple):
    """The bags to search, over columns of the products, and with the words' ids."""

    starts: np.ndarray
    columns: np.ndarray
    weights: np.ndarray
    ids: np.ndarray
    labels: np.ndarray  # empty where neighbours are asked for, and not their vote


class Exact(NamedTuple):
    """How exact distances are found, and how they compare with bounds."""

    solver: int  # address of POT's solver
    python: int  # address of a function to ask instead; 0 for none
    exponent: int  # bounds are in units of 2 to this power
    slack: float  # what an exact distance may err by, in these units


class Work(NamedTuple):
    """One query, and its costs so far."""

    # as `fill_costs` takes them
    lengths: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    masses: np.ndarray
    place: np.ndarray
    filled: np.ndarray
    local: np.ndarray
    potentials: np.ndarray  # to carry over to all words


class Likely(NamedTuple):
    """The likeliest bags by their better bounds, and the bounds of the others."""

    bags: np.ndarray
    bounds: np.ndarray
    order: np.ndarray
    others: np.ndarray


def likeliest(bounds: np.ndarray, few: int) -> np.ndarray:
    """Numbers of the bags with the `few` least bounds."""
    heap = [(-bounds[bag], bag) for bag in range(few)]
    heapify(heap)
    for bag in range(few, len(bounds)):
        if bounds[bag] < -heap[0][0]:
            heapreplace(heap, (-bounds[bag], bag))
    return np.array([bag for _, bag in heap])


def enter(
    distance: float, bag: int, distances: np.ndarray, bags: np.ndarray, n: int
) -> int:
    """Enter a bag among the nearest so far, in order; return how many there are."""
    k = len(distances)
    at = n
    while at > 0 and (distance, bag) < (distances[at - 1], bags[at - 1]):
        at -= 1
    if at == k:
        return n
    for place in range(min(n, k - 1), at, -1):
        distances[place], bags[place] = distances[place - 1], bags[place - 1]
    distances[at], bags[at] = distance, bag
    return min(n + 1, k)


def _distance(
    queries: Queries,
    bags: Bags,
    vectors: np.ndarray,
    exact: Exact,
    known: np.ndarray,
    i: int,
    bag: int,
) -> float:
    """Distance of a pair; NaN where it could not be found. Kept in `known`."""
    if not isnan(known[bag]):
        return known[bag]
    if exact.python:
        known[bag] = ask_python(exact.python, i, bag)
    else:
        low, high = queries.starts[i], queries.starts[i + 1]
        first, last = bags.starts[bag], bags.starts[bag + 1]
        known[bag] = looped_distance(
            exact.solver,
            queries.ids[low:high],
            queries.weights[low:high],
            bags.ids[first:last],
            bags.weights[first:last],
            vectors,
        )
    return known[bag]


def _left(
    likely: Likely, first: int, limit: float, labels: np.ndarray, label: int
) -> np.ndarray:
    """Bags that bounds do not rule out: of the likeliest, those from `first` on.

    Bags with the label are left out; -1 stands for no label.
    """
    left, size = np.empty(len(likely.bags) + len(likely.others), np.int64), 0
    for at in likely.order[first:]:
        if likely.bounds[at] <= limit:
            left[size] = likely.bags[at]
            size += 1
    for bag in range(len(likely.others)):
        if likely.others[bag] <= limit:
            left[size] = bag
            size += 1
    if label >= 0:
        n, size = size, 0
        for at in range(n):
            if labels[left[at]] != label:
                left[size] = left[at]
                size += 1
    return left[:size]


def _tighten(bags: Bags, work: Work, left: np.ndarray, limit: float) -> np.ndarray:
    """Better bounds of some bags."""
    entries = bags.starts, bags.columns
    fill_costs(*work.lengths, *entries, left, work.filled, work.local)
    beta = np.empty(len(work.place), np.float32)
    extend_potentials(work.local, work.filled, work.potentials, beta)
    better = np.empty(len(left))
    own = work.local, work.masses, work.place
    tighten_query(*own, *entries, bags.weights, left, limit, beta, better)
    return better


def _settle(
    i: int,
    queries: Queries,
    bags: Bags,
    vectors: np.ndarray,
    exact: Exact,
    known: np.ndarray,
    work: Work,
    likely: Likely,
    distances: np.ndarray,
    rows: np.ndarray,
    label: int,
    k: int,
) -> tuple[bool, int]:
    """Whether it is sure that more than half of the k nearest bags have the label.

    `distances` and `rows` are of the bags solved so far, just more than half of `k` of
    them with the label. These win the vote if at most the rest of `k` are bags of other
    labels that are as near as the farthest of them: nearer bags of the label can only
    take each other's places. Also returns a bag that could not be solved, or -1.
    """
    own = bags.labels[rows] == label
    farthest = distances[own].max()
    spare = k - own.sum() - (distances[~own] <= farthest).sum()
    if spare < 0:
        return False, -1
    limit = ldexp(farthest, -exact.exponent) + exact.slack
    rivals = _left(likely, len(rows), limit, bags.labels, label)
    if len(rivals) <= spare:
        return True, -1
    better = _tighten(bags, work, rivals, limit)
    n_left = (better <= limit).sum()
    for at in np.argsort(better):
        if spare < 0 or n_left <= spare:
            break
        distance = _distance(queries, bags, vectors, exact, known, i, rivals[at])
        if isnan(distance):
            return False, rivals[at]
        n_left -= 1
        if distance <= farthest:
            spare -= 1
    return n_left <= spare, -1


def _search_one(
    i: int,
    queries: Queries,
    bags: Bags,
    vectors: np.ndarray,
    exact: Exact,
    n_likely: int,
    place: np.ndarray,
    room: np.ndarray,
    known: np.ndarray,
    distances: np.ndarray,
    rows: np.ndarray,
) -> tuple[int, int]:
    """Nearest bags of a query; a bag that could not be solved, or -1; a winner, or -1.

    Where the bags have labels, a winner is a label that is certain of more than half of
    the votes before all neighbours are known; they are then not found.
    """
    k, n_words = len(distances), len(place)
    low, high = queries.starts[i], queries.starts[i + 1]
    masses = np.zeros(padded_width(high - low))
    masses[: high - low] = queries.weights[low:high]
    own = queries.columns[low:high]
    lengths = (
        queries.products, queries.rows[low:high], queries.row_norms,
        queries.column_norms,
    )  # fmt: skip
    entries = bags.starts, bags.columns, bags.weights
    local = room[: n_words * len(masses)].reshape(n_words, len(masses))
    filled = np.zeros(n_words, np.uint8)
    bounds = np.empty(len(bags.starts) - 1)
    relax_query(*lengths, queries.weights[low:high], own, *entries, bounds)
    n_bags = len(bounds)
    if queries.skip[i] >= 0:
        bounds[queries.skip[i]] = np.inf
        n_bags -= 1
    # The likeliest few, bounded better: the k best of them give a first limit.
    few = likeliest(bounds, min(n_bags, n_likely))
    bounds[few] = np.inf
    fill_costs(*lengths, bags.starts, bags.columns, few, filled, local)
    better = np.empty(len(few))
    potentials = np.empty((len(few), len(masses)), np.float32)
    sample_query(local, masses, place, *entries, few, better, potentials)
    order = np.argsort(better)
    likely = Likely(few, better, order, bounds)
    best = potentials[order[:_N_POTENTIALS]]
    work = Work(lengths, masses, place, filled, local, best)
    for n in range(k):
        bag = few[order[n]]
        distance = _distance(queries, bags, vectors, exact, known, i, bag)
        if isnan(distance):
            return bag, -1
        enter(distance, bag, distances, rows, n)
        if len(bags.labels):
            alike = (bags.labels[rows[: n + 1]] == bags.labels[bag]).sum()
            if alike == k // 2 + 1:
                settled, failed = _settle(
                    i, queries, bags, vectors, exact, known, work, likely,
                    distances[: n + 1], rows[: n + 1], bags.labels[bag], k,
                )  # fmt: skip
                if settled or failed >= 0:
                    return failed, bags.labels[bag] if settled else -1
    limit = ldexp(distances[-1], -exact.exponent) + exact.slack
    left = _left(likely, k, limit, bags.labels, -1)
    if len(left) == 0:
        return -1, -1
    better = _tighten(bags, work, left, limit)
    for at in np.argsort(better):
        if better[at] > limit:
            break
        bag = left[at]
        distance = _distance(queries, bags, vectors, exact, known, i, bag)
        if isnan(distance):
            return bag, -1
        enter(distance, bag, distances, rows, k)
        limit = ldexp(distances[-1], -exact.exponent) + exact.slack
    return -1, -1


def helpers() -> tuple[Callable[..., Any], ...]:
    """What the search calls in this file."""
    return likeliest, enter, _distance, _left, _tighten, _settle, _search_one


def make_search(digest: int) -> Callable[..., tuple[int, int, int]]:
    """The search of a run of queries.

    numba caches it on disk. It checks the file of a cached function, but not those of
    the functions that this one calls. It does check what a function closes over: the
    `digest` of all these files.
    """

    def search_queries(
        first: int,
        last: int,
        queries: Queries,
        bags: Bags,
        vectors: np.ndarray,
        exact: Exact,
        n_likely: int,
        distances: np.ndarray,
        rows: np.ndarray,
        n_solved: np.ndarray,
        winners: np.ndarray,
    ) -> tuple[int, int, int]:
        """Nearest bags of the queries from `first` to `last`.

        Parameters
        ----------
        first, last : int
        vectors : ndarray of shape (n_words, dim)
        n_likely : int
            Bags to bound better before the first are solved; k at least.
        distances, rows : ndarrays of shape (n_queries, k)
            Filled.
        n_solved : ndarray of shape (n_queries,)
            Filled with the number of exact problems.
        winners : ndarray of shape (n_queries,)
            Filled with the label that wins the vote if that was certain early, else -1.

        Returns
        -------
        query, bag : int
            A pair that could not be solved; -1 if all could.
        digest : int
        """
        n_words, most = len(queries.column_norms), 1
        for i in range(first, last):
            most = max(most, queries.starts[i + 1] - queries.starts[i])
        room = np.empty(n_words * padded_width(most), np.float32)
        place = np.full(n_words, -1, np.int32)
        for i in range(first, last):
            low, high = queries.starts[i], queries.starts[i + 1]
            for at in range(low, high):
                if queries.columns[at] >= 0:
                    place[queries.columns[at]] = at - low
            known = np.full(len(bags.starts) - 1, np.nan)
            failed, winners[i] = _search_one(
                i, queries, bags, vectors, exact, n_likely, place, room, known,
                distances[i], rows[i],
            )  # fmt: skip
            n_solved[i] = (~np.isnan(known)).sum()
            if failed >= 0:
                return i, failed, digest
            for at in range(low, high):
                if queries.columns[at] >= 0:
                    place[queries.columns[at]] = -1
        return -1, -1, digest

    return search_queries
