"""Columns next to the texts that say whose each row is."""

from operator import eq
from typing import Any

# Columns that agree in fewer rows have little to do with each other.
_SHARE = 0.5


def column_sentences(original: Any, released: Any) -> list[str]:
    """What the columns of a release, without its texts, give away.

    Both map names to values, such as a dict or a data frame, of rows in one order.
    Values are compared as they are written.
    """
    clear = {name: list(map(str, values)) for name, values in original.items()}
    said = []
    for name, values in released.items():
        mine, what = list(map(str, values)), ""
        n, different = len(mine), len(set(mine))
        if different == n > 2:
            what = "has another value in each row, which names it."
        for other, theirs in clear.items():
            pairs = set(zip(mine, theirs, strict=True))
            equal = sum(map(eq, mine, theirs))
            if equal >= _SHARE * n:
                rows = f"{equal:,} of {n:,} rows"
                what = f"equals {other!r} of the originals in {rows}."
                break
            if len(pairs) == different == len(set(theirs)) < n:
                what = f"has one name for each value of {other!r}: rows with one value "
                what += "remain together."
                break
        if what and different > 1:
            said.append(f"Column {name!r} {what}")
    return said
