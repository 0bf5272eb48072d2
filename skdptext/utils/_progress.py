"""Progress bars for work that takes seconds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self, TypeVar

__all__ = ["progress", "progress_bar", "show_progress"]

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
    """The same items, with a progress bar if bars are shown.

    For work deep below the call that takes `verbose`.
    """
    if not _shown.get():
        return items
    from tqdm.auto import tqdm

    return tqdm(items, desc=what, leave=False)


def progress_bar(
    verbose: int, description: str, *, total: int | None = None, unit: str = "word"
) -> Any:
    """A bar of tqdm, to be used in a `with` statement.

    Parameters
    ----------
    verbose : int
        0: nothing is shown.
    description : str
    total : int, default=None
        None: not known.
    unit : str, default="word"

    Returns
    -------
    bar : tqdm.tqdm, or an object with its methods that shows nothing
    """
    if not verbose:
        return _NoBar()
    from tqdm.auto import tqdm

    return tqdm(desc=description, total=total, unit=unit)


class _NoBar:
    """Not a disabled bar of tqdm: even that takes a lock which forked processes share.

    One that is killed while it holds the lock stops all others.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        pass

    def update(self, n: float = 1) -> None:
        pass

    def close(self) -> None:
        pass
