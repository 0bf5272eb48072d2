"""What no embedding file is: limits that keep a broken or hostile one from harm."""

from __future__ import annotations

# Of a vector.
MAX_DIM = 1 << 20
# Characters of a word.
MAX_WORD = 1 << 20
# Bytes of a line of text, and of blank lines in a row.
MAX_LINE = 1 << 24
MAX_BLANK = 1 << 20
# Digits of a size in a header: Python takes seconds for a million of them.
MAX_DIGITS = 18

_MAX_EXPANSION = 200
_SMALL = 1 << 26

EXPANDS = (
    f"expands more than {_MAX_EXPANSION}-fold, as no table does but one made to fill "
    "the memory; one that does all the same must be saved uncompressed"
)


def expands_too_much(compressed: int, expanded: int) -> bool:
    """Whether so few bytes are made so many; below 64 MiB there is no harm."""
    return expanded > _SMALL and expanded > _MAX_EXPANSION * compressed
