"""Exact problems of pairs, in loops for numba to compile.

Results equal those of `_exact` to the last bit: entries are the same few operations in
the same order. Without numba these functions would run slowly, and nothing calls them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import frexp, ldexp

import numpy as np

from skdptext.transport._compiled_bounds import _least
from skdptext.transport._exact import DAMPING, SAME, WORTH_REDUCING, Problem
from skdptext.transport._solver import run_solver

__all__ = [
    "gathered_problem",
    "looped_cost",
    "looped_costs",
    "looped_distance",
    "looped_pair_problem",
    "make_block",
]


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


def looped_pair_problem(
    x_ids: np.ndarray,
    x: np.ndarray,
    y_ids: np.ndarray,
    y: np.ndarray,
    vectors: np.ndarray,
) -> Problem:
    """`pair_problem`."""
    x_rows, x_left, y_rows, y_left, swapped = _residual(x_ids, x, y_ids, y)
    if swapped:
        x_ids, x_rows, x_left, y_ids, y_rows, y_left = (
            y_ids, y_rows, y_left, x_ids, x_rows, x_left,
        )  # fmt: skip
    n, m, dim = len(x_rows), len(y_rows), vectors.shape[1]
    rows = np.empty((n, dim))
    for i in range(n):
        for d in range(dim):
            rows[i, d] = vectors[x_ids[x_rows[i]], d]
    columns = np.empty((dim, m))
    for j in range(m):
        for d in range(dim):
            columns[d, j] = vectors[y_ids[y_rows[j]], d]
    return x_left, y_left, looped_costs(rows, columns)


def gathered_problem(
    x_ids: np.ndarray,
    x: np.ndarray,
    y_ids: np.ndarray,
    y: np.ndarray,
    costs: np.ndarray,
    at: np.ndarray,
) -> Problem:
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
    cost = np.zeros(1)
    code = run_solver(address, a, b, costs, np.zeros((n, m)), alpha, beta, cost)
    if code != 1:
        return np.nan
    return moved * ((total + cost[0]) / scale)


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


def looped_distance(
    address: int,
    x_ids: np.ndarray,
    x: np.ndarray,
    y_ids: np.ndarray,
    y: np.ndarray,
    vectors: np.ndarray,
) -> float:
    """`pair_distance`; NaN where the solver does not report an optimum."""
    a, b, costs = looped_pair_problem(x_ids, x, y_ids, y, vectors)
    return looped_cost(address, a, b, costs) if len(a) else 0.0


def make_block(digest: int) -> Callable[..., int]:
    """The distances of a bag to a block of bags.

    numba caches it on disk. It checks the file of a cached function, but not those of
    the functions that this one calls. It does check what a function closes over: the
    `digest` of all these files.
    """

    def looped_block(
        address: int,
        x_ids: np.ndarray,
        x: np.ndarray,
        starts: np.ndarray,
        ids: np.ndarray,
        weights: np.ndarray,
        columns: np.ndarray,
        costs: np.ndarray,
        first: int,
        out: np.ndarray,
    ) -> int:
        """Distances of a bag to those from number `first` on, into `out`.

        Parameters
        ----------
        costs : ndarray of shape (len(x_ids), n_columns), float64
        columns : ndarray
            The column of `costs` for each word of the bags.

        Returns
        -------
        digest : int
        """
        for bag in range(first, len(starts) - 1):
            low, high = starts[bag], starts[bag + 1]
            a, b, some = gathered_problem(
                x_ids, x, ids[low:high], weights[low:high], costs, columns[low:high]
            )
            out[bag - first] = looped_cost(address, a, b, some) if len(a) else 0.0
        return digest

    return looped_block
