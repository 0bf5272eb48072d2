"""The secret by which a release can be repeated, kept where it belongs."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from hashlib import blake2b

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import kind_of, shown

__all__ = ["ReleaseKey"]

# 256 bits
_MIN_BYTES = 32


@dataclass(frozen=True)
class ReleaseKey:
    """A secret key, named by where it is kept.

    The object holds the name of an environment variable or the path of a file, and so
    do its pickles and its repr. The key itself is read each time noise is drawn, and is
    not kept.

    Parameters
    ----------
    source : str
        ``"env:NAME"``, an environment variable, or ``"file:PATH"``, a file. It must
        exist on every worker. A path is made absolute, and ``~`` at its start is the
        user's home folder. Its content is the key: hexadecimal digits (white space at
        the end is ignored), or else raw bytes. The key must have at least 32 bytes,
        drawn at random.

    Attributes
    ----------
    source : str

    Raises
    ------
    InvalidParameterError
        If `source` is neither of the two.

    Notes
    -----
    *Privacy.* Whoever has the key can undo the noise of the releases made with it: keep
    it apart from them, and destroy it when they are sealed. Then nobody can, its owner
    included. The guarantee is computational either way: it is for adversaries who
    cannot tell BLAKE2b and ChaCha20 under an unknown key from random bits.

    Examples
    --------
    >>> import os, tempfile
    >>> from skdptext.release import ReleaseKey
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     key = ReleaseKey.generate(os.path.join(folder, "key"))
    ...     len(key.derive(b"an example"))
    32
    >>> ReleaseKey("env:RELEASE_SECRET")
    ReleaseKey(source='env:RELEASE_SECRET')
    """

    source: str

    def __post_init__(self) -> None:
        rule = 'source must be "env:NAME" or "file:PATH"'
        if not isinstance(self.source, str):
            raise InvalidParameterError(f"{rule}, got {kind_of(self.source)}.")
        kind, _, place = self.source.partition(":")
        if kind not in ("env", "file") or not place:
            # not shown: it may be the key itself
            raise InvalidParameterError(f"{rule}, got {kind_of(self.source)}.")
        if kind == "file":
            # a worker's home and current folder may differ
            path = os.path.abspath(os.path.expanduser(place))
            object.__setattr__(self, "source", f"file:{path}")

    @classmethod
    def generate(cls, file: str | os.PathLike[str]) -> ReleaseKey:
        """Draw a key of 256 bits and write it to a new file.

        Parameters
        ----------
        file : str or path-like
            Only its owner may read it. It must not exist yet: a key that is overwritten
            is lost, and releases begun with it cannot be finished.

        Returns
        -------
        key : ReleaseKey

        Raises
        ------
        FileExistsError
            If there is such a file.
        """
        if not isinstance(file, str | os.PathLike):
            raise InvalidParameterError(
                f"file must be a str or os.PathLike, got {shown(file)}."
            )
        path = os.path.abspath(file)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="ascii") as opened:
            opened.write(secrets.token_hex(_MIN_BYTES) + "\n")
            opened.flush()
            os.fsync(opened.fileno())
        return cls(f"file:{path}")

    def derive(self, purpose: bytes) -> bytes:
        """32 bytes for a purpose, which reveal nothing about those for another.

        Parameters
        ----------
        purpose : bytes

        Returns
        -------
        derived : bytes
            As secret as the key, if they fix noise.

        Raises
        ------
        InvalidParameterError
            If the variable or the file is not there, or holds less than 32 bytes.
        """
        secret = blake2b(self._read(), digest_size=32, person=b"skdptext-key")
        return blake2b(purpose, key=secret.digest(), digest_size=32).digest()

    def _read(self) -> bytes:
        kind, _, place = self.source.partition(":")
        if kind == "env":
            text = os.environ.get(place)
            found = None if text is None else os.fsencode(text)
        else:
            try:
                with open(place, "rb") as file:
                    found = file.read()
            except OSError as error:
                raise self._unreadable(error.strerror) from None
        if found is None:
            raise self._unreadable("it is not set")
        key = _decoded(found)
        if len(key) < _MIN_BYTES:
            raise InvalidParameterError(
                f"key must hold at least {_MIN_BYTES} bytes (64 hexadecimal digits), "
                f"got {len(key)} in {self.source}. ReleaseKey.generate(file) makes one."
            )
        return key

    def _unreadable(self, reason: str | None) -> InvalidParameterError:
        return InvalidParameterError(
            f"cannot read the key {self.source}: {reason}. Where an engine runs the "
            "release, each of its workers must be able to read it."
        )


def _decoded(found: bytes) -> bytes:
    try:
        return bytes.fromhex(found.decode("ascii"))  # skips white space
    except ValueError:
        return found
