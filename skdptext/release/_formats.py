"""Files of documents: Parquet, CSV and JSON lines, a row group at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import import_pyarrow, kind_of

__all__ = [
    "FORMATS",
    "Input",
    "find_inputs",
    "read_columns",
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
_BLOCK_BYTES = 2**20
# Read at a time from a column of a Parquet file
_BUFFER_BYTES = 2**20


@dataclass(frozen=True)
class Input:
    """A file of documents."""

    name: str
    path: Path
    format: str

    def groups(
        self, columns: Sequence[str], strings: Sequence[str], n_rows: int
    ) -> Iterator[Iterator[Any]]:
        """Tables of `n_rows` rows (the last of a group: fewer), row group by row group.

        Parameters
        ----------
        columns : sequence of str
            Columns to read.
        strings : sequence of str
            Columns to read as strings from formats without types.
        n_rows : int

        Yields
        ------
        group : iterator of pyarrow.Table
            A CSV or JSON file is one group.
        """
        if self.format != "parquet":
            yield _in_tables(self._streamed(columns, strings), n_rows)
            return
        file = self._parquet()
        for group in range(file.num_row_groups):
            batches = file.iter_batches(
                n_rows, row_groups=[group], columns=list(columns), use_threads=False
            )
            yield _in_tables((batch.select(columns) for batch in batches), n_rows)

    def check_columns(self, columns: Sequence[str]) -> None:
        """Refuse a file that lacks one of the columns."""
        if self.format == "parquet":
            names = self._parquet().schema_arrow.names
        else:
            with self._stream((), {}) as stream:
                names = stream.schema.names
        missing = [name for name in columns if name not in names]
        if missing:
            raise InvalidParameterError(
                f"id, text and keep must name columns of the documents: {self.name} "
                f"has no {', '.join(map(repr, missing))}, but {names}."
                f"{self._other_separator()}"
            )

    def _streamed(
        self, columns: Sequence[str], strings: Sequence[str]
    ) -> Iterator[Any]:
        """Batches of a file without types, with some columns read as strings."""
        pa = import_pyarrow("release_files")
        with self._stream((), {}) as stream:
            types = {name: stream.schema.field(name).type for name in columns}
        for name in types.keys() & set(strings):
            # what looks like a date must stay as it is written
            if self.format == "csv" or not pa.types.is_integer(types[name]):
                types[name] = pa.string()
        with self._stream(columns, types) as stream, self._told():
            for batch in stream:
                yield batch.select(columns)

    def _stream(self, columns: Sequence[str], types: dict[str, Any]) -> Any:
        """Reader of a text file; it reads all columns if none are named."""
        pa = import_pyarrow("release_files")
        from pyarrow import csv
        from pyarrow import json as lines

        with self._told():
            file = pa.input_stream(self.path, buffer_size=_BUFFER_BYTES)
            if self.format == "csv":
                return csv.open_csv(
                    file,
                    csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES),
                    csv.ParseOptions(newlines_in_values=True),
                    csv.ConvertOptions(
                        include_columns=list(columns), column_types=types
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
            parsed = isinstance(error, ValueError)
            raise InvalidParameterError(
                f"source must hold {self.format} files (with rows below 1 MiB, unless "
                f"Parquet), got {self.name}: {error}"
                f"{self._other_separator() if parsed else ''}"
            ) from None

    def _other_separator(self) -> str:
        """Advice on a CSV file whose first line has another separator, not a comma."""
        if self.format != "csv":
            return ""
        with import_pyarrow("release_files").input_stream(self.path) as file:
            line = file.read(1 << 16).partition(b"\n")[0].decode(errors="replace")
        found = next((sign for sign in ";\t|" if sign in line), None)
        if found is None or "," in line:
            return ""
        return f" The separator must be ',', and seems to be {found!r}."

    def count_rows(self) -> int:
        """Documents in the file."""
        if self.format == "parquet":
            return self._parquet().metadata.num_rows
        with self._stream((), {}) as stream:
            return sum(len(batch) for batch in stream)


def _in_tables(batches: Iterable[Any], n_rows: int) -> Iterator[Any]:
    """Batches of whatever size, as tables of `n_rows` rows."""
    pa = import_pyarrow("release_files")
    waiting: list[Any] = []
    n_waiting = 0
    for batch in batches:
        start = 0
        while n_waiting + len(batch) - start >= n_rows:
            part = batch.slice(start, n_rows - n_waiting)
            yield pa.Table.from_batches([*waiting, part])
            start += len(part)
            waiting, n_waiting = [], 0
        if start < len(batch):
            waiting.append(batch.slice(start))
            n_waiting += len(batch) - start
    if n_waiting:
        yield pa.Table.from_batches(waiting)


def find_inputs(source: Any) -> list[Input]:
    """The files of a source: a file, a folder, or a list of files.

    Names are paths in the folder, or names of files.
    """
    if isinstance(source, str | os.PathLike):
        root = Path(source)
        if root.is_dir():
            named = {
                path.relative_to(root).as_posix(): path
                for path in sorted(root.rglob("*"))
                if _format_of(path) and not _is_hidden(path.relative_to(root))
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
        form = _format_of(path)
        if form is None or not path.is_file():
            raise InvalidParameterError(
                f"source must name files that end in {', '.join(_SUFFIXES)}, got "
                f"{str(path)!r}{'' if form is None else ', which is not a file'}."
            )
        inputs.append(Input(name, path, form))
    return inputs


def _format_of(path: Path) -> str | None:
    name = path.name.lower()
    return next((form for s, form in _SUFFIXES.items() if name.endswith(s)), None)


def _is_hidden(path: Path) -> bool:
    """Whether Spark, pyarrow and the like would not count it as data."""
    return any(part.startswith((".", "_")) for part in path.parts)


def write_table(table: Any, file: IO[bytes], form: str) -> None:
    """Write a table; equal tables give equal bytes."""
    from pyarrow import csv, parquet

    if form == "parquet":
        parquet.write_table(table, file)
    elif form == "csv":
        csv.write_csv(table, file)
    else:
        for row in table.to_pylist():
            line = json.dumps(row, ensure_ascii=False, default=str)
            file.write(line.encode() + b"\n")


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
    import_pyarrow("read_columns")
    found: list[list[Any]] = [[] for _ in columns]
    for place in find_inputs(source):
        place.check_columns(columns)
        for group in place.groups(columns, columns[:1], 1 << 16):
            for table in group:
                for values, column in zip(found, table.columns, strict=True):
                    values += column.to_pylist()
    return found
