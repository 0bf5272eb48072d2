"""Files of documents: Parquet, CSV and JSON lines, some rows at a time."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from skdptext.exceptions import InvalidParameterError
from skdptext.files._rows import LineError, csv_rows, json_rows
from skdptext.files._types import CastError, converted, type_shown
from skdptext.utils import import_pyarrow, kind_of, shown

FORMATS = ("parquet", "csv", "jsonl")
SUFFIXES = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv.gz": "csv",
    ".jsonl.gz": "jsonl",
    ".ndjson.gz": "jsonl",
}
# Characters of a text file that are read at a time. Columns of JSON have the types that
# they have in the first ones.
_BLOCK_SIZE = 2**19
# We read so much of a column of a Parquet file at a time. A row group is otherwise held
# whole, and some writers make one group of a file.
_BUFFER_BYTES = 2**18
_BUFFER_ROWS = 256
# An error names so many columns at most. We look at so many rows to tell whether a CSV
# file begins with names, and a name has at most so many characters: what is longer may
# be a document. Chosen, not measured.
_MOST_NAMES, _LOOKED_AT, _SHORT = 10, 20, 40
# A table has about so many bytes at most, whatever the rows: releases hold some tables
# of each process in memory. Chosen, not measured.
_TABLE_BYTES, _TABLE_ROWS = 2**20, 4096


@dataclass(frozen=True)
class Input:
    """A file of documents."""

    name: str
    path: Path
    format: str

    def tables(self, types: Mapping[str, Any]) -> Iterator[Any]:
        """Tables of some 1 MB, or of 4,096 rows, or of one row that is larger.

        `types` are the columns to read, and what those without a type are read as:
        None is strings of CSV, and of JSON what it says.
        """
        read = {"csv": self._csv_batches, "jsonl": self._json_batches}
        batches = read.get(self.format, self._parquet_batches)(types)
        yield from _in_tables(self._watched(batches))

    def _watched(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The same batches; an error that comes as they are read is told as ours."""
        with self._errors():
            yield from batches

    def check_columns(self, columns: Iterable[str], parameters: str) -> None:
        """Refuse a file that lacks one of the columns, or has it twice."""
        rule = f"{parameters} must name columns of the documents"
        names = self.names()
        if names is None:
            return
        missing = [name for name in columns if name not in names]
        if missing:
            there = ". Does the file have a header row?"
            if len(missing) < len(set(columns)) or self._has_names():
                few = ", ".join(map(shown, names[:_MOST_NAMES]))
                there = f": {few}{'.' if len(names) <= _MOST_NAMES else ', …'}"
            raise InvalidParameterError(
                f"{rule}: {self.name} has no column "
                f"{', '.join(map(repr, missing))} among {len(names)}"
                f"{there}{self._other_separator()}"
            )
        twice = [name for name in columns if names.count(name) > 1]
        if twice:
            raise InvalidParameterError(
                f"{rule}: {self.name} has several named {', '.join(map(repr, twice))}."
            )

    def _has_names(self) -> bool:
        """Whether what stands for names may be shown, as it cannot be a document.

        A CSV file may begin with data: its first row is names if all are short, and one
        stands above numbers only, or above long texts only, and is neither.
        """
        if self.format != "csv":
            return True
        try:
            rows = [row for _, _, row in islice(csv_rows(self.path), _LOOKED_AT)]
        except (OSError, ValueError):
            return False
        names = rows[0]
        if any(len(name) > _SHORT or _is_number(name) for name in names):
            return False
        return len(rows) > 2 and any(
            all(map(_is_number, below)) or min(map(len, below)) > _SHORT
            for below in zip(*rows[1:], strict=True)
        )

    def names(self) -> list[str] | None:
        """Names of the columns; None in a text file without any, as engines write."""
        with self._errors():
            if self.format == "parquet":
                return list(self._parquet().schema_arrow.names)
            if self.format == "csv":
                return next((row for _, _, row in csv_rows(self.path)), None)
            _, first = next(_in_blocks(json_rows(self.path)), (None, None))
            return None if first is None else list(dict.fromkeys(chain(*first)))

    def _csv_batches(self, types: Mapping[str, Any]) -> Iterator[Any]:
        """What looks like a number stays as it is written."""
        pa = import_pyarrow("release_files")
        from pyarrow import csv as commas

        # We give pyarrow strings only. Its own reader would make the number 7 of an id
        # 007.
        null = set(commas.ConvertOptions().null_values)
        rows = csv_rows(self.path)
        _, _, names = next(rows, (0, 0, list(types)))
        places = [names.index(name) for name in types]
        is_string = pa.types.is_string
        nullable = [kind is not None and not is_string(kind) for kind in types.values()]
        for _, batch in _in_blocks(rows):
            arrays = []
            for place, can_be_null in zip(places, nullable, strict=True):
                values = [row[place] for row in batch]
                if can_be_null:
                    values = [None if value in null else value for value in values]
                arrays.append(pa.array(values, pa.string()))
            yield pa.record_batch(arrays, names=list(types))

    def _json_batches(self, types: Mapping[str, Any]) -> Iterator[Any]:
        pa = import_pyarrow("release_files")
        known: dict[str, Any] = {}
        for lines, rows in _in_blocks(json_rows(self.path)):
            arrays = []
            for name, wanted in types.items():
                values = [row.get(name) for row in rows]
                if name not in known:
                    array = _as_array(values, None, name, lines)
                    known[name] = _json_type(array.type, wanted)
                arrays.append(_as_array(values, known[name], name, lines))
            yield pa.record_batch(arrays, names=list(types))

    def _parquet_batches(self, types: Mapping[str, Any]) -> Iterator[Any]:
        file, columns = self._parquet(), list(types)
        for group in range(file.num_row_groups):  # all at once would hold several
            batches = file.iter_batches(
                _BUFFER_ROWS, row_groups=[group], columns=columns, use_threads=False
            )
            yield from (batch.select(columns) for batch in batches)

    def _parquet(self) -> Any:
        """The file, buffered: otherwise a row group is held, more than once."""
        import_pyarrow("reading Parquet")
        from pyarrow import parquet

        with self._errors():
            return parquet.ParquetFile(
                self.path, buffer_size=_BUFFER_BYTES, pre_buffer=False
            )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of reading, with the name of the file, and never with its content."""
        try:
            yield
        except InvalidParameterError:
            raise
        except (OSError, ValueError) as error:
            if isinstance(error, LineError):
                problem = f"{error}{self._other_separator()}"
            elif isinstance(error, OSError) and error.errno is not None:
                problem = f"{error.strerror}."  # of the system, which reads nothing
            else:  # pyarrow's, which may quote
                problem = "it is damaged, or in another format."
            raise InvalidParameterError(
                f"source must hold readable files, but {self.name} cannot be read as "
                f"{self.format}: {problem}"
            ) from None

    def _other_separator(self) -> str:
        """Advice on a CSV file whose first line has another separator, not a comma."""
        if self.format != "csv":
            return ""
        try:
            _, _, names = next(csv_rows(self.path), (0, 0, []))
        except ValueError:
            return ""
        line = names[0] if len(names) == 1 else ""
        separator = next((sign for sign in ";\t|" if sign in line), None)
        if separator is None:
            return ""
        return f" The separator must be ',', and seems to be {separator!r}."


def _in_blocks(rows: Iterable[Any]) -> Iterator[tuple[list[int], list[Any]]]:
    """Rows of about a block together, and the lines where they begin."""
    lines: list[int] = []
    held: list[Any] = []
    size = 0
    for line, length, row in rows:
        lines.append(line)
        held.append(row)
        size += length
        if size >= _BLOCK_SIZE:
            yield lines, held
            lines, held, size = [], [], 0
    if held:
        yield lines, held


def _as_array(values: list[Any], kind: Any, name: str, lines: list[int]) -> Any:
    """Values of a column, of one type; an error says which line has another."""
    pa = import_pyarrow("release_files")
    try:
        return converted(lambda part: pa.array(part, kind), values)
    except CastError as error:
        raise LineError(
            lines[error.position],
            f"the value of {name!r} is not of the same type as those above it, or is "
            "not valid Unicode. Write all its values alike; in Python, the type of a "
            "column that is kept may be given, too: keep={name: type}.",
        ) from None


def _json_type(read: Any, wanted: Any) -> Any:
    """What to read a column of JSON as, to be cast to `wanted` then.

    Strings stay as they are written.
    """
    types = import_pyarrow("release_files").types
    if wanted is not None and types.is_floating(wanted) and types.is_integer(read):
        return wanted
    if not types.is_null(read) or wanted is None:
        return read
    # nothing was found so far
    kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_nested)
    if any(is_kind(wanted) for is_kind in kinds):
        return wanted
    return import_pyarrow("release_files").string()


def _in_tables(batches: Iterable[Any]) -> Iterator[Any]:
    """Batches of whatever size, as tables that are small."""
    pa = import_pyarrow("release_files")
    waiting: list[Any] = []
    rows = held = 0
    for batch in batches:
        # rows that take about the size of a table, were all of them alike
        few = max(1, len(batch) * _TABLE_BYTES // max(1, batch.nbytes))
        for start in range(0, len(batch), few):
            part = batch.slice(start, few)
            waiting.append(part)
            rows += len(part)
            held += part.nbytes
            if rows >= _TABLE_ROWS or held >= _TABLE_BYTES:
                yield pa.Table.from_batches(waiting)
                waiting, rows, held = [], 0, 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def find_inputs(source: Any) -> list[Input]:
    """The files of a source: a file, a folder, or a list of files.

    Names are paths in the folder, or names of files.
    """
    # The order of the files is the order of the release, so that it must not depend on
    # how the file system lists a folder.
    if isinstance(source, str | os.PathLike):
        root = Path(source)
        if root.is_dir():
            inside = [
                path
                for path in sorted(root.rglob("*"))
                if not _is_hidden(path.relative_to(root))
            ]
            links = [path for path in inside if path.is_symlink() and path.is_dir()]
            if links:  # not followed, so that documents would be left out
                raise InvalidParameterError(
                    "source must hold no symbolic links to folders, got "
                    f"{str(links[0])!r}. List its files."
                )
            named = {
                path.relative_to(root).as_posix(): path
                for path in inside
                if _format_of(path) and not path.is_dir()
            }
            if not named:
                raise InvalidParameterError(
                    f"source must be a folder that holds {', '.join(SUFFIXES)} "
                    f"files, got {str(root)!r}, which has none."
                )
        else:
            named = {root.name: root}
    elif isinstance(source, Iterable) and not isinstance(source, bytes):
        paths = [Path(path) for path in source]
        named = {path.name: path for path in paths}
        if not paths or len(named) < len(paths):
            raise InvalidParameterError(
                "source must be a list of files with different names, got "
                f"{len(paths)} files with {len(named)} names."
            )
    else:
        raise InvalidParameterError(
            f"source must be a path or a list of paths, got {kind_of(source)}."
        )
    inputs = []
    for name, path in named.items():
        if not path.exists():
            raise InvalidParameterError(
                "source must name files that are there, but there is no file or folder "
                f"{str(path)!r}."
            )
        form = _format_of(path)
        if form is not None and not path.is_file():
            raise InvalidParameterError(
                f"source must name files, got {str(path)!r}, which is none."
            )
        if form is None:
            raise InvalidParameterError(
                f"source must name files that end in {', '.join(SUFFIXES)}, got "
                f"{str(path)!r}."
            )
        inputs.append(Input(name, path, form))
    return inputs


def is_found_in(source: Any, folder: str | os.PathLike[str]) -> bool:
    """Whether files in a folder would be found as inputs of `source`."""
    if not isinstance(source, str | os.PathLike) or not Path(source).is_dir():
        return False
    root, inner = Path(source).resolve(), Path(folder).resolve()
    return inner.is_relative_to(root) and not _is_hidden(inner.relative_to(root))


def _format_of(path: Path) -> str | None:
    name = path.name.lower()
    return next((form for s, form in SUFFIXES.items() if name.endswith(s)), None)


def _is_hidden(path: Path) -> bool:
    """Whether Spark, pyarrow and the like would not count it as data."""
    return any(part.startswith((".", "_")) for part in path.parts)


@contextmanager
def table_writer(file: IO[bytes], form: str) -> Iterator[Callable[[Any], None]]:
    """What appends tables of one schema to a file; equal tables give equal bytes."""
    from pyarrow import csv as commas
    from pyarrow import parquet

    with ExitStack() as stack:
        writers: list[Any] = []

        def write(table: Any) -> None:
            if form == "jsonl":
                for row in table.to_pylist():
                    line = json.dumps(_as_json(row), ensure_ascii=False, default=str)
                    file.write(line.encode() + b"\n")
                return
            if not writers:
                kind = parquet.ParquetWriter if form == "parquet" else commas.CSVWriter
                writers.append(stack.enter_context(kind(file, table.schema)))
            writers[0].write_table(table)

        yield write


def _as_json(value: Any) -> Any:
    """A value with null for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {name: _as_json(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_as_json(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def check_writable(types: Mapping[str, Any], form: str) -> None:
    """Refuse columns of types that a format cannot hold."""
    pa = import_pyarrow("release_files")
    kinds = ("is_binary", "is_large_binary", "is_fixed_size_binary")
    binary = [
        name
        for name, kind in types.items()
        if form != "parquet" and any(getattr(pa.types, test)(kind) for test in kinds)
    ]
    refused = binary[-1:]
    try:
        with table_writer(io.BytesIO(), form) as write:
            write(pa.schema(list(types.items())).empty_table())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        refused = refused or list(types)
    if refused:
        problem = ", ".join(f"{n!r} is {type_shown(types[n])}" for n in refused)
        raise InvalidParameterError(
            f"format must be one that can hold the columns kept, got {form!r}: "
            f"{problem}. Parquet can."
        )


def column_names(source: Any) -> list[str]:
    """Names of the columns that each file of a source has."""
    each = [place.names() or [] for place in find_inputs(source)]
    return [name for name in each[0] if all(name in names for names in each)]


def read_columns(source: Any, columns: Sequence[str]) -> list[list[Any]]:
    """Read columns of files into memory.

    Parameters
    ----------
    source : path, or list of paths
        As in `release_files`.
    columns : sequence of str
        Names of the columns. The first one is read as strings.

    Returns
    -------
    values : list of lists
        One list for each name, with None for null.

    Raises
    ------
    InvalidParameterError
        If a file or a column is missing.
    """
    string = import_pyarrow("reading columns").string()
    types = {**dict.fromkeys(columns), columns[0]: string}  # each name once
    columns_read: dict[str, list[Any]] = {name: [] for name in types}
    for place in find_inputs(source):
        place.check_columns(columns, "columns")
        for table in place.tables(types):
            for name in types:
                columns_read[name] += table[name].to_pylist()
    return [columns_read[name] for name in columns]
