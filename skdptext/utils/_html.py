"""Small HTML views for notebooks, readable in light and dark themes."""

from __future__ import annotations

import html
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

__all__ = ["DocLinked", "Fragment", "bullets", "page", "paragraph", "table"]

# The documentation of the newest release: [project.urls] of pyproject.toml.
SITE = "https://skdptext.readthedocs.io/"

# Text and background come from the same theme, in the same order: Sphinx-Gallery,
# VS Code, JupyterLab, pydata-sphinx-theme; else from what the reader's system asks for.
_STYLE = """<style>
.skdptext-view {
  --skdp-text: #1f2328; --skdp-ground: #ffffff; --skdp-line: #8c959f;
  color: var(--sg-text-color, var(--vscode-editor-foreground,
    var(--jp-content-font-color1, var(--pst-color-text-base, var(--skdp-text)))));
  background: var(--sg-background-color, var(--vscode-editor-background,
    var(--jp-layout-color0, var(--pst-color-background, var(--skdp-ground)))));
  border: 1px solid var(--skdp-line); border-radius: 4px;
  box-sizing: border-box; max-width: 48em; padding: 0.7em 1em;
  font-family: system-ui, sans-serif; font-size: 14px; line-height: 1.45;
}
@media (prefers-color-scheme: dark) {
  .skdptext-view { --skdp-text: #e6edf3; --skdp-ground: #151b23; }
}
.skdptext-view * { color: inherit; background: none; }
.skdptext-view .skdp-title { font-weight: 600; font-size: 16px; margin: 0 0 0.5em; }
.skdptext-view p { margin: 0.5em 0; }
.skdptext-view ul { margin: 0.3em 0; padding-left: 1.4em; }
.skdptext-view table {
  border-collapse: collapse; margin: 0.6em 0; font-size: inherit; width: auto;
  display: block; overflow-x: auto; border: none;
}
.skdptext-view caption { text-align: left; caption-side: top; padding: 0 0 0.3em; }
.skdptext-view th, .skdptext-view td {
  text-align: left; vertical-align: top; padding: 0.2em 0.9em 0.2em 0;
  white-space: normal; border: none; border-bottom: 1px solid var(--skdp-line);
}
.skdptext-view tbody th { font-weight: 400; }
.skdptext-view thead th { font-weight: 600; }
.skdptext-view .skdp-number { text-align: right; font-variant-numeric: tabular-nums; }
</style>"""


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

    def __html__(self) -> str:
        return str(self)


def page(title: str, *parts: str) -> Fragment:
    """One view: a title and its parts, with the style they need.

    Parameters
    ----------
    title : str
        Escaped.
    *parts : str
        Results of the other functions, in order; any other text becomes a paragraph.

    Returns
    -------
    view : str
        For ``_repr_html_``; it needs no file, no script and no network.
    """
    inside = "".join(p if isinstance(p, Fragment) else paragraph(p) for p in parts)
    return Fragment(
        f'<div class="skdptext-view">{_STYLE}'
        f'<div class="skdp-title" role="heading" aria-level="3">{_text(title)}</div>'
        f"{inside}</div>"
    )


def paragraph(text: str) -> Fragment:
    """A paragraph; the text is escaped."""
    return Fragment(f"<p>{_text(text)}</p>")


def bullets(items: Iterable[str]) -> Fragment:
    """A list of points; each text is escaped. Without any there is no list."""
    points = "".join(f"<li>{_text(item)}</li>" for item in items)
    return Fragment(f"<ul>{points}</ul>" if points else "")


def table(
    header: Iterable[Any], rows: Iterable[Iterable[Any]], caption: str | None = None
) -> Fragment:
    """A table; the first column names its rows if it holds text.

    Parameters
    ----------
    header : iterable of str
        Names of the columns.
    rows : iterable of iterables
        Cells. Numbers are aligned right, floats have four digits; None is empty.
    caption : str, default=None
        Text above the table.
    """
    cells = [list(row) for row in rows]
    names = list(header)
    # A heading stands over its numbers.
    sides = [
        _side([row[i] for row in cells if i < len(row)]) for i in range(len(names))
    ]
    head = "".join(
        f'<th scope="col"{side}>{_text(name)}</th>'
        for name, side in zip(names, sides, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_cell, range(len(r)), r))}</tr>" for r in cells)
    above = f"<caption>{_text(caption)}</caption>" if caption is not None else ""
    return Fragment(
        f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(column: int, value: Any) -> str:
    if column == 0 and isinstance(value, str):
        return f'<th scope="row">{_text(value)}</th>'
    return f"<td{_side([value])}>{_text(value)}</td>"


def _side(values: list[Any]) -> str:
    """Attribute of cells that hold numbers only."""
    numbers = [value for value in values if value is not None]
    if numbers and all(_is_number(value) for value in numbers):
        return ' class="skdp-number"'
    return ""


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _text(value: Any) -> str:
    """The text of a value, escaped unless it is HTML made here."""
    if isinstance(value, Fragment):
        return value
    if value is None:
        return ""
    if _is_number(value) and not isinstance(value, Integral):
        return f"{float(value):.4g}".replace("inf", "∞")
    return html.escape(str(value))
