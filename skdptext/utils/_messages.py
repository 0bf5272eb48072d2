"""What people read: warnings, prose in lines, HTML."""

from __future__ import annotations

import html
import math
import re
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
    if _action(message, category) == "default":
        key = (category, message if about is None else about)
        if key in _said:
            return
        _said.add(key)
    warnings.warn(message, category, stacklevel=stacklevel + 1)


def _action(message: str, category: type[Warning]) -> str:
    """What the filters do with a warning of this library."""
    for action, text, kind, module, line in warnings.filters:
        if (
            issubclass(category, kind)
            and (text is None or text.match(message))
            and module is None
            and not line
        ):
            return action
    return "default"


@contextmanager
def quiet(*kinds: type[Warning], message: str = "") -> Iterator[None]:
    """Ignore these warnings, of what is known to who asked; in all threads meanwhile.

    Or those only whose text starts with a regular expression, `message`. Not by
    `warnings.catch_warnings`: it restores what it found, and where two threads overlap,
    the last to leave finds what the first one set.
    """
    asked = [(kind, message) for kind in kinds]
    with _lock:
        for key in asked:
            if key not in _silences:
                _silences[key] = _Silence(*key)
            _silences[key].begin()
    try:
        yield
    finally:
        with _lock:
            for key in asked:
                _silences[key].end()


class _Silence:
    """A filter that ignores warnings of a kind for as long as someone asks for it.

    It stands in the place of the compiled expression that texts are compared with, and
    once nobody asks, no text matches: what others do to the list meanwhile, such as to
    restore an old one, cannot make it last. `match` is that of a compiled expression,
    which lets no other thread run: Python 3.11 may free a list of filters while one
    reads it.
    """

    def __init__(self, kind: type[Warning], message: str) -> None:
        # the comment tells what scikit-learn makes of it for its own threads
        self._text = re.compile(f"(?#quiet){message}", re.IGNORECASE)
        self._kind = kind
        self._n_asking = 0
        self._lists: list[list[Any]] = []  # that it has been put into
        self._compare_with(_NOTHING)

    def _compare_with(self, text: re.Pattern[str]) -> None:
        self.match, self.pattern = text.match, text.pattern

    def begin(self) -> None:
        self._n_asking += 1
        self._compare_with(self._text)
        filters: list[Any] = warnings.filters  # type: ignore[assignment]
        if not self._leads(filters):
            filters.insert(0, ("ignore", self, self._kind, None, 0))
            self._lists.append(filters)

    def end(self) -> None:
        self._n_asking -= 1
        if self._n_asking:
            return
        lists: list[list[Any]] = [warnings.filters, *self._lists]  # type: ignore[list-item]
        for filters in {id(each): each for each in lists}.values():
            for each in list(filters):
                if self._is_of(each):
                    filters.remove(each)
        self._lists.clear()
        self._compare_with(_NOTHING)

    def _is_of(self, entry: Any) -> bool:
        if entry[2] is not self._kind:
            return False
        return getattr(entry[1], "pattern", None) == self._text.pattern

    def _leads(self, filters: list[Any]) -> bool:
        """Whether it comes before all filters of others."""
        for each in filters:
            if each[1] is self:
                return True
            if not isinstance(each[1], _Silence):
                break
        return False


_NOTHING = re.compile(r"(?!)")
_silences: dict[tuple[type[Warning], str], _Silence] = {}
_lock = threading.RLock()


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
