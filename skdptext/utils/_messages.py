"""Format numbers, prose and tables for terminals and notebooks."""

import html
import math
import textwrap
from collections.abc import Collection, Iterable, Sequence
from decimal import ROUND_CEILING, Decimal

# -- prose in lines of a terminal ---------------------------------------------------

_WIDTH = 88


def wrapped(text: str) -> str:
    """Wrap text to the width of a terminal; list items have hanging indents."""
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
    """Align a table for a terminal: text in the columns `left`, numbers in others.

    A row without numbers is a heading, which does not widen columns.
    """
    full = [row for row in rows if any(row[1:])] or rows
    widths = [max(map(len, column)) for column in zip(*full, strict=True)]
    pads = [str.ljust if i in left else str.rjust for i in range(len(widths))]
    return [
        "  ".join(p(x, w) for p, x, w in zip(pads, row, widths, strict=True)).rstrip()
        for row in rows
    ]


def rounded_up(bound: float, digits: int = 4) -> str:
    """Format an upper bound with so many digits, rounded up."""
    if bound <= 0:
        return "0"
    if not math.isfinite(bound):
        return f"{bound:g}"
    # A bound at most 1e-12 above a short number is that number plus rounding. Rounding
    # it up would print a larger one.
    exact = Decimal(bound) * (1 - Decimal("1e-12"))
    unit = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return f"{float(exact.quantize(unit, ROUND_CEILING)):.{digits}g}"


def percent_up(share: float) -> str:
    """Format an upper bound on a share as a percentage, rounded up to one decimal."""
    exact = 100 * Decimal(share) * (1 - Decimal("1e-12"))
    return f"{exact.quantize(Decimal('0.1'), ROUND_CEILING)}%"


# -- small HTML views ---------------------------------------------------------------

# The documentation of the newest release: [project.urls] of pyproject.toml.
SITE = "https://skdptext.readthedocs.io/"


class DocLinked:
    """Mixin that links the HTML view of an estimator to its page of the API reference.

    It uses scikit-learn's developer API, which fills in the names in braces with the
    public module. A subclass that is defined elsewhere gets no link.
    """

    _doc_link_module = "skdptext"
    _doc_link_template = (
        f"{SITE}api/generated/{{estimator_module}}.{{estimator_name}}.html"
    )


class Fragment(str):
    """HTML from these functions, which is not escaped again."""

    __slots__ = ()


def page(title: str, *parts: str) -> Fragment:
    """Make a view for ``_repr_html_``; a part that is not a `Fragment` is a paragraph.

    It uses the colors of its surroundings, light or dark, and needs no other file.
    """
    inside = "".join(
        part if isinstance(part, Fragment) else f"<p>{html.escape(part)}</p>"
        for part in parts
    )
    heading = f"<p><strong>{html.escape(title)}</strong></p>"
    return Fragment(f'<div style="max-width: 48em">{heading}{inside}</div>')


def bullets(items: Iterable[str]) -> Fragment:
    """Make a bulleted list."""
    points = "".join(f"<li>{html.escape(item)}</li>" for item in items)
    return Fragment(f"<ul>{points}</ul>")


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> Fragment:
    """Make a table; the first column names its rows."""
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in header)
    body = ""
    for name, *cells in rows:
        values = "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
        body += f'<tr><th scope="row">{html.escape(name)}</th>{values}</tr>'
    return Fragment(
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
