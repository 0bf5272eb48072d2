"""The benchmarks' committed JSON as figures, tables and CSV files, made at build time.

The page on evidence includes ``_benchmarks/<part>.txt``, a figure and the tables to
download. Other pages include ``_benchmarks/<name>.txt``, one table or figure.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "benchmarks"))
sys.path.insert(0, str(HERE))

import api_pages  # noqa: E402
from bench_figures import FIGURES, Rows  # noqa: E402
from results import RESULTS, cell, columns  # noqa: E402

FOLDER = HERE / "_benchmarks"
# Part of the page to how the names of its tables begin; the last has all others.
PARTS = {
    "mechanisms": ("comparison",),
    "found": ("protection", "release_report", "replacement_found"),
    "release": ("perturbation", "release"),
    "neighbors": ("wmd",),
    "statistics": ("audit",),
    "rest": ("",),
}


def write(app: object = None) -> None:
    """Write what the pages include; for Sphinx's ``builder-inited``."""
    FOLDER.mkdir(exist_ok=True)
    texts = [path.read_text("utf-8") for path in sorted(RESULTS.glob("*.json"))]
    found = {result["name"]: result for result in map(json.loads, texts)}
    said = dict.fromkeys(PARTS, "")
    for name, (draw, names, alt) in FIGURES.items():
        drawn = draw(Rows([found[each] for each in names]))
        drawn.savefig(FOLDER / f"{name}.png", dpi=150, metadata={"Software": None})
        said[name] = (
            f".. image:: /_benchmarks/{name}.png\n   :alt: {alt}\n"
            f"   :width: {100 * drawn.get_figwidth():.0f}\n\n"
        )
    for part in PARTS:
        said[part] += ".. dropdown:: Tables, as CSV\n\n"
    for name, result in found.items():
        path = FOLDER / f"{name}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            # with all their digits; an empty cell where nothing was measured
            writer = csv.DictWriter(file, columns(result["rows"]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(result["rows"])
        notes = [" ".join(note.split()) for note in result["note"].split("\n\n")]
        notes = [_escape(note) for note in notes if note]
        origin = f"*{result['date']}, {result['machine']['cpu']}:*"
        origin += f" ``{result['command']}``"
        csv_file = f":download:`CSV </_benchmarks/{name}.csv>`"
        lines = [*_table(result["rows"]), " ".join(notes), "", f"{origin} ({csv_file})"]
        said[name] = "\n".join(lines) + "\n"
        title = _escape(result["title"]).replace("<", "\\<")
        part = next(part for part, starts in PARTS.items() if name.startswith(starts))
        said[part] += f"   - :download:`{title} </_benchmarks/{name}.csv>`\n\n"
        said[part] += "".join(f"     {each}\n\n" for each in (*notes, origin))
    for name, text in said.items():
        api_pages.write(FOLDER / f"{name}.txt", text)


def _escape(text: str) -> str:
    """Plain text of any kind, in the site's notation of percentages."""
    return re.sub(r"([\\*`|_])", r"\\\1", re.sub(r"(\d) %", r"\1%", text))


def _table(rows: list[dict]) -> list[str]:
    header = columns(rows)
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for line in [header, *([cell(row.get(key)) for key in header] for row in rows)]:
        for i, text in enumerate(line):
            lines.append(f"   {'  -' if i else '* -'} {_escape(text)}".rstrip())
    return [*lines, ""]
