"""The cells of the experiment, and the part of the disk where each is kept."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

GOOGLE, W2V = "googlenews_8k_300d", "w2v_news_fiction_30k_300d"
# The paper has 30 to 10, and says that at 40 nothing changes.
EPSILONS = {
    GOOGLE: (40.0, 30.0, 25.0, 20.0, 15.0, 10.0, 5.0),
    W2V: (30.0, 25.0, 20.0, 15.0, 10.0, 5.0),
}
LAMS = (0.0, 0.5, 1.0)
# Releases (seeds of the noise) of each problem under each table.
SEEDS = {
    ("18 authors", GOOGLE): 3,
    ("40 authors", GOOGLE): 2,
    ("18 authors", W2V): 2,
    ("40 authors", W2V): 2,
}
KEEP_SEEDS, WORD_SEEDS = 2, 2
# Raise it when a change of the code changes the numbers of a cell.
VERSION = 3


@dataclass(frozen=True)
class Cell:
    """One release and the attacks on it; ε = 0 stands for no noise."""

    # "release"; "keep", with unknown words in clear; or "words", each of which is to be
    # guessed from its release
    kind: str
    problem: str
    table: str
    epsilon: float
    lam: float
    seed: int

    @property
    def group(self) -> tuple[object, ...]:
        """Cells of a group share an adversary's training; one process does them all."""
        return self.kind, self.table, self.epsilon, self.lam

    @property
    def name(self) -> str:
        problem = self.problem.replace(" ", "")
        table = self.table.split("_")[0]
        return (
            f"{self.kind}-{problem}-{table}-e{self.epsilon:g}-l{self.lam:g}"
            f"-s{self.seed}-v{VERSION}"
        )


def all_cells(quick: bool = False) -> list[Cell]:
    """Every cell, those of a group together."""
    seeds = {("18 authors", GOOGLE): 1} if quick else SEEDS
    lams = (0.0, 0.5) if quick else LAMS
    cells = []
    for (problem, table), n_seeds in seeds.items():
        cells.append(Cell("release", problem, table, 0.0, 0.0, 0))
        cells += [
            Cell("release", problem, table, epsilon, lam, seed)
            for seed in range(n_seeds)
            for epsilon in ((30.0,) if quick else EPSILONS[table])
            for lam in lams
        ]
    if not quick:
        cells += [
            Cell("keep", problem, GOOGLE, epsilon, 0.0, seed)
            for problem in ("18 authors", "40 authors")
            for epsilon in (0.0, *EPSILONS[GOOGLE])
            for seed in range(KEEP_SEEDS if epsilon else 1)
        ]
        cells += [
            Cell("words", "40 authors", GOOGLE, epsilon, lam, seed)
            for epsilon in (30.0, 20.0, 15.0, 10.0, 5.0)
            for lam in (0.0, 1.0)
            for seed in range(WORD_SEEDS)
        ]
    places = {group: i for i, group in enumerate(dict.fromkeys(c.group for c in cells))}
    return sorted(cells, key=lambda cell: places[cell.group])


def part_of(cells: list[Cell], part: int, parts: int) -> list[Cell]:
    """Every `parts`-th group, from the `part`-th (1 is the first)."""
    groups = list(dict.fromkeys(cell.group for cell in cells))
    mine = set(groups[part - 1 :: parts])
    return [cell for cell in cells if cell.group in mine]


class Store:
    """Finished cells, one file each; a run resumes where it stops."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def load(self, cell: Cell) -> dict[str, Any] | None:
        path = self.folder / f"{cell.name}.json"
        return json.loads(path.read_text("utf-8")) if path.exists() else None

    def save(self, cell: Cell, result: dict[str, Any]) -> None:
        self._write(
            self.folder / f"{cell.name}.json",
            json.dumps({"cell": asdict(cell), **result}).encode(),
        )

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        aside = path.with_suffix(f".{os.getpid()}.part")
        aside.write_bytes(content)
        aside.replace(path)


def as_marks(correct: np.ndarray) -> str:
    """One character per snippet: 1 if it was attributed rightly."""
    return "".join("1" if right else "0" for right in correct)
