"""`make obfuscation`: hiding the author, keeping the topic, as in 2018 and 2019.

Fifty minutes on two idle cores. Reads ``pan19_fanfiction_en.jsonl.gz`` and two tables;
without them it does the built-in corpus alone. ``--only words`` computes what is found
of single words, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from experiments.obfuscation import docstrings, tables
from experiments.obfuscation.accuracy import Marks
from experiments.obfuscation.attack import cell_of
from experiments.obfuscation.grid import GOOGLE, W2V, all_settings
from experiments.store import Store
from real_data import STORIES, absent


def has_data() -> bool:
    return not absent(STORIES, f"{GOOGLE}.npz", f"{W2V}.npz")


def units(quick: bool) -> dict[str, Callable[[Store], object]]:
    """What shares an adversary's training, of fan fiction; and the docstrings."""

    def attack(group: str, store: Store) -> None:
        for setting in all_settings(quick):
            if setting.group == group:
                store.get(cell_of(setting))

    settings = all_settings(quick) if has_data() else []
    groups = dict.fromkeys(setting.group for setting in settings)
    each = {group: partial(attack, group) for group in groups}
    return {"docstrings": partial(docstrings.report, quick=quick), **each}


def report(store: Store, folder: Path, quick: bool) -> None:
    """Tables, of fan fiction where it is, and of docstrings."""
    docstrings.report(store, quick)
    if not has_data():
        return
    marks = Marks(store, quick)
    if quick:
        tables.write_quick(marks)
    else:
        tables.write_tables(marks)
