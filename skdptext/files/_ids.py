"""Ids that must be unique, in bounded memory however many there are."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from hashlib import blake2b
from typing import IO

import numpy as np

# We hold so many digests in memory, at 16 bytes each, and then write them to files.
_MAX_HELD = 1 << 16
# Each bucket is a file that stays open, and macOS lets a process open 256.
_N_BUCKETS = 128


class UniqueIds(ExitStack):
    """Counts the ids that come more than once.

    Ids are hashed to 128 bits under a key of this object, so two of a billion agree by
    chance with probability 10⁻²¹. Beyond 65,536 they are sorted by their first byte
    into temporary files, which are checked one by one; they go when it is closed.
    """

    def __init__(self) -> None:
        super().__init__()
        # drawn anew for each object, so that nobody can choose ids whose digests agree
        self._key = secrets.token_bytes(32)
        self._held = bytearray()
        self._files: list[IO[bytes]] = []

    def add(self, ids: Iterable[str]) -> None:
        """Add some ids."""
        for identity in ids:
            given = identity.encode("utf-8", "surrogatepass")
            self._held += blake2b(given, key=self._key, digest_size=16).digest()
            if len(self._held) >= 16 * _MAX_HELD:
                self._spill()

    def _spill(self) -> None:
        if not self._files:
            opened = (tempfile.TemporaryFile() for _ in range(_N_BUCKETS))  # noqa: SIM115
            self._files = [self.enter_context(file) for file in opened]
        digests = _digests(bytes(self._held))
        bucket = (digests[:, 0] % _N_BUCKETS).astype(np.intp)
        # rows by bucket, cut behind the last row of each
        order = np.argsort(bucket, kind="stable")
        ends = np.cumsum(np.bincount(bucket, minlength=_N_BUCKETS))
        for file, part in zip(
            self._files, np.split(digests[order], ends[:-1]), strict=True
        ):
            file.write(part.tobytes())
        self._held.clear()

    def n_repeated(self) -> int:
        """How many ids repeat an earlier one."""
        if not self._files:
            return _repeated(bytes(self._held))
        self._spill()
        total = 0
        for file in self._files:
            file.seek(0)
            total += _repeated(file.read())
            file.seek(0, 2)
        return total


def _digests(held: bytes) -> np.ndarray:
    return np.frombuffer(held, dtype="<u8").reshape(-1, 2)


def _repeated(held: bytes) -> int:
    digests = _digests(held)
    digests = digests[np.lexsort(digests.T)]  # equal ones are neighbours
    return int((digests[1:] == digests[:-1]).all(axis=1).sum())
