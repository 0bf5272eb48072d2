"""Helpers for warnings, files, packages, threads, memory and progress bars."""

import importlib
import os
import secrets
import sys
import threading
import warnings
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn import get_config
from threadpoolctl import ThreadpoolController

T = TypeVar("T")


# -- warnings -----------------------------------------------------------------------

_said: set[tuple[type[Warning], Hashable]] = set()


def warn_once(
    message: str,
    category: type[Warning],
    about: Hashable = None,
    *,
    stacklevel: int = 1,
) -> None:
    """Issue a warning; under Python's default filters, only once in a process.

    A search fits hundreds of times. It warns once, and once in each of its worker
    processes. Python alone would repeat the warning: it forgets shown warnings whenever
    any filter changes, which scikit-learn and SciPy do all the time. A filter of the
    caller (ignore, always, error, ...) is obeyed as usual.

    Parameters
    ----------
    about : hashable, default=None
        Two warnings of a category are the same if they have the same subject, usually
        the name of a parameter. If None, they are the same if their texts are equal.
    stacklevel : int, default=1
        The line to show, as in `warnings.warn`; 1 is the line of this call.
    """
    actions = (
        action
        for action, text, kind, module, line in warnings.filters
        if issubclass(category, kind)
        and (text is None or text.match(message))
        and module is None
        and not line
    )
    if next(actions, "default") == "default":
        key = (category, message if about is None else about)
        if key in _said:
            return
        _said.add(key)
    warnings.warn(message, category, stacklevel=stacklevel + 1)


class _Quiet:
    """The number of callers that asked for quiet, and the filters to be restored."""

    lock = threading.Lock()
    n_asking = 0
    found = warnings.catch_warnings()


@contextmanager
def quiet(*kinds: type[Warning], message: str = "") -> Iterator[None]:
    """Ignore warnings of some kinds inside the block, in all threads.

    With `message`, only warnings whose text starts with this regular expression are
    ignored. Calls that overlap, as in threads, restore the filters together when the
    last one ends. If each restored them, one could restore the filters of another, and
    leave warnings off for good.
    """
    with _Quiet.lock:
        if not _Quiet.n_asking:
            _Quiet.found = warnings.catch_warnings()
            _Quiet.found.__enter__()
        _Quiet.n_asking += 1
        for kind in kinds:
            warnings.filterwarnings("ignore", message, kind)
    try:
        yield
    finally:
        with _Quiet.lock:
            _Quiet.n_asking -= 1
            if not _Quiet.n_asking:
                _Quiet.found.__exit__(None, None, None)


# -- files that appear complete or not at all ---------------------------------------


