"""How many threads the linear algebra library takes, for a while."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["blas_threads", "limit_blas_threads"]


def blas_threads() -> int:
    """Threads that a matrix product takes."""
    limits = _limits  # one look: the last to leave may set it to None at any time
    if limits:  # by others, who will set it back
        return int(limits[0])
    return _counted(ThreadpoolController())


def _counted(controller: ThreadpoolController) -> int:
    counts = [p["num_threads"] for p in controller.info() if p["user_api"] == "blas"]
    return max(counts, default=1)


# How many threads there were before the first user came, and the first user's limit.
_limits: tuple[int, Any] | None = None
_users = 0
_set = 0  # what the last one to come left it at
_lock = threading.Lock()


@contextmanager
def limit_blas_threads(n: int) -> Iterator[None]:
    """Let each matrix product take `n` threads.

    The setting is the process's: the first user to come saves what the last one to
    leave restores, so that releases may run side by side. What somebody else has set
    in between is left as it is: scikit-learn's estimators limit it for a while, too.
    """
    global _users, _limits, _set
    with _lock:
        controller = ThreadpoolController()
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
        with _lock:
            _users -= 1
            if not _users and _limits is not None:
                if _counted(controller) == _set:
                    _limits[1].restore_original_limits()
                    _let_others_set(controller)
                _limits = None


def _let_others_set(controller: ThreadpoolController) -> None:
    """Allow the last one to leave to restore what the first one set.

    threadpoolctl 3.8 ignores, in silence, all threads but the one that set OpenBLAS
    first, until a block of that one ends.
    """
    with controller.limit(limits=None):
        pass
