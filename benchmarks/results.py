"""The common door of the benchmarks: print a table, and keep it with where it was made.

A benchmark calls `record` once for each of its tables. The JSON files go into
``benchmarks/results``, where they are committed and shown on the documentation's page
of benchmarks, or into the folder named by SKDPTEXT_BENCH_RESULTS (``make bench`` names
``build/bench``). All JSON files of a folder as one Markdown file::

    python benchmarks/results.py FOLDER > benchmarks.md
"""

from __future__ import annotations

import argparse
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


def results_folder() -> Path:
    """Where `record` writes."""
    return Path(os.environ.get("SKDPTEXT_BENCH_RESULTS") or RESULTS)


def figures_folder(name: str) -> Path:
    """Where the figures of an experiment go: the site's, or beside other results."""
    ours = HERE.parent / "docs" / "_static" / name
    folder = Path(os.environ.get("SKDPTEXT_BENCH_RESULTS") or ours)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def record(
    name: str, rows: list[dict[str, object]], *, title: str, note: str = ""
) -> None:
    """Print `rows` as a Markdown table and write them to ``<name>.json``.

    Parameters
    ----------
    name : str
        Name of the file: lower-case letters, digits, ``_`` and ``-``. One name, one
        table; a second call replaces the first.
    rows : list of dict
        One dict per line, column to value: text, numbers, flags or None. Columns are
        shown in the order in which they first appear; units belong in their names.
    title : str
        Heading of the table.
    note : str, default=""
        What a reader must know: the shapes, the threads, what the ratio divides. Plain
        text; paragraphs are parted by empty lines.
    """
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name):
        raise ValueError(f"name must be lower-case letters, digits, _ or -, not {name}")
    if not rows:
        raise ValueError(f"{name} has no rows")
    result = {
        "name": name,
        "title": title,
        "note": note,
        "rows": [{str(k): _plain(v) for k, v in row.items()} for row in rows],
        **_circumstances(),
    }
    print(f"\n{markdown(result)}", flush=True)
    path = results_folder() / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False)
    # Written aside first: a reader never meets half a file.
    aside = path.with_suffix(f".{os.getpid()}.part")
    aside.write_text(text + "\n", encoding="utf-8")
    aside.replace(path)


def load(folder: Path | None = None) -> list[dict]:
    """All recorded results of a folder, by name; none if it does not exist."""
    paths = sorted((folder or results_folder()).glob("*.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


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


def bracketed(
    value: float, low: float, high: float, digits: int = 2, sign: str = ""
) -> str:
    """As in "0.12 [0.10, 0.14]"."""
    shown = f"{sign}.{digits}f"
    return f"{value:{shown}} [{low:{shown}}, {high:{shown}}]"


def table_cells(rows: list[dict], missing: object = None) -> list[list[str]]:
    """The header of all rows, what Markdown rules it off with, and their cells."""
    header = columns(rows)
    lines = [[cell(row.get(key, missing)) for key in header] for row in rows]
    return [header, ["---"] * len(header), *lines]


def as_markdown(table: list[list[str]]) -> str:
    """Cells as a table, in which a bar is a bar."""
    lines = ([text.replace("|", "\\|") for text in line] for line in table)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def markdown(result: dict) -> str:
    """A recorded result as Markdown: heading, table, note, and where it was made."""
    table = as_markdown(table_cells(result["rows"]))
    parts = [f"## {result['title']}", table, result["note"], origin(result)]
    return "\n\n".join(part for part in parts if part) + "\n"


def origin(result: dict) -> str:
    """One sentence: when, where, with what, and by which command."""
    versions = ", ".join(f"{k} {v}" for k, v in result["versions"].items())
    machine = result["machine"]
    return (
        f"{result['date']}, commit {result['commit']}, {machine['cpu']}, "
        f"{machine['cores']} cores; {versions}: `{result['command']}`"
    )


def _plain(value: object) -> object:
    """NumPy's numbers as Python's; what is no finite number as None."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, bool | int | float | None) else str(value)


def _circumstances() -> dict[str, object]:
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "commit": _commit(),
        "command": _command(),
        "machine": _machine(),
        "threads": _threads(),
        "versions": _versions(),
    }


def _commit() -> str:
    """The commit, and whether the code that was measured differs from it."""

    def git(*args: str) -> str:
        done = subprocess.run(
            ["git", *args], cwd=HERE.parent, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    try:
        commit = git("rev-parse", "--short=10", "HEAD")
        changed = git("status", "--porcelain", "-uno", "--", "skdptext", "benchmarks")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    code = [line for line in changed.splitlines() if line.endswith(".py")]
    return f"{commit} and uncommitted changes" if code else commit


def _command() -> str:
    """The command line as one types it, without folders of this machine."""
    script = Path(sys.argv[0])
    if script.is_absolute() and script.is_relative_to(HERE.parent):
        script = script.relative_to(HERE.parent)
    return shlex.join(["python", script.as_posix(), *sys.argv[1:]])


def _machine() -> dict[str, object]:
    cpu = platform.processor() or platform.machine()
    features: list[str] = []
    with contextlib.suppress(OSError):  # Linux only; elsewhere the name must do
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        name = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
        cpu = name[1].strip() if name else cpu
        flags = re.search(r"^flags\s*:\s*(.+)$", text, re.MULTILINE)
        known = set(flags[1].split()) if flags else set()
        features = [f for f in ("avx2", "avx512f", "avx512_vnni") if f in known]
    machine: dict[str, object] = {"cpu": cpu, "cores": os.cpu_count()}
    machine["features"] = features
    with contextlib.suppress(AttributeError, ValueError, OSError):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        machine["memory_gib"] = round(memory / 2**30, 1)
    machine["system"] = f"{platform.system()} {platform.release()}"
    return machine


def _threads() -> dict[str, object]:
    """Threads of each pool as `record` finds them, and what the environment asks."""
    from threadpoolctl import threadpool_info

    pools = [
        {key: pool.get(key) for key in ("user_api", "internal_api", "num_threads")}
        for pool in threadpool_info()
    ]
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {"pools": pools, "environment": {n: os.environ.get(n) for n in names}}


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=RESULTS)
    results = load(parser.parse_args().folder)
    print("# Benchmarks of skdptext\n")
    print("\n".join(map(markdown, results)) if results else "No results yet.")


if __name__ == "__main__":
    main()
