"""The process and its machine: files, packages, threads, what is made only once."""

from __future__ import annotations

import builtins
import importlib
import os
import re
import secrets
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Generic, Self, TypeVar
from weakref import WeakSet

from threadpoolctl import ThreadpoolController

T = TypeVar("T")


# -- files that appear complete or not at all ---------------------------------------

try:
    import fcntl
except ImportError:  # Windows, which cannot delete or rename an open file
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replacing(
    target: Path, *, tidy: bool = True, private: bool = False
) -> Iterator[IO[bytes]]:
    """A file beside `target` that replaces it once written without an error.

    After a crash, or from another process, either the old file or the new one is seen.
    Remains of killed processes beside the same target are deleted first, unless `tidy`
    is False: it lists the folder, which is slow for each of many files. Only the owner
    may read a file that is `private`.
    """
    if tidy:
        delete_abandoned(target.parent, target.name)
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


def delete_abandoned(folder: Path, name: str | None = None) -> None:
    """Delete the remains of killed processes beside one target, or beside all."""
    target = ".+" if name is None else re.escape(name)
    pattern = re.compile(rf"\.{target}\.[0-9a-f]{{16}}\.tmp")
    with suppress(OSError):  # no such folder: reported where the file is opened
        for path in folder.iterdir():
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

# Held while a release imports or compiles. A fork waits for it: Python keeps a lock for
# each module that is being imported, and a process that is forked meanwhile would wait
# forever for the thread that holds it.
loading = threading.RLock()

if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(
        before=loading.acquire,
        after_in_parent=loading.release,
        after_in_child=loading.release,
    )


def import_gensim(needed_by: str) -> Any:
    """gensim, or an error that says what needs it: some Pythons have no wheel of it."""
    return _import("gensim", needed_by, "install gensim, which needs Python < 3.14")


def import_pandas(needed_by: str) -> Any:
    """pandas, or an error that says what needs it and how to install it."""
    return _import("pandas", needed_by, "pip install pandas")


def import_floret(needed_by: str) -> Any:
    """floret, or an error that says what needs it and how to install it."""
    return _import("floret", needed_by, "pip install floret")


def import_pyarrow(needed_by: str) -> Any:
    """pyarrow, or an error that says what needs it and how to install it."""
    return _import(
        "pyarrow", needed_by, 'pip install pyarrow (the extra "arrow" of skdptext)'
    )


def _import(name: str, needed_by: str, remedy: str) -> Any:
    try:
        with loading:
            return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{needed_by} needs {name}: {remedy}.") from error


# -- locks that a forked process does not inherit -----------------------------------


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


# -- results that are made once -----------------------------------------------------


class memo_property(cached_property[T]):  # noqa: N801, as cached_property
    """A property of an object that is computed once, as of Python 3.12.

    `functools.cached_property` of Python 3.11 lets one thread at a time compute the
    property of any object: the others wait, and so does, forever, a process that is
    forked meanwhile.
    """

    if not TYPE_CHECKING:  # the same types

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            # asked for only where the object itself has no attribute of that name
            made = instance.__dict__[self.attrname] = self.func(instance)
            return made


class Memo(Generic[T]):
    """The results requested last, keyed by what they depend on.

    `most` is how much is kept, in the unit of the sizes; a callable is asked each time.

    Examples
    --------
    >>> from skdptext.utils import Memo
    >>> squares = Memo(2)
    >>> [squares.get(x, lambda: x**2) for x in (2, 3, 2, 4)]
    [4, 9, 4, 16]
    >>> squares.get(2, lambda: "made once"), squares.get(3, lambda: "let go")
    (4, 'let go')
    """

    def __init__(self, most: int | Callable[[], int]) -> None:
        self._most = most
        self._made: OrderedDict[Hashable, tuple[int, T]] = OrderedDict()
        self._lock = ProcessLock()

    def get(self, key: Hashable, make: Callable[[], T], size: int = 1) -> T:
        """The result kept for a key; if there is none, `make` makes it, of a size."""
        with self._lock():  # held while computing: two threads must not do it twice
            if key not in self._made:
                self._made[key] = size, make()
            self._made.move_to_end(key)
            result = self._made[key][1]
            most = self._most if isinstance(self._most, int) else self._most()
            while sum(map(itemgetter(0), self._made.values())) > most:
                self._made.popitem(last=False)
            return result


# -- compiled loops -----------------------------------------------------------------


def compile_loops(build: Callable[[Callable[..., Any]], T]) -> T | None:
    """What `build` makes of numba's ``njit``; None where numba is not installed.

    `build` is given ``njit(**options)``, a decorator that releases the GIL and caches
    compiled code on disk. It must call each function once, with the types of its use:
    only then is it compiled and cached. It is called again, without caching, if no
    folder is writable.
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


class LoadedOnce(Generic[T]):
    """Decorate a loader: the first thread calls it, the others wait for its result.

    With `functools.cache` several threads could call it at once, and numba refuses to
    compile a function twice.
    """

    def __init__(self, loader: Callable[[], T]) -> None:
        self.__wrapped__ = loader
        self._lock = ProcessLock()
        self._loaded: list[T] = []

    def __call__(self) -> T:
        """The result of the loader."""
        if not self._loaded:
            with loading, self._lock():
                if not self._loaded:  # no other thread was first
                    self._loaded.append(self.__wrapped__())
        return self._loaded[0]

    @property
    def loaded(self) -> bool:
        """Whether it has been called."""
        return bool(self._loaded)


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


def _forget_threads() -> None:
    """In a forked process, which lacks those that hold a lock or limit others."""
    global _users, _limits
    _users, _limits = 0, None
    for lock in _all:
        lock._lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forget_threads)


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
