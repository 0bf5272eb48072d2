"""Exact Word Mover's Distance, the same to the last bit wherever it is computed.

A pair's distance depends on the two bags alone: not on which comes first, nor on what
else is computed with it. So duplicates tie exactly, and every caller sees the ties
that brute force sees. Distances are rounded to `BITS` binary digits: those that are
equal in exact arithmetic come as different sums, and must not be ordered by how these
were rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import frexp
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from skdptext.transport._bags import Bag, WordBags

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

_SQRT2 = float(np.sqrt(2.0))


def residual(
    bag: Bag, other: Bag
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Take away the mass that two bags share.

    The ground cost is a metric, so some optimal plan leaves shared mass where it is.

    Returns
    -------
    x_rows, x_left, y_rows, y_left : ndarrays
        Positions within the ids of each that keep mass, and that mass. No word is on
        both sides.
    """
    (x_ids, x), (y_ids, y) = bag, other
    # methods, not functions: for a dozen words the calls are most of the cost
    at = y_ids.searchsorted(x_ids)
    in_x = (y_ids.take(at, mode="clip") == x_ids).nonzero()[0]
    if not len(in_x):
        return np.arange(len(x)), x, np.arange(len(y)), y
    in_y = at[in_x]
    x_left, y_left = x.copy(), y.copy()
    shared = x[in_x]
    left = shared - y[in_y]
    left[np.abs(left) <= SAME * shared] = 0.0
    x_left[in_x] = np.maximum(left, 0.0)
    y_left[in_y] = np.maximum(-left, 0.0)
    x_rows, y_rows = x_left.nonzero()[0], y_left.nonzero()[0]
    return x_rows, x_left[x_rows], y_rows, y_left[y_rows]


def transport_cost(a: np.ndarray, b: np.ndarray, costs: np.ndarray) -> float:
    """Least cost of moving the masses `a` onto `b`, both non-empty and positive.

    Raises
    ------
    RuntimeError
        If the solver does not report an optimum. It fails silently: for masses that
        differ it returns code 0 and cost 0.
    """
    moved = _sum(a)
    if len(a) == 1:
        return moved * _sum(costs[0] * (b / _sum(b)))
    if len(b) == 1:
        return moved * _sum(costs[:, 0] * (a / moved))
    # The solver's tolerance is absolute: with costs near 1e-15 it returns a wrong plan
    # and code 1. A power of two brings them near 1 and changes no digit.
    scale = 2.0 ** -frexp(float(costs.max()))[1]
    scaled = np.ascontiguousarray(costs * scale)
    a, b = a / moved, b / _sum(b)
    known = 0.0
    if scaled.size >= WORTH_REDUCING:
        known = _reduce(a, b, scaled)
    result = solver()(a, b, scaled, 0, 1)
    cost, code = known + float(result[1]), result[4]
    if code != 1:
        raise RuntimeError(
            f"The exact transport solver returned code {code} instead of 1 (optimal) "
            f"for masses of {len(a)} and {len(b)} words."
        )
    return moved * (cost / scale)


@cache  # importing it in each call would take two microseconds
def solver() -> Callable[..., Any]:
    """POT's network simplex, imported late: POT loads every backend it finds."""
    from ot.lp.emd_wrap import emd_c

    return emd_c


def _reduce(a: np.ndarray, b: np.ndarray, costs: np.ndarray) -> float:
    """Subtract feasible potentials from the costs, and return their value.

    The optimal plans stay the same, and the solver finds one in fewer steps.
    """
    work = costs - DAMPING * costs.min(axis=0)
    alpha = work.min(axis=1)
    costs -= alpha[:, None]
    beta = costs.min(axis=0)
    costs -= beta
    return _sum(a * alpha) + _sum(b * beta)


def _sum(numbers: np.ndarray) -> float:
    # from first to last, as a loop adds them up: `sum` uses another order
    return float(np.add.accumulate(numbers)[-1])


def word_costs(vectors: np.ndarray, x_ids: np.ndarray, y_ids: np.ndarray) -> np.ndarray:
    """Distances between words, float64 and C-contiguous.

    `cdist` subtracts before it squares: no cancellation between close vectors, and an
    entry does not depend on the shape of the matrix, as a product's does.
    """
    return cdist(vectors[x_ids], vectors[y_ids])


Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


def pair_problem(x: Bag, y: Bag, vectors: np.ndarray) -> Problem:
    """`problem_from`, with costs from the vectors of all words."""
    return problem_from(x, y, lambda i, j: word_costs(vectors, x[0][i], y[0][j]))


def problem_from(
    x: Bag, y: Bag, costs_of: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> Problem:
    """Residual masses of two bags and their costs, in an order that the bags decide.

    Both masses are empty where the bags are equal. `costs_of` gives the costs of words
    by their places in the two bags.
    """
    x_rows, x_left, y_rows, y_left = residual(x, y)
    if not len(x_rows) or not len(y_rows):
        return np.empty(0), np.empty(0), np.empty((0, 0))
    costs = costs_of(x_rows, y_rows)
    # Residuals share no word, so this order is strict and d(x, y) == d(y, x) exactly.
    if (len(y_rows), y[0][y_rows[0]]) < (len(x_rows), x[0][x_rows[0]]):
        return y_left, x_left, costs.T
    return x_left, y_left, costs


def pair_distance(x: Bag, y: Bag, vectors: np.ndarray) -> float:
    """Word Mover's Distance between two non-empty bags of mass 1.

    Parameters
    ----------
    x, y : pairs of ndarrays
        Words, ascending, and their masses, as from `WordBags.row`.
    vectors : ndarray of shape (n_words, dim)
    """
    a, b, costs = pair_problem(x, y, vectors)
    return float(rounded(np.array(transport_cost(a, b, costs)))) if len(a) else 0.0


def rounded(distances: np.ndarray) -> np.ndarray:
    """Distances to 42 binary digits, which is more than 12 decimal ones."""
    mantissas, exponents = np.frexp(distances)
    return np.ldexp(np.rint(np.ldexp(mantissas, BITS)), exponents - BITS)


def one_hot_distances(bag: Bag, bags: WordBags, n_words: int) -> np.ndarray:
    """Distances when all words are √2 apart: √2 times the total variation.

    The variation is rounded to 13 decimals: it is a sum of fractions of counts, whose
    many ties must not be broken by the order of the additions.
    """
    mine = np.zeros(n_words)
    mine[bag[0]] = bag[1]
    shared = np.minimum(mine[bags.ids], bags.weights)
    rows = np.repeat(np.arange(len(bags)), bags.sizes)
    overlap = np.bincount(rows, weights=shared, minlength=len(bags))
    return _SQRT2 * np.maximum(np.round(1.0 - overlap, 13), 0.0)
