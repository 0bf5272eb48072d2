"""What people read: warnings, prose in lines, HTML."""

from __future__ import annotations

import html
import math
import textwrap
import threading
import warnings
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import ROUND_CEILING, Decimal
from numbers import Integral, Real
from typing import Any

from skdptext.exceptions import PrivacyLeakWarning
from skdptext.utils._validation import check_option

# -- warnings -----------------------------------------------------------------------

_said: set[tuple[type[Warning], Hashable]] = set()


def warn_once(
    message: str,
    category: type[Warning],
    about: Hashable = None,
    *,
    stacklevel: int = 1,
) -> None:
    """Issue a warning; under Python's default filters, only once in a process.

    A search fits hundreds of times. It warns once, and once in each of its worker
    processes. Python alone would repeat it: it forgets what it has shown whenever any
    filter changes, which scikit-learn and SciPy do all the time. A filter of the
    caller's own (ignore, always, error, ...) is obeyed as usual.

    Parameters
    ----------
    about : hashable, default=None
        Two warnings of a category are the same if they are about the same: usually the
        name of a parameter. None: if their texts are equal.
    stacklevel : int, default=1
        Whose line is shown, as in `warnings.warn`; 1 is the line of this call.
    """
    actions = (
        action
        for action, text, kind, module, line in warnings.filters
        if issubclass(category, kind)
        and (text is None or text.match(message))
        and module is None
        and not line
    )
    if next(actions, "default") == "default":
        key = (category, message if about is None else about)
        if key in _said:
            return
        _said.add(key)
    warnings.warn(message, category, stacklevel=stacklevel + 1)


class _Quiet:
    """How many ask for quiet, and the filters that they found, to be restored."""

    lock = threading.Lock()
    n_asking = 0
    found = warnings.catch_warnings()


@contextmanager
def quiet(*kinds: type[Warning], message: str = "") -> Iterator[None]:
    """Ignore these warnings, of what is known to who asked; in all threads meanwhile.

    Or those only whose text starts with a regular expression, `message`. Calls that
    overlap, as in threads, restore the filters together, once the last one ends: each
    by itself would restore what another had set, and leave warnings off for good.
    """
    with _Quiet.lock:
        if not _Quiet.n_asking:
            _Quiet.found = warnings.catch_warnings()
            _Quiet.found.__enter__()
        _Quiet.n_asking += 1
        for kind in kinds:
            warnings.filterwarnings("ignore", message, kind)
    try:
        yield
    finally:
        with _Quiet.lock:
            _Quiet.n_asking -= 1
            if not _Quiet.n_asking:
                _Quiet.found.__exit__(None, None, None)


# -- the origin of the text that parameters are chosen on ---------------------------

_ORIGINS = ("private", "public", "released")


def check_tuned_on(tuned_on: str) -> str:
    """Return `tuned_on` if it is a known origin of documents."""
    return check_option("tuned_on", tuned_on, _ORIGINS)


def warn_of_private_tuning(tuned_on: str, what: str, documents: str) -> None:
    """Warn that a choice costs privacy, unless its documents are declared public."""
    if tuned_on == "private":
        warn_once(
            f"{what} of documents that may be private: a release that uses the choice "
            "reveals something about them that its guarantee does not count. Choose on "
            f"public text of the same kind, or on text released before. If {documents} "
            'are public or released, say so: tuned_on="public" or tuned_on="released".',
            PrivacyLeakWarning,
        )


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


_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def odds_factor(exponent: float) -> str:
    """The factor e^exponent by which odds change at most, readable, not below it."""
    if exponent == math.inf:
        return "∞"
    if exponent < math.log(1000):
        return rounded_up(math.exp(exponent), 3)
    power, rest = divmod(exponent / math.log(10), 1)
    # the power takes digits from the rest, some 1e-13 of it
    digits = rounded_up(10**rest * (1 + 1e-11), 2)
    if float(digits) >= 10:
        digits, power = "1", power + 1
    return f"{float(digits):.1f}·10{f'{power:.0f}'.translate(_RAISED)}"


# -- small HTML views, readable in light and dark themes ----------------------------

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
    """One view, for ``_repr_html_``: a title and its parts, with the style they need.

    Parts are results of the other functions; any other text becomes a paragraph. It
    needs no file, no script and no network.
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


def details(summary: str, *parts: str) -> Fragment:
    """Parts that are shown when their summary is opened."""
    inside = "".join(p if isinstance(p, Fragment) else paragraph(p) for p in parts)
    return Fragment(f"<details><summary>{_text(summary)}</summary>{inside}</details>")


def table(
    header: Iterable[Any], rows: Iterable[Iterable[Any]], caption: str | None = None
) -> Fragment:
    """A table; the first column names its rows if it holds text.

    Numbers are aligned right, floats have four digits; None is empty.
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
