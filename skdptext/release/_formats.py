"""Files of documents: Parquet, CSV and JSON lines, a row group at a time."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import import_pyarrow, kind_of, shown

__all__ = [
    "FORMATS",
    "Input",
    "check_writable",
    "find_inputs",
    "read_columns",
    "types_of",
    "write_table",
]

FORMATS = ("parquet", "csv", "jsonl")
_SUFFIXES = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv.gz": "csv",
    ".jsonl.gz": "jsonl",
    ".ndjson.gz": "jsonl",
}
# Text that is parsed at a time: no row may be longer, and about fifty blocks are held.
_BLOCK_BYTES = 2**19
# Read at a time from a column of a Parquet file
_BUFFER_BYTES = 2**18
_BUFFER_ROWS = 256
# Read to see whether there is a row
_START_BYTES = 1 << 16
# Of one table
_TABLE_BYTES = 2**20


@dataclass(frozen=True)
class Input:
    """A file of documents."""

    name: str
    path: Path
    format: str

    def groups(self, types: Mapping[str, Any], n_rows: int) -> Iterator[Iterator[Any]]:
        """Tables of some rows, of which `n_rows` are together, row group by row group.

        Parameters
        ----------
        types : mapping of str to pyarrow.DataType or None
            Columns to read, and the types that those without one are read as. None:
            from CSV strings, from JSON what it says.
        n_rows : int
            Rows n_rows - 1 and n_rows of a group, and so on, are in different tables.

        Yields
        ------
        group : iterator of pyarrow.Table
            A CSV or JSON file is one group. A table has some 1 MB at most, or one row.
        """
        if self.format != "parquet":
            yield _in_tables(self._streamed(types), n_rows)
            return
        file = self._parquet()
        columns = list(types)
        for group in range(file.num_row_groups):
            batches = file.iter_batches(
                min(n_rows, _BUFFER_ROWS),
                row_groups=[group],
                columns=columns,
                use_threads=False,
            )
            yield _in_tables((batch.select(columns) for batch in batches), n_rows)

    def check_columns(self, columns: Iterable[str]) -> None:
        """Refuse a file that lacks one of the columns, or has it twice."""
        if self.format == "parquet":
            names = self._parquet().schema_arrow.names
        elif self.format == "csv" and self._is_empty():  # but for a line of names
            names = next(csv.reader([self._start().decode(errors="replace")]), [])
            if not names:
                return
        elif self._is_empty():
            return
        else:
            with self._stream({}) as stream:
                names = stream.schema.names
        missing = [name for name in columns if name not in names]
        if missing:
            raise InvalidParameterError(
                f"id, text and keep must name columns of the documents: {self.name} "
                f"has no {', '.join(map(repr, missing))}, but {names}."
                f"{self._other_separator()}"
            )
        twice = [name for name in columns if names.count(name) > 1]
        if twice:
            raise InvalidParameterError(
                f"id, text and keep must name columns of the documents: {self.name} "
                f"has several named {', '.join(map(repr, twice))}."
            )

    def _is_empty(self) -> bool:
        """Whether a text file has no rows, as parts written by an engine may."""
        start = self._start()
        if self.format == "csv":
            return len(start) < _START_BYTES and b"\n" not in start
        return not start.strip()

    def _start(self) -> bytes:
        with self._told(), self._open() as file:
            return bytes(file.read(_START_BYTES))

    def _streamed(self, types: Mapping[str, Any]) -> Iterator[Any]:
        """Batches of a file without types, read as those given."""
        if self._is_empty():
            return
        columns = list(types)
        pa = import_pyarrow("release_files")
        if self.format == "csv":  # what looks like a number stays as it is written
            read_as = {name: types[name] or pa.string() for name in columns}
        else:
            with self._stream({}) as stream:
                read_as = {
                    name: _json_type(stream.schema.field(name).type, types[name])
                    for name in columns
                }
        with self._stream(read_as) as stream, self._told():
            for batch in stream:
                yield batch.select(columns)

    def _open(self) -> Any:
        pa = import_pyarrow("release_files")
        packed = "gzip" if self.path.name.lower().endswith(".gz") else None
        return pa.input_stream(self.path, packed, buffer_size=_BUFFER_BYTES)

    def _stream(self, types: Mapping[str, Any]) -> Any:
        """Reader of the columns of a text file; of all of them if none are named."""
        pa = import_pyarrow("release_files")
        from pyarrow import csv as commas
        from pyarrow import json as lines

        with self._told():
            file = self._open()
            if self.format == "csv":
                return commas.open_csv(
                    file,
                    commas.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES),
                    commas.ParseOptions(newlines_in_values=True),
                    commas.ConvertOptions(
                        include_columns=list(types), column_types=dict(types)
                    ),
                )
            return lines.open_json(
                file,
                lines.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES),
                lines.ParseOptions(
                    explicit_schema=pa.schema(list(types.items())) if types else None,
                    unexpected_field_behavior="ignore" if types else "infer",
                ),
            )

    def _parquet(self) -> Any:
        """The file, buffered: otherwise a row group is held, more than once."""
        import_pyarrow("reading Parquet")
        from pyarrow import parquet

        with self._told():
            return parquet.ParquetFile(
                self.path, buffer_size=_BUFFER_BYTES, pre_buffer=False
            )

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Errors of pyarrow, with the name of the file."""
        try:
            yield
        except (OSError, ValueError) as error:
            told = str(error)
            if "straddling" in told:
                told += f" A row may have {_BLOCK_BYTES // 1024} KiB."
            elif "UTF8" in told:
                told += ". Save the file as UTF-8."
            elif "changed from" in told:
                told += ". Give the type of a column that is kept: keep={name: type}."
            elif isinstance(error, ValueError):
                told += self._other_separator()
            raise InvalidParameterError(
                f"source must hold readable files, but {self.name} cannot be read as "
                f"{self.format}: {told}"
            ) from None

    def _other_separator(self) -> str:
        """Advice on a CSV file whose first line has another separator, not a comma."""
        if self.format != "csv":
            return ""
        line = self._start().partition(b"\n")[0].decode(errors="replace")
        found = next((sign for sign in ";\t|" if sign in line), None)
        if found is None or "," in line:
            return ""
        return f" The separator must be ',', and seems to be {found!r}."

    def count_rows(self) -> int:
        """Documents in the file."""
        if self.format == "parquet":
            return self._parquet().metadata.num_rows
        with self._stream({}) as stream:
            return sum(len(batch) for batch in stream)


