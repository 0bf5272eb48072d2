"""The benchmarks' committed JSON as figures, tables and CSV files, made at build time.

The page of benchmarks includes ``_benchmarks/<part>.txt``, a figure and the tables to
download, and ``_benchmarks/machines.txt``. Other pages include
``_benchmarks/<name>.txt``, one table or figure. Where nothing is recorded they say so,
for a checkout without results must still build.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "benchmarks"))
sys.path.insert(0, str(HERE))

import authors_figures  # noqa: E402
import bench_figures  # noqa: E402
from bench_figures import Rows, save  # noqa: E402
from results import RESULTS, cell, columns, load  # noqa: E402

FOLDER = HERE / "_benchmarks"
FIGURES = bench_figures.FIGURES | authors_figures.FIGURES
# Part of the page to the beginnings of the names of its tables. Tables of other pages
# come with these; the last part has all others.
PAGES = {
    "mechanisms": ("comparison",),
    "found": ("protection", "release_report", "replacement_found"),
    "release": ("perturbation", "grid", "release", "replacement"),
    "neighbors": ("wmd",),
    "statistics": ("audit",),
    "rest": (),
}


def write(app: object = None) -> None:
    """Write what the pages include; for Sphinx's ``builder-inited``."""
    FOLDER.mkdir(exist_ok=True)
    found = load(RESULTS)
    by_name = {result["name"]: result for result in found}
    elsewhere = _included()
    shown = [result for result in found if result["name"] not in elsewhere]
    machines = list(dict.fromkeys(map(machine_text, shown)))
    _write(FOLDER / "machines.txt", _numbered(machines))
    for result in found:
        _write(FOLDER / f"{result['name']}.csv", as_csv(result["rows"]))
    for page in PAGES:
        mine = [result for result in shown if _page(result["name"]) == page]
        drawn = figure(page, by_name) if page in FIGURES else ""
        text = drawn + tables(mine, machines)
        _write(FOLDER / f"{page}.txt", text)
    for name in {*FIGURES} - {*PAGES}:
        _write(FOLDER / f"{name}.txt", figure(name, by_name))
    for name in elsewhere:
        _write(FOLDER / f"{name}.txt", single(by_name.get(name)))


def _included() -> list[str]:
    """Names of the tables that other pages include."""
    pages = [path.read_text("utf-8") for path in sorted(HERE.glob("*/*.rst"))]
    names = re.findall(r":: /_benchmarks/(\w+)\.txt", "\n".join(pages))
    return sorted({*names} - {*PAGES, *FIGURES, "machines"})


def _write(path: Path, text: str) -> None:
    """An untouched file need not be built again."""
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _escape(text: str) -> str:
    """Plain text of any kind, in the site's notation of percentages."""
    return re.sub(r"([\\*`|_])", r"\\\1", re.sub(r"(\d) %", r"\1%", text))


def _page(name: str) -> str:
    """The page that shows the table of this name."""
    fitting = (page for page, starts in PAGES.items() if name.startswith(starts))
    return next(fitting, list(PAGES)[-1])


def _numbered(machines: list[str]) -> str:
    """The machines, with the numbers by which the tables name them."""
    if not machines:
        return "No machine is recorded in this checkout.\n"
    return "".join(f"{i}. {_escape(text)}\n" for i, text in enumerate(machines, 1))


def figure(part: str, by_name: dict[str, dict]) -> str:
    """The figure of a part of the page, drawn from the recorded numbers."""
    draw, names, alt = FIGURES[part]
    if not {*names} <= {*by_name}:
        return "The figure's numbers are not recorded in this checkout.\n\n"
    drawn = draw(Rows([by_name[name] for name in names]))
    save(drawn, FOLDER / f"{part}.png")
    return (
        f".. image:: /_benchmarks/{part}.png\n   :alt: {alt}\n"
        f"   :width: {100 * drawn.get_figwidth():.0f}\n\n"
    )


def tables(found: list[dict], machines: list[str]) -> str:
    """Tables to download, each with its note, origin and the number of its machine."""
    if not found:
        return "No figures are recorded in this checkout.\n"
    lines = [".. dropdown:: Tables, as CSV", ""]
    for result in found:
        which = machines.index(machine_text(result)) + 1
        part = [_download(result), ""]
        for paragraph in filter(None, result["note"].split("\n\n")):
            part += [_escape(" ".join(paragraph.split())), ""]
        part += [f"*{result['date']}, machine {which}:* ``{result['command']}``", ""]
        lines += [f"   {'  ' if i else '- '}{line}".rstrip()
                  for i, line in enumerate(part)]  # fmt: skip
    return "\n".join(lines) + "\n"


def single(result: dict | None) -> str:
    """One table without a heading, for a page that has its own."""
    if result is None:
        return "Not recorded in this checkout.\n"
    lines = _table(result["rows"])
    lines += [_escape(" ".join(result["note"].split())), ""]
    origin = f"*{result['date']}:* ``{result['command']}``"
    lines += [f"{origin} ({_download(result, 'CSV')})", ""]
    return "\n".join(lines)


def _download(result: dict, text: str | None = None) -> str:
    text = _escape(text or result["title"]).replace("<", "\\<")
    return f":download:`{text} </_benchmarks/{result['name']}.csv>`"


def as_csv(rows: list[dict]) -> str:
    """The rows with all their digits; an empty cell where nothing was measured."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns(rows), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _table(rows: list[dict]) -> list[str]:
    header = columns(rows)
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for line in [header, *([cell(row.get(key)) for key in header] for row in rows)]:
        for i, text in enumerate(line):
            lines.append(f"   {'  -' if i else '* -'} {_escape(text)}".rstrip())
    return [*lines, ""]


def machine_text(result: dict) -> str:
    machine = result["machine"]
    parts = [f"{machine['cpu']}, {machine['cores']} cores"]
    if machine.get("features"):
        parts.append(", ".join(machine["features"]))
    if "memory_gib" in machine:
        parts.append(f"{machine['memory_gib']} GiB")
    versions = ", ".join(f"{k} {v}" for k, v in result["versions"].items())
    return f"{'; '.join(parts)}; {machine.get('system', '')}. {versions}."
