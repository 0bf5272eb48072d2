"""Where a condition stops to hold."""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["bisect"]


def bisect(
    holds: Callable[[float], bool],
    inside: float,
    outside: float,
    *,
    precision: float,
    geometric: bool = False,
) -> tuple[float, float]:
    """Narrow down where a condition stops to hold, to a relative precision.

    Parameters
    ----------
    holds : callable
        The condition on a number >= 0. It is not asked about the two ends.
    inside, outside : float
        Where it holds, and where it does not; either may be the larger.
    precision : float
        Of the result, relative to the larger end.
    geometric : bool, default=False
        Halve the ratio of the ends, which are positive, in place of their difference.

    Returns
    -------
    inside, outside : float
        Closer ends, of which the condition is true and false as of the given ones.
    """
    while abs(outside - inside) > precision * max(inside, outside):
        middle = math.sqrt(inside * outside) if geometric else (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside, outside