@contextmanager
def replacing(target: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces `target` once it is written without an error.

    After a crash, or from another process, either the old or the new file is visible. A
    killed process leaves a hidden file.
    """
    # tempfile is not used: only the owner could read its files, even after a rename.
    # The suffix stays, because other writers compress a file by its name.
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp.{target.name}")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


# -- packages that are imported where they are used ---------------------------------


def _import(name: str, remedy: str, needed_by: str) -> Any:
    """Import a package, or explain what needs it and how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{needed_by} needs {name}: {remedy}.") from error


import_gensim = partial(_import, "gensim", "install gensim, which needs Python < 3.14")
import_pandas = partial(_import, "pandas", "pip install pandas")
import_pyarrow = partial(
    _import, "pyarrow", 'pip install pyarrow (the extra "arrow" of skdptext)'
)


# -- results that are made once -----------------------------------------------------


class Memo(Generic[T]):
    """Cache of the most recent results, by keys of what they depend on.

    Use it for results that take seconds and are the same in every fit of a search.
    Otherwise an attribute, or `functools.lru_cache`, is enough. Two threads may both
    compute a result.

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
        """Get the cached result of a key, or make it with `make`."""
        try:
            result = self._made.pop(key)
        except KeyError:
            result = make()
        # Dictionaries keep the order of insertion: the oldest results are dropped.
        self._made[key] = result
        for old in list(self._made)[: -self._most]:
            self._made.pop(old, None)
        return result


# -- threads of the linear algebra library ------------------------------------------


@cache  # finding them takes milliseconds, longer than a short document
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def blas_threads() -> int:
    """Get the number of threads that a matrix product uses."""
    blas = [each for each in _libraries().info() if each["user_api"] == "blas"]
    return max([1, *(each["num_threads"] for each in blas)])


def limit_blas_threads(n: int) -> AbstractContextManager[Any]:
    """Limit matrix products to `n` threads inside the block, in the whole process."""
    limit: AbstractContextManager[Any] = _libraries().limit(limits=n, user_api="blas")
    return limit


# -- blocks, and other small steps of large work ------------------------------------


def bisect(
    holds: Callable[[float], bool],
    inside: float,
    outside: float,
    *,
    precision: float,
) -> tuple[float, float]:
    """Find where a condition on a number >= 0 stops holding.

    The condition holds at `inside` and not at `outside`, which is not checked; either
    may be larger. They approach each other until their difference is at most
    `precision` times the larger one.
    """
    while abs(outside - inside) > precision * max(inside, outside):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside, outside


def sparse_result(X: Any) -> Any:
    """Convert X to CSR, as a sparse array or matrix like scikit-learn's own results.

    ``sklearn.set_config(sparse_interface="sparray")`` selects arrays, since 1.9.
    """
    rows = X.tocsr()
    asked = get_config().get("sparse_interface", "spmatrix")
    make = sp.csr_array if asked == "sparray" else sp.csr_matrix
    # Some estimators of scikit-learn refuse 64-bit indices. Matrices narrow their
    # indices by themselves, but arrays do not.
    fits = max(rows.nnz, *rows.shape) <= np.iinfo(np.int32).max
    width = np.int32 if fits else np.int64
    columns = rows.indices.astype(width, copy=False)
    starts = rows.indptr.astype(width, copy=False)
    return make((rows.data, columns, starts), shape=rows.shape)


def blocks(n: int, size: int) -> Iterator[slice]:
    """Yield slices that cover ``range(n)``, each of at most `size`; none if n is 0.

    scikit-learn's `gen_batches` refuses n = 0, and takes twenty times as long.
    """
    starts = range(0, n, size)
    return map(slice, starts, (*starts[1:], n))


def runs(offsets: np.ndarray, size: float, most: float = float("inf")) -> list[slice]:
    """Divide rows into slices of at most `size` entries and at most `most` rows.

    A row with more entries is a slice by itself. `offsets` are the start of each row
    and the end of the last one, like ``indptr`` of a sparse matrix.
    """
    parts: list[slice] = []
    start, n = 0, len(offsets) - 1
    while start < n:
        stop = int(np.searchsorted(offsets, offsets[start] + size, side="right")) - 1
        stop = int(min(max(stop, start + 1), start + most))
        parts.append(slice(start, stop))
        start = stop
    return parts


def working_memory_bytes() -> int:
    """Get scikit-learn's ``working_memory`` setting in bytes."""
    return int(get_config()["working_memory"] * 2**20)


# -- progress bars for work that takes seconds --------------------------------------


def progress_bar(
    verbose: int, description: str, *, total: int | None = None, unit: str = "word"
) -> Any:
    """Make a bar of tqdm for a `with` statement, or one that shows nothing.

    `total` is None if it is unknown.
    """
    if not verbose or sys.stderr is None:  # as on Windows without a console
        return _NoBar()
    from tqdm.auto import tqdm

    return tqdm(desc=description, total=total, unit=unit)


class _NoBar(ExitStack):
    """A bar that shows nothing."""

    # A disabled bar of tqdm would take a lock that forked processes share. A process
    # that is killed while it holds the lock stops all others.

    def update(self, n: float = 1) -> None:
        pass
