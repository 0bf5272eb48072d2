"""Exact Word Mover's Distance of two bags, the same to the last bit for all callers.

It depends on the two bags alone: not on which comes first, nor on what else is
computed with it. So duplicates tie exactly, and a search sees the ties that brute
force sees.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

Array = np.ndarray
Bag = tuple[Array, Array]  # ids of words, ascending, and their masses

# Binary digits of a distance. Those that are equal in exact arithmetic come as
# different sums: rounded, they tie, and ties go to the document that comes first.
_BITS = 42
# Pairs of words from which on costs come by a product, and are reduced before POT
# solves the problem: each saves more than it takes.
MANY = 1024
# Masses are rounded twice; those that differ by less are taken as equal.
_SAME = 4 * 2.0**-52
# The share of the least cost of a word that its potential takes: what is left gives the
# potentials of the other side something to choose. Any share in (0, 1] is feasible.
DAMPING = 0.75


@cache
def solver() -> Callable[..., Any]:
    """POT's network simplex, imported late: POT loads every backend that it finds."""
    from ot.lp.emd_wrap import emd_c

    return emd_c


def as_bags(X: sp.csr_array) -> sp.csr_array:
    """The rows of a canonical matrix of weights, each with mass 1.

    Rows are divided by their largest weight first, so that no sum overflows and that
    bags in proportion (twice the same text) become equal to the last bit.
    """
    bags, sizes = X.copy(), np.diff(X.indptr)
    starts, sizes = X.indptr[:-1][sizes > 0], sizes[sizes > 0]
    for total in (np.maximum, np.add):
        bags.data /= total.reduceat(bags.data, starts).repeat(sizes)
    bags.eliminate_zeros()  # a quotient may underflow
    return bags


def bag_of(bags: sp.csr_array, i: int) -> Bag:
    """Words and masses of row `i`, as views."""
    part = slice(bags.indptr[i], bags.indptr[i + 1])
    return bags.indices[part], bags.data[part]


def transport_plan(a: Array, b: Array, costs: Array) -> Array:
    """A cheapest way to move the masses `a` onto `b`, both positive and of one sum.

    Raises
    ------
    RuntimeError
        If the solver does not report an optimum. It fails silently: for masses that
        differ it returns code 0 and cost 0.
    """
    if len(a) == 1 or len(b) == 1:
        return np.multiply.outer(a / a.sum(), b)
    scaled = costs.copy()
    if scaled.size >= MANY:
        # without feasible potentials the best plans are the same, found in fewer steps
        scaled -= (scaled - DAMPING * scaled.min(axis=0)).min(axis=1)[:, None]
        scaled -= scaled.min(axis=0)
    # The tolerance is absolute: with costs near 1e-15 the solver returns a wrong plan
    # and code 1. A power of two brings them near 1 and changes no digit.
    scaled *= 2.0 ** -np.frexp(scaled.max())[1]
    mass = a.sum()
    plan, _, _, _, code = solver()(a / mass, b / b.sum(), scaled, 0, 1)
    if code != 1:
        raise RuntimeError(
            f"The exact transport solver returned code {code} instead of 1 (optimal) "
            f"for masses of {len(a)} and {len(b)} words."
        )
    return plan * mass


def one_hot_distances(x: Bag, bags: sp.csr_array) -> Array:
    """Distances to bags when all words are √2 apart: √2 times the total variation.

    The variation is rounded to 13 decimals: it is a sum of fractions of counts, whose
    many ties must not be broken by the order of the additions.
    """
    mine = np.zeros(bags.shape[1])
    mine[x[0]] = x[1]
    rows = np.repeat(np.arange(bags.shape[0]), np.diff(bags.indptr))
    shared = np.minimum(mine[bags.indices], bags.data)
    overlap = np.bincount(rows, weights=shared, minlength=bags.shape[0])
    return np.sqrt(2.0) * np.maximum(np.round(1.0 - overlap, 13), 0.0)


def word_movers(x: Bag, y: Bag, vectors: Array) -> float:
    """Word Mover's Distance of two bags, by the vectors of all words."""
    words, a, others, b = _residual(x, y)
    if not len(a) or not len(b):
        return 0.0
    # the residuals share no word, so that this order is strict, and d(x, y) == d(y, x)
    if (len(b), others[0]) < (len(a), words[0]):
        words, a, others, b = others, b, words, a
    at, to = (vectors[ids].astype(np.float64) for ids in (words, others))
    if len(a) * len(b) < MANY:
        costs = cdist(at, to)
        cost = float((transport_plan(a, b, costs) * costs).sum())
    else:
        plan = transport_plan(a, b, _by_product(at, to))
        i, j = plan.nonzero()
        steps = at[i] - to[j]
        cost = float(plan[i, j] @ np.sqrt(np.einsum("ij,ij->i", steps, steps)))
    mantissa, exponent = np.frexp(cost)
    return float(np.ldexp(np.rint(np.ldexp(mantissa, _BITS)), exponent - _BITS))


def _by_product(x: Array, y: Array) -> Array:
    """Distances between rows, a quarter of the time of `cdist`.

    Where a product cancels, they come by differences. The others choose the same plan:
    they are off by less than a distance keeps digits.
    """
    norms = [np.einsum("ij,ij->i", points, points) for points in (x, y)]
    squares = x @ y.T
    squares *= -2.0
    squares += norms[0][:, None]
    squares += norms[1]
    i, j = (squares < 1e-3 * max(norms[0].max(), norms[1].max())).nonzero()
    squares[i, j] = ((x[i] - y[j]) ** 2).sum(axis=1)
    return np.sqrt(squares, out=squares)


def _residual(x: Bag, y: Bag) -> tuple[Array, Array, Array, Array]:
    """Words and masses of both without what they share.

    The ground cost is a metric, so some optimal plan leaves shared mass where it is.
    """
    (words, a), (others, b) = x, y
    # methods, not functions: for a dozen words the calls are most of the cost
    at = others.searchsorted(words)
    i = (others.take(at, mode="clip") == words).nonzero()[0]
    if not len(i):
        return words, a, others, b
    j = at[i]
    more = a[i] - b[j]
    more[np.abs(more) <= _SAME * a[i]] = 0.0
    a, b = a.copy(), b.copy()
    a[i], b[j] = np.maximum(more, 0.0), np.maximum(-more, 0.0)
    i, j = a.nonzero()[0], b.nonzero()[0]
    return words[i], a[i], others[j], b[j]
