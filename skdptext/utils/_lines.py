"""Prose in lines of a terminal."""

from __future__ import annotations

import textwrap

__all__ = ["wrapped"]

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
