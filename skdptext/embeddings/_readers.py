"""Readers of embedding files: dispatch by suffix, and the two word2vec formats."""

from __future__ import annotations

import gzip
import io
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from skdptext.embeddings._checks import (
    EXPANDS,
    MAX_BLANK,
    MAX_DIGITS,
    MAX_DIM,
    MAX_LINE,
    MAX_WORD,
    expands_too_much,
    first_not_finite,
    freeze,
)
from skdptext.embeddings._gensim import Parts
from skdptext.embeddings._index import WordIndex
from skdptext.embeddings._npz import read_npz
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer, check_path

SUFFIXES = (".txt", ".vec", ".bin", ".npz", ".txt.gz", ".vec.gz", ".bin.gz")
_FASTTEXT_MAGIC = struct.pack("<i", 793712314)
_BROKEN_GZIP = (EOFError, gzip.BadGzipFile, zlib.error)


class _ExpandsError(Exception):
    """A compressed file that was made to exhaust memory."""


class _Unpacked(gzip.GzipFile):
    """A compressed file whose bytes are counted as they are read."""

    def __init__(self, raw: IO[bytes]) -> None:
        super().__init__(fileobj=raw)
        self._raw, self._n_read = raw, 0

    def readinto(self, buffer: Any) -> int:
        n = super().readinto(buffer)
        self._n_read += n
        if expands_too_much(self._raw.tell(), self._n_read):
            raise _ExpandsError(EXPANDS)
        return n


def path_and_suffix(path: Any) -> tuple[Path, str]:
    """The path and its suffix, one of `SUFFIXES`."""
    path = check_path("path", path)
    name = path.name.lower()
    for suffix in SUFFIXES:
        if name.endswith(suffix):
            return path, suffix
    raise InvalidParameterError(
        f"path must end in one of {', '.join(SUFFIXES)}, got {str(path)!r}."
    )


def _is_download(path: Path) -> bool:
    """Whether a file has no suffix but ``.gz``, as the text that gensim downloads."""
    return [suffix.lower() for suffix in path.suffixes] == [".gz"]


def read(path: Any, n_words: Any) -> Parts:
    """Words, vectors and subword vectors of an embedding file."""
    if _is_download(check_path("path", path)):
        path, suffix = Path(path), ".txt.gz"
    else:
        path, suffix = path_and_suffix(path)
    if n_words is not None:
        n_words = check_integer("n_words", n_words, low=1)
    if not path.exists():
        raise FileNotFoundError(
            f'There is no embedding file {str(path)!r}. Where to get one: see "Load '
            'vectors and data" in the documentation.'
        )
    if suffix == ".npz":
        return read_npz(path, n_words)
    reading = _Reading(path, n_words)
    reader = _read_binary if suffix.startswith(".bin") else _read_text
    with open(path, "rb") as raw:
        # The small buffer makes `peek`, which copies it, cheap
        stream: Any = _Unpacked(raw) if suffix.endswith(".gz") else raw
        with io.BufferedReader(stream, 1 << 14) as file:
            reader(file, reading)
    return reading.finish()


