"""Find columns next to the texts that identify rows."""

from operator import eq
from typing import Any

# Columns that agree in a smaller share of the rows are not considered related.
_SHARE = 0.5


def column_sentences(original: Any, released: Any) -> list[str]:
    """Describe what the columns of a release, without its texts, reveal.

    Both arguments map names to values, such as a dict or a data frame. Rows of frames
    are matched by index, as in `release_report`, and those of others by position.
    Values are compared as text.
    """
    if hasattr(released, "reindex"):
        released = released.reindex(original.index)
    clear = {name: list(map(str, values)) for name, values in original.items()}
    said = []
    for name, values in released.items():
        mine, what = list(map(str, values)), ""
        n, different = len(mine), len(set(mine))
        if different == n > 2:
            what = "has a different value in each row, which identifies the row."
        for other, theirs in clear.items():
            pairs = set(zip(mine, theirs, strict=True))
            equal = sum(map(eq, mine, theirs))
            if equal >= _SHARE * n:
                rows = f"{equal:,} of {n:,} rows"
                what = f"equals {other!r} of the originals in {rows}."
                break
            if len(pairs) == different == len(set(theirs)) < n:
                # A pseudonym hides the value, but not which rows share it.
                what = f"has one name for each value of {other!r}: rows with the same "
                what += "value can be linked."
                break
        if what and different > 1:
            said.append(f"Column {name!r} {what}")
    return said
