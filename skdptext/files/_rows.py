"""Rows of CSV and JSON lines, one by one, so that an error knows its line.

The errors are ours: those of a parser would quote what it could not read.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# A row may have so many characters. Without a bound one unpaired quote would make a row
# of the whole file, and hold it in memory. Chosen, not measured.
MAX_ROW = 2**19

_TOO_LONG = (
    f"the row is longer than {MAX_ROW >> 10} KiB. Cut the document into several with "
    "different ids, or write the file as Parquet, whose rows may be longer."
)
_PAIRED = (
    "quotes are not paired: one is not closed, or one within a quoted text is not "
    "doubled."
)

#: The line where a row begins, the characters that it takes in the file, and the row.
Rows = Iterator[tuple[int, int, Any]]


class LineError(ValueError):
    """What is wrong with a line, without what is in it."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")


class _Lines:
    """Lines of a text file, of which `row` is the first one of the current row.

    Lines between rows that hold nothing but `blank` are left out.
    """

    def __init__(self, path: Path, blank: str | None) -> None:
        self.row = 1
        self.number = self.size = 0
        self._path, self._blank = path, blank

    def __iter__(self) -> Iterator[str]:
        # We decode bytes that are not UTF-8 to surrogates, and look for them in each
        # line: the decoder's own error would quote the bytes, and not say in which line
        # they are.
        packed = self._path.name.lower().endswith(".gz")
        with (
            (gzip.open if packed else open)(self._path, "rb") as binary,
            io.TextIOWrapper(
                binary, encoding="utf-8-sig", errors="surrogateescape", newline=""
            ) as text,
        ):
            while line := self._read(text):
                self.number += 1
                between = not self.size
                self.size += len(line)
                if self.size > MAX_ROW:
                    raise LineError(self.row, _TOO_LONG)
                if not line.isascii() and not _is_unicode(line):
                    raise LineError(
                        self.number, "it is not UTF-8. Save the file as UTF-8."
                    )
                if between and not line.strip(self._blank):
                    self.row, self.size = self.number + 1, 0
                else:
                    yield line

    def _read(self, text: Any) -> str:
        try:
            return str(text.readline(MAX_ROW + 1))
        except (EOFError, gzip.BadGzipFile, zlib.error):
            problem = "the compressed file is cut short or broken."
            raise LineError(self.number + 1, problem) from None

    def next_row(self) -> tuple[int, int]:
        """First line of the row that has been read, and its size."""
        ended = self.row, self.size
        self.row, self.size = self.number + 1, 0
        return ended


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def csv_rows(path: Path) -> Rows:
    """The lists of values of a CSV file, of which the first one names the columns."""
    lines = _Lines(path, "\r\n")
    rows = csv.reader(iter(lines), strict=True)
    width = 0
    while True:
        before = csv.field_size_limit()  # of the process, so it is given back
        csv.field_size_limit(max(before, MAX_ROW))
        try:
            row = next(rows, None)
        except csv.Error:
            raise LineError(lines.row, _PAIRED) from None
        finally:
            csv.field_size_limit(before)
        if row is None:
            return
        line, size = lines.next_row()
        if width and len(row) != width:
            raise LineError(
                line,
                f"{len(row)} values, but {width} columns. A text that holds a comma, a "
                "quote or a line break must be in quotes.",
            )
        width = len(row)
        yield line, size, row


def json_rows(path: Path) -> Rows:
    """The objects of a file of JSON lines."""
    lines = _Lines(path, None)
    decode = json.JSONDecoder(
        object_pairs_hook=_object, parse_constant=_refuse_constant
    ).decode
    for text in lines:
        line, size = lines.next_row()
        yield line, size, _parsed(text, line, decode)


def _parsed(text: str, line: int, decode: Callable[[str], Any]) -> dict[str, Any]:
    try:
        row = decode(text)
    except _RepeatedError:
        raise LineError(line, "an object has a name twice.") from None
    except (ValueError, RecursionError):
        raise LineError(line, "it is not JSON.") from None
    if not isinstance(row, dict):
        raise LineError(line, "it must be a JSON object, of names and values.")
    return row


class _RepeatedError(ValueError):
    """Two values of one name."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise _RepeatedError
    return fields


def _refuse_constant(name: str) -> Any:
    raise ValueError  # NaN and Infinity, which JSON does not have