def _json_type(found: Any, wanted: Any) -> Any:
    """What to read a column of JSON as, to be cast to `wanted` then.

    Strings stay as they are written: those that look like dates were found as such.
    """
    types = import_pyarrow("release_files").types
    if types.is_timestamp(found) or types.is_string(found):
        return import_pyarrow("release_files").string()
    if not types.is_null(found) or wanted is None:
        return found
    # nothing was found so far
    kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_nested)
    if any(is_kind(wanted) for is_kind in kinds):
        return wanted
    return import_pyarrow("release_files").string()


def _in_tables(batches: Iterable[Any], n_rows: int) -> Iterator[Any]:
    """Batches of whatever size, as tables that are small and keep to `n_rows`."""
    pa = import_pyarrow("release_files")
    waiting: list[Any] = []
    row = held = 0
    for batch in batches:
        few = max(1, len(batch) * _TABLE_BYTES // max(1, batch.nbytes))
        start = 0
        while start < len(batch):
            part = batch.slice(start, min(few, n_rows - row))
            waiting.append(part)
            start += len(part)
            row += len(part)
            held += part.nbytes
            if row == n_rows or held >= _TABLE_BYTES:
                yield pa.Table.from_batches(waiting)
                waiting, held = [], 0
                row %= n_rows
    if waiting:
        yield pa.Table.from_batches(waiting)


def find_inputs(source: Any) -> list[Input]:
    """The files of a source: a file, a folder, or a list of files.

    Names are paths in the folder, or names of files.
    """
    if isinstance(source, str | os.PathLike):
        root = Path(source)
        if root.is_dir():
            found = [
                path
                for path in sorted(root.rglob("*"))
                if not _is_hidden(path.relative_to(root))
            ]
            links = [path for path in found if path.is_symlink() and path.is_dir()]
            if links:  # not followed, so that documents would be left out
                raise InvalidParameterError(
                    "source must hold no symbolic links to folders, got "
                    f"{str(links[0])!r}. List its files."
                )
            named = {
                path.relative_to(root).as_posix(): path
                for path in found
                if _format_of(path) and not path.is_dir()
            }
            if not named:
                raise InvalidParameterError(
                    f"source must be a folder that holds {', '.join(_SUFFIXES)} "
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
        if not name.isprintable():
            raise InvalidParameterError(
                "source must hold files whose names are printable, as names of shards "
                f"are made of them, got {shown(name)}."
            )
        form = _format_of(path)
        if form is None or not path.is_file():
            raise InvalidParameterError(
                f"source must name files that end in {', '.join(_SUFFIXES)}, got "
                f"{str(path)!r}{'' if form is None else ', which is not a file'}."
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
    return next((form for s, form in _SUFFIXES.items() if name.endswith(s)), None)


def _is_hidden(path: Path) -> bool:
    """Whether Spark, pyarrow and the like would not count it as data."""
    return any(part.startswith((".", "_")) for part in path.parts)


def write_table(table: Any, file: IO[bytes], form: str) -> None:
    """Write a table; equal tables give equal bytes."""
    from pyarrow import csv as commas
    from pyarrow import parquet

    if form == "parquet":
        parquet.write_table(table, file)
    elif form == "csv":
        commas.write_csv(table, file)
    else:
        for row in table.to_pylist():
            line = json.dumps(_as_json(row), ensure_ascii=False, default=str)
            file.write(line.encode() + b"\n")


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
    try:
        write_table(pa.schema(list(types.items())).empty_table(), io.BytesIO(), form)
        problem = None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        problem = str(error)
    binary = ("is_binary", "is_large_binary", "is_fixed_size_binary")
    for name, kind in types.items() if form != "parquet" else ():
        if any(getattr(pa.types, is_kind)(kind) for is_kind in binary):
            problem = f"{name!r} is {kind}"
    if problem:
        raise InvalidParameterError(
            f"format must be one that can hold the columns kept, got {form!r}: "
            f"{problem}. Parquet can."
        )


def types_of(columns: Sequence[str]) -> dict[str, Any]:
    """What to read columns as: the first as strings, others as they come."""
    string = import_pyarrow("reading columns").string()
    return {**dict.fromkeys(columns), columns[0]: string}


def read_columns(source: Any, columns: Sequence[str]) -> list[list[Any]]:
    """Columns of files, in memory.

    Parameters
    ----------
    source : path, or list of paths
        As in `release_files`.
    columns : sequence of str
        Names of the columns. The first one is read as strings.

    Returns
    -------
    values : list of lists
        One list for each column, with None for null.

    Raises
    ------
    InvalidParameterError
        If a file or a column is missing.
    """
    types = types_of(columns)
    found: list[list[Any]] = [[] for _ in columns]
    for place in find_inputs(source):
        place.check_columns(columns)
        for group in place.groups(types, 1 << 16):
            for table in group:
                for values, column in zip(found, table.columns, strict=True):
                    values += column.to_pylist()
    return found
