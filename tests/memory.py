"""The memory that a block of a test takes."""

from __future__ import annotations

import contextlib
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass
class Memory:
    """Bytes at the most in a block that has ended."""

    peak: int = 0


@contextlib.contextmanager
def traced_memory() -> Iterator[Memory]:
    """Bytes of all that is allocated in the block."""
    memory = Memory()
    tracemalloc.start()
    try:
        yield memory
        _, memory.peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
