"""What one process shares: warnings, files, packages, threads, memory, progress."""

import importlib
import math
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
    processes. Python alone would repeat it: it forgets what it has shown whenever any
    filter changes, which scikit-learn and SciPy do all the time. A filter of the
    caller's own (ignore, always, error, ...) is obeyed as usual.

    Parameters
    ----------
    about : hashable, default=None
        Two warnings of a category are the same if they are about the same: usually the
        name of a parameter. None: if their texts are equal.
    stacklevel : int, default=1
        Whose line is shown, as in `warnings.warn`; 1 is the line of this call.
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
    """How many ask for quiet, and the filters that they found, to be restored."""

    lock = threading.Lock()
    n_asking = 0
    found = warnings.catch_warnings()


@contextmanager
def quiet(*kinds: type[Warning], message: str = "") -> Iterator[None]:
    """Ignore these warnings, of what is known to who asked; in all threads meanwhile.

    Or those only whose text starts with a regular expression, `message`. Calls that
    overlap, as in threads, restore the filters together, once the last one ends: each
    by itself would restore what another had set, and leave warnings off for good.
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


def _import(name: str, remedy: str, needed_by: str) -> Any:
    """A package, or an error that says what needs it and how to install it."""
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


# -- blocks, and other small steps of large work ------------------------------------


def bisect(
    holds: Callable[[float], bool],
    inside: float,
    outside: float,
    *,
    precision: float,
    geometric: bool = False,
) -> tuple[float, float]:
    """Narrow down where a condition on a number >= 0 stops to hold.

    `inside`, where it holds, and `outside`, where it does not, come closer until their
    difference is at most `precision` times the larger one; either may be the larger,
    and the condition is not asked about them. `geometric`: their ratio is halved.
    """
    while abs(outside - inside) > precision * max(inside, outside):
        middle = math.sqrt(inside * outside) if geometric else (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside, outside


def sparse_result(X: Any) -> Any:
    """X in CSR format, a sparse array or matrix as scikit-learn's own results are.

    ``sklearn.set_config(sparse_interface="sparray")`` asks for arrays, since 1.9.
    """
    rows = X.tocsr()
    asked = get_config().get("sparse_interface", "spmatrix")
    make = sp.csr_array if asked == "sparray" else sp.csr_matrix
    # Matrices narrow their indices by themselves, arrays do not, and some estimators of
    # scikit-learn refuse wide ones.
    fits = max(rows.nnz, *rows.shape) <= np.iinfo(np.int32).max
    width = np.int32 if fits else np.int64
    columns = rows.indices.astype(width, copy=False)
    starts = rows.indptr.astype(width, copy=False)
    return make((rows.data, columns, starts), shape=rows.shape)


def blocks(n: int, size: int) -> Iterator[slice]:
    """Slices that cover ``range(n)``, each of at most `size`; none where n is 0.

    scikit-learn's `gen_batches` refuses n = 0, and takes twenty times as long.
    """
    starts = range(0, n, size)
    return map(slice, starts, (*starts[1:], n))


def runs(offsets: np.ndarray, size: float, most: float = float("inf")) -> list[slice]:
    """Slices of rows that hold at most `size` entries and are at most `most`.

    A row with more entries is a slice of its own. `offsets` says where each row starts,
    and where the last one ends, as ``indptr`` of a sparse matrix.
    """
    parts: list[slice] = []
    start, n = 0, len(offsets) - 1
    while start < n:
        stop = int(np.searchsorted(offsets, offsets[start] + size, side="right")) - 1
        stop = int(min(max(stop, start + 1), start + most))
        parts.append(slice(start, stop))
        start = stop
    return parts


def half_squared_norms(vectors: np.ndarray) -> np.ndarray:
    """½‖φ‖² of every row, in float64, without a float64 copy of the embedding."""
    out = np.empty(len(vectors))
    for rows in blocks(len(vectors), 512):
        block = vectors[rows].astype(np.float64)
        out[rows] = 0.5 * np.einsum("ij,ij->i", block, block)
    return out


def working_memory_bytes() -> int:
    """scikit-learn's ``working_memory`` setting, in bytes."""
    return int(get_config()["working_memory"] * 2**20)


# -- progress bars for work that takes seconds --------------------------------------


def _asks_for_bars(verbose: int) -> bool:
    """Whether bars are shown: for 1 where they are drawn over, and above 1 anywhere.

    In a file or a log, a bar leaves hundreds of lines.
    """
    ipython = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if "IPKernelApp" in getattr(ipython, "config", ()):  # a notebook, as tqdm tells it
        return verbose > 0
    try:  # a stream may be closed, and Windows without a console has none
        terminal = sys.stderr is not None and sys.stderr.isatty()
    except ValueError:
        terminal = False
    return verbose > (0 if terminal else 1) and sys.stderr is not None


def progress_bar(
    verbose: int, description: str, *, total: int | None = None, unit: str = "word"
) -> Any:
    """A bar of tqdm, to be used in a `with` statement, or one that shows nothing.

    `total` is None where it is not known.
    """
    if not _asks_for_bars(verbose):
        return _NoBar()
    from tqdm.auto import tqdm

    return tqdm(desc=description, total=total, unit=unit)


class _NoBar(ExitStack):
    """Not a disabled bar of tqdm: even that takes a lock which forked processes share.

    One that is killed while it holds the lock stops all others.
    """

    def update(self, n: float = 1) -> None:
        pass
