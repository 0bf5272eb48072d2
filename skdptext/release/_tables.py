"""Read and write tables of documents (Parquet, CSV, JSON lines) in bounded memory.

Errors name the file, the line and the fault, and never quote the content.

pyarrow reads Parquet and writes Parquet and CSV. Rows of text are read by Python's csv
and json: where a quote is not closed, pyarrow returns many rows as one text, without an
error; from JSON it reads texts like 2024-01-01 as dates and large integers as decimals,
and refuses a column whose type only a later block shows.
"""

import csv
import gzip
import io
import json
import os
import re
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_kind, import_pyarrow, kind_of, shown

FORMATS = ("parquet", "csv", "jsonl", "csv.gz", "jsonl.gz")
SUFFIXES = {f".{form}": form for form in FORMATS}
SUFFIXES |= {".ndjson": "jsonl", ".ndjson.gz": "jsonl.gz"}
# Number of rows that are read, released and written at a time, and the most characters
# of a line: a file without line ends would fill the memory. Chosen, not measured.
_ROWS, _LONGEST_LINE = 512, 2**24
# Bytes that are not UTF-8 are decoded to these characters, because an error of the
# decoder would quote them.
_NOT_UTF8 = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True)
class Table:
    """A file of documents."""

    name: str
    path: Path
    format: str

    def batches(self, columns: Sequence[str], parameters: str) -> Iterator[Any]:
        """Yield record batches of these columns; columns of CSV are strings.

        `parameters` name the columns in errors.
        """
        pa, start = import_pyarrow("reading tables"), 0
        self._check_columns(columns, parameters)
        with self._told():
            if self.format == "parquet":
                file = self._parquet()
                # Reading all row groups at once would keep them in memory.
                for group in range(file.num_row_groups):
                    for batch in file.iter_batches(_ROWS, [group], columns, False):
                        yield batch.select(columns)
                return
            rows = self._rows()
            while block := list(islice(rows, _ROWS)):
                arrays = []
                for name in columns:
                    kinds = "such as texts in UTF-8 or numbers of 64 bits"
                    rule = f"{name!r} must be a column of one type, {kinds}"
                    values = [row.get(name) for row in block]
                    arrays.append(converted(pa.array, values, rule, start))
                yield pa.record_batch(arrays, names=columns)
                start += len(block)

    def names(self) -> list[str]:
        """Get the names of the columns; a text file without rows has none."""
        with self._told():
            if self.format == "parquet":
                return list(self._parquet().schema_arrow.names)
            if self.format.startswith("csv"):
                rows = csv.reader(_lines(self.path), strict=True)
                return next(filter(None, rows), [])
            first = islice(self._rows(), _ROWS)
            return list({name: None for row in first for name in row})

    def _check_columns(self, columns: Sequence[str], parameters: str) -> None:
        names = self.names()
        wrong = [name for name in columns if names.count(name) != 1]
        if not wrong or (not names and self.format != "parquet"):
            return
        # The first line of a CSV file without these names may be a document, and is not
        # quoted.
        there = "Does the file have a header row?"
        if not self.format.startswith("csv") or len(wrong) < len(columns):
            there = f"It has {', '.join(map(shown, names[:10])) or 'no columns'}."
        elif len(names) == 1 and (sign := re.search(r"[;\t|]", names[0])):
            there = f"The separator must be ',', and seems to be {sign[0]!r}."
        raise InvalidParameterError(
            f"{parameters} must name columns of the documents: {self.name} has no "
            f"column, or several, {', '.join(map(repr, wrong))}. {there}"
        )

    def _parquet(self) -> Any:
        from pyarrow import parquet

        # Without a buffer size, pyarrow would keep a row group in memory, even twice.
        return parquet.ParquetFile(self.path, buffer_size=2**18, pre_buffer=False)

    def _rows(self) -> Iterator[dict[str, Any]]:
        lines = _lines(self.path)
        return (_csv_rows if self.format.startswith("csv") else _json_rows)(lines)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Convert errors of reading: add the name of the file, and hide its content."""
        pa = import_pyarrow("reading tables")
        try:
            yield
            return
        except InvalidParameterError as error:
            problem = str(error)
        except (OSError, EOFError, ValueError, zlib.error, pa.ArrowException) as error:
            told = isinstance(error, OSError) and error.errno and error.strerror
            problem = f"{told or 'it is damaged or cut short'}."
        raise InvalidParameterError(f"source must be readable: {self.name}, {problem}")


def _lines(path: Path) -> Iterator[str]:
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    with (
        opened(path, "rb") as file,
        io.TextIOWrapper(file, "utf-8-sig", "surrogateescape", newline="") as text,
    ):
        for n, line in enumerate(iter(lambda: text.readline(_LONGEST_LINE), ""), 1):
            if len(line) == _LONGEST_LINE:
                raise _fault(n, "it is too long for a row")
            if _NOT_UTF8.search(line):
                raise _fault(n, "it is not UTF-8. Save the file as UTF-8")
            yield line


def _fault(line: int, what: str) -> InvalidParameterError:
    return InvalidParameterError(f"line {line}: {what}.")


def _csv_rows(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    rows, end = csv.DictReader(lines, strict=True), 0
    try:
        while rows.fieldnames == []:  # skip blank lines before the header
            rows.fieldnames = None
        names, end = rows.fieldnames or [], rows.line_num
        if len(set(names)) < len(names):
            raise _fault(rows.line_num, "two columns have one name")
        for row in rows:
            if None in row or None in row.values():
                what = f"a row must have {len(names)} values, and those that hold a "
                raise _fault(rows.line_num, f"{what}comma or line break quotes")
            yield row
            end = rows.line_num
        return
    except csv.Error:
        most = f"{csv.field_size_limit():,} characters, as JSON and Parquet may"
    what = (
        "from here on, quotes are not paired (a quote in quotes must be doubled), or "
    )
    raise _fault(end + 1, f"{what}a value has more than {most}")


def _json_rows(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    for n, line in enumerate(lines, 1):
        if not line.strip():
            continue
        row = None
        with suppress(ValueError, RecursionError):
            row = json.loads(line, object_pairs_hook=_with_names_once)
        if not isinstance(row, dict):
            what = "it must be a JSON object, of values with different names"
            raise _fault(n, what)
        yield row


def _with_names_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError
    return row


def converted(
    convert: Callable[[Any], Any], values: Any, rule: str, start: int = 0
) -> Any:
    """Return `convert(values)`; an error gives the position and not the value."""
    pa = import_pyarrow("reading tables")
    errors = (pa.ArrowException, TypeError, ValueError, OverflowError)

    def fails(n: int) -> bool:
        with suppress(*errors):
            convert(values[:n])
            return False
        return True

    with suppress(*errors):
        return convert(values)
    # A prefix fails if and only if it contains the first bad value.
    place = start + bisect_left(range(1, len(values) + 1), True, key=fails)
    raise InvalidParameterError(f"{rule}, got another at position {place}.")


def find_tables(source: Any) -> list[Table]:
    """Find the files of a source: a file, a folder, or a list of these."""
    given = [source] if isinstance(source, str | os.PathLike) else source
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise InvalidParameterError(
            f"source must be a path or a list of paths, got {kind_of(source)}."
        )
    tables: list[Table] = []
    for each in given:
        check_kind(each, str | os.PathLike, "source must name files by their paths")
        root = Path(each)
        walk = os.walk(root, followlinks=True)
        inside = (Path(place, name) for place, _, names in walk for name in names)
        # Spark and pyarrow also skip hidden files, and those of other formats.
        data = sorted(x for x in inside if _format(x) and not _hidden(x, root))
        for path in data or [root]:
            name = path.relative_to(root if data else root.parent).as_posix()
            tables.append(Table(name, path, _format(path)))
    wrong = [str(x.path) for x in tables if not (x.format and x.path.is_file())]
    if wrong or not tables:
        raise InvalidParameterError(
            f"source must name files that exist and end in {', '.join(SUFFIXES)}, or "
            f"folders of them, got {repr(wrong[0]) if wrong else 'no file'}. A "
            "spreadsheet can be saved as CSV."
        )
    return tables


def _hidden(path: Path, root: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.relative_to(root).parts)


def _format(path: Path) -> str:
    ends = (s for s in SUFFIXES if path.name.lower().endswith(s))
    return SUFFIXES.get(next(ends, ""), "")


def write_tables(
    tables: Iterable[Any], path: Path, form: str, tell: Callable[[int], object]
) -> int:
    """Write tables of one schema to a new file, and return the number of rows."""
    from pyarrow import csv as commas
    from pyarrow import parquet

    n, writer = 0, None
    unfit = {"parquet": "^$", "csv": "(list|struct|map)<|binary|view"}
    with open(path, "xb") as file, ExitStack() as stack:
        out: Any = file
        if form.endswith(".gz"):  # name and time are left out: equal runs, equal files
            out = stack.enter_context(gzip.GzipFile("", "wb", 6, file, mtime=0))
        for table in tables:
            types = str(table.schema.types)
            if re.search(unfit.get(form.partition(".")[0], "binary"), types):
                raise InvalidParameterError(
                    f"format must be one for all columns, such as parquet, got {form}."
                )
            if form.startswith("jsonl"):
                for row in table.to_pylist():
                    plain = json.dumps(row, default=str)
                    # JSON has no NaN and no infinity: they become null.
                    valid = json.loads(plain, parse_constant=lambda _: None)
                    line = json.dumps(valid, ensure_ascii=False)
                    out.write(line.encode() + b"\n")
            else:
                kind = parquet.ParquetWriter if form == "parquet" else commas.CSVWriter
                writer = writer or stack.enter_context(kind(out, table.schema))
                writer.write_table(table)
            n += len(table)
            tell(len(table))
        stack.close()
        file.flush()
        os.fsync(file.fileno())
    return n


def column_names(source: Any) -> list[str]:
    """Get the names of the columns that all files of a source have."""
    each = [table.names() for table in find_tables(source)]
    return [name for name in each[0] if all(name in names for names in each)]


def read_columns(
    source: Any, columns: Sequence[str], parameters: str = "columns"
) -> list[list[Any]]:
    """Read columns of files into memory.

    Parameters
    ----------
    source : path, or list of paths
        As in `release_files`.
    columns : sequence of str
        Names of the columns.
    parameters : str
        What names the columns in errors.

    Returns
    -------
    values : list of lists
        A list for each name, with None for null.

    Raises
    ------
    InvalidParameterError
        If a file or a column is missing, or there are no rows.
    """
    read: dict[str, list[Any]] = {name: [] for name in columns}  # each name once
    for table in find_tables(source):
        for batch in table.batches(list(read), parameters):
            for name, values in batch.to_pydict().items():
                read[name] += values
    if not all(read.values()):
        raise InvalidParameterError(
            f"source must hold documents, got none in {source}."
        )
    return [read[name] for name in columns]
