"""Writing files that appear complete or not at all."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows, which cannot delete or rename an open file
    fcntl = None  # type: ignore[assignment]


__all__ = ["delete_abandoned", "replacing"]


@contextmanager
def replacing(target: Path) -> Iterator[IO[bytes]]:
    """A file beside `target` that replaces it once written without an error.

    After a crash, or from another process, either the old file or the new one is seen.
    Remains of killed processes beside the same target are deleted first.
    """
    delete_abandoned(target.parent, target.name)
    file, temporary = _open_locked(target)
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


def _open_locked(target: Path) -> tuple[IO[bytes], Path]:
    """A new file; the lock, which ends with the process, says that it is in use."""
    while True:
        # Not tempfile: only the owner may read its files, even after a rename
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
        file = open(temporary, "xb")  # noqa: SIM115
        if fcntl:
            _lock(file, 0)
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
                    if fcntl is None or _lock(file, fcntl.LOCK_NB):
                        path.unlink()


def _lock(file: IO[bytes], wait: int) -> bool:
    """Whether the file is locked for this process now."""
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | wait)
    except OSError:  # locked by another, or a file system without locks
        return False
    return True
