"""The loops of this room, for numba to compile: bounds, and exact problems.

Without numba these are plain functions that would run slowly, and nothing calls them.
All that compiled code is made of is in this file, so that numba, which looks at the
file of a function and at no other, compiles anew when any of it changes.

Arrays are copied entry by entry. For `a[:] = b` numba also compiles the text of the
error for different shapes, which took a quarter of the whole compile time.

Layout of the bounds. `local` holds the costs of one query, (n_table_words, width): a
word of a bag is one contiguous row. `width` is the query's number of words, rounded up;
the padding has no mass. A word without mass has the potential `-_FAR`, which takes it
out of every minimum and, unlike infinity, gives no NaN.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from math import frexp, isnan, ldexp
from typing import Any, NamedTuple

import numpy as np

# Weights are single rounded quotients; those that differ by less are taken as equal.
SAME = 4 * 2.0**-52

# From this many pairs of words on, we reduce the costs before POT solves the problem:
# it saves about a fifth of its time, and our passes over the costs take less.
WORTH_REDUCING = 64
# A potential takes this share of the least cost of its word, and leaves the rest to the
# potentials of the other side: one that took all of it would leave them nothing to
# choose. Any share in (0, 1] gives feasible potentials, and so a true bound; this one
# was chosen, not measured.
DAMPING = np.float32(0.75)

# Binary digits of a distance.
BITS = 42

# Potentials exceed feasible ones by one rounded difference of size 4 in float32; with
# room for the float64 sums.
POTENTIAL_SLACK = 8 * 2.0**-24

# Queries that are bounded at once: a word of a bag is read once for all of them, and
# their costs to it are one vector register.
GROUP = 8

_UNIT = 2.0**-24
_FAR = np.float32(1e30)
_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
_TWO = np.float32(2.0)
_LEAST = np.float32(1e-30)
_MOST = np.float32(1e30)
# Sinkhorn's smoothing as a share of the mean cost, and its steps. A lower temperature
# makes the bound tighter and needs more steps to settle. At .03 the bounds left 10
# exact problems per query of 400 words, at .015 with twelve steps they left 7
# (c436fd1).
_TEMPERATURE = 0.015
_N_STEPS = 12
_SLACK = POTENTIAL_SLACK
_BLOCK = 2048  # words whose minima stay in the innermost cache
_LANES = 16  # columns of a tile: a length that the compiler knows


class Products(NamedTuple):
    """Words of a run of queries, and words of the table."""

    products: np.ndarray  # -2⟨x, y⟩, (n_query_words, n_table_words), float32
    query_norms: np.ndarray  # lowered squared norms of the rows, float32
    word_norms: np.ndarray  # and of the columns


class Queries(NamedTuple):
    """A run of queries: rows and columns of `Products` for each of their words."""

    starts: np.ndarray
    rows: np.ndarray
    own: np.ndarray  # -1 where the table lacks the word
    masses: np.ndarray


class Bags(NamedTuple):
    """Bags over words of the table."""

    starts: np.ndarray
    ids: np.ndarray
    weights: np.ndarray


class Holders(NamedTuple):
    """The same by word: the bags that hold it, and its weight there."""

    starts: np.ndarray
    bags: np.ndarray
    weights: np.ndarray


class Room(NamedTuple):
    """Room for what is known of a query and of the words of the table.

    `sample_bags` fills it, and `tighten_bags` goes on with it.
    """

    filled: np.ndarray  # 2 where `local` holds a word's costs, (n_table_words,), uint8
    place: np.ndarray  # place of the word in the query, or -1; int32
    local: np.ndarray  # costs, (n_table_words, width), float32
    potentials: np.ndarray  # of the first bags, (GROUP, width), float32


class Solution(NamedTuple):
    """Room for what POT's solver finds."""

    plan: np.ndarray  # (n, m), all zeros
    alpha: np.ndarray  # (n,)
    beta: np.ndarray  # (m,)
    cost: np.ndarray  # (1,)


class Residual(NamedTuple):
    """Room for the residual problem of a query and a bag."""

    a: np.ndarray  # masses left to the words of the query, (width,)
    words: np.ndarray  # of the bag that have mass left
    b: np.ndarray  # their masses


