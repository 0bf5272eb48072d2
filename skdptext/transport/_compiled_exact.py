"""Exact problems of pairs, in loops for numba to compile.

To the last bit what `_exact` gives: entries are the same few operations in the same
order. Without numba they run too, slowly, and nobody calls them.
"""

from __future__ import annotations

import numpy as np

from skdptext.transport._exact import SAME, Problem

__all__ = ["gathered_problem", "looped_costs", "looped_pair_problem"]


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
    sums = np.empty((4, 128))
    tile = np.zeros((dim, 128))  # stays in the cache for all rows
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
