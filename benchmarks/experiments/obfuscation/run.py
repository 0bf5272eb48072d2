"""`make obfuscation`: hiding the author, keeping the topic, as in 2018 and 2019.

Half an hour on two idle cores. Reads ``pan19_fanfiction_en.jsonl.gz`` and Google News.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from experiments.obfuscation import tables
from experiments.obfuscation.accuracy import Marks
from experiments.obfuscation.attack import cell_of
from experiments.obfuscation.grid import all_settings
from experiments.store import Store
from real_data import GOOGLE, STORIES, absent


def units(quick: bool) -> dict[str, Callable[[Store], object]]:
    """What shares an adversary's training."""

    def attack(group: str, store: Store) -> None:
        for setting in all_settings(quick):
            if setting.group == group:
                store.get(cell_of(setting))

    settings = [] if absent(STORIES, GOOGLE) else all_settings(quick)
    groups = dict.fromkeys(setting.group for setting in settings)
    return {group: partial(attack, group) for group in groups}


def report(store: Store, folder: Path, quick: bool) -> None:
    """The tables."""
    write = tables.write_quick if quick else tables.write_tables
    write(Marks(store, quick))
