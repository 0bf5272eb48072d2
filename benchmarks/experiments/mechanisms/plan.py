"""What there is to measure, piece by piece."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from experiments.mechanisms.corpora import AUTHORED, corpus, names
from experiments.mechanisms.field import FIELD, REPLACED, match
from experiments.mechanisms.measure import (
    N_RELEASES,
    ceiling,
    found,
    neighbours,
    use,
    words,
)
from experiments.store import Cell, Store
from results import RESULTS, results_folder

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
# ε of the replaced documents, which have no word to guess.
REPLACED_EPSILON = 4.0
VERSION = 1  # raise it when a change of the code changes the numbers


def chosen(quick: bool) -> tuple[list[str], list[str], str]:
    """The mechanisms and corpora of a run, and how the names of its tables begin."""
    if quick:
        return list(QUICK), ["docstrings"], "comparison_quick"
    return list(FIELD), names(), "comparison"


def cell(kind: str, *what: object, compute: object) -> Cell:
    name = "-".join([kind, *(str(part) for part in what)])
    return Cell(name, {"version": VERSION, "what": list(what)}, compute)  # type: ignore[arg-type]


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


def recorded_words(prefix: str, table: str) -> dict[tuple[str, float], dict[str, Any]]:
    """The rows of the tables of words, by mechanism and success."""
    name = f"{prefix}_words_success_{table}.json"
    paths = [folder / name for folder in (results_folder(), RESULTS)]
    path = next((path for path in paths if path.exists()), None)
    if path is None:
        raise SystemExit(f"{name} is not recorded: run the part 'words' first")
    rows = json.loads(path.read_text("utf-8"))["rows"]
    return {
        (row["mechanism"], float(row["matched"].rstrip(" %")) / 100): row
        for row in rows
        if row.get("ε") is not None
    }


def ceiling_cell(of: str) -> Cell:
    return cell("clear", of, compute=partial(ceiling, of))


def use_cells(
    prefix: str, mechanisms: list[str], corpora: list[str]
) -> dict[tuple[Any, ...], Cell]:
    """Cells of what classifiers and adversaries make of releases.

    Keys: ("use", mechanism, corpus, aim, release), ("found", mechanism, corpus, aim)
    and ("neighbours", mechanism, corpus, release). ε is that of the recorded words.
    """
    cells = {}
    recorded = {
        table: recorded_words(prefix, table)
        for table in dict.fromkeys(corpus(of).embedding for of in corpora)
    }
    every = [name for name in FIRST if name in (*mechanisms, REPLACED)]
    every += [name for name in mechanisms if name not in every]
    for aim in USED:
        for name in every:
            for of in corpora:
                row = recorded[corpus(of).embedding].get((name, aim))
                if name == REPLACED:
                    if aim != AT_NEIGHBOURS:
                        continue  # once: it has no words to match
                    row = {"ε": REPLACED_EPSILON}
                if row is None:
                    continue
                what, epsilon = (name, of, aim), row["ε"]
                if of in AUTHORED:  # the longer documents
                    cells["found", *what] = cell(
                        "found", *what, compute=partial(found, name, of, epsilon)
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
