"""Bounds of one query to many bags, in loops for numba to compile.

The bounds are those of `_bounds`, with the same arithmetic in float32 and therefore the
same slack; only the order of the float64 sums differs. These are plain functions:
without numba they would run slowly, and nothing calls them.

Layout. `local` holds the costs of one query, (n_table_words, width): a word of a bag is
one contiguous row. `width` is the query's number of words, rounded up; the padding has
no mass. A word without mass has the potential `-_FAR`, which takes it out of every
minimum and, unlike infinity, gives no NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skdptext.transport._bounds import POTENTIAL_SLACK

__all__ = [
    "extend_potentials",
    "fill_costs",
    "padded_width",
    "relax_query",
    "sample_query",
    "tighten_query",
]

_FAR = np.float32(1e30)
_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
_TWO = np.float32(2.0)
_LEAST = np.float32(1e-30)
_MOST = np.float32(1e30)
_DAMPING = np.float32(0.75)
_TEMPERATURE = 0.015
_N_STEPS = 12
_SLACK = POTENTIAL_SLACK
_BLOCK = 2048  # words whose minima stay in the innermost cache


def padded_width(n: int) -> int:
    """Columns of costs for a query of `n` words: whole vector registers."""
    return -(-n // 16) * 16


def _least(x: Any, y: Any) -> Any:
    """The lesser of two numbers; a promise to the compiler that neither is NaN."""
    return x if x < y else y


def relax_query(
    products: np.ndarray,
    rows: np.ndarray,
    query_norms: np.ndarray,
    word_norms: np.ndarray,
    masses: np.ndarray,
    own: np.ndarray,
    starts: np.ndarray,
    ids: np.ndarray,
    weights: np.ndarray,
    bounds: np.ndarray,
) -> None:
    """`relaxed_bounds` of one query to all bags.

    Parameters
    ----------
    products : ndarray of shape (n_query_words, n_table_words), float32
        -2⟨x, y⟩ of the words of a run of queries and those of the table.
    rows : ndarray of shape (n,)
        Rows of `products` that are the query's words.
    query_norms, word_norms : ndarrays of float32
        Lowered squared norms, of the rows and the columns of `products`.
    masses : ndarray of shape (n,), float64
    own : ndarray of shape (n,)
        The query's words within the table, -1 where they are not in it.
    starts, ids, weights
        The bags, over words of the table.
    bounds : ndarray of shape (n_bags,)
        Filled.
    """
    n, n_words = len(rows), len(word_norms)
    nearest = np.full(n_words, _FAR)
    held = np.zeros(n_words)
    for low in range(0, n_words, _BLOCK):
        high = min(n_words, low + _BLOCK)
        for i in range(n):
            row, norm = rows[i], query_norms[rows[i]]
            for word in range(low, high):
                nearest[word] = _least(products[row, word] + norm, nearest[word])
        for word in range(low, high):
            square = nearest[word] + word_norms[word]
            nearest[word] = np.sqrt(square if square > _ZERO else _ZERO)
    for i in range(n):
        word = own[i]
        if word >= 0:
            # for a word of the query itself: the nearest other; 0 for its only word
            least = _FAR if n > 1 else -_FAR
            for other in range(n):
                if other != i:
                    square = products[rows[other], word] + query_norms[rows[other]]
                    least = _least(square, least)
            square = least + word_norms[word]
            nearest[word] = np.sqrt(square if square > _ZERO else _ZERO)
            held[word] = masses[i]
    for bag in range(len(starts) - 1):
        total = 0.0
        for at in range(starts[bag], starts[bag + 1]):
            left = weights[at] - held[ids[at]]
            total += (left if left > 0.0 else 0.0) * nearest[ids[at]]
        # as in `relaxed_bounds`: the additions round
        total = total * (1.0 - 1e-12) - 1e-14
        bounds[bag] = total if total > 0.0 else 0.0


def fill_costs(
    products: np.ndarray,
    rows: np.ndarray,
    query_norms: np.ndarray,
    word_norms: np.ndarray,
    starts: np.ndarray,
    ids: np.ndarray,
    bags: np.ndarray,
    filled: np.ndarray,
    local: np.ndarray,
) -> None:
    """Costs of one query to the words of some bags.

    Parameters
    ----------
    filled : ndarray of shape (n_table_words,), uint8
        2 where `local` holds the word's costs already, else 0; kept up to date.
    local : ndarray of shape (n_table_words, width), float32
        The words of `bags` are filled in.
    """
    n, width = len(rows), local.shape[1]
    for bag in bags:
        for at in range(starts[bag], starts[bag + 1]):
            if not filled[ids[at]]:
                filled[ids[at]] = 1
    for word in range(len(filled)):
        if filled[word] == 1:
            filled[word] = 2
            norm = word_norms[word]
            for i in range(n):
                local[word, i] = products[rows[i], word] + query_norms[rows[i]]
            for i in range(n):
                square = local[word, i] + norm
                local[word, i] = np.sqrt(square if square > _ZERO else _ZERO)
            for i in range(n, width):
                local[word, i] = _ZERO


# -- bounds from potentials ------------------------------------------------------


def _dot(masses: np.ndarray, potentials: np.ndarray, n: int) -> float:
    total = 0.0
    for i in range(n):
        if masses[i] > 0.0:
            total += masses[i] * potentials[i]
    return total


def _rows_and_columns(
    local: np.ndarray,
    words: np.ndarray,
    m: int,
    a_start: np.ndarray,
    b_start: np.ndarray,
    alpha: np.ndarray,
    beta: np.ndarray,
    a_last: np.ndarray,
) -> None:
    """In one pass: rowmin(C − b_start), beta = colmin(C − a_start) and its rowmin."""
    width = len(a_start)
    for i in range(width):
        alpha[i] = _FAR
        a_last[i] = _FAR
    for j in range(m):
        word = words[j]
        shift = b_start[j]
        least = _FAR
        for i in range(width):
            cost = local[word, i]
            away = cost - a_start[i]
            least = _least(away, least)
            away = cost - shift
            alpha[i] = _least(away, alpha[i])
        beta[j] = least
        for i in range(width):
            away = local[word, i] - least
            a_last[i] = _least(away, a_last[i])


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
        word = words[j]
        least = _FAR
        for i in range(width):
            cost = local[word, i]
            away = cost - a_start[i]
            least = _least(away, least)
            alpha[i] = _least(cost, alpha[i])
        beta[j] = least


def _rows(
    local: np.ndarray, words: np.ndarray, m: int, beta: np.ndarray, alpha: np.ndarray
) -> None:
    """alpha = rowmin(C − beta), four words at a time; arrays have room for all four."""
    width = len(alpha)
    for i in range(width):
        alpha[i] = _FAR
    for j in range(m, (m + 3) // 4 * 4):
        words[j], beta[j] = words[0], beta[0]
    for j in range(0, m, 4):
        w0, w1, w2, w3 = words[j], words[j + 1], words[j + 2], words[j + 3]
        s0, s1, s2, s3 = beta[j], beta[j + 1], beta[j + 2], beta[j + 3]
        for i in range(width):
            away = _least(local[w0, i] - s0, local[w1, i] - s1)
            last = _least(local[w2, i] - s2, local[w3, i] - s3)
            alpha[i] = _least(_least(away, last), alpha[i])


def _columns(
    local: np.ndarray, words: np.ndarray, m: int, alpha: np.ndarray, beta: np.ndarray
) -> None:
    """beta = colmin(C − alpha)."""
    for j in range(m):
        word = words[j]
        least = _FAR
        for i in range(len(alpha)):
            away = local[word, i] - alpha[i]
            least = _least(away, least)
        beta[j] = least


def _mask(potentials: np.ndarray, masses: np.ndarray) -> None:
    for i in range(len(potentials)):
        if not masses[i] > 0.0:
            potentials[i] = -_FAR


def _soften(
    local: np.ndarray,
    words: np.ndarray,
    m: int,
    a: np.ndarray,
    b: np.ndarray,
    alpha: np.ndarray,
    beta: np.ndarray,
    kernel: np.ndarray,
) -> None:
    """Sinkhorn steps from feasible potentials; the new column potentials in `beta`.

    They need not be feasible, so crude sums and exponentials will do.
    """
    width = len(alpha)
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
    # exp(x) by (1 + x/1024)^1024, for x down to -60
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
    masses: np.ndarray,
    place: np.ndarray,
    starts: np.ndarray,
    ids: np.ndarray,
    weights: np.ndarray,
    bag: int,
    a: np.ndarray,
    words: np.ndarray,
    b: np.ndarray,
) -> int:
    """Fill in the residual masses `a` of the query and `b` of the `words` of a bag.

    Returns the number of these words; 0 where one side has no mass left.
    """
    a[:] = masses
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


def sample_query(
    local: np.ndarray,
    masses: np.ndarray,
    place: np.ndarray,
    starts: np.ndarray,
    ids: np.ndarray,
    weights: np.ndarray,
    bags: np.ndarray,
    bounds: np.ndarray,
    potentials: np.ndarray,
) -> None:
    """`dual_bounds` on the residual problems of one query and some bags.

    Parameters
    ----------
    local : ndarray of shape (n_table_words, width), float32
        Costs of the words of `bags`, from `fill_costs`.
    masses : ndarray of shape (width,), float64
        Masses of the query, 0 in the padding.
    place : ndarray of shape (n_table_words,), int32
        Place of a word within the query, -1 where it is not in it.
    starts, ids, weights
        All bags, over words of the table.
    bags : ndarray of int
        Numbers of bags.
    bounds : ndarray of shape (len(bags),), float64
        Filled.
    potentials : ndarray of shape (len(bags), width), float32
        Filled with those of the query's words, shifted so that the query and the bag
        have the same share in the bound.
    """
    width = local.shape[1]
    most = _most_words(starts, bags)
    words = np.empty(most, np.int64)
    b = np.empty(most, np.float64)
    beta, beta2 = np.empty(most, np.float32), np.empty(most, np.float32)
    a = np.empty(width, np.float64)
    start, alpha = np.empty(width, np.float32), np.empty(width, np.float32)
    alpha2 = np.empty(width, np.float32)
    for at in range(len(bags)):
        m = _match(masses, place, starts, ids, weights, bags[at], a, words, b)
        if m == 0:
            bounds[at] = -_SLACK
            potentials[at] = _ZERO
            continue
        for i in range(width):
            start[i] = _ZERO if a[i] > 0.0 else -_FAR
        _least_costs(local, words, m, start, alpha, beta)
        for i in range(width):
            start[i] = _DAMPING * alpha[i]
        _mask(start, a)
        for j in range(m):
            beta[j] = _DAMPING * beta[j]
        _rows_and_columns(local, words, m, start, beta, alpha, beta2, alpha2)
        _mask(alpha, a)
        _mask(alpha2, a)
        _columns(local, words, m, alpha, beta)
        out, back = _dot(a, alpha, width), _dot(b, beta, m)
        out2, back2 = _dot(a, alpha2, width), _dot(b, beta2, m)
        if out2 + back2 > out + back:
            out, back = out2, back2
            alpha, alpha2 = alpha2, alpha
        bounds[at] = out + back - _SLACK
        moved = 0.0
        for i in range(width):
            moved += a[i]
        shift = np.float32((out - back) / (2.0 * moved))
        for i in range(width):
            potentials[at, i] = alpha[i] - shift


def extend_potentials(
    local: np.ndarray, filled: np.ndarray, potentials: np.ndarray, beta: np.ndarray
) -> None:
    """Potentials of the query's words, carried over to the words of the table.

    For each row, the largest potential that is feasible with it is min(C − α); the
    largest of these is taken. It need not be feasible with any row, but is near the
    best for many bags at once.

    Parameters
    ----------
    filled : ndarray of shape (n_table_words,), uint8
        Words without costs in `local` are left out.
    potentials : ndarray of shape (n, width), float32
        From `sample_query`.
    beta : ndarray of shape (n_table_words,), float32
        Filled.
    """
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


def tighten_query(
    local: np.ndarray,
    masses: np.ndarray,
    place: np.ndarray,
    starts: np.ndarray,
    ids: np.ndarray,
    weights: np.ndarray,
    bags: np.ndarray,
    limit: float,
    likely: np.ndarray,
    bounds: np.ndarray,
) -> None:
    """Bounds on the residual problems of one query and some bags, from potentials.

    Row potentials feasible with those given; column potentials feasible with these; a
    few Sinkhorn steps from there. A pair is done with as soon as a bound exceeds
    `limit`.

    Parameters
    ----------
    local, masses, place, starts, ids, weights, bags, bounds
        As in `sample_query`.
    likely : ndarray of shape (n_table_words,), float32
        Potentials of the words of the table, from `extend_potentials`.
    """
    width = local.shape[1]
    most = _most_words(starts, bags)
    words = np.empty(most, np.int64)
    b = np.empty(most, np.float64)
    beta = np.empty(most, np.float32)
    a = np.empty(width, np.float64)
    alpha = np.empty(width, np.float32)
    kernel = np.empty((most, width), np.float32)
    for at in range(len(bags)):
        m = _match(masses, place, starts, ids, weights, bags[at], a, words, b)
        if m == 0:
            bounds[at] = -_SLACK
            continue
        for j in range(m):
            beta[j] = likely[words[j]]
        _rows(local, words, m, beta, alpha)
        out = _dot(a, alpha, width)
        bound = out + _dot(b, beta, m) - _SLACK
        if bound <= limit:
            _mask(alpha, a)
            _columns(local, words, m, alpha, beta)
            bound = out + _dot(b, beta, m) - _SLACK
        if bound <= limit:
            _soften(local, words, m, a, b, alpha, beta, kernel)
            _rows(local, words, m, beta, alpha)
            _mask(alpha, a)
            _columns(local, words, m, alpha, beta)
            soft = _dot(a, alpha, width) + _dot(b, beta, m) - _SLACK
            bound = max(bound, soft)
        bounds[at] = bound
