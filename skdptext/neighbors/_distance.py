"""Exact Word Mover's Distance of two bags, equal to the last bit for all callers.

It depends on the two bags alone, not on their order or on other bags of the call.
Duplicates therefore tie exactly, and a search sees the same ties as brute force.
"""

from collections.abc import Callable
from functools import cache
from math import frexp, ldexp
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

Array = np.ndarray
Bag = tuple[Array, Array]  # ids of words, ascending, and their masses

# Binary digits of a distance. Distances that are equal in exact arithmetic come from
# different sums. Rounded to these digits they tie, and ties go to the first document.
_BITS = 42
# From so many pairs of words on, costs are computed by a matrix product and reduced
# before POT solves the problem. Each of the two then saves more time than it takes.
_MANY = 1024
# Masses are rounded twice. Masses that differ by less are treated as equal.
_SAME = 4 * 2.0**-52
# The share of the least cost of a word that its potential takes. The rest leaves a
# choice to the potentials of the other side. Any share in (0, 1] is feasible.
DAMPING = 0.75


@cache
def solver() -> Callable[..., Any]:
    """Import POT's network simplex late, because POT loads every installed backend."""
    from ot.lp.emd_wrap import emd_c

    return emd_c


def as_bags(X: sp.csr_array) -> sp.csr_array:
    """Scale the rows of a canonical matrix of weights to mass 1.

    Rows are divided by their largest weight first. No sum overflows then, and
    proportional bags (a text written twice) become equal to the last bit.
    """
    bags, sizes = X.copy(), np.diff(X.indptr)
    starts, sizes = X.indptr[:-1][sizes > 0], sizes[sizes > 0]
    for total in (np.maximum, np.add):
        bags.data /= total.reduceat(bags.data, starts).repeat(sizes)
    bags.eliminate_zeros()  # a quotient may underflow
    return bags


def bag_of(bags: sp.csr_array, i: int) -> Bag:
    """Get words and masses of row `i` as views."""
    part = slice(bags.indptr[i], bags.indptr[i + 1])
    return bags.indices[part], bags.data[part]


def transport(a: Array, b: Array, costs: Array) -> tuple[Array, float]:
    """Find a cheapest plan to move masses `a` to `b`, both of sum 1, and its cost.

    Raises
    ------
    RuntimeError
        If the solver does not report an optimum. It fails silently: for masses that
        differ it returns code 0 and cost 0.
    """
    # The tolerance is absolute: with costs near 1e-15 the solver returns a wrong plan
    # and code 1. A power of two brings them near 1 and changes no digit.
    unit = 2.0 ** frexp(costs.max())[1]
    plan, cost, _, _, code = solver()(a, b, costs / unit, 0, 1)
    if code != 1:
        raise RuntimeError(
            f"The exact transport solver returned code {code} instead of 1 (optimal) "
            f"for masses of {len(a)} and {len(b)} words."
        )
    return plan, cost * unit


def one_hot_distances(x: Bag, bags: sp.csr_array) -> Array:
    """Compute distances if all words are √2 apart: √2 times the total variation.

    The variation is rounded to 13 decimals: it is a sum of fractions of counts, whose
    many ties must not be broken by the order of the additions.
    """
    mine = np.zeros(bags.shape[1])
    mine[x[0]] = x[1]
    rows = np.repeat(np.arange(bags.shape[0]), np.diff(bags.indptr))
    shared = np.minimum(mine[bags.indices], bags.data)
    overlap = np.bincount(rows, weights=shared, minlength=bags.shape[0])
    return np.sqrt(2.0) * np.maximum(np.round(1.0 - overlap, 13), 0.0)


def word_movers(x: Bag, y: Bag, vectors: Array, apart: bool = False) -> float:
    """Compute the Word Mover's Distance of two bags from the vectors of all words.

    `apart` says that the caller removed the mass that the bags share.
    """
    words, a, others, b = (*x, *y) if apart else _residual(x, y)
    if not len(a) or not len(b):
        return 0.0
    # The solver is not symmetric. The residuals share no word, so this order is strict,
    # and d(x, y) == d(y, x) to the last bit.
    if (len(b), others[0]) < (len(a), words[0]):
        words, a, others, b = others, b, words, a
    at, to = (vectors.take(ids, axis=0).astype(np.float64) for ids in (words, others))
    mass, b = a.sum(), b / b.sum()
    a = a / mass
    if len(a) * len(b) < _MANY:
        _, cost = transport(a, b, cdist(at, to))
    else:
        # Subtracting feasible potentials does not change the best plans, and the solver
        # then takes fewer steps.
        costs = _by_product(at, to)
        costs -= (costs - DAMPING * costs.min(axis=0)).min(axis=1)[:, None]
        costs -= costs.min(axis=0)
        plan, _ = transport(a, b, costs)
        i, j = np.unravel_index((plan > 0.0).ravel().nonzero()[0], plan.shape)
        steps = at.take(i, axis=0)
        steps -= to.take(j, axis=0)
        cost = float(plan[i, j] @ np.sqrt(np.einsum("ij,ij->i", steps, steps)))
    mantissa, exponent = frexp(mass * cost)
    return ldexp(round(ldexp(mantissa, _BITS)), exponent - _BITS)


def _by_product(x: Array, y: Array) -> Array:
    """Compute distances between rows in a quarter of the time of `cdist`.

    Where the product cancels, distances are computed from differences. The others lead
    to the same plan: their error is below the precision of a distance.
    """
    norms = [np.einsum("ij,ij->i", points, points) for points in (x, y)]
    squares = x @ y.T
    squares *= -2.0
    squares += norms[0][:, None]
    squares += norms[1]
    i, j = (squares < 1e-3 * max(norms[0].max(), norms[1].max())).nonzero()
    squares[i, j] = ((x[i] - y[j]) ** 2).sum(axis=1)
    return np.sqrt(squares, out=squares)


def cancel(a: Array, b: Array) -> tuple[Array, Array]:
    """Remove what two masses of the same word share."""
    more = a - b
    more[np.abs(more) <= _SAME * a] = 0.0
    return np.maximum(more, 0.0), np.maximum(-more, 0.0)


def _residual(x: Bag, y: Bag) -> tuple[Array, Array, Array, Array]:
    """Remove the mass that both bags share, and return words and masses of the rest.

    The ground cost is a metric, so some optimal plan leaves shared mass where it is.
    """
    (words, a), (others, b) = x, y
    # Methods are faster than NumPy's functions, whose call dominates for a dozen words.
    at = others.searchsorted(words)
    i = (others.take(at, mode="clip") == words).nonzero()[0]
    if not len(i):
        return words, a, others, b
    j = at[i]
    a, b = a.copy(), b.copy()
    a[i], b[j] = cancel(a[i], b[j])
    i, j = a.nonzero()[0], b.nonzero()[0]
    return words[i], a[i], others[j], b[j]
