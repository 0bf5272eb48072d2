"""Bounds on embedding files: limits that keep a broken or hostile one from harm."""

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

# Text of embeddings shrinks three- to fivefold in gzip; zeros shrink a thousandfold.
# Chosen between the two, not measured on hostile files.
_MAX_EXPANSION = 200
_SMALL = 1 << 26

EXPANDS = (
    f"expands more than {_MAX_EXPANSION}-fold, which only a file made to exhaust "
    "memory should do; save a genuine embedding uncompressed"
)


def expands_too_much(compressed: int, expanded: int) -> bool:
    """Whether a file expands suspiciously; below 64 MiB it does no harm."""
    return expanded > _SMALL and expanded > _MAX_EXPANSION * compressed
