"""The process and its machine: files, packages, threads, what is made only once."""

from __future__ import annotations

import builtins
import importlib
import os
import re
import secrets
import sys
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Generic, Self, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")


# -- files that appear complete or not at all ---------------------------------------

try:
    import fcntl
except ImportError:  # Windows, which cannot delete or rename an open file
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replacing(target: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """A file beside `target` that replaces it once written without an error.

    After a crash, or from another process, either the old file or the new one is seen.
    Remains of killed processes beside the same target are deleted first. Only the owner
    may read a file that is `private`.
    """
    _delete_abandoned(target)
    file, temporary = _open_locked(target, 0o600 if private else 0o666)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if fcntl:
                os.replace(temporary, target)  # before the lock ends
        if not fcntl:
            os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _open_locked(target: Path, mode: int) -> tuple[IO[bytes], Path]:
    """A new file; the lock, which ends with the process, says that it is in use."""
    while True:
        # Not tempfile: only the owner may ever read its files, even after a rename
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
        file = open(  # noqa: SIM115
            temporary, "xb", opener=lambda path, flags: os.open(path, flags, mode)
        )
        if fcntl:
            _is_locked(file, 0)
        if temporary.exists():
            return file, temporary
        file.close()  # another save came between the two calls and deleted it


def _delete_abandoned(target: Path) -> None:
    """Delete the remains of killed processes beside a target."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{16}}\.tmp")
    with suppress(OSError):  # no such folder: reported where the file is opened
        for path in target.parent.iterdir():
            if pattern.fullmatch(path.name):
                with suppress(OSError), open(path, "r+b") as file:
                    if fcntl is None or _is_locked(file, fcntl.LOCK_NB):
                        path.unlink()


def _is_locked(file: IO[bytes], wait: int) -> bool:
    """Whether the file is locked for this process now."""
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | wait)
    except OSError:  # locked by another, or a file system without locks
        return False
    return True


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
_lock = threading.RLock()


@contextmanager
def limit_blas_threads(n: int) -> Iterator[None]:
    """Let each matrix product take `n` threads.

    The setting is global: the first user saves it and the last one restores it, so that
    releases may run concurrently. A change made by others in between is kept:
    scikit-learn's estimators limit it for a while, too.
    """
    global _users, _limits, _set
    with _lock:
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
        with _lock:
            _users -= 1
            if not _users and _limits is not None:
                if _counted(controller) == _set:
                    _limits[1].restore_original_limits()
                    _let_others_set(controller)
                _limits = None


def _let_others_set(controller: ThreadpoolController) -> None:
    """Allow the last user to restore what the first one set.

    threadpoolctl 3.8 silently ignores all threads but the one that set OpenBLAS first,
    until one of its blocks ends.
    """
    with controller.limit(limits=None):
        pass


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
