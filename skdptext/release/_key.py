"""The secret by which a release can be repeated, kept where it belongs."""

import os
import re
import secrets
from dataclasses import dataclass
from hashlib import blake2b

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_path, kind_of

# The digits of 256 bits, and the end of their line.
_KEY = re.compile(rb"([0-9a-fA-F]{64})\r?\n?")


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
        user's home folder. Its content is 64 hexadecimal digits, as `generate` and
        ``secrets.token_hex(32)`` draw them; anything else is refused. Digits that were
        not drawn at random, such as a hash of a passphrase, cannot be told from a key,
        and protect nothing. A file that other users can read, or that belongs to
        another user, is refused, as ssh does, but on Windows: give a secret that a
        platform mounts in a container as a variable.

    Attributes
    ----------
    source
        As given.

    Raises
    ------
    InvalidParameterError
        If `source` is neither of the two. When the key is read: if it is not there or
        is no key, or if others can read its file.

    See Also
    --------
    DocumentRelease : What uses the key.

    Notes
    -----
    *Privacy.* Anyone who has the key can undo the noise of the releases made with it:
    keep it apart from them, and destroy it when they are complete. Then nobody can, its
    owner included. Anyone who may only *use* it, through a service that releases what
    they give it, finds out the documents by releasing guesses under the same ids. Take
    a new key for each release. The guarantee is computational either way: it is for
    adversaries who cannot tell BLAKE2b and ChaCha20 under an unknown key from random
    bits.

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
        if not re.fullmatch("(env|file):.+", place):  # not shown: it may be the key
            raise InvalidParameterError(
                f'source must be "env:NAME" or "file:PATH", got {kind_of(self.source)}.'
            )
        if place.startswith("file:"):  # a worker's home and current folder may differ
            path = os.path.abspath(os.path.expanduser(place[5:]))
            object.__setattr__(self, "source", f"file:{path}")

    @classmethod
    def generate(cls, file: str | os.PathLike[str]) -> "ReleaseKey":
        """Draw a key of 256 bits and write it to a new file.

        Parameters
        ----------
        file : str or path-like
            Only its owner may read it. It must not exist yet: a key that is overwritten
            is lost, and a release begun with it cannot be repeated.

        Returns
        -------
        key : ReleaseKey

        Raises
        ------
        FileExistsError
            If there is such a file.
        """
        path = os.path.abspath(check_path("file", file))
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="ascii") as opened:
            opened.write(secrets.token_hex(32) + "\n")
        return cls(f"file:{path}")

    def derive(self, purpose: bytes) -> bytes:
        """32 bytes for a purpose, which reveal nothing about those for another.

        Parameters
        ----------
        purpose : bytes
            What the derived key is for.

        Returns
        -------
        derived : bytes
            As secret as the key, if they fix noise.

        Raises
        ------
        InvalidParameterError
            If the variable or the file is not there, or holds no key.
        """
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
                "key must be 64 hexadecimal digits drawn at random, as those of "
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
                    f"{mode:04o} and user {owner}, {self.source}. Take a new key if "
                    "others may have read it; else chmod 600, or give it as env:NAME."
                )
            return file.read(67)  # more than that shows that it is something else
