"""The secret by which a release can be repeated, kept where it belongs."""

from __future__ import annotations

import codecs
import math
import os
import re
import secrets
import stat
import zlib
from collections import Counter
from dataclasses import KW_ONLY, dataclass
from hashlib import blake2b, scrypt
from itertools import pairwise

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_flag, check_path, kind_of

# A key has at least 256 bits, as many as the hashes and ciphers that use it.
_MIN_BYTES = 32
# We read no more of a file: no key in any accepted form is as long.
_MAX_BYTES = 10**6
# A key of raw bytes has at most so many: what is longer is a file of another kind.
_MAX_RAW = 64
# Of 32 random bytes fewer differ with a probability of 2e-17.
_MIN_DISTINCT = 16
# UTF-16 in one of: alphabets; Korean; Chinese and Japanese, each with punctuation and
# emoji. The units of 32 random bytes are, by chance, 5e-8 in
# either order of bytes; that they are just any characters, has a chance of .6.
_COMMON = "\0\t\n\r -~\xa0-\xff\u2000-\u206f\U0001f000-\U0001faff"
_SCRIPTS = [
    re.compile(f"[{_COMMON}{script}]*")
    for script in (
        "\u0100-\u1fff",
        "\uac00-\ud7a3",
        "\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef",
    )
]
# First bytes of zip, gzip, xz, bzip2, zstd, 7z, lz4 and rar; by chance, 1.3e-7
_PACKED = (
    b"PK\3\4",
    b"\x1f\x8b\x08",
    b"\xfd7zXZ\0",
    b"BZh",
    b"\x28\xb5\x2f\xfd",
    b"7z\xbc\xaf\x27\x1c",
    b"\x04\x22\x4d\x18",
    b"Rar!\x1a\x07",
)
# Of scrypt: 16 MB and some 40 ms for each guess of a key
_COST = {"n": 2**14, "r": 8, "p": 1}


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
        user's home folder. Its content is the key, drawn at random: 64 or more
        hexadecimal digits (white space and the mark that Notepad writes before them are
        ignored), or 32 to 64 bytes as they are. What is plainly not random is refused,
        in digits, too: text such as a passphrase, in Unicode or an older encoding; a
        compressed file; a pattern that is repeated or counted; padding. Of random keys
        2 in 10 million are refused. What looks random and is not, such as a hash of
        a passphrase, cannot be told.
    allow_shared : bool, default=False
        Accept a file that other users can read, or that belongs to another user: such
        as a secret that a platform puts into a container, where nobody else is. Without
        it, such a file is refused, as ssh does. It is not checked on Windows.

    Attributes
    ----------
    source, allow_shared
        As given.

    Raises
    ------
    InvalidParameterError
        If `source` is neither of the two. When the key is read: if it is not there, is
        too short, too long or not random, or if others can read its file.

    See Also
    --------
    DocumentRelease : What uses the key.

    Notes
    -----
    *Privacy.* Anyone who has the key can undo the noise of the releases made with it:
    keep it apart from them, and destroy it when they are sealed. Then nobody can, its
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
    ReleaseKey(source='env:RELEASE_SECRET', allow_shared=False)
    """

    source: str
    _: KW_ONLY
    allow_shared: bool = False

    def __post_init__(self) -> None:
        check_flag("allow_shared", self.allow_shared)
        rule = 'source must be "env:NAME" or "file:PATH"'
        known = isinstance(self.source, str)
        kind, _, place = self.source.partition(":") if known else ("", "", "")
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
        path = os.path.abspath(check_path("file", file))
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
        if kind == "env":
            text = os.environ.get(place)
            content = None if text is None else os.fsencode(text)
        else:
            try:
                content = self._content(place)
            except FileNotFoundError:
                raise InvalidParameterError(
                    f"There is no key file {place}. Make it: skdptext key {place}, or "
                    "ReleaseKey.generate. Where an engine runs the release, each of "
                    "its workers must be able to read it."
                ) from None
            except OSError as error:
                raise self._unreadable(error.strerror) from None
        if content is None:
            raise self._unreadable("it is not set")
        key, in_digits = _decoded(content)
        problem = _weakness(key, in_digits)
        if problem:
            raise InvalidParameterError(
                f"key must hold at least {_MIN_BYTES} random bytes (64 hexadecimal "
                f"digits, or {_MIN_BYTES} to {_MAX_RAW} bytes as they are), "
                f"got {problem} in {self.source}. ReleaseKey.generate(file) makes one."
            )
        return key

    def _content(self, path: str) -> bytes:
        # a pipe would wait for a writer without O_NONBLOCK, which Windows lacks
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise self._unreadable("it is not a file")
            if hasattr(os, "getuid") and not self.allow_shared:
                self._check_owner(status)
            content = file.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise self._unreadable("it is larger than 1 MB, so it holds no key")
        return content

    def _check_owner(self, status: os.stat_result) -> None:
        rule = "key must be in a file that only its owner can read"
        otherwise = "or accept it with allow_shared."
        if status.st_uid != os.getuid():
            raise InvalidParameterError(
                f"{rule}, got {self.source}, which belongs to another user: who "
                f"made it can undo the noise. Make a new key, {otherwise}"
            )
        if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise InvalidParameterError(
                f"{rule}, got {self.source} of mode "
                f"{stat.S_IMODE(status.st_mode):04o}. Take a new key, if others may "
                f"have read it; else say chmod 600, {otherwise}"
            )

    def _unreadable(self, reason: str | None) -> InvalidParameterError:
        return InvalidParameterError(
            f"cannot read the key {self.source}: {reason}. Where an engine runs the "
            "release, each of its workers must be able to read it."
        )


def check_value(key: ReleaseKey, name: str) -> str:
    """What a release tells its key by, which takes 40 ms to compute for a guess."""
    secret = key.derive(b"check:" + name.encode())
    return scrypt(secret, salt=b"skdptext-check", dklen=16, **_COST).hex()


def _decoded(content: bytes) -> tuple[bytes, bool]:
    """The key, and whether it was given in hexadecimal digits.

    Notepad writes a mark before them, and PowerShell writes them as UTF-16.
    """
    marks = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16"}
    marks[codecs.BOM_UTF16_BE] = "utf-16"
    encodings = [code for mark, code in marks.items() if content.startswith(mark)]
    try:
        # skips white space
        return bytes.fromhex(content.decode((encodings or ["ascii"])[0])), True
    except ValueError:
        return content, False


def _weakness(key: bytes, in_digits: bool) -> str | None:
    """Why a key is not random, or None; of 32 random bytes one is given 2e-7 times."""
    if len(key) < _MIN_BYTES:
        return f"{len(key)}"
    if key in (key + key)[1:-1]:
        return "a pattern that is repeated"
    if _is_text(key):
        return "text, such as a passphrase,"
    if _is_packed(key):
        return "a compressed file"
    if not in_digits and len(key) > _MAX_RAW:
        return f"{len(key)} bytes that are no hexadecimal digits"
    steps = {(b - a) % 256 for a, b in pairwise(key)}
    if min(len(set(key)), len(steps)) < _MIN_DISTINCT or _is_regular(key):
        return "bytes that are too much alike"
    return None


def _is_text(key: bytes) -> bool:
    try:
        # the last character may be cut; 32 random bytes pass with a chance of 1.5e-8
        codecs.getincrementaldecoder("utf-8")().decode(key)
        return True
    except UnicodeDecodeError:
        pass
    even = key[: len(key) // 2 * 2]
    for code in ("utf-16-le", "utf-16-be"):
        text = even.decode(code, "surrogatepass").lstrip("\ufeff\ufffe")
        if any(pattern.fullmatch(text) for pattern in _SCRIPTS):
            return True
    return False


def _is_packed(key: bytes) -> bool:
    if key.startswith(_PACKED):
        return True
    try:
        zlib.decompress(key)  # begins with two bytes only, and ends with a checksum
        return True
    except zlib.error:
        return False


def _is_regular(key: bytes) -> bool:
    """Whether a law of dull bytes gives the key 1e8 times the chance of random ones.

    The law is a mixture, and sums to 1, so that it gives that to random bytes with a
    probability of 1e-8 at most (Markov's inequality). It finds texts in encodings that
    are not Unicode (their bytes share their first bits), padding, and counters.
    """
    steps = bytes((b - a) % 256 for a, b in pairwise(key))
    halves = [key[::2], key[1::2]]
    laws = [
        sum(_gain(part, n_classes, alpha) for part in parts)
        for parts in ([key], halves, [steps])
        for n_classes, alpha in ((2, 0.5), (8, 0.5), (256, 1 / 16))
    ]
    most = max(laws)
    mean = sum(math.exp(law - most) for law in laws) / len(laws)
    return most + math.log(mean) >= math.log(1e8)


def _gain(part: bytes, n_classes: int, alpha: float) -> float:
    """Log-probability, less that of random bytes, of bytes known by their first bits.

    Each class has a share drawn from a Dirichlet law, and its bytes are equally likely.
    """
    counts = Counter(byte * n_classes // 256 for byte in part)
    total = n_classes * alpha
    return (
        math.lgamma(total)
        - math.lgamma(total + len(part))
        + sum(math.lgamma(alpha + c) - math.lgamma(alpha) for c in counts.values())
        + len(part) * math.log(n_classes)
    )