class _Reading:
    """Words and rows read so far, and errors that say where in the file."""

    def __init__(self, path: Path, n_words: int | None) -> None:
        self.path, self.limit = path, n_words
        self.promised: int | None = None  # by the header
        self.place: Callable[[int], str] = "word {}".format
        self.lines: dict[str, int] = {}  # word: row
        self.rows = np.empty((0, 0), dtype=np.float32)

    def error(self, row: int, problem: str) -> InvalidParameterError:
        return InvalidParameterError(f"{self.path}, {self.place(row)}: {problem}")

    def broken(self, row: int, error: Exception) -> InvalidParameterError:
        if isinstance(error, _ExpandsError):
            return self.error(row, f"the file {error}.")
        return self.error(row, f"the compressed file is cut short or broken ({error}).")

    def promise(self, header: list[bytes]) -> int:
        """Note the number of words that a header promises; return the dimension."""
        where = f"{self.path}, line 1: the header promises"
        if max(map(len, header)) > MAX_DIGITS:
            raise InvalidParameterError(
                f"{where} sizes of {len(header[0])} and {len(header[1])} digits; no "
                f"embedding has more than {MAX_DIGITS}."
            )
        self.promised, dim = map(int, header)
        if self.promised < 1 or not 1 <= dim <= MAX_DIM:
            raise InvalidParameterError(
                f"{where} {self.promised} words of {dim} dimensions; both must be at "
                f"least 1, and the dimensions at most {MAX_DIM}."
            )
        return dim

    def begin(self, dim: int) -> None:
        """Allocate rows; a header with a false number cannot claim memory."""
        room = min(self.wanted or 1024, max(1, (1 << 22) // dim))
        self.rows = np.empty((room, dim), dtype="<f4")

    @property
    def wanted(self) -> int | None:
        """How many words to read; None: as many as there are."""
        known = [n for n in (self.promised, self.limit) if n is not None]
        return min(known, default=None)

    @property
    def full(self) -> bool:
        return len(self.lines) == self.wanted

    def add(self, word: bytes) -> np.ndarray:
        """Note the word and return its row of the matrix, to be filled."""
        row = len(self.lines)
        try:
            text = word.decode()
        except UnicodeDecodeError as error:
            raise self.error(
                row, f"the word is not UTF-8 ({error.reason}). Repair the file."
            ) from None
        if self.lines.setdefault(text, row) != row:
            raise self.error(
                row,
                f"the word occurs already, at {self.place(self.lines[text])}; words "
                "must be unique.",
            )
        if row == len(self.rows):
            more = (row + row // 2 + 1, self.rows.shape[1])
            self.rows.resize(more, refcheck=False)  # in place where the system can
        return self.rows[row]

    def check_end(self, more: Callable[[], bool]) -> None:
        """Refuse a file with fewer or more words than its header promises."""
        n = len(self.lines)
        if self.promised is None or n == self.limit:  # the rest is not read
            return
        if n < self.promised or more():
            there = "more follow" if n == self.promised else f"the file ends after {n}"
            raise self.error(
                n, f"the header promises {self.promised} words, but {there}."
            )

    def finish(self) -> Parts:
        n = len(self.lines)
        self.rows.resize((n, self.rows.shape[1]), refcheck=False)
        vectors = self.rows.astype(np.float32, copy=False)
        row = first_not_finite(vectors)
        if row is not None:
            value = vectors[row][~np.isfinite(vectors[row])][0]
            raise self.error(row, f"vectors must be finite in float32, got {value}.")
        return WordIndex(self.lines), freeze(vectors), None


# -- text: word2vec, GloVe, fastText ------------------------------------------------


def _read_text(file: io.BufferedReader, reading: _Reading) -> None:
    reading.place = lambda row: f"line {row + 1}"
    lines = _lines(file, reading)
    peeked = list(islice(lines, 3))
    if peeked:
        peeked[0] = peeked[0].removeprefix(b"\xef\xbb\xbf")  # byte order mark
    header = _text_header(peeked)
    if header is None:
        dim, origin = _numbers_at_end(peeked[0] if peeked else b""), "as line 1"
        if not 1 <= dim <= MAX_DIM:
            problem = f"more than {MAX_DIM} numbers" if dim else "no vector"
            raise reading.error(0, f"{problem}: expected a word, then its numbers.")
    else:
        dim = reading.promise(header)
        origin = "by the header"
        reading.place = lambda row: f"line {row + 2}"
        del peeked[0]
    reading.begin(dim)
    lines = chain(peeked, lines)
    for line in lines:
        _add_line(line, dim, origin, reading)
        if reading.full:
            break
    reading.check_end(lambda: any(line.strip() for line in lines))


def _lines(file: io.BufferedReader, reading: _Reading) -> Iterator[bytes]:
    """Lines up to the last that is not blank."""
    blank = 0  # bytes of blank lines since the last other one
    number = 0
    try:
        while line := file.readline(MAX_LINE):
            number += 1
            problem = None
            if b"\r" in line and b"\r" in line.rstrip(b"\r\n"):
                problem = (
                    "a carriage return within the line; lines must end in a line feed, "
                    "with or without a carriage return before it."
                )
            elif len(line) == MAX_LINE and not line.endswith(b"\n"):
                problem = f"the line is longer than {MAX_LINE >> 20} MiB."
            elif not line.strip():
                blank += len(line)
                if blank <= MAX_BLANK:
                    more = _line_feeds(file, MAX_BLANK - blank)
                    blank, number = blank + more, number + more
                    continue
                problem = f"more than {MAX_BLANK >> 20} MiB of blank lines."
            if problem:
                raise InvalidParameterError(f"{reading.path}, line {number}: {problem}")
            if blank:
                yield b"\n"  # in the middle: an error where it is used
                blank = 0
            yield line
    except (*_BROKEN_GZIP, _ExpandsError) as error:
        reading.place = lambda row: f"line {row + 1}"
        raise reading.broken(number, error) from error


def _line_feeds(file: io.BufferedReader, most: int) -> int:
    """Read line feeds that come next, a buffer of them at a time; how many."""
    ahead = file.peek()[:most]
    return len(file.read(len(ahead) - len(ahead.lstrip(b"\n"))))


def _text_header(lines: list[bytes]) -> list[bytes] | None:
    """Number of words and dimension, in digits, if the first line is a header.

    A headerless embedding of one dimension may also start with a numeric word and a
    whole number. Its next two lines tell it from a header: they have two fields, too.
    """
    fields = [line.split(None, 2) for line in lines]
    if not fields or len(fields[0]) != 2 or not all(f.isdigit() for f in fields[0]):
        return None
    one_dimension = fields[0][1].lstrip(b"0") == b"1"
    if not one_dimension and [len(row) for row in fields[1:]] == [2, 2]:
        return None
    return fields[0]


def _numbers_at_end(line: bytes) -> int:
    """How many of the fields are numbers, counted from the right; word left out.

    No more than ``MAX_DIM + 1``.
    """
    n = 0
    with suppress(ValueError):
        for field in reversed(line.rsplit(None, MAX_DIM + 1)[1:]):
            float(field)
            n += 1
    return n


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _add_line(line: bytes, dim: int, origin: str, reading: _Reading) -> None:
    # From the right: a GloVe word may hold spaces (". . .")
    fields = line.rsplit(None, dim)
    row = len(reading.lines)
    if len(fields) <= dim:
        n_numbers = max(len(fields) - 1, 0)
        raise reading.error(
            row, f"expected a word and {dim} numbers ({origin}), got {n_numbers}."
        )
    word = fields[0]
    if b" " in word or b"\t" in word:
        extra = _numbers_at_end(word)
        if extra:
            raise reading.error(
                row,
                f"expected a word and {dim} numbers ({origin}), got {dim + extra}.",
            )
    # Python takes 1_0 for ten
    bad = None
    if b"_" in line:
        bad = next((f for f in fields[1:] if b"_" in f), None)
    target = reading.add(word)
    try:
        if bad is not None:
            raise ValueError
        with np.errstate(over="ignore"):  # infinite in float32: refused at the end
            target[:] = np.fromiter(map(float, fields[1:]), np.float64, dim)
    except ValueError:
        if bad is None:
            bad = next(field for field in fields[1:] if not _is_number(field))
        # not quoted: the file may be one of documents, given by mistake
        raise reading.error(
            row,
            f"expected a word and {dim} numbers ({origin}), got something else as "
            f"number {fields.index(bad, 1)}.",
        ) from None


# -- word2vec binary ------------------------------------------------------------------


def _read_binary(file: io.BufferedReader, reading: _Reading) -> None:
    try:
        start = file.peek(4)[:4]
        if start == _FASTTEXT_MAGIC:
            raise InvalidParameterError(
                f"{reading.path}: is a fastText model, not word2vec binary. Read it "
                "with gensim.models.fasttext.load_facebook_model and pass that to "
                "WordEmbedding.from_gensim, which keeps its subword vectors."
            )
        header = file.readline(64).split()
        if len(header) != 2 or not all(field.isdigit() for field in header):
            raise InvalidParameterError(
                f"{reading.path}: is not word2vec binary, which starts with a line of "
                "two integers. (For an old fastText model, see "
                "gensim.models.fasttext.load_facebook_model.)"
            )
        dim = reading.promise(header)
        reading.begin(dim)
        reading.place = lambda row: f"word {row + 1}"
        n_bytes = 4 * dim
        while not reading.full:
            word = _binary_word(file, reading)
            if word is None:
                break
            row = reading.add(word)
            if file.readinto(row.view(np.uint8)) < n_bytes:  # type: ignore[arg-type]
                raise reading.error(
                    len(reading.lines) - 1,
                    f"the file ends within the vector of {dim} numbers.",
                )
        reading.check_end(lambda: bool(file.read(1 << 10).strip()))
    except (*_BROKEN_GZIP, _ExpandsError) as error:
        raise reading.broken(len(reading.lines), error) from error


def _binary_word(file: io.BufferedReader, reading: _Reading) -> bytes | None:
    """Bytes up to the next space; None at the end of the file."""
    word = b""
    while True:
        ahead = file.peek()
        if not ahead:
            if word.strip():
                row = len(reading.lines)
                raise reading.error(row, "the file ends within the word.")
            return None
        end = ahead.find(b" ")
        if end >= 0:
            word += file.read(end + 1)[:-1]
            return word.lstrip(b"\n")  # word2vec ends vectors with one, gensim not
        word += file.read(len(ahead))
        if len(word) > MAX_WORD:
            raise reading.error(len(reading.lines), "no space after the word in 1 MiB.")
