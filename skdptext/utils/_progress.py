"""Progress bars for work that is started deep below the estimator that was asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

__all__ = ["progress", "show_progress"]

T = TypeVar("T")

_shown: ContextVar[bool] = ContextVar("skdptext_progress", default=False)


@contextmanager
def show_progress(verbose: int) -> Iterator[None]:
    """Let `progress` show its bars, where `verbose` is above 0, in this context."""
    token = _shown.set(verbose > 0)
    try:
        yield
    finally:
        _shown.reset(token)


def progress(items: Iterable[T], what: str) -> Iterable[T]:
    """The same items, with a bar while they are worked through, if bars are shown."""
    if not _shown.get():
        return items
    from tqdm.auto import tqdm

    return tqdm(items, desc=what, leave=False)
