"""The number of threads of the linear algebra library."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController

from skdptext.utils._locks import ProcessLock

__all__ = ["blas_threads", "limit_blas_threads"]


def blas_threads() -> int:
    """Threads that a matrix product takes."""
    limits = _limits  # read once: the last to leave may set it to None at any time
    if limits:  # by others, who will set it back
        return int(limits[0])
    return _counted(_libraries())


_known: tuple[int, ThreadpoolController] | None = None


def _libraries() -> ThreadpoolController:
    """The libraries that are loaded.

    To look for them takes milliseconds, more than a short document does: they are
    looked for again when modules have been imported since, which is how a library
    comes to be loaded.
    """
    global _known
    if _known is None or _known[0] != len(sys.modules):
        _known = len(sys.modules), ThreadpoolController()
    return _known[1]


def _counted(controller: ThreadpoolController) -> int:
    most = 1
    for library in controller.info():
        if library["user_api"] == "blas":
            most = max(most, library["num_threads"])
    return most


# Number of threads before the first user, and the first user's limit.
_limits: tuple[int, Any] | None = None
_users = 0
_set = 0  # the latest user's setting
_lock = ProcessLock()


@contextmanager
def limit_blas_threads(n: int) -> Iterator[None]:
    """Let each matrix product take `n` threads.

    The setting is global: the first user saves it and the last one restores it, so that
    releases may run concurrently. A change made by others in between is kept:
    scikit-learn's estimators limit it for a while, too.
    """
    global _users, _limits, _set
    with _lock():
        controller = _libraries()
        before = _counted(controller)
        limiter = controller.limit(limits=n, user_api="blas")
        _let_others_set(controller)
        _set = _counted(controller)
        if not _users:
            _limits = before, limiter
        _users += 1
    try:
        yield
    finally:
        with _lock():
            _users -= 1
            if not _users and _limits is not None:
                if _counted(controller) == _set:
                    _limits[1].restore_original_limits()
                    _let_others_set(controller)
                _limits = None


def _forget_users() -> None:
    """In a forked process, which lacks the threads that limit it."""
    global _users, _limits
    _users, _limits = 0, None


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forget_users)


def _let_others_set(controller: ThreadpoolController) -> None:
    """Allow the last user to restore what the first one set.

    threadpoolctl 3.8 silently ignores all threads but the one that set OpenBLAS first,
    until one of its blocks ends.
    """
    with controller.limit(limits=None):
        pass
