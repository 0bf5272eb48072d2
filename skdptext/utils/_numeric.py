"""Bisection, and long loops in blocks of bounded memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import get_config


def bisect(
    holds: Callable[[float], bool],
    inside: float,
    outside: float,
    *,
    precision: float,
    geometric: bool = False,
) -> tuple[float, float]:
    """Narrow down where a condition on a number >= 0 stops to hold.

    `inside`, where it holds, and `outside`, where it does not, come closer until their
    difference is at most `precision` times the larger one; either may be the larger,
    and the condition is not asked about them. `geometric`: their ratio is halved.
    """
    while abs(outside - inside) > precision * max(inside, outside):
        middle = math.sqrt(inside * outside) if geometric else (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside, outside


def sparse_result(X: Any) -> Any:
    """X in CSR format, a sparse array or matrix as scikit-learn's own results are.

    ``sklearn.set_config(sparse_interface="sparray")`` asks for arrays, since 1.9.
    """
    rows = X.tocsr()
    asked = get_config().get("sparse_interface", "spmatrix")
    make = sp.csr_array if asked == "sparray" else sp.csr_matrix
    # Matrices narrow their indices by themselves, arrays do not, and some estimators of
    # scikit-learn refuse wide ones.
    fits = max(rows.nnz, *rows.shape) <= np.iinfo(np.int32).max
    width = np.int32 if fits else np.int64
    columns = rows.indices.astype(width, copy=False)
    starts = rows.indptr.astype(width, copy=False)
    return make((rows.data, columns, starts), shape=rows.shape)


def blocks(n: int, size: int) -> Iterator[slice]:
    """Slices that cover ``range(n)``, each of at most `size`; none where n is 0.

    scikit-learn's `gen_batches` refuses n = 0, and takes twenty times as long.
    """
    starts = range(0, n, size)
    return map(slice, starts, (*starts[1:], n))


def runs(offsets: np.ndarray, size: float, most: float = float("inf")) -> list[slice]:
    """Slices of rows that hold at most `size` entries and are at most `most`.

    A row with more entries is a slice of its own. `offsets` says where each row starts,
    and where the last one ends, as ``indptr`` of a sparse matrix.
    """
    parts: list[slice] = []
    start, n = 0, len(offsets) - 1
    while start < n:
        stop = int(np.searchsorted(offsets, offsets[start] + size, side="right")) - 1
        stop = int(min(max(stop, start + 1), start + most))
        parts.append(slice(start, stop))
        start = stop
    return parts


def half_squared_norms(vectors: np.ndarray) -> np.ndarray:
    """½‖φ‖² of every row, in float64, without a float64 copy of the embedding."""
    out = np.empty(len(vectors))
    for rows in blocks(len(vectors), 4096):
        block = vectors[rows].astype(np.float64)
        out[rows] = 0.5 * np.einsum("ij,ij->i", block, block)
    return out


def working_memory_bytes() -> int:
    """scikit-learn's ``working_memory`` setting, in bytes."""
    return int(get_config()["working_memory"] * 2**20)
