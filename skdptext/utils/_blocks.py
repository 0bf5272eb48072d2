"""Dividing long loops into blocks of bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

from sklearn import get_config

__all__ = ["blocks", "working_memory_bytes"]


def blocks(n: int, size: int) -> Iterator[slice]:
    """Slices that cover ``range(n)``, each of at most `size`; none where n is 0.

    scikit-learn's `gen_batches` refuses n = 0, and takes twenty times as long.
    """
    starts = range(0, n, size)
    return map(slice, starts, (*starts[1:], n))


def working_memory_bytes() -> int:
    """scikit-learn's ``working_memory`` setting, in bytes."""
    return int(get_config()["working_memory"] * 2**20)
