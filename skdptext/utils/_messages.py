"""What people read: warnings, prose in lines, HTML, progress bars."""

from __future__ import annotations

import html
import math
import sys
import textwrap
import threading
import warnings
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from decimal import ROUND_CEILING, Decimal
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


# -- progress bars for work that takes seconds --------------------------------------


def _asks_for_bars(verbose: int) -> bool:
    """Whether bars are shown: for 1 where they are drawn over, and above 1 anywhere.

    In a file or a log, a bar leaves hundreds of lines.
    """
    ipython = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if "IPKernelApp" in getattr(ipython, "config", ()):  # a notebook, as tqdm tells it
        return verbose > 0
    try:  # a stream may be closed, and Windows without a console has none
        terminal = sys.stderr is not None and sys.stderr.isatty()
    except ValueError:
        terminal = False
    return verbose > (0 if terminal else 1) and sys.stderr is not None


def progress_bar(
    verbose: int, description: str, *, total: int | None = None, unit: str = "word"
) -> Any:
    """A bar of tqdm, to be used in a `with` statement, or one that shows nothing.

    `total` is None where it is not known.
    """
    if not _asks_for_bars(verbose):
        return _NoBar()
    from tqdm.auto import tqdm

    return tqdm(desc=description, total=total, unit=unit)


class _NoBar(ExitStack):
    """Not a disabled bar of tqdm: even that takes a lock which forked processes share.

    One that is killed while it holds the lock stops all others.
    """

    def update(self, n: float = 1) -> None:
        pass
