"""The memory that a block of a test takes, and whether it is that of a file."""

from __future__ import annotations

import contextlib
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np


@dataclass
class Memory:
    """Bytes at the most and at the end of a block that has ended."""

    peak: int = 0
    held: int = 0


@contextlib.contextmanager
def traced_memory() -> Iterator[Memory]:
    """Bytes of all that is allocated in the block."""
    memory = Memory()
    tracemalloc.start()
    try:
        yield memory
        memory.held, memory.peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()


def mappings(array) -> list[np.memmap]:
    """The memory maps that an array stands on."""
    maps = []
    while isinstance(array, np.ndarray):
        maps += [array] if isinstance(array, np.memmap) else []
        array = array.base
    return maps


def mapped_file(array) -> str | None:
    """Name of the file that an array is a memory map of."""
    maps = mappings(array)
    return str(maps[-1].filename) if maps else None


def peak_beyond_output(perturber, documents) -> int:
    """Bytes of a release beyond the bags that it gives."""
    with traced_memory() as memory:
        noisy = perturber.transform(documents)
    return memory.peak - sum(
        a.nbytes for a in (noisy.data, noisy.indices, noisy.indptr)
    )
