"""Dividing long loops into blocks of bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn import get_config

__all__ = ["blocks", "runs", "working_memory_bytes"]


def blocks(n: int, size: int) -> Iterator[slice]:
    """Slices that cover ``range(n)``, each of at most `size`; none where n is 0.

    scikit-learn's `gen_batches` refuses n = 0, and takes twenty times as long.
    """
    starts = range(0, n, size)
    return map(slice, starts, (*starts[1:], n))


def runs(
    offsets: np.ndarray, size: float, most: float = float("inf")
) -> Iterator[slice]:
    """Slices of rows that hold at most `size` entries and are at most `most`.

    A row with more entries is a slice of its own. `offsets` says where each row starts,
    and where the last one ends, as ``indptr`` of a sparse matrix.
    """
    start, n = 0, len(offsets) - 1
    while start < n:
        stop = int(np.searchsorted(offsets, offsets[start] + size, side="right")) - 1
        stop = int(min(max(stop, start + 1), start + most))
        yield slice(start, stop)
        start = stop


def working_memory_bytes() -> int:
    """scikit-learn's ``working_memory`` setting, in bytes."""
    return int(get_config()["working_memory"] * 2**20)
