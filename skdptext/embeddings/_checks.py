"""Checks of vectors, and bounds that keep a broken or hostile file from harm."""

from __future__ import annotations

from typing import Any

import numpy as np

from skdptext.embeddings._index import WordIndex
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import blocks

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


def check_vectors(vectors: Any, words: WordIndex) -> np.ndarray:
    """Vectors as a frozen float32 matrix; copied only if they could be changed."""
    given = _numeric(vectors)
    if given.ndim != 2 or given.shape[1] == 0:
        raise InvalidParameterError(
            f"vectors must be of shape (n_words, dim >= 1), got {given.shape}."
        )
    if len(given) != len(words):
        raise InvalidParameterError(
            f"vectors must have one row per word, got {len(given)} rows for "
            f"{len(words)} words."
        )
    with np.errstate(over="ignore"):  # values beyond float32 are refused below
        stored = np.require(given, np.float32, ["C_CONTIGUOUS", "ALIGNED"])
    row = first_not_finite(stored)
    if row is not None:
        value = given[row][~np.isfinite(stored[row])][0]
        raise InvalidParameterError(
            f"vectors must be finite in float32, got {value} in row {row} "
            f"({words.words[row][:20]!r})."
        )
    if np.may_share_memory(stored, given) and writable_by_others(stored):
        stored = stored.copy()
    return freeze(stored)


def _numeric(vectors: Any) -> np.ndarray:
    """`vectors` as an array of real numbers, of the dtype it came with."""
    problem = ""
    try:
        if np.ma.is_masked(vectors):
            problem = "masked entries"
        given = np.asarray(vectors)
        if given.dtype.kind == "O":
            given = given.astype(np.float64)
        if given.dtype.kind not in "fiub":  # complex numbers, strings, dates
            problem = f"dtype {given.dtype}"
    except (TypeError, ValueError):  # whose messages would quote the values
        problem = "its entries are not numbers, or its rows differ in length"
    if problem:
        raise InvalidParameterError(
            "vectors must be a matrix of real numbers, got "
            f"{type(vectors).__name__}: {problem}."
        )
    return given


def first_not_finite(vectors: np.ndarray) -> int | None:
    """First row with NaN or an infinite value; None if there is none."""
    for rows in blocks(len(vectors), 4096):  # bounds the temporary
        finite = np.isfinite(vectors[rows]).all(axis=1)
        if not finite.all():
            return rows.start + int(np.argmin(finite))
    return None


def freeze(array: np.ndarray) -> np.ndarray:
    """A read-only view of a read-only array, whose flag cannot be set back."""
    array.flags.writeable = False
    return array.view(np.ndarray)  # a memory map stays one, as the base


def writable_by_others(array: np.ndarray) -> bool:
    """Whether the array, or the one it is a view of, is writable."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return True
        owner = owner.base
    if owner is None:
        return False
    try:
        return not memoryview(owner).readonly
    except TypeError:  # some other library's memory: who can write to it?
        return True


def expands_too_much(compressed: int, expanded: int) -> bool:
    """Whether a file expands suspiciously; below 64 MiB it does no harm."""
    return expanded > _SMALL and expanded > _MAX_EXPANSION * compressed
