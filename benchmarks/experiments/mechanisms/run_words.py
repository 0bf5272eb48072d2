"""Which mechanism for what? First what becomes of single words.

Every mechanism is given the ε at which the best guess of a word from its release is
right for 10, 25, 50 and 75 % of the words of public text, and the ε at which it
promises 4 and 8 nats between a word and its nearest. At each, its words and its promise
are measured. The public sets that are not here are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from experiments.mechanisms.plan import chosen, word_cells
from experiments.mechanisms.report import report_words
from experiments.store import Store


def units(quick: bool) -> dict[str, Callable[[Store], None]]:
    mechanisms, corpora, _ = chosen(quick)

    def measure(name: str, store: Store) -> None:
        for cell in word_cells(store, name, corpora).values():
            store.get(cell)

    return {name: partial(measure, name) for name in mechanisms}


def report(store: Store, folder: Path, quick: bool) -> None:
    report_words(store, *chosen(quick))
