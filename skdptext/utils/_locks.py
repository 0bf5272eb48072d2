"""Locks that a forked process does not inherit."""

from __future__ import annotations

import os
import threading
from weakref import WeakSet

__all__ = ["ProcessLock"]


class ProcessLock:
    """A reentrant lock of this process: ``with lock(): ...``.

    A forked process lacks the threads that may hold a lock, and would wait for them
    forever: it gets a new one.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _all.add(self)

    def __call__(self) -> threading.RLock:
        """The lock; what forks while it holds it releases the one that it took."""
        return self._lock


_all: WeakSet[ProcessLock] = WeakSet()


def _renew() -> None:
    for lock in _all:
        lock._lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_renew)
