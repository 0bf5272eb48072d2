"""Claim outputs before any work; they appear complete or not at all."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from skdptext.exceptions import InvalidParameterError


@contextmanager
def claimed(*places: str | os.PathLike[str]) -> Iterator[list[Path]]:
    """Claim new files or folders before any work; they appear once it is done.

    Parameters
    ----------
    *places : path
        New paths in folders that exist.

    Yields
    ------
    temporary : list of Path
        For each place a hidden path next to it that does not exist: write a file there,
        or make a folder. After the block they are renamed, in this order. A place that
        requires another one must therefore come last. If the block fails, they are
        deleted, and nothing else is.

    Raises
    ------
    InvalidParameterError
        On entry, if a place exists, its folder is not writable, or another running
        process has claimed it.

    Notes
    -----
    A process that is killed leaves hidden files, which the next one that claims the
    place deletes: a claim is a lock on a file, and ends with its process. On Windows,
    the file stays, because an open file cannot be deleted there.

    Examples
    --------
    >>> import os, tempfile
    >>> from skdptext.release import claimed
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with claimed(f"{folder}/corpus.csv") as (temporary,):
    ...         _ = temporary.write_text("text,label")
    ...     print(*os.listdir(folder))
    corpus.csv
    """
    targets = [Path(os.path.abspath(place)) for place in places]
    with ExitStack() as claims:
        partial = [claims.enter_context(_claim(path)) for path in targets]
        made = list(partial)
        try:
            yield partial
            for path, target in zip(partial, targets, strict=True):
                _check_new(target)
                path.rename(target)
                made.append(target)
        # An interrupted run is cleaned up as well: partial outputs are of no use, and
        # may be mistaken for complete ones.
        except BaseException:
            for path in made:
                _delete(path)
            raise


@contextmanager
def _claim(target: Path) -> Iterator[Path]:
    """Lock a hidden file, and yield a new path next to a place."""
    _check_new(target)  # also refuses "/", which has no name
    lock = target.with_name(f".{target.name}.lock")
    partial = target.with_name(f".{target.name}.partial")
    try:
        file = open(lock, "a")  # noqa: SIM115, it is closed below
    except OSError as error:
        raise _refused(
            target, f"in a folder that can be written to ({error.strerror})"
        ) from None
    with file:
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The former holder of the lock may have deleted the file in the meantime.
            held = os.path.samestat(os.fstat(file.fileno()), lock.stat())
        except OSError:
            held = False
        if not held:
            raise _refused(target, "where no other process is writing")
        try:
            _check_new(target)  # the former holder of the lock may have written it
            _delete(partial)
            yield partial
        finally:
            with suppress(OSError):
                lock.unlink()


def _check_new(target: Path) -> None:
    if os.path.lexists(target):
        raise _refused(target, "new, because nothing is overwritten")


def _refused(target: Path, rule: str) -> InvalidParameterError:
    return InvalidParameterError(f"out must be {rule}, got {str(target)!r}.")


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
