"""Cells: pieces of the computation that are kept on disk, so that a run resumes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import skdptext


@dataclass(frozen=True)
class Cell:
    """A named piece, what it depends on, and how to get it.

    `name` is that of its file. A kept cell whose settings differ is computed anew.
    """

    name: str
    settings: dict[str, Any]
    compute: Callable[[], Any]

    def key(self) -> dict[str, Any]:
        key = {**self.settings, "skdptext": skdptext.__version__}
        return json.loads(json.dumps(key))  # tuples as lists, as in the file


class Store:
    """A folder of kept cells."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _read(self, cell: Cell) -> dict[str, Any] | None:
        path = self.folder / f"{cell.name}.json"
        if not path.exists():
            return None
        kept = json.loads(path.read_text("utf-8"))
        return kept if kept["settings"] == cell.key() else None

    def __contains__(self, cell: Cell) -> bool:
        return self._read(cell) is not None

    def get(self, cell: Cell) -> Any:
        """The result of a kept cell; None if it is not there."""
        kept = self._read(cell)
        return None if kept is None else kept["result"]

    def seconds(self, cell: Cell) -> float:
        """Processor time that the kept cell took; 0 if it is not there."""
        kept = self._read(cell)
        return 0.0 if kept is None else kept["seconds"]

    def fill(
        self, cells: Iterable[Cell], *, deadline: float = float("inf")
    ) -> list[Cell]:
        """Compute what is missing, and return what is left at the deadline.

        The deadline is in seconds of `time.monotonic`; no cell is begun after it.
        """
        missing = [cell for cell in cells if cell not in self]
        for i, cell in enumerate(missing):
            if time.monotonic() > deadline:
                return missing[i:]
            # of this process: on a busy machine too, what it takes on an idle core
            start = time.process_time()
            result = cell.compute()
            seconds = time.process_time() - start
            print(f"{cell.name}: {seconds:.1f} s", flush=True)
            kept = {"settings": cell.key(), "seconds": seconds, "result": result}
            self.folder.mkdir(parents=True, exist_ok=True)
            aside = self.folder / f"{cell.name}.{os.getpid()}.part"
            aside.write_text(json.dumps(kept) + "\n", encoding="utf-8")
            aside.replace(self.folder / f"{cell.name}.json")
        return []
