"""Tables to read, in a terminal and on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from skdptext.utils import Fragment, bullets, lined_up, paragraph, table, wrapped


@dataclass(frozen=True, repr=False)
class TextTable:
    """A small table, with a text form.

    Attributes
    ----------
    title : str
    columns : tuple of str
        Names of the columns.
    rows : sequence of tuples
        Cells: str, int or float.
    note : str
        Note for the reader.
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    note: str = ""

    def __repr__(self) -> str:
        text = [
            i
            for i in range(len(self.columns))
            if not all(isinstance(row[i], int | float) for row in self.rows)
        ]
        cells = [[_cell(value) for value in row] for row in self.rows]
        head, *lines = lined_up([self.columns, *cells], text)
        rule = "-" * max(map(len, [head, *lines]))
        note = ["", self.note] * bool(self.note)
        return "\n".join([self.title, "", head, rule, *lines, *note])


def as_text(part: str | TextTable | list[str]) -> str:
    """A paragraph, a table or points, for a terminal."""
    if isinstance(part, TextTable):
        return repr(replace(part, note=wrapped(part.note)))
    return wrapped(part if isinstance(part, str) else "\n".join(f"- {x}" for x in part))


def as_html(part: str | TextTable | list[str]) -> Fragment:
    """The same for a page."""
    if isinstance(part, TextTable):
        # no line breaks: in a narrow window, scrolling reads better
        rows = [[str(x).replace(" ", "\xa0") for x in row] for row in part.rows]
        return table(part.columns, rows, caption=f"{part.title}. {part.note}")
    return paragraph(part) if isinstance(part, str) else bullets(part)


def _cell(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