def padded_width(n: int) -> int:
    """Columns of costs for a query of `n` words: whole vector registers."""
    return -(-n // 16) * 16


def _least(x: Any, y: Any) -> Any:
    """The lesser of two numbers; a promise to the compiler that neither is NaN."""
    return x if x < y else y


# -- bounds of all bags --------------------------------------------------------------


def _nearest_words(
    table: Products, rows: np.ndarray, nearest: np.ndarray, column: int
) -> None:
    """Distance of each word of the table to the nearest of a query's words."""
    products, query_norms, word_norms = table
    n_words = len(word_norms)
    least = np.empty(_BLOCK, np.float32)
    # We go through the table in blocks, so that the least squares of a block stay in
    # the innermost cache while all words of the query pass by.
    for low in range(0, n_words, _BLOCK):
        width = min(n_words - low, _BLOCK)
        for j in range(width):
            least[j] = _FAR
        for i in range(len(rows)):
            row, norm = products[rows[i]], query_norms[rows[i]]
            for j in range(width):
                least[j] = _least(row[low + j] + norm, least[j])
        # The norm of the table's word is the same for all words of the query, so that
        # we add it, and take the root, once for the least of them.
        for j in range(width):
            square = least[j] + word_norms[low + j]
            least[j] = np.sqrt(square if square > _ZERO else _ZERO)
        for j in range(width):  # apart from the roots, which are then vectorised
            nearest[low + j, column] = least[j]


def relax_queries(
    table: Products,
    queries: Queries,
    first: int,
    bags: Bags,
    holders: Holders,
    bounds: np.ndarray,
) -> None:
    """`relaxed_bounds` of at most `GROUP` queries, from number `first` on, to all bags.

    Sums are of numbers >= 0 in float32: that of 2 m numbers errs by less than 2 m
    roundings, which are taken off.

    Parameters
    ----------
    table : Products
    queries : Queries
    first : int
    bags : Bags
    holders : Holders
    bounds : ndarray of shape (n_queries, n_bags), float32
        Filled.
    """
    products, query_norms, word_norms = table
    starts, rows, own, masses = queries
    n_words = len(word_norms)
    n_queries, n_bags = bounds.shape
    nearest = np.zeros((n_words, GROUP), np.float32)
    bounds[:] = _ZERO
    for q in range(n_queries):
        low, high = starts[first + q], starts[first + q + 1]
        _nearest_words(table, rows[low:high], nearest, q)
        for at in range(low, high):
            word = own[at]
            if word < 0:
                continue
            nearest[word, q] = _ZERO  # it stays, up to the mass that the query has
            if high - low == 1:
                continue
            # A bag may hold more of this word than the query does. What is above the
            # query's mass has to move, at least to the nearest of the query's other
            # words.
            least = _FAR
            for other in range(low, high):
                if other != at:
                    row = rows[other]
                    least = _least(products[row, word] + query_norms[row], least)
            square = least + word_norms[word]
            least = np.sqrt(square if square > _ZERO else _ZERO)
            mass = masses[at]
            row = bounds[q]
            for entry in range(holders.starts[word], holders.starts[word + 1]):
                more = holders.weights[entry] - mass
                more = more if more > 0.0 else 0.0
                row[holders.bags[entry]] += np.float32(more) * least
    total = np.empty(GROUP, np.float32)
    # We read each word of a bag once and add it up for all queries of the group.
    for bag in range(n_bags):
        low, high = bags.starts[bag], bags.starts[bag + 1]
        for q in range(GROUP):
            total[q] = _ZERO
        for at in range(low, high):
            word, weight = bags.ids[at], bags.weights[at]
            for q in range(GROUP):
                total[q] += weight * nearest[word, q]
        # The sum may be too large by its roundings. We take them off, so that what is
        # left is a lower bound in exact arithmetic.
        share = 1.0 - (2 * (high - low) + 8) * _UNIT
        for q in range(n_queries):
            # residuals no larger than the rounding of weights count as nothing
            bound = (bounds[q, bag] + total[q]) * share - 1e-14
            bounds[q, bag] = bound if bound > 0.0 else 0.0


def _fill_costs(
    table: Products, rows: np.ndarray, all_bags: Bags, bags: np.ndarray, room: Room
) -> None:
    """Costs of one query to the words of some bags, in `room`."""
    products, query_norms, word_norms = table
    starts, ids, filled, local = all_bags.starts, all_bags.ids, room.filled, room.local
    n, width = len(rows), local.shape[1]
    # Bags share words. We mark those that lack costs first, and then fill them in the
    # order of the table, so that memory is read in one direction.
    norms = np.zeros(width, np.float32)
    for i in range(n):
        norms[i] = query_norms[rows[i]]
    for bag in bags:
        for at in range(starts[bag], starts[bag + 1]):
            if not filled[ids[at]]:
                filled[ids[at]] = 1
    for word in range(len(filled)):
        if filled[word] == 1:
            filled[word] = 2
            norm = word_norms[word]
            for i in range(n):
                local[word, i] = products[rows[i], word]
            for i in range(n, width):
                local[word, i] = _ZERO
            for i in range(width):
                square = local[word, i] + norms[i] + norm
                local[word, i] = np.sqrt(square if square > _ZERO else _ZERO)


# -- bounds from potentials ------------------------------------------------------


def _dot(masses: np.ndarray, potentials: np.ndarray) -> float:
    """Words without mass add nothing: their potentials are finite."""
    total = 0.0
    for i in range(len(masses)):
        total += masses[i] * potentials[i]
    return total


def _rows_and_columns(
    local: np.ndarray,
    left_over: Residual,
    m: int,
    a_start: np.ndarray,
    b_start: np.ndarray,
    alpha: np.ndarray,
    a_last: np.ndarray,
) -> float:
    """rowmin(C − b_start), and beta = colmin(C − a_start), its share and its rowmin."""
    _, words, b = left_over
    total, width = 0.0, len(a_start)
    for i in range(width):
        alpha[i] = _FAR
        a_last[i] = _FAR
    for j in range(m):
        word, shift, least = words[j], b_start[j], _FAR
        for i in range(width):
            cost = local[word, i]
            least = _least(cost - a_start[i], least)
            alpha[i] = _least(cost - shift, alpha[i])
        total += b[j] * least
        for i in range(width):
            a_last[i] = _least(local[word, i] - least, a_last[i])
    return total


def _least_costs(
    local: np.ndarray,
    words: np.ndarray,
    m: int,
    a_start: np.ndarray,
    alpha: np.ndarray,
    beta: np.ndarray,
) -> None:
    """In one pass: rowmin(C) and colmin(C − a_start)."""
    width = len(a_start)
    for i in range(width):
        alpha[i] = _FAR
    for j in range(m):
        word, least = words[j], _FAR
        for i in range(width):
            cost = local[word, i]
            least = _least(cost - a_start[i], least)
            alpha[i] = _least(cost, alpha[i])
        beta[j] = least


def _rows(
    local: np.ndarray, words: np.ndarray, m: int, beta: np.ndarray, alpha: np.ndarray
) -> None:
    """alpha = rowmin(C − beta), four words at a time; arrays have room for all four."""
    for j in range(m, (m + 3) // 4 * 4):
        words[j], beta[j] = words[0], beta[0]
    for i in range(len(alpha)):
        alpha[i] = _FAR
    for j in range(0, m, 4):
        w0, w1, w2, w3 = words[j], words[j + 1], words[j + 2], words[j + 3]
        s0, s1, s2, s3 = beta[j], beta[j + 1], beta[j + 2], beta[j + 3]
        for i in range(len(alpha)):
            away = _least(local[w0, i] - s0, local[w1, i] - s1)
            last = _least(local[w2, i] - s2, local[w3, i] - s3)
            alpha[i] = _least(_least(away, last), alpha[i])


def _columns(
    local: np.ndarray,
    words: np.ndarray,
    b: np.ndarray,
    m: int,
    alpha: np.ndarray,
    beta: np.ndarray,
) -> float:
    """beta = colmin(C − alpha), and its share of the bound."""
    total = 0.0
    for j in range(m):
        word, least = words[j], _FAR
        for i in range(len(alpha)):
            least = _least(local[word, i] - alpha[i], least)
        beta[j] = least
        total += b[j] * least
    return total


def _mask(potentials: np.ndarray, masses: np.ndarray) -> None:
    for i in range(len(potentials)):
        if not masses[i] > 0.0:
            potentials[i] = -_FAR


def _soften(
    local: np.ndarray,
    left_over: Residual,
    m: int,
    alpha: np.ndarray,
    beta: np.ndarray,
    kernel: np.ndarray,
) -> None:
    """Sinkhorn steps from feasible potentials; the new column potentials in `beta`.

    They need not be feasible, so crude sums and exponentials will do.
    """
    a, words, b = left_over
    width = len(alpha)
    # We smooth relative to the mean cost, so that the unit of the vectors does not
    # matter.
    mean = 0.0
    count = 0
    for i in range(width):
        count += a[i] > 0.0
    for j in range(m):
        total = _ZERO
        for i in range(width):
            total += local[words[j], i] if a[i] > 0.0 else _ZERO
        mean += float(total)
    epsilon = np.float32(max(_TEMPERATURE * mean / (m * count), 1e-30))
    # The kernel is exp(-reduced cost / epsilon). Reduced costs of feasible potentials
    # are >= 0, so no entry exceeds 1, and the floor keeps float32 from underflowing.
    # exp(x) is taken as (1 + x/1024)^1024, by ten squarings, for x down to -60.
    factor = _ONE / (epsilon * np.float32(1024.0))
    floor = np.float32(1.0 - 60.0 / 1024.0)
    for j in range(m):
        word = words[j]
        for i in range(width):
            x = _ONE + (alpha[i] + beta[j] - local[word, i]) * factor
            x = x if x > floor else floor
            x = x if x < _TWO else _ONE  # rounding only: reduced costs are >= 0
            x *= x
            x *= x
            x *= x
            x *= x
            x *= x
            x *= x
            x *= x
            x *= x
            x *= x
            x *= x
            kernel[j, i] = x
    # u scales the query's words and v the bag's, so that the plan u · kernel · v gets
    # the masses a and b. v is needed once, for the row sums of the next step,
    # which the same pass over the kernel adds up.
    u = np.empty(width, np.float32)
    sums = np.zeros(width, np.float32)
    for j in range(m):
        for i in range(width):
            sums[i] += kernel[j, i]
    for step in range(_N_STEPS):
        for i in range(width):
            u[i] = np.float32(a[i]) / (sums[i] if sums[i] > _LEAST else _LEAST)
            sums[i] = _ZERO
        for j in range(m):
            total = _ZERO
            for i in range(width):
                total += kernel[j, i] * u[i]
            v = np.float32(b[j]) / (total if total > _LEAST else _LEAST)
            v = min(max(v, _LEAST), _MOST)
            for i in range(width):
                sums[i] += kernel[j, i] * v
            if step == _N_STEPS - 1:
                # clipped so that the slack holds: useful potentials are no larger
                soft = epsilon * np.log(v) + max(beta[j], -_TWO)
                beta[j] = min(max(soft, -_TWO), _TWO)


def _match(
    masses: np.ndarray, place: np.ndarray, bags: Bags, bag: int, left_over: Residual
) -> int:
    """Fill in the residual masses of the query, and of the words of a bag.

    Returns the number of these words; 0 where one side has no mass left.
    """
    starts, ids, weights = bags
    a, words, b = left_over
    for i in range(len(a)):
        a[i] = masses[i]
    m = 0
    for entry in range(starts[bag], starts[bag + 1]):
        word = ids[entry]
        left = weights[entry]
        i = place[word]
        if i >= 0:
            over = a[i] - left
            a[i] = over if over > 0.0 else 0.0
            left = -over
        if left > 0.0:
            words[m] = word
            b[m] = left
            m += 1
    for i in range(len(a)):
        if a[i] > 0.0:
            return m
    return 0


def _most_words(starts: np.ndarray, bags: np.ndarray) -> int:
    """Words of the longest of some bags, rounded up to the groups of `_rows`."""
    most = 1
    for bag in bags:
        most = max(most, starts[bag + 1] - starts[bag])
    return (most + 3) // 4 * 4


def _pick_least(bounds: np.ndarray, bags: np.ndarray) -> None:
    """Numbers of the bags with the least bounds, in no order; these become infinite."""
    n = len(bags)
    # a heap, with the greatest bound on top
    for bag in range(len(bounds)):
        if bag < n:
            at = bag
            while at and bounds[bag] > bounds[bags[(at - 1) // 2]]:
                bags[at] = bags[(at - 1) // 2]
                at = (at - 1) // 2
            bags[at] = bag
        elif bounds[bag] < bounds[bags[0]]:
            at, child = 0, 1
            while child < n:
                if child + 1 < n and bounds[bags[child + 1]] > bounds[bags[child]]:
                    child += 1
                if bounds[bag] >= bounds[bags[child]]:
                    break
                bags[at] = bags[child]
                at, child = child, 2 * child + 1
            bags[at] = bag
    for bag in bags:
        bounds[bag] = np.inf


def sample_bags(
    table: Products,
    queries: Queries,
    query: int,
    room: Room,
    all_bags: Bags,
    others: np.ndarray,
    best: tuple[np.ndarray, np.ndarray],
) -> None:
    """`dual_bounds` on the residual problems of one query and the likeliest bags.

    Parameters
    ----------
    table : Products
    queries : Queries
    query : int
        Number of the query.
    room : Room
        Filled. Its potentials are those of the query's words, for each of the first
        bags, shifted so that the query and the bag have the same share in the bound;
        rows without a bag are `_FAR`.
    all_bags : Bags
    others : ndarray of shape (n_bags,), float32
        First bounds. The least are of the likeliest bags, and become infinite.
    best : tuple of ndarrays of shape (n,)
        Filled with numbers of the likeliest bags, and better bounds, which ascend.
    """
    filled, place, local, potentials = room
    bags, bounds = best
    starts = all_bags.starts
    first, last = queries.starts[query], queries.starts[query + 1]
    rows, masses = queries.rows[first:last], np.zeros(local.shape[1])
    for at in range(first, last):
        masses[at - first] = queries.masses[at]
    filled[:] = 0
    place[:] = -1
    for at in range(first, last):
        if queries.own[at] >= 0:
            place[queries.own[at]] = at - first
    _pick_least(others, bags)
    _fill_costs(table, rows, all_bags, bags, room)
    width = local.shape[1]
    most = _most_words(starts, bags)
    words = np.empty(most, np.int64)
    b, beta = np.empty(most, np.float64), np.empty(most, np.float32)
    a = np.empty(width, np.float64)
    left_over = Residual(a, words, b)
    start, alpha = np.empty(width, np.float32), np.empty(width, np.float32)
    alpha2 = np.empty(width, np.float32)
    potentials[:] = _FAR
    for at in range(len(bags)):
        bag = bags[at]
        m = _match(masses, place, all_bags, bag, left_over)
        bound, shift = -_SLACK, _ZERO
        alpha[:] = _ZERO
        if m:
            for i in range(width):
                start[i] = _ZERO if a[i] > 0.0 else -_FAR
            _least_costs(local, words, m, start, alpha, beta)
            for i in range(width):
                start[i] = DAMPING * alpha[i]
            _mask(start, a)
            for j in range(m):
                beta[j] = DAMPING * beta[j]
            back2 = _rows_and_columns(local, left_over, m, start, beta, alpha, alpha2)
            _mask(alpha, a)
            _mask(alpha2, a)
            back = _columns(local, words, b, m, alpha, beta)
            out, out2 = _dot(a, alpha), _dot(a, alpha2)
            if out2 + back2 > out + back:
                out, back = out2, back2
                alpha, alpha2 = alpha2, alpha
            bound = out + back - _SLACK
            shift = np.float32((out - back) / (2.0 * a.sum()))
        rank = at
        while rank and bounds[rank - 1] > bound:
            bounds[rank], bags[rank] = bounds[rank - 1], bags[rank - 1]
            rank -= 1
        bounds[rank], bags[rank] = bound, bag
        if rank < GROUP:
            for later in range(GROUP - 1, rank, -1):
                for i in range(width):
                    potentials[later, i] = potentials[later - 1, i]
            for i in range(width):
                potentials[rank, i] = alpha[i] - shift


def _extend_potentials(room: Room, beta: np.ndarray) -> None:
    """Potentials of the query's words, carried over to the words of the table.

    For each row, the largest potential that is feasible with it is min(C − α); the
    largest of these is taken. It need not be feasible with any row, but is near the
    best for many bags at once.

    Words without costs in `room` are left out.

    Parameters
    ----------
    room : Room
    beta : ndarray of shape (n_table_words,), float32
        Filled.
    """
    filled, _, local, potentials = room
    width = local.shape[1]
    for word in range(len(filled)):
        if filled[word]:
            most = -_TWO
            for row in range(len(potentials)):
                least = _FAR
                for i in range(width):
                    away = local[word, i] - potentials[row, i]
                    least = _least(away, least)
                most = max(most, least)
            # no larger, so that the slack holds
            beta[word] = min(most, _TWO)


def tighten_bags(
    table: Products,
    queries: Queries,
    query: int,
    room: Room,
    all_bags: Bags,
    bags: np.ndarray,
    limit: float,
) -> np.ndarray:
    """Bounds on the residual problems of one query and some bags, from potentials.

    Row potentials feasible with those of `room`; column potentials feasible with these;
    a few Sinkhorn steps from there. A pair is done with as soon as a bound exceeds
    `limit`.

    Parameters
    ----------
    table, ..., all_bags
        As in `sample_bags`, which has filled `room`.
    bags : ndarray of shape (n,)
    limit : float

    Returns
    -------
    bounds : ndarray of shape (n,)
    """
    place, local = room.place, room.local
    first, last = queries.starts[query], queries.starts[query + 1]
    rows, masses = queries.rows[first:last], np.zeros(local.shape[1])
    for at in range(first, last):
        masses[at - first] = queries.masses[at]
    _fill_costs(table, rows, all_bags, bags, room)
    likely = np.empty(len(place), np.float32)
    _extend_potentials(room, likely)
    bounds = np.empty(len(bags))
    width = local.shape[1]
    most = _most_words(all_bags.starts, bags)
    words = np.empty(most, np.int64)
    b = np.empty(most, np.float64)
    beta = np.empty(most, np.float32)
    a = np.empty(width, np.float64)
    left_over = Residual(a, words, b)
    alpha = np.empty(width, np.float32)
    kernel = np.empty((most, width), np.float32)
    for at in range(len(bags)):
        m = _match(masses, place, all_bags, bags[at], left_over)
        if m == 0:
            bounds[at] = -_SLACK
            continue
        back = 0.0
        for j in range(m):
            beta[j] = likely[words[j]]
            back += b[j] * beta[j]
        _rows(local, words, m, beta, alpha)
        out = _dot(a, alpha)
        bound = out + back - _SLACK
        if bound <= limit:
            _mask(alpha, a)
            bound = out + _columns(local, words, b, m, alpha, beta) - _SLACK
        if bound <= limit:
            _soften(local, left_over, m, alpha, beta, kernel)
            _rows(local, words, m, beta, alpha)
            _mask(alpha, a)
            back = _columns(local, words, b, m, alpha, beta)
            bound = max(bound, _dot(a, alpha) + back - _SLACK)
        bounds[at] = bound
    return bounds


# -- exact problems ------------------------------------------------------------------


def looped_costs(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """`cdist` of points, by the same additions in the same order.

    Four rows go together, so that the columns are read less often; an entry is one sum
    over the dimensions all the same.

    Parameters
    ----------
    rows : ndarray of shape (n, dim), float64
    columns : ndarray of shape (dim, m), float64

    Returns
    -------
    costs : ndarray of shape (n, m), float64
    """
    n, dim, m = len(rows), len(columns), columns.shape[1]
    out = np.empty((n, m))
    most = min(128, m)
    sums = np.empty((4, most))
    tile = np.empty((dim, most))  # stays in the cache for all rows
    for low in range(0, m, 128):
        width = min(128, m - low)
        for d in range(dim):
            for j in range(width):
                tile[d, j] = columns[d, low + j]
        for i in range(0, n, 4):
            i1, i2, i3 = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
            sums[:] = 0.0
            for d in range(dim):
                x0, x1, x2, x3 = rows[i, d], rows[i1, d], rows[i2, d], rows[i3, d]
                for j in range(width):
                    y = tile[d, j]
                    sums[0, j] += (x0 - y) * (x0 - y)
                    sums[1, j] += (x1 - y) * (x1 - y)
                    sums[2, j] += (x2 - y) * (x2 - y)
                    sums[3, j] += (x3 - y) * (x3 - y)
            for more in range(min(4, n - i)):
                for j in range(width):
                    out[i + more, low + j] = np.sqrt(sums[more, j])
    return out


def _residual(
    x_ids: np.ndarray, x: np.ndarray, y_ids: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, bool]:
    """`residual`, and whether the second bag goes first."""
    x_left, y_left = np.empty(len(x)), np.empty(len(y))
    x_rows, y_rows = np.empty(len(x), np.int64), np.empty(len(y), np.int64)
    n, m, i, j = 0, 0, 0, 0
    while i < len(x) or j < len(y):
        if j == len(y) or (i < len(x) and x_ids[i] < y_ids[j]):
            x_rows[n], x_left[n] = i, x[i]
            n += 1
            i += 1
        elif i == len(x) or y_ids[j] < x_ids[i]:
            y_rows[m], y_left[m] = j, y[j]
            m += 1
            j += 1
        else:
            more = x[i] - y[j]
            if abs(more) > SAME * x[i]:
                if more > 0.0:
                    x_rows[n], x_left[n] = i, more
                    n += 1
                else:
                    y_rows[m], y_left[m] = j, -more
                    m += 1
            i += 1
            j += 1
    if n == 0 or m == 0:
        n, m = 0, 0
    swapped = m < n or (m == n and n > 0 and y_ids[y_rows[0]] < x_ids[x_rows[0]])
    return x_rows[:n], x_left[:n], y_rows[:m], y_left[:m], swapped


def _word_costs(
    points: np.ndarray,
    x: np.ndarray,
    vectors: np.ndarray,
    y: np.ndarray,
    swapped: bool,
) -> np.ndarray:
    """`looped_costs` of a few words: `_LANES` columns at a time.

    Parameters
    ----------
    points : ndarray of shape (dim, n), float64
    x : ndarray of int
        Columns of `points`: the rows of the costs, or the columns if `swapped`.
    vectors : ndarray of shape (n_words, dim)
    y : ndarray of int
        Rows of `vectors`.
    """
    n, m, dim = len(x), len(y), len(points)
    out = np.empty((m, n) if swapped else (n, m))
    sums, tile = np.empty((4, _LANES)), np.zeros((dim, _LANES))
    for low in range(0, n, _LANES):
        width = min(_LANES, n - low)
        for d in range(dim):
            for j in range(width):
                tile[d, j] = points[d, x[low + j]]
        for i in range(0, m, 4):
            y0, y1 = vectors[y[i]], vectors[y[min(i + 1, m - 1)]]
            y2, y3 = vectors[y[min(i + 2, m - 1)]], vectors[y[min(i + 3, m - 1)]]
            sums[:] = 0.0
            for d in range(dim):
                for j in range(_LANES):
                    at = tile[d, j]
                    sums[0, j] += (y0[d] - at) * (y0[d] - at)
                    sums[1, j] += (y1[d] - at) * (y1[d] - at)
                    sums[2, j] += (y2[d] - at) * (y2[d] - at)
                    sums[3, j] += (y3[d] - at) * (y3[d] - at)
            for more in range(min(4, m - i)):
                for j in range(width):
                    cost = np.sqrt(sums[more, j])
                    if swapped:
                        out[i + more, low + j] = cost
                    else:
                        out[low + j, i + more] = cost
    return out


def _gathered_problem(
    x_ids: np.ndarray,
    x: np.ndarray,
    y_ids: np.ndarray,
    y: np.ndarray,
    costs: np.ndarray,
    at: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`pair_problem` from costs: a row for a word of `x`, columns `at` for `y`."""
    x_rows, x_left, y_rows, y_left, swapped = _residual(x_ids, x, y_ids, y)
    n, m = len(x_rows), len(y_rows)
    if swapped:
        out = np.empty((m, n))
        for i in range(n):
            row = costs[x_rows[i]]
            for j in range(m):
                out[j, i] = row[at[y_rows[j]]]
        return y_left, x_left, out
    out = np.empty((n, m))
    for i in range(n):
        row = costs[x_rows[i]]
        for j in range(m):
            out[i, j] = row[at[y_rows[j]]]
    return x_left, y_left, out


def looped_cost(address: int, a: np.ndarray, b: np.ndarray, costs: np.ndarray) -> float:
    """`transport_cost`; NaN where the solver does not report an optimum.

    Parameters
    ----------
    address : int
        From `solver_address`.
    costs : ndarray
        Overwritten.
    """
    n, m = len(a), len(b)
    moved, received = 0.0, 0.0
    for i in range(n):
        moved += a[i]
    for j in range(m):
        received += b[j]
    total = 0.0
    if n == 1:
        for j in range(m):
            total += costs[0, j] * (b[j] / received)
        return moved * total
    if m == 1:
        for i in range(n):
            total += costs[i, 0] * (a[i] / moved)
        return moved * total
    a, b = a / moved, b / received
    most = 0.0
    for i in range(n):
        for j in range(m):
            most = max(most, costs[i, j])
    scale = ldexp(1.0, -frexp(most)[1])
    for i in range(n):
        for j in range(m):
            costs[i, j] *= scale
    alpha, beta = np.zeros(n), np.zeros(m)
    if n * m >= WORTH_REDUCING:
        total = _looped_reduce(a, b, costs, alpha, beta)
    out = Solution(np.zeros((n, m)), alpha, beta, np.zeros(1))
    code = run_solver(address, a, b, costs, out)
    if code != 1:
        return np.nan
    return moved * ((total + out.cost[0]) / scale)


def _looped_reduce(
    a: np.ndarray, b: np.ndarray, costs: np.ndarray, alpha: np.ndarray, beta: np.ndarray
) -> float:
    """`_reduce`; the potentials are filled in."""
    n, m = costs.shape
    for j in range(m):
        beta[j] = np.inf
    for i in range(n):
        for j in range(m):
            beta[j] = _least(costs[i, j], beta[j])
    for j in range(m):
        beta[j] *= DAMPING
    for i in range(n):
        least = np.inf
        for j in range(m):
            least = _least(costs[i, j] - beta[j], least)
        alpha[i] = least
    for j in range(m):
        beta[j] = np.inf
    for i in range(n):
        for j in range(m):
            costs[i, j] -= alpha[i]
            beta[j] = _least(costs[i, j], beta[j])
    for i in range(n):
        for j in range(m):
            costs[i, j] -= beta[j]
    out, back = 0.0, 0.0
    for i in range(n):
        out += a[i] * alpha[i]
    for j in range(m):
        back += b[j] * beta[j]
    return out + back


def looped_block(
    address: int,
    x_ids: np.ndarray,
    x: np.ndarray,
    bags: Bags,
    costs: tuple[np.ndarray, np.ndarray],
    first: int,
    out: np.ndarray,
) -> None:
    """Distances of a bag to those from number `first` on, into `out`, not rounded.

    Parameters
    ----------
    address : int
        From `solver_address`.
    costs : tuple of ndarrays
        Of shape (len(x_ids), n_columns), float64; and the column there for each word of
        the bags.
    """
    starts, ids, weights = bags
    table, columns = costs
    for bag in range(first, len(starts) - 1):
        low, high = starts[bag], starts[bag + 1]
        a, b, block = _gathered_problem(
            x_ids, x, ids[low:high], weights[low:high], table, columns[low:high]
        )
        out[bag - first] = looped_cost(address, a, b, block) if len(a) else 0.0


def looped_pairs(
    address: int,
    x_ids: np.ndarray,
    x: np.ndarray,
    all_bags: Bags,
    bags: np.ndarray,
    vectors: np.ndarray,
    out: np.ndarray,
) -> bool:
    """`pair_distance` of a bag to some of others, into `out`; whether all are found."""
    starts, ids, weights = all_bags
    points = np.empty((vectors.shape[1], len(x)))
    for i in range(len(x)):
        for d in range(len(points)):
            points[d, i] = vectors[x_ids[i], d]
    for at in range(len(bags)):
        low, high = starts[bags[at]], starts[bags[at] + 1]
        y_ids = ids[low:high]
        x_rows, a, y_rows, b, swapped = _residual(x_ids, x, y_ids, weights[low:high])
        costs = _word_costs(points, x_rows, vectors, y_ids[y_rows], swapped)
        if swapped:
            a, b = b, a
        cost = looped_cost(address, a, b, costs) if len(a) else 0.0
        if isnan(cost):
            return False
        mantissa, exponent = frexp(cost)
        out[at] = ldexp(np.rint(ldexp(mantissa, BITS)), exponent - BITS)
    return True


def run_solver(
    address: int, a: np.ndarray, b: np.ndarray, costs: np.ndarray, out: Solution
) -> int:
    """Solve a transport problem; the code is 1 where the optimum was found.

    Without an address nothing is called, and the code is 0.

    Parameters
    ----------
    address : int
        From `solver_address`.
    a, b : ndarrays of shapes (n,) and (m,), float64
    costs : ndarray of shape (n, m), float64
    out : Solution
        Filled.
    """
    if not address:
        return 0
    pointer = ctypes.c_void_p
    kinds = [ctypes.c_int] * 2 + [pointer] * 7 + [ctypes.c_uint64] + [pointer] * 2
    call = ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(address)
    arrays = [x.ctypes.data for x in (a, b, costs, *out)]
    return int(call(len(a), len(b), *arrays, 0, None, None))


# -- numba ---------------------------------------------------------------------------


# Promises to the compiler: NaN only occurs as a result, and the sign of zero does not
# matter. Sums are not reordered, nor fused with products, where they must be exact.
COMPILED = {"fastmath": {"nsz"}}
NO_NAN = {"fastmath": {"nnan", "nsz"}}


@lru_cache(maxsize=1)  # numba refuses to learn a function twice
def register() -> None:
    """Let numba compile the helpers where compiled loops call them."""
    from numba.extending import register_jitable

    _register_solver()
    _register_least()
    register_jitable(**COMPILED)(looped_cost)
    for helper in (
        _nearest_words,
        _fill_costs,
        _extend_potentials,
        _mask,
        _rows,
        _columns,
        _match,
        _most_words,
        _pick_least,
        _least_costs,
        _rows_and_columns,
        _residual,
        _looped_reduce,
        _word_costs,
        _gathered_problem,
    ):
        register_jitable(**NO_NAN)(helper)
    for crude in _dot, _soften:  # sums in any order will do here
        register_jitable(fastmath={"nnan", "nsz", "reassoc", "contract"})(crude)


def _register_least() -> None:
    """Compile `_least` as a minimum without NaN: a loop's minimum is vectorised then.

    There is no NaN: costs are finite, and potentials finite or `-_FAR`.
    """
    from numba.extending import intrinsic, overload

    flags = ("nnan", "nsz")

    @intrinsic
    def least(context: Any, x: Any, y: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            below = builder.fcmp_ordered("<", *args, flags=flags)
            return builder.select(below, *args, flags=flags)

        return x(x, y), generate

    @overload(_least)
    def implementation(x, y):
        return lambda x, y: least(x, y)


def _register_solver() -> None:
    """Teach numba `run_solver`: a call through the address, with the arrays' data."""
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic, overload

    @intrinsic
    def solve(typing: Any, address: Any, a: Any, b: Any, costs: Any, out: Any) -> Any:
        kinds = a, b, costs, *out.types

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            values = *args[1:4], *cgutils.unpack_tuple(builder, args[4])
            arrays = [
                context.make_array(kind)(context, builder, value)
                for kind, value in zip(kinds, values, strict=True)
            ]
            int32, int64 = ir.IntType(32), ir.IntType(64)
            sizes = [
                builder.trunc(builder.extract_value(array.shape, 0), int32)
                for array in arrays[:2]
            ]
            nothing = ir.Constant(arrays[0].data.type, None)
            given = [*sizes, *(array.data for array in arrays), int64(0)]
            given += [nothing, nothing]
            kind = ir.FunctionType(int32, [each.type for each in given])
            pointer = builder.inttoptr(args[0], kind.as_pointer())
            return builder.sext(builder.call(pointer, given), int64)

        return types.int64(types.int64, a, b, costs, out), generate

    @overload(run_solver)
    def implementation(address, a, b, costs, out):
        def compiled(address, a, b, costs, out):
            if address == 0:
                return 0
            return solve(address, a, b, costs, out)

        return compiled
