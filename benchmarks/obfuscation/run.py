"""Hiding the author, keeping the topic: the experiment of the 2018 and 2019 papers.

One command, about fifty minutes on two idle cores::

    make obfuscation            (python benchmarks/obfuscation/run.py)

It can be interrupted: every finished cell is kept in ``build/obfuscation`` and not done
again. ``--budget 150`` stops after so many seconds, ``--part 1/2`` does every second
group of cells, ``--quick`` a few cells in a minute, ``--tables`` only the tables and
figures from what there is, ``--words`` only what is found of single words. Reads
``pan19_fanfiction_en.jsonl.gz`` and the tables from the folder named by
SKDPTEXT_TEST_DATA, or ../shared/data; without them it does the built-in corpus alone.
Tables go where `results.record` puts them, figures into
``docs/_static/obfuscation``.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))  # results, real_data

from grid import Store, all_cells, part_of  # noqa: E402
from parts import run_parts  # noqa: E402

CACHE = HERE.parents[1] / "build" / "obfuscation"
FIGURES = HERE.parents[1] / "docs" / "_static" / "obfuscation"


def work(part: tuple[int, int], options: argparse.Namespace) -> bool:
    """Do the cells of a part that are not there; whether none is left."""
    if not has_data():
        return True
    from attack import run_cell

    start = time.perf_counter()
    store = Store(options.cache)
    cells = all_cells(options.quick)
    if options.words:
        cells = [cell for cell in cells if cell.kind == "words"]
    mine = part_of(cells, *part)
    todo = [cell for cell in mine if store.load(cell) is None]
    for done, cell in enumerate(todo):
        if time.perf_counter() - start > options.budget:
            print(f"{len(todo) - done} cells of part {part[0]} are left", flush=True)
            return False
        result = run_cell(cell, store)
        print(f"{cell.name}: {result['seconds']:.1f} s", flush=True)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", help="as in 1/2: every second group of cells")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds")
    parser.add_argument("--quick", action="store_true", help="a few cells, in a minute")
    parser.add_argument("--tables", action="store_true", help="tables and figures only")
    parser.add_argument("--words", action="store_true", help="single words only")
    parser.add_argument("--no-docstrings", action="store_true", help="fan fiction only")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--figures", type=Path, default=FIGURES)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.part:
        first, parts = map(int, options.part.split("/"))
        done = work((first, parts), options)
        return 0 if done else 3
    passed_on = ["--budget", str(options.budget), "--cache", str(options.cache)]
    passed_on += ["--quick"] * options.quick + ["--words"] * options.words
    if not options.tables and not run_parts(__file__, passed_on):
        print("Not finished; the same command goes on from here.")
        return 3
    report(options)
    return 0


def report(options: argparse.Namespace) -> None:
    """Tables and figures, of fan fiction where it is, and of docstrings."""
    if not (options.no_docstrings or options.words):
        import docstrings

        docstrings.run(options.quick)
    if not has_data():
        print("Fan fiction and its tables are not here: docstrings only.")
        return
    from accuracy import Marks
    from figures import draw, draw_words
    from tables import write_quick, write_tables
    from word_tables import words

    marks = Marks(Store(options.cache), options.quick)
    if options.words:
        words(marks)
        draw_words(marks, options.figures)
        return
    if marks.missing:
        raise SystemExit(f"{marks.missing} cells are missing: run without --tables")
    if options.quick:
        write_quick(marks)
        return
    write_tables(marks)
    draw(marks, options.figures)


def has_data() -> bool:
    from grid import GOOGLE, W2V
    from real_data import DATA

    names = ("pan19_fanfiction_en.jsonl.gz", f"{GOOGLE}.npz", f"{W2V}.npz")
    return all((DATA / name).exists() for name in names)


if __name__ == "__main__":
    sys.exit(main())
