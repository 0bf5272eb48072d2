"""The benchmarks' committed JSON as figures, tables and CSV files, made at build time.

The page of benchmarks includes ``_benchmarks/<part>.txt``, a figure and the tables to
download, and ``_benchmarks/machines.txt``. Other pages include
``_benchmarks/<name>.txt``, one table or figure, and ``_benchmarks/growth.txt``. Where
nothing is recorded they say so, for a checkout without results must still build.
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
from bench_figures import BLUE, GREY, RED, Rows, new, save  # noqa: E402
from results import RESULTS, cell, columns, load  # noqa: E402

FOLDER = HERE / "_benchmarks"
FIGURES = bench_figures.FIGURES | authors_figures.FIGURES
# Part of the page to the beginnings of the names of its tables. Tables of other pages
# come with these; the last part has whatever is left.
PAGES = {
    "mechanisms": ("comparison",),
    "found": ("linkage", "release_report", "replacement_found", "utility_lengths"),
    "release": (
        "perturbation", "engine", "growth", "grid", "import", "mechanisms", "peer",
        "release", "replacement", "scale",
    ),
    "neighbours": ("wmd",),
    "statistics": ("deniability", "audit"),
    "accuracy": (),
}  # fmt: skip


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
        text = figure(page, by_name) + tables(mine, machines)
        _write(FOLDER / f"{page}.txt", text)
    for name in {*FIGURES} - {*PAGES}:
        _write(FOLDER / f"{name}.txt", figure(name, by_name))
    _write(FOLDER / "growth.txt", growth(by_name))
    for name in elsewhere:
        _write(FOLDER / f"{name}.txt", single(by_name.get(name)))


def _included() -> list[str]:
    """Names of the tables that other pages include."""
    pages = [path.read_text("utf-8") for path in sorted(HERE.glob("*/*.rst"))]
    names = re.findall(r":: /_benchmarks/(\w+)\.txt", "\n".join(pages))
    return sorted({*names} - {*PAGES, *FIGURES, "machines", "growth"})


def _write(path: Path, text: str) -> None:
    """An untouched file need not be built again."""
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _escape(text: str) -> str:
    """Plain text, whatever it holds."""
    return re.sub(r"([\\*`|_])", r"\\\1", text)


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
    if "gpu" in machine:
        parts.append(machine["gpu"])
    versions = ", ".join(f"{k} {v}" for k, v in result["versions"].items())
    return f"{'; '.join(parts)}; {machine.get('system', '')}. {versions}."


# -- how the cost grows ----------------------------------------------------------

# File, law in words, the sweeps drawn, axis, whether a time is per word.
GROWTH = (
    ("vocabulary", "linear in the size V of the vocabulary",
     ("vocabulary",), "V, words in the vocabulary"),
    ("dimension", "linear in the dimension m", ("dimension",), "m, dimension"),
    ("documents", "linear in the number of documents",
     ("documents",), "documents of 20 words"),
    ("length", "constant per word, whatever the length of a document",
     ("length, 16,384 words in all", "length, 256 documents"), "words per document"),
)  # fmt: skip


def growth(results: dict[str, dict]) -> str:
    """The figures with captions, drawn from the recorded times."""
    if not {"growth", "growth_points"} <= set(results):
        return "The times are not recorded in this checkout.\n"
    points, laws = results["growth_points"], results["growth"]
    fits = {row["what grows"]: row for row in laws["rows"]}
    lines = []
    for name, words, sweeps, label in GROWTH:
        _draw(FOLDER / f"growth_{name}.png", sweeps, label, points["rows"], fits)
        lines += [
            f".. figure:: /_benchmarks/growth_{name}.png",
            "   :width: 560",
            f"   :alt: Measured time against {label}, beside what is expected.",
            "",
            f"   Expected: {_escape(words)}. {_caption(sweeps, fits)}",
            "",
        ]
    lines += [_escape(points["note"]), ""]
    lines += [f"*{points['date']}; {_escape(machine_text(points))}*", ""]
    return "\n".join(lines)


def _caption(sweeps: tuple[str, ...], fits: dict[str, dict]) -> str:
    out = []
    for sweep in sweeps:
        fit = fits[sweep]
        named = f"{sweep.split(', ', 1)[1]}: " if len(sweeps) > 1 else ""
        what = (
            "a fixed part and one in proportion describe"
            if fit["rate"]
            else "a constant describes"
        )
        off = 100 * fit["largest deviation"]
        text = (
            f"{named}{what} every measured time to within {off:.0f} %; the slope in "
            f"log-log is {fit['slope, larger half']:.2f} over the larger half of the "
            f"values (expected: {fit['slope of the law']})."
        )
        out.append(text[:1].upper() + text[1:])
    return _escape(" ".join(out))


def _draw(path, sweeps, label, rows, fits) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    plain = FuncFormatter(lambda value, _: f"{value:,g}")
    figure, axes = new(3.8)
    constant = len(sweeps) > 1
    in_all = fits[sweeps[0]]["unit of time"] == "seconds" and not constant
    ticks: set[int] = set()
    for sweep, colour, marker in zip(sweeps, (BLUE, RED), "os", strict=False):
        mine = [row for row in rows if row["what grows"] == sweep]
        x = [row["value"] for row in mine]
        ticks.update(x)
        key = "seconds" if in_all else "µs per word"
        named = sweep.split(", ", 1)[1] if constant else "transform, measured"
        line = "fit, fixed part and rate" if fits[sweep]["rate"] else "fit"
        y = [row[key] for row in mine]
        axes.plot(x, y, marker, color=colour, label=named, zorder=3)
        dense, law = _law(fits[sweep], mine, in_all)
        axes.plot(dense, law, color=colour, lw=1.2, label=line)
        floor = [row.get("product, µs per word") for row in mine]
        if all(floor):
            axes.plot(x, floor, "x--", color=GREY, lw=0.8, label="bare float32 product")
    axes.set_xscale("log")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(sorted(ticks), labels=[f"{tick:,}" for tick in sorted(ticks)])
    axes.tick_params(labelsize="small")
    if constant:
        axes.set_ylim(0, 1.7 * max(axes.get_ylim()))  # from 0, so that flat looks flat
    else:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(plain)
    axes.set_xlabel(label)
    axes.set_ylabel("seconds in all" if in_all else "µs per word")
    axes.grid(which="major", lw=0.4, color="#cccccc")
    axes.legend(frameon=False, fontsize="small")
    save(figure, path)


def _law(fit: dict, rows: list[dict], in_all: bool) -> tuple[list[float], list[float]]:
    """The law as a smooth line, in the unit that is drawn."""
    first, last = rows[0]["value"], rows[-1]["value"]
    dense = [first * (last / first) ** (i / 100) for i in range(101)]
    law = [fit["fixed"] + (fit["rate"] or 0.0) * value for value in dense]
    if fit["unit of time"] == "seconds" and not in_all:
        each = rows[0]["words"] / first  # documents, of which each has `value` words
        law = [1e6 * t / (each * value) for t, value in zip(law, dense, strict=True)]
    return dense, law
