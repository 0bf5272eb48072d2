"""Which mechanism for what? Then what classifiers and adversaries make of documents.

At the recorded ε where half of the words are guessed: five releases of each of four
corpora, a quarter of an hour on one idle core. What is not done has no row.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from experiments.mechanisms.plan import ceiling_cell, chosen, use_cells
from experiments.mechanisms.report import report_use
from experiments.store import Store
from results import figures_folder


def units(quick: bool) -> dict[str, Callable[[Store], None]]:
    """The documents in clear, and the releases of each mechanism."""
    mechanisms, corpora, prefix = chosen(quick)
    cells = use_cells(prefix, mechanisms, corpora)

    def measure(name: str, store: Store) -> None:
        for (_, mechanism, *_), cell in cells.items():
            if mechanism == name:
                store.get(cell)

    def in_clear(store: Store) -> None:
        for of in corpora:
            store.get(ceiling_cell(of))

    every = dict.fromkeys(mechanism for _, mechanism, *_ in cells)
    return {"clear": in_clear} | {name: partial(measure, name) for name in every}


def report(store: Store, folder: Path, quick: bool) -> None:
    report_use(store, *chosen(quick), figures_folder("mechanisms"))
