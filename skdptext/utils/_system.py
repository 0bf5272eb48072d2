"""The process and its machine: files, packages, threads, what is made only once."""

from __future__ import annotations

import builtins
import importlib
import os
import secrets
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import IO, Any, Generic, Self, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")


# -- files that appear complete or not at all ---------------------------------------


@contextmanager
def replacing(target: Path) -> Iterator[IO[bytes]]:
    """A file beside `target` that replaces it once written without an error.

    After a crash, or from another process, either the old file or the new one is seen;
    a process that is killed leaves a hidden file.
    """
    # Not tempfile: only the owner may ever read its files, even after a rename
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


# -- packages that are imported where they are used ---------------------------------


def import_gensim(needed_by: str) -> Any:
    """gensim, or an error that says what needs it: some Pythons have no wheel of it."""
    return _import("gensim", needed_by, "install gensim, which needs Python < 3.14")


def import_pandas(needed_by: str) -> Any:
    """pandas, or an error that says what needs it and how to install it."""
    return _import("pandas", needed_by, "pip install pandas")


def import_pyarrow(needed_by: str) -> Any:
    """pyarrow, or an error that says what needs it and how to install it."""
    return _import(
        "pyarrow", needed_by, 'pip install pyarrow (the extra "arrow" of skdptext)'
    )


def _import(name: str, needed_by: str, remedy: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{needed_by} needs {name}: {remedy}.") from error


# -- results that are made once -----------------------------------------------------


class Memo(Generic[T]):
    """The results requested last, at most so many, by what they depend on.

    For what takes seconds and is the same in every fit of a search; otherwise an
    attribute, or `functools.lru_cache`, is enough. Two threads may both make a result.

    Examples
    --------
    >>> from skdptext.utils import Memo
    >>> squares = Memo(2)
    >>> [squares.get(x, lambda: x**2) for x in (2, 3, 2, 4)]
    [4, 9, 4, 16]
    >>> squares.get(2, lambda: "made once"), squares.get(3, lambda: "let go")
    (4, 'let go')
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: dict[Hashable, T] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result kept for a key; if there is none, `make` makes it."""
        try:
            result = self._made.pop(key)
        except KeyError:
            result = make()
        self._made[key] = result  # the latest is the last
        for old in list(self._made)[: -self._most]:
            self._made.pop(old, None)
        return result


# -- threads of the linear algebra library ------------------------------------------


@cache  # to look for them takes milliseconds, more than a short document does
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def blas_threads() -> int:
    """Threads that a matrix product takes."""
    blas = [each for each in _libraries().info() if each["user_api"] == "blas"]
    return max([1, *(each["num_threads"] for each in blas)])


def limit_blas_threads(n: int) -> AbstractContextManager[Any]:
    """Let each matrix product take `n` threads, in the whole process meanwhile."""
    limit: AbstractContextManager[Any] = _libraries().limit(limits=n, user_api="blas")
    return limit


class Threads:
    """Some threads of this process, to be used in a `with` statement.

    Unlike joblib's, which look for results every ten milliseconds, as long as a small
    search takes.

    Parameters
    ----------
    n : int, default=1
        1: the calling thread.
    """

    def __init__(self, n: int = 1) -> None:
        self.n = n
        self._pool = ThreadPoolExecutor(n) if n > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def each(self, run: Callable[[Any], object], items: Iterable[Any]) -> None:
        """Call `run` with each of the items; none more once one has raised."""
        for _ in (self._pool or builtins).map(run, items):
            pass
