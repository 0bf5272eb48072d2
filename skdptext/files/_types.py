"""Types of columns: how they are shown, and casts that quote no value."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

from skdptext.utils import import_pyarrow


class CastError(ValueError):
    """A value that does not fit; `position` is its place in the column."""

    def __init__(self, position: int) -> None:
        super().__init__(f"position {position}")
        self.position = position


def converted(convert: Callable[[Any], Any], values: Any) -> Any:
    """`convert(values)`; if that fails, a CastError that says at which value."""
    pa = import_pyarrow("DocumentRelease")
    errors = (pa.ArrowException, TypeError, ValueError, OverflowError)

    def fails(n: int) -> bool:
        try:
            convert(values[:n])
        except errors:
            return True
        return False

    try:
        return convert(values)
    except errors:
        # The error of the cast may quote the value. We look for its place by halving,
        # and say that instead: a part fails if and only if it holds the first bad
        # value.
        first = bisect_left(range(len(values) + 1), True, key=fails)
    raise CastError(max(first - 1, 0)) from None


def type_shown(kind: Any) -> str:
    """Name of a type, without the names of fields: JSON takes them from its data."""
    nested = import_pyarrow("DocumentRelease").types.is_nested(kind)
    return str(kind).partition("<")[0] if nested else str(kind)
