"""Prose in lines of a terminal."""

from __future__ import annotations

import math
import textwrap
from decimal import ROUND_CEILING, Decimal

__all__ = ["rounded_up", "wrapped"]

_WIDTH = 88


def wrapped(text: str) -> str:
    """Text in lines that a terminal shows whole; list items hang."""
    return "\n".join(
        textwrap.fill(
            line,
            _WIDTH,
            subsequent_indent="  " if line.startswith("-") else "",
            break_on_hyphens=False,
        )
        for line in text.splitlines()
    )


def rounded_up(bound: float, digits: int = 4) -> str:
    """An upper bound in so many digits, not below it."""
    if bound <= 0:
        return "0"
    if not math.isfinite(bound):
        return f"{bound:g}"
    # at 1e-12 above a number of so many digits, it is that number, but for rounding
    exact = Decimal(bound) * (1 - Decimal("1e-12"))
    unit = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return f"{float(exact.quantize(unit, ROUND_CEILING)):.{digits}g}"
