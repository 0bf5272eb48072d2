"""The common door of the benchmarks: print a table, and keep it with where it was made.

A benchmark calls `record` once for each of its tables. The JSON files go into
``benchmarks/results``, where they are committed and shown on the documentation's page
of benchmarks, or into the folder named by SKDPTEXT_BENCH_RESULTS (``make bench`` names
``build/bench``).
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
PACKAGES = ("skdptext", "numpy", "scipy", "scikit-learn", "pot", "gensim", "randomgen")


def record(
    name: str, rows: list[dict[str, object]], *, title: str, note: str = ""
) -> None:
    """Print `rows` as a Markdown table and write them to ``<name>.json``.

    Parameters
    ----------
    name : str
        Name of the file. One name, one table; a second call replaces the first.
    rows : list of dict
        One dict per line, column to value: text, numbers, flags or None. Columns are
        shown in the order in which they first appear; units belong in their names.
    title : str
        Heading of the table.
    note : str, default=""
        What a reader must know: the shapes, the threads, what the ratio divides. Plain
        text; paragraphs are parted by empty lines.
    """
    if not rows:
        raise ValueError(f"{name} has no rows")
    rows = [{str(k): _plain(v) for k, v in row.items()} for row in rows]
    header = columns(rows)
    print(f"\n## {title}\n\n| {' | '.join(header)} |")
    print("|" + " --- |" * len(header))
    for row in rows:
        print(f"| {' | '.join(cell(row.get(key)) for key in header)} |")
    print(f"\n{note}", flush=True)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    machine = {
        "cpu": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
    }
    result = {
        "name": name,
        "title": title,
        "note": note,
        "rows": rows,
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "commit": _commit(),
        "command": _command(),
        "machine": machine,
        "versions": _versions(),
    }
    path = folder_of(RESULTS) / f"{name}.json"
    text = json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def folder_of(ours: Path) -> Path:
    """Where results go: into the named folder, or else into ours."""
    folder = Path(os.environ.get("SKDPTEXT_BENCH_RESULTS") or ours)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def figures_folder(name: str) -> Path:
    """Where the figures of an experiment go: the site's, or next to other results."""
    return folder_of(HERE.parent / "docs" / "_static" / name)


def columns(rows: list[dict]) -> list[str]:
    """The columns of all rows, in the order in which they first appear."""
    return list(dict.fromkeys(key for row in rows for key in row))


def cell(value: object) -> str:
    """A value as a reader wants it: three or four digits that count."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if value == 0 or 1e-3 <= abs(value) < 100:
            return f"{value:.3g}"
        if 100 <= abs(value) < 1e9:
            return f"{value:,.0f}"
        return f"{value:.1e}".replace("e-", "e−")  # a hyphen would break the line
    return " ".join(str(value).split())


def bracketed(value: float, low: float, high: float, digits: int = 2) -> str:
    """As in "0.12 [0.10, 0.14]"."""
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def _plain(value: object) -> object:
    """NumPy's numbers as Python's; what is not a finite number as None."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, bool | int | float | None) else str(value)


def _commit() -> str:
    """The commit, and whether anything differs from it."""
    command = ["git", "describe", "--always", "--abbrev=10", "--dirty", "--exclude=*"]
    done = subprocess.run(
        command, cwd=HERE.parent, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def _command() -> str:
    """The command line as one types it, without folders of this machine."""
    script = Path(sys.argv[0])
    if script.is_absolute() and script.is_relative_to(HERE.parent):
        script = script.relative_to(HERE.parent)
    return shlex.join(["python", script.as_posix(), *sys.argv[1:]])


def _processor() -> str:
    with contextlib.suppress(OSError):  # Linux only; elsewhere the name must do
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        if name := re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE):
            return name[1].strip()
    return platform.processor() or platform.machine()


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions
