"""What people read: numbers and prose in lines, HTML."""

import html
import math
import textwrap
from collections.abc import Collection, Iterable, Sequence
from decimal import ROUND_CEILING, Decimal

# -- prose in lines of a terminal ---------------------------------------------------

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


def lined_up(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """Lines of a table for a terminal: text in the columns `left`, numbers in others.

    A row without numbers is a heading, which widens no column.
    """
    full = [row for row in rows if any(row[1:])] or rows
    widths = [max(map(len, column)) for column in zip(*full, strict=True)]
    pads = [str.ljust if i in left else str.rjust for i in range(len(widths))]
    return [
        "  ".join(p(x, w) for p, x, w in zip(pads, row, widths, strict=True)).rstrip()
        for row in rows
    ]


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


def percent_up(share: float) -> str:
    """An upper bound on a share in per cent, with one decimal, not below it."""
    exact = 100 * Decimal(share) * (1 - Decimal("1e-12"))
    return f"{exact.quantize(Decimal('0.1'), ROUND_CEILING)}%"


# -- small HTML views ---------------------------------------------------------------

# The documentation of the newest release: [project.urls] of pyproject.toml.
SITE = "https://skdptext.readthedocs.io/"


class DocLinked:
    """An estimator whose HTML view links to its own page of the API reference.

    scikit-learn's developer API: the names in braces are filled in by it, with the
    public module, and it makes no link for a subclass that is defined elsewhere.
    """

    _doc_link_module = "skdptext"
    _doc_link_template = (
        f"{SITE}api/generated/{{estimator_module}}.{{estimator_name}}.html"
    )


class Fragment(str):
    """HTML made by these functions, which is not escaped again."""

    __slots__ = ()


def page(title: str, *parts: str) -> Fragment:
    """One view, for ``_repr_html_``; a part that is no `Fragment` is a paragraph.

    It has the colors of what it is shown in, light or dark, and needs no other file.
    """
    inside = "".join(
        part if isinstance(part, Fragment) else f"<p>{html.escape(part)}</p>"
        for part in parts
    )
    heading = f"<p><strong>{html.escape(title)}</strong></p>"
    return Fragment(f'<div style="max-width: 48em">{heading}{inside}</div>')


def bullets(items: Iterable[str]) -> Fragment:
    """A list of points."""
    points = "".join(f"<li>{html.escape(item)}</li>" for item in items)
    return Fragment(f"<ul>{points}</ul>")


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> Fragment:
    """A table; the first column names its rows."""
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in header)
    body = ""
    for name, *cells in rows:
        values = "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
        body += f'<tr><th scope="row">{html.escape(name)}</th>{values}</tr>'
    return Fragment(
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
