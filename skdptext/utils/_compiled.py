"""Compiling loops with numba, where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from skdptext.utils._locks import ProcessLock

__all__ = ["LoadedOnce", "compile_loops"]

_Loops = TypeVar("_Loops")


def compile_loops(build: Callable[[Callable[..., Any]], _Loops]) -> _Loops | None:
    """What `build` makes of numba's ``njit``; None where numba is not installed.

    Parameters
    ----------
    build : callable
        Given ``njit(**options)``, a decorator that releases the GIL and caches compiled
        code on disk. It must call each function once, with the types of its use: only
        then is it compiled and cached. Called again, without caching, if no folder is
        writable.
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


class LoadedOnce(Generic[_Loops]):
    """Decorate a loader: the first thread calls it, the others wait for its result.

    With `functools.cache` several threads could call it at once, and numba refuses to
    compile a function twice.
    """

    def __init__(self, loader: Callable[[], _Loops]) -> None:
        self.__wrapped__ = loader
        self._lock = ProcessLock()
        self._found: list[_Loops] = []

    def __call__(self) -> _Loops:
        """The result of the loader."""
        with self._lock():
            if not self._found:
                self._found.append(self.__wrapped__())
            return self._found[0]

    @property
    def loaded(self) -> bool:
        """Whether it has been called."""
        return bool(self._found)
