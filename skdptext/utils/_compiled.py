"""Compiling loops with numba, where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["compile_loops"]

_Loops = TypeVar("_Loops")


def compile_loops(build: Callable[[Callable[..., Any]], _Loops]) -> _Loops | None:
    """What `build` makes of numba's ``njit``; None where numba is not installed.

    Parameters
    ----------
    build : callable
        Given ``njit(**options)``, a decorator that releases Python's lock and keeps
        what it compiled on disk. Must call each function once, with the types of its
        use: only then is it compiled and written. Called a second time, without the
        disk, where there is no folder to write to.
    """
    try:
        from numba import njit
    except ImportError:
        return None

    def decorator(cache: bool) -> Callable[..., Any]:
        return lambda **options: njit(nogil=True, cache=cache, **options)

    try:
        return build(decorator(True))
    except (OSError, RuntimeError):  # no folder to keep them in, or none to write to
        return build(decorator(False))
