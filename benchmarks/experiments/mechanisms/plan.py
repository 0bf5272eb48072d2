"""What there is to measure, piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from experiments.mechanisms.corpora import corpus, names
from experiments.mechanisms.field import FIELD, REPLACED, match
from experiments.mechanisms.measure import (
    N_RELEASES,
    ceiling,
    use,
    words,
)
from experiments.store import Cell, Store

QUICK = ("Laplace noise", "Exponential, exact", "Randomized response")
# Whose use is measured first; the others follow.
FIRST = (
    "Exponential, exact", REPLACED, "Laplace noise", "Randomized response",
    "Exponential, half (SanText)", "TEM",
)  # fmt: skip
USED = 0.5  # the success at which use is measured
# ε of the replaced documents.
REPLACED_EPSILON = 4.0
VERSION = 2  # raise it when a change of the code changes the numbers


def chosen(quick: bool) -> tuple[list[str], list[str]]:
    """The mechanisms and corpora of a run."""
    return (list(QUICK), ["docstrings"]) if quick else (list(FIELD), names())


def cell(kind: str, *what: object, compute: Callable[[], Any]) -> Cell:
    return Cell.named(kind, *what, version=VERSION, compute=compute)


def match_cell(name: str, table: str) -> Cell:
    return cell("match", name, table, compute=partial(match, name, table))


def word_cells(
    store: Store, name: str, corpora: list[str]
) -> dict[tuple[str, float], Cell]:
    """Of each embedding and aim, a cell, where ε was found."""
    cells = {}
    for table in dict.fromkeys(corpus(of).embedding for of in corpora):
        for point in store.get(match_cell(name, table)):
            if (epsilon := point["epsilon"]) is not None:
                aim = point["aim"]
                compute = partial(words, name, table, epsilon)
                cells[table, aim] = cell("words", name, table, aim, compute=compute)
    return cells


def ceiling_cell(of: str) -> Cell:
    return cell("clear", of, compute=partial(ceiling, of))


def in_order(mechanisms: list[str]) -> list[str]:
    """These and the replaced documents, in the order in which they are measured."""
    every = (*mechanisms, REPLACED)
    return list(dict.fromkeys([*(name for name in FIRST if name in every), *every]))


def epsilon_at(store: Store, name: str, of: str) -> float | None:
    """ε of a mechanism on a corpus, where half of the words are guessed; None if none.

    Replaced documents have no word to guess, and one ε.
    """
    if name == REPLACED:
        return REPLACED_EPSILON
    points = store.get(match_cell(name, corpus(of).embedding))
    return next(point["epsilon"] for point in points if point["aim"] == USED)


def use_cells(
    store: Store, name: str, corpora: list[str]
) -> dict[tuple[Any, ...], Cell]:
    """Cells of what classifiers make of releases, by mechanism, corpus and release."""
    cells = {}
    for of in corpora:
        epsilon = epsilon_at(store, name, of)
        if epsilon is None:
            continue
        for release in range(N_RELEASES):
            what = name, of, release
            compute = partial(use, name, of, epsilon, release)
            cells[what] = cell("use", *what, compute=compute)
    return cells
