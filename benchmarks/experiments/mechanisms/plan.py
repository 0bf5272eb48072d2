"""What there is to measure, piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from experiments.mechanisms.corpora import AUTHORED, corpus, names
from experiments.mechanisms.field import FIELD, REPLACED, match
from experiments.mechanisms.measure import (
    N_RELEASES,
    ceiling,
    linkage,
    neighbours,
    use,
    words,
)
from experiments.store import Cell, Store

QUICK = ("Laplace noise", "Exponential, exact", "Randomized response")
# Neighbours are looked for in what these released, where half the words are guessed.
OF_NEIGHBOURS, AT_NEIGHBOURS = ("Exponential, exact",), 0.5
# Whose use is measured first; the others follow.
FIRST = (
    "Exponential, exact", REPLACED, "Laplace noise", "Randomized response",
    "Ranked Laplace noise", "1-Diffractor, one list", "CusText, classes of 20",
    "Exponential, half (SanText)", "von Mises–Fisher", "TEM", "Exponential, balanced",
)  # fmt: skip
# Successes at which use is measured.
USED = (0.5,)
# ε of the replaced documents.
REPLACED_EPSILON = 4.0
VERSION = 1  # raise it when a change of the code changes the numbers


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
        matched = store.get(match_cell(name, table))
        for point in (p for points in matched.values() for p in points):
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


def epsilon_at(store: Store, name: str, of: str, aim: float) -> float | None:
    """ε of a mechanism on a corpus, where so many words are guessed; None if nowhere.

    Replaced documents have no word to guess, and one ε.
    """
    if name == REPLACED:
        return REPLACED_EPSILON if aim == AT_NEIGHBOURS else None
    points = store.get(match_cell(name, corpus(of).embedding))["success"]
    return next(point["epsilon"] for point in points if point["aim"] == aim)


def use_cells(
    store: Store, name: str, corpora: list[str]
) -> dict[tuple[Any, ...], Cell]:
    """Cells of what classifiers and adversaries make of a mechanism's releases.

    Keys: ("use", mechanism, corpus, aim, release), ("found", mechanism, corpus, aim)
    and ("neighbours", mechanism, corpus, release).
    """
    cells = {}
    for aim in USED:
        for of in corpora:
            epsilon = epsilon_at(store, name, of, aim)
            if epsilon is None:
                continue
            what = name, of, aim
            if of in AUTHORED:  # the longer documents
                cells["found", *what] = cell(
                    "found", *what, compute=partial(linkage, name, of, epsilon)
                )
            for release in range(N_RELEASES):
                asked = name, of, epsilon, release
                cells["use", *what, release] = cell(
                    "use", *what, release, compute=partial(use, *asked)
                )
                if name in OF_NEIGHBOURS and aim == AT_NEIGHBOURS:
                    cells["neighbours", name, of, release] = cell(
                        "neighbours", name, of, release,
                        compute=partial(neighbours, *asked),
                    )  # fmt: skip
    return cells
