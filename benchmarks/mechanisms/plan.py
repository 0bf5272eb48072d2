"""What there is to measure, piece by piece."""

from __future__ import annotations

from functools import partial

from corpora import corpus, names
from field import FIELD, match
from measure import ceiling, use, words
from paper.cells import Cell, Store

QUICK = ("Laplace noise", "Exponential, exact", "Randomized response")
VERSION = 1  # raise it when a change of the code changes the numbers


def chosen(quick: bool) -> tuple[list[str], list[str]]:
    """The mechanisms and the corpora of a run."""
    return (list(QUICK), ["docstrings"]) if quick else (list(FIELD), names())


def cell(kind: str, *what: object, compute: object) -> Cell:
    name = "-".join([kind, *(str(part) for part in what)])
    plain = "".join(c if c.isalnum() or c in "-." else "_" for c in name)
    return Cell(plain, {"version": VERSION, "what": list(what)}, compute)  # type: ignore[arg-type]


def match_cell(name: str, table: str) -> Cell:
    return cell("match", name, table, compute=partial(match, name, table))


def ceiling_cell(of: str) -> Cell:
    return cell("ceiling", of, compute=partial(ceiling, of))


def point_cells(
    store: Store, name: str, corpora: list[str]
) -> dict[tuple[str, str, float], Cell]:
    """Of each measurement, aim and corpus or embedding, a cell, where ε was found."""
    cells = {}
    tables = dict.fromkeys(corpus(of).embedding for of in corpora)
    for table in tables:
        matched = store.get(match_cell(name, table)) or {}
        for points in matched.values():
            for point in points:
                if (epsilon := point["epsilon"]) is None:
                    continue
                aim = point["aim"]
                cells["words", table, aim] = cell(
                    "words", name, table, aim,
                    compute=partial(words, name, table, epsilon),
                )  # fmt: skip
                for of in corpora:
                    if corpus(of).embedding == table:
                        cells["use", of, aim] = cell(
                            "use",
                            name,
                            of,
                            aim,
                            compute=partial(use, name, of, epsilon),
                        )
    return cells
