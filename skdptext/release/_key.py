"""The secret key of a release, which stays in a file or an environment variable."""

import os
import re
import secrets
from dataclasses import dataclass
from hashlib import blake2b

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_kind, kind_of

# The 64 hexadecimal digits of 256 bits, and a line end.
_KEY = re.compile(rb"([0-9a-fA-F]{64})\r?\n?")


@dataclass(frozen=True)
class ReleaseKey:
    """A secret key, given by its location.

    The object, its pickles and its repr contain the name of an environment variable or
    the path of a file. The key itself is read each time noise is drawn, and is not
    stored.

    Parameters
    ----------
    source : str
        ``"env:NAME"``, an environment variable, or ``"file:PATH"``, a file. It must
        exist on every worker. A path is made absolute, and ``~`` at its start is the
        user's home folder. Its content must be 64 hexadecimal digits, as `generate` and
        ``secrets.token_hex(32)`` draw them. Digits that were not drawn at random, such
        as a hash of a passphrase, cannot be detected, and protect nothing. A file that
        other users can read, or that belongs to another user, is refused, as by ssh,
        except on Windows: pass a secret that a platform mounts in a container as a
        variable.

    Attributes
    ----------
    source
        As given.

    Raises
    ------
    InvalidParameterError
        If `source` is neither of the two. When the key is read: if it is missing or
        malformed, or if other users can read its file.

    See Also
    --------
    DocumentRelease : Uses the key.

    Notes
    -----
    *Privacy.* Anyone who has the key can undo the noise of the releases made with it:
    keep it apart from them, and destroy it when they are complete. After that, no one
    can undo the noise, including its owner. Anyone who can *use* the key, through a
    service that releases their texts, can identify documents by releasing guesses under
    the same ids. Use a new key for each release. The guarantee is computational in any
    case: it holds for attackers who cannot distinguish BLAKE2b and ChaCha20 under an
    unknown key from random bits.

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
        place = self.source if isinstance(self.source, str) else ""
        # The value is not shown in the error, because it may be the key itself.
        if not re.fullmatch("(env|file):.+", place):
            raise InvalidParameterError(
                'source of the key must be "env:NAME" or "file:PATH", got '
                f"{kind_of(self.source)}."
            )
        # The path becomes absolute, because a worker's home and current folder differ.
        if place.startswith("file:"):
            path = os.path.abspath(os.path.expanduser(place[5:]))
            object.__setattr__(self, "source", f"file:{path}")

    @classmethod
    def generate(cls, file: str | os.PathLike[str]) -> "ReleaseKey":
        """Draw a key of 256 bits and write it to a new file.

        Parameters
        ----------
        file : str or path-like
            The new file, which only its owner can read. It must not exist: an
            overwritten key is lost, and a release started with it cannot be repeated.

        Returns
        -------
        key : ReleaseKey

        Raises
        ------
        FileExistsError
            If the file exists.
        """
        check_kind(file, str | os.PathLike, "file must be a path")
        path = os.path.abspath(file)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(descriptor, "w", encoding="ascii") as opened:
                opened.write(secrets.token_hex(32) + "\n")
        except BaseException:  # half a key, of a full disk, would block the next try
            os.unlink(path)
            raise
        return cls(f"file:{path}")

    def derive(self, purpose: bytes) -> bytes:
        """Derive 32 bytes for a purpose, which reveal nothing about other purposes.

        Parameters
        ----------
        purpose : bytes
            The purpose of the derived key.

        Returns
        -------
        derived : bytes
            The derived key. If it determines noise, it is as secret as the key.

        Raises
        ------
        InvalidParameterError
            If the variable or the file is missing, or contains no key.
        """
        check_kind(purpose, bytes, "purpose must be bytes")
        secret = blake2b(self._read(), digest_size=32, person=b"skdptext-key")
        return blake2b(purpose, key=secret.digest(), digest_size=32).digest()

    def _read(self) -> bytes:
        kind, _, place = self.source.partition(":")
        try:
            given = os.fsencode(os.environ[place]) if kind == "env" else self._of(place)
        except (OSError, KeyError) as error:
            problem = getattr(error, "strerror", None) or "it is not set"
            raise InvalidParameterError(
                f"cannot read the key {self.source}: {problem}. Each worker must be "
                "able to. skdptext key FILE, or ReleaseKey.generate, makes one."
            ) from None
        digits = _KEY.fullmatch(given)
        if digits is None:
            raise InvalidParameterError(
                "key must be 64 hexadecimal digits drawn at random, such as those of "
                f"ReleaseKey.generate, got something else in {self.source}."
            )
        return bytes.fromhex(digits[1].decode("ascii"))

    def _of(self, place: str) -> bytes:
        if os.path.exists(place) and not os.path.isfile(place):
            raise OSError(None, "it is not a file")  # a pipe would wait for a writer
        with open(place, "rb") as file:
            status = os.fstat(file.fileno())
            mode, owner = status.st_mode & 0o777, status.st_uid
            if hasattr(os, "getuid") and (mode & 0o077 or owner != os.getuid()):
                raise InvalidParameterError(
                    "key must be in a file that only you can read, got one of mode "
                    f"{mode:04o} and user {owner}, {self.source}. Make a new key if "
                    "others may have read it; else chmod 600, or pass it as env:NAME."
                )
            return file.read(67)  # longer content is not a key
