"""Cells: pieces of the computation that are kept on disk, so that a run resumes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import skdptext


@dataclass(frozen=True)
class Cell:
    """A named piece, what it depends on, and how to get it.

    `name` is the name of its file. A kept cell whose settings differ is computed anew.
    """

    name: str
    settings: dict[str, Any]
    compute: Callable[[], Any]

    @classmethod
    def named(cls, *what: object, version: object, compute: Callable[[], Any]) -> Cell:
        """One that is named by what it is of."""
        settings = {"version": version, "what": list(what)}
        return cls("-".join(map(str, what)), settings, compute)

    def key(self) -> dict[str, Any]:
        key = {**self.settings, "skdptext": skdptext.__version__}
        return json.loads(json.dumps(key))  # tuples as lists, as in the file


class MissingCellError(Exception):
    """A cell is missing, and none is begun any more."""


class Store:
    """A folder of kept cells; one that is missing is computed when it is asked for.

    The deadline is in seconds of `time.monotonic`; after it, none is computed. `spent`
    is the processor time of all cells that were asked for, in seconds.
    """

    def __init__(self, folder: Path, deadline: float = float("inf")) -> None:
        self.folder = folder
        self.deadline = deadline
        self.spent = 0.0

    def _path(self, cell: Cell) -> Path:
        plain = "".join(c if c.isalnum() or c in "-." else "_" for c in cell.name)
        return self.folder / f"{plain}.json"

    def _read(self, cell: Cell) -> dict[str, Any] | None:
        path = self._path(cell)
        if not path.exists():
            return None
        record = json.loads(path.read_text("utf-8"))
        return record if record["settings"] == cell.key() else None

    def get(self, cell: Cell) -> Any:
        """The result of a cell; `MissingCellError` if it is too late to compute it."""
        record = self._read(cell)
        if record is not None:
            self.spent += record["seconds"]
            return record["result"]
        if time.monotonic() > self.deadline:
            raise MissingCellError(cell.name)
        # of this process: on a busy machine too, what it takes on an idle core
        start = time.process_time()
        result = cell.compute()
        seconds = time.process_time() - start
        print(f"{cell.name}: {seconds:.1f} s", flush=True)
        self.put(cell, result, seconds)
        self.spent += seconds
        return json.loads(json.dumps(result))  # as it will be read

    def put(self, cell: Cell, result: Any, seconds: float) -> None:
        """Keep a result."""
        record = {"settings": cell.key(), "seconds": seconds, "result": result}
        path = self._path(cell)
        self.folder.mkdir(parents=True, exist_ok=True)
        aside = path.with_suffix(f".{os.getpid()}.part")
        aside.write_text(json.dumps(record) + "\n", encoding="utf-8")
        aside.replace(path)

    def seconds(self, cell: Cell) -> float:
        """Processor time that the kept cell took; 0 if it is not there."""
        record = self._read(cell)
        return 0.0 if record is None else record["seconds"]
