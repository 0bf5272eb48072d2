"""Readers of embedding files: which one reads what, and the two word2vec formats."""

from __future__ import annotations

import gzip
import io
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from skdptext.embeddings._checks import first_not_finite, freeze
from skdptext.embeddings._gensim import Parts, read_kv
from skdptext.embeddings._npz import read_npz
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer, check_option

SUFFIXES = (".txt", ".vec", ".bin", ".kv", ".npz", ".txt.gz", ".vec.gz", ".bin.gz")
_FASTTEXT_MAGIC = struct.pack("<i", 793712314)
_BROKEN_GZIP = (EOFError, gzip.BadGzipFile, zlib.error)


def check_path(path: Any) -> tuple[Path, str]:
    """The path and its suffix, one of `SUFFIXES`."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidParameterError(f"path must be a str or os.PathLike, got {path!r}.")
    path = Path(path)
    name = path.name.lower()
    for suffix in SUFFIXES:
        if name.endswith(suffix):
            return path, suffix
    raise InvalidParameterError(
        f"path must end in one of {', '.join(SUFFIXES)}, got {str(path)!r}."
    )


def read(path: Any, n_words: Any, encoding_errors: Any) -> Parts:
    """Words, vectors and subword vectors of an embedding file."""
    path, suffix = check_path(path)
    if n_words is not None:
        n_words = check_integer("n_words", n_words, low=1)
    check_option("encoding_errors", encoding_errors, ("strict", "replace", "ignore"))
    if not path.exists():
        raise FileNotFoundError(f"There is no embedding file {str(path)!r}.")
    if suffix == ".npz":
        return read_npz(path, n_words)
    if suffix == ".kv":
        return read_kv(path, n_words)
    table = _Table(path, n_words, encoding_errors)
    reader = _read_binary if suffix.startswith(".bin") else _read_text
    with open(path, "rb") as raw:
        # The small buffer makes `peek`, which copies it, cheap
        stream: Any = gzip.GzipFile(fileobj=raw) if suffix.endswith(".gz") else raw
        with io.BufferedReader(stream, 1 << 14) as file:
            reader(file, table)
    return table.finish()


class _Table:
    """Words and rows read so far, and errors that say where in the file."""

    def __init__(self, path: Path, n_words: int | None, encoding_errors: str) -> None:
        self.path, self.errors, self.limit = path, encoding_errors, n_words
        self.promised: int | None = None  # by the header
        self.place: Callable[[int], str] = "word {}".format
        self.lines: dict[str, int] = {}  # word: row
        self.rows = np.empty((0, 0), dtype=np.float32)

    def error(self, row: int, problem: str) -> InvalidParameterError:
        return InvalidParameterError(f"{self.path}, {self.place(row)}: {problem}")

    def begin(self, dim: int) -> None:
        """Make room; a header that lies about the number cannot claim memory."""
        if dim < 1 or self.promised == 0:
            raise InvalidParameterError(
                f"{self.path}: the header promises {self.promised} words of {dim} "
                "dimensions; both must be at least 1."
            )
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
            text = word.decode("utf-8", self.errors)
        except UnicodeDecodeError as error:
            raise self.error(
                row,
                f"the word {word!r} is not UTF-8 ({error.reason}). Repair the file, "
                'or load it with encoding_errors="replace" or "ignore".',
            ) from None
        if self.lines.setdefault(text, row) != row:
            hint = ""
            if self.errors != "strict":
                hint = f' (as decoded with encoding_errors="{self.errors}")'
            raise self.error(
                row,
                f"the word {text!r}{hint} is there already, at "
                f"{self.place(self.lines[text])}; words must be unique.",
            )
        if row == len(self.rows):
            more = (row + row // 2 + 1, self.rows.shape[1])
            self.rows.resize(more, refcheck=False)  # in place where the system can
        return self.rows[row]

    def check_end(self, more: Callable[[], bool]) -> None:
        """Refuse a file with fewer or more words than its header promises."""
        n = len(self.lines)
        if self.promised is None or n == self.limit:  # the rest is not looked at
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
            word = list(self.lines)[row]
            value = vectors[row][~np.isfinite(vectors[row])][0]
            raise self.error(
                row, f"vectors must be finite in float32, got {value} for {word!r}."
            )
        return list(self.lines), freeze(vectors), None


# -- text: word2vec, GloVe, fastText ------------------------------------------------


def _read_text(file: IO[bytes], table: _Table) -> None:
    table.place = lambda row: f"line {row + 1}"
    lines = _lines(file, table)
    peeked = list(islice(lines, 3))
    if peeked:
        peeked[0] = peeked[0].removeprefix(b"\xef\xbb\xbf")  # byte order mark
    header = _text_header(peeked)
    if header is None:
        dim, origin = _numbers_at_end(peeked[0] if peeked else b""), "as line 1"
        if dim == 0:
            raise table.error(0, "no vector: expected a word, then its numbers.")
    else:
        table.promised, dim = header
        origin = "by the header"
        table.place = lambda row: f"line {row + 2}"
        del peeked[0]
    table.begin(dim)
    lines = chain(peeked, lines)
    for line in lines:
        _add_line(line, dim, origin, table)
        if table.full:
            break
    table.check_end(lambda: any(line.strip() for line in lines))


def _lines(file: IO[bytes], table: _Table) -> Iterator[bytes]:
    """Lines up to the last that is not blank."""
    blanks: list[bytes] = []
    number = 0
    try:
        for line in file:
            number += 1
            if not line.strip():
                blanks.append(line)
                continue
            yield from blanks  # in the middle: an error where it is used
            blanks.clear()
            yield line
    except _BROKEN_GZIP as error:
        raise InvalidParameterError(
            f"{table.path}, line {number + 1}: the compressed file is cut short or "
            f"broken ({error})."
        ) from error


def _text_header(lines: list[bytes]) -> tuple[int, int] | None:
    """Number of words and dimension, if the first line is a header.

    A headerless table of one dimension may start with a numeric word and a whole
    number, too. It is told from a header by its next two lines, also of two fields.
    """
    fields = [line.split() for line in lines]
    if not fields or len(fields[0]) != 2 or not all(f.isdigit() for f in fields[0]):
        return None
    n, dim = map(int, fields[0])
    if dim != 1 and [len(row) for row in fields[1:]] == [2, 2]:
        return None
    return n, dim


def _numbers_at_end(line: bytes) -> int:
    """How many of the fields are numbers, counted from the right; word left out."""
    count = 0
    for field in reversed(line.split()[1:]):
        if not _is_number(field):
            break
        count += 1
    return count


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _add_line(line: bytes, dim: int, origin: str, table: _Table) -> None:
    # From the right: a GloVe word may hold spaces (". . .")
    fields = line.rsplit(None, dim)
    row = len(table.lines)
    if len(fields) <= dim:
        found = max(len(fields) - 1, 0)
        raise table.error(
            row, f"expected a word and {dim} numbers ({origin}), got {found}."
        )
    word = fields[0]
    if b" " in word or b"\t" in word:
        extra = _numbers_at_end(word)
        if extra:
            raise table.error(
                row,
                f"expected a word and {dim} numbers ({origin}), got {dim + extra}.",
            )
    target = table.add(word)
    try:
        with np.errstate(over="ignore"):  # infinite in float32: refused at the end
            target[:] = np.fromiter(map(float, fields[1:]), np.float64, dim)
    except ValueError:
        bad = next(field for field in fields[1:] if not _is_number(field))
        raise table.error(
            row,
            f"expected a word and {dim} numbers ({origin}), got "
            f"{bad.decode('utf-8', 'replace')!r} among the numbers.",
        ) from None


# -- word2vec binary ------------------------------------------------------------------


def _read_binary(file: io.BufferedReader, table: _Table) -> None:
    try:
        start = file.peek(4)[:4]
        if start == _FASTTEXT_MAGIC:
            raise InvalidParameterError(
                f"{table.path}: is a fastText model, not word2vec binary. Read it with "
                "gensim.models.fasttext.load_facebook_model and pass that to "
                "WordEmbedding.from_gensim, which keeps its subword vectors."
            )
        header = file.readline(64).split()
        if len(header) != 2 or not all(field.isdigit() for field in header):
            raise InvalidParameterError(
                f"{table.path}: is not word2vec binary, which starts with a line of "
                "two integers. (For an old fastText model, see "
                "gensim.models.fasttext.load_facebook_model.)"
            )
        table.promised, dim = map(int, header)
        table.begin(dim)
        table.place = lambda row: f"word {row + 1}"
        n_bytes = 4 * dim
        while not table.full:
            word = _binary_word(file, table)
            if word is None:
                break
            row = table.add(word)
            if file.readinto(row.view(np.uint8)) < n_bytes:  # type: ignore[arg-type]
                raise table.error(
                    len(table.lines) - 1,
                    f"the file ends within the vector of {dim} numbers.",
                )
        table.check_end(lambda: bool(file.read(1 << 10).strip()))
    except _BROKEN_GZIP as error:
        raise table.error(
            len(table.lines),
            f"the compressed file is cut short or broken ({error}).",
        ) from error


def _binary_word(file: io.BufferedReader, table: _Table) -> bytes | None:
    """Bytes up to the next space; None at the end of the file."""
    word = b""
    while True:
        ahead = file.peek()
        if not ahead:
            if word.strip():
                raise table.error(len(table.lines), "the file ends within the word.")
            return None
        end = ahead.find(b" ")
        if end >= 0:
            word += file.read(end + 1)[:-1]
            return word.lstrip(b"\n")  # word2vec ends vectors with one, gensim not
        word += file.read(len(ahead))
        if len(word) > 1 << 20:
            raise table.error(len(table.lines), "no space after the word in 1 MiB.")
