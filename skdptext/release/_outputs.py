"""Outputs that are claimed before any work, and appear complete or not at all."""

from __future__ import annotations

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
        Where nothing is yet, in folders that exist.

    Yields
    ------
    temporary : list of Path
        For each place a hidden path beside it, where nothing is: write a file there, or
        make a folder. After the block they are renamed, in this order, so that what
        must not be there without another comes last. If the block fails, they are
        deleted, and nothing else is.

    Raises
    ------
    InvalidParameterError
        On entering: if something is at a place, its folder cannot be written to, or
        another process has claimed it and is still at work.

    Notes
    -----
    A process that is killed leaves hidden files, which the next one that claims the
    place deletes: a claim is a lock on a file, and ends with its process.

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
        # also if the user interrupts: nobody would know the use of what is left
        except BaseException:
            for path in made:
                _delete(path)
            raise


@contextmanager
def _claim(target: Path) -> Iterator[Path]:
    """A path beside a place, and nothing there, while a hidden file is locked."""
    _check_new(target)
    lock = target.with_name(f".{target.name}.lock")
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise InvalidParameterError(
            f"out must be in a folder that can be written to, got {str(target)!r}: "
            f"{error.strerror}."
        ) from None
    with open(descriptor):
        try:
            _lock(descriptor)
            # who held the lock may have deleted the file meanwhile
            held = os.path.samestat(os.fstat(descriptor), lock.stat())
        except OSError:
            held = False
        if not held:
            raise InvalidParameterError(
                f"out must be for one process at a time, but another one is writing "
                f"{str(target)!r}."
            )
        try:
            _check_new(target)  # which that process may have written
            partial = target.with_name(f".{target.name}.partial")
            _delete(partial)
            yield partial
        finally:
            with suppress(OSError):  # on Windows it stays
                lock.unlink()


def _check_new(target: Path) -> None:
    if os.path.lexists(target):
        raise InvalidParameterError(
            f"out must be new, but {str(target)!r} is there: nothing is written over."
        )


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _lock(descriptor: int) -> None:
    """Lock an open file, or raise an OSError."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
