"""Columns that stand beside the texts, and say of whom each row is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class ColumnFinding(NamedTuple):
    """What a column of the release gives away.

    Attributes
    ----------
    name, original : str
        The column of the release, and that of the originals which it repeats; the
        latter is empty if it repeats none.
    n_equal, n_rows, n_values : int
        Rows in which both are equal; rows; different values of the released one.
    renamed : bool
        Whether it has other names for the same values, one for one.
    label : str
        The label, such as ``"author"``, that it repeats; empty if none.
    """

    name: str
    original: str
    n_equal: int
    n_rows: int
    n_values: int
    renamed: bool = False
    label: str = ""


# Columns that agree in fewer rows have little to do with each other.
_SHARE = 0.5
# A column that agrees with a label in so many rows is that label.
_SAME = 0.9


def column_findings(
    original: Mapping[str, Sequence[Any]],
    released: Mapping[str, Sequence[Any]],
    labels: Mapping[str, Any],
) -> list[ColumnFinding]:
    """Columns of a release that repeat one of the originals, or name its rows.

    Rows belong together in order. Values are compared as they are written.
    """
    clear = {name: list(map(str, values)) for name, values in original.items()}
    known = {name: list(map(str, values)) for name, values in labels.items()}
    findings = []
    for name, values in released.items():
        mine = list(map(str, values))
        n, n_values = len(mine), len(set(mine))
        if n_values < 2:
            continue
        best = _most_alike(name, mine, clear)
        if best is not None:
            label = _most_alike(name, mine, known)
            if label and (label.renamed or label.n_equal >= _SAME * n):
                best = best._replace(label=label.original)
            findings.append(best)
        elif n_values == n and n > 2:
            findings.append(ColumnFinding(name, "", 0, n, n_values))
    return findings


def _most_alike(
    name: str, mine: list[str], clear: Mapping[str, list[str]]
) -> ColumnFinding | None:
    n, n_values = len(mine), len(set(mine))
    found = []
    # of columns that agree as well, the one of the same name
    for other in sorted(clear, key=lambda other: other != name):
        theirs = clear[other]
        equal = sum(a == b for a, b in zip(mine, theirs, strict=True))
        pairs = len(set(zip(mine, theirs, strict=True)))
        one_for_one = pairs == n_values == len(set(theirs)) and n_values < n
        if other == name or equal >= _SHARE * n or one_for_one:
            renamed = one_for_one and equal < n
            found.append(ColumnFinding(name, other, equal, n, n_values, renamed))
    return max(found, key=lambda it: (it.n_equal, it.renamed), default=None)
