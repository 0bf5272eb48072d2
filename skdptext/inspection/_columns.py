"""Columns next to the texts that say whose each row is."""

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
        mine = list(map(str, values))
        n, different = len(mine), len(set(mine))
        equal = {
            other: sum(a == b for a, b in zip(mine, theirs, strict=True))
            for other, theirs in clear.items()
        }
        best = max(equal, key=lambda other: equal[other], default=None)
        renamed = [
            other
            for other, theirs in clear.items()
            if len(set(zip(mine, theirs, strict=True))) == different == len(set(theirs))
        ]
        if different == 1:
            continue
        if best is not None and equal[best] >= _SHARE * n:
            rows = f"{equal[best]:,} of {n:,} rows"
            said.append(f"Column {name!r} equals {best!r} of the originals in {rows}.")
        elif renamed and different < n:
            said.append(
                f"Column {name!r} has one name for each value of {renamed[0]!r}: rows "
                "with one value remain together."
            )
        elif different == n > 2:
            said.append(
                f"Column {name!r} has another value in each row, which names it."
            )
    return said
