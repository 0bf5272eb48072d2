"""`make mechanisms`: which mechanism for what?

Every mechanism is given the ε at which the best guess of a word from its release is
right for 10, 25, 50 and 75 % of the words of public text, and the ε at which it
promises 4 and 8 nats between a word and its nearest. At each, its words and its promise
are measured; where half of the words are guessed, what classifiers make
of five releases of each of four corpora. The public sets that are not here are left
out, and what is not done has no row.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from experiments.mechanisms.field import REPLACED
from experiments.mechanisms.plan import (
    ceiling_cell,
    chosen,
    in_order,
    use_cells,
    word_cells,
)
from experiments.mechanisms.report import Words, report_use, report_words
from experiments.store import Store


def units(quick: bool) -> dict[str, Callable[[Store], None]]:
    """The documents in clear, and the words and releases of each mechanism."""
    mechanisms, corpora = chosen(quick)

    def in_clear(store: Store) -> None:
        for of in corpora:
            store.get(ceiling_cell(of))

    def measure(name: str, store: Store) -> None:
        if name != REPLACED:  # it has no words
            for cell in word_cells(store, name, corpora).values():
                store.get(cell)
        for cell in use_cells(store, name, corpora).values():
            store.get(cell)

    every = in_order(mechanisms)
    return {"clear": in_clear} | {name: partial(measure, name) for name in every}


def report(store: Store, folder: Path, quick: bool) -> None:
    words = Words(store, *chosen(quick))
    report_words(words)
    report_use(store, words)
