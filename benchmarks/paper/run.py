"""`make paper`: the experiments of the 2020 paper [1]_ beside the paper's own numbers.

One command::

    python benchmarks/paper/run.py [--out build/paper] [--part PART ...] [--minutes N]

Reads SMS spam, disaster tweets and three tables of word vectors from the folder named
by SKDPTEXT_TEST_DATA, or ../shared/data. Every piece of the computation is kept in the
folder's ``cells`` when it is done, so the command can be stopped and run again, in
parts (``--part``) and for a time (``--minutes``). When all pieces are there, it writes
the tables (Markdown, CSV, JSON), the figures (PNG) and ``index.md``. ``--quick`` does
the same in seconds on the built-in corpus and embedding, where no data is needed and
no number means anything. ``--record`` puts the results where the benchmarks and the
documentation have theirs.

.. [1] Xu, Aggarwal, Feyisetan, Teissier (2020). A differentially private text
   perturbation method using a regularized Mahalanobis metric.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

# the folder above this one, of which this one is a package
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from real_data import DATA
from threadpoolctl import threadpool_limits

from paper import deniability, utility
from paper.cells import Cell, Store
from paper.plan import FULL, QUICK, Plan
from paper.report import write_report

PARTS = (
    "density",
    "grid",
    "replicates",
    "matching",
    "scaled",
    "whole",
    "utility",
    "equal",
    "fasttext",
)


def cells_of(plan: Plan, part: str, table: str, store: Store) -> Iterator[Cell]:
    """The cells of a part, for one table, in the order in which they are done."""
    if part == "density":
        yield deniability.density_cell(plan, table)
    elif part == "grid":
        yield from deniability.grid_cells(plan, table).values()
    elif part == "replicates":
        yield from deniability.replicate_cells(plan, table)
    elif part == "matching":
        yield from deniability.matching_cells(plan, table).values()
        yield from deniability.equal_cells(plan, table).values()
    elif part == "scaled":
        factor = deniability.scale_factor(plan, table, store)
        yield from deniability.scaled_cells(plan, table, factor).values()
        yield from deniability.replicate_cells(plan, table, factor)
    elif part == "whole":
        yield deniability.whole_cell(plan, table)
    elif part == "utility":
        for name in plan.tables[table].trials:
            yield from utility.clean_cells(plan, table, name)
            yield from utility.noisy_cells(plan, table, name).values()
    elif part == "fasttext":
        for name in plan.sets:
            yield from utility.fasttext_cells(plan, table, name).values()
    elif plan.tables[table].main:
        for name in plan.sets:
            yield from utility.equal_cells(plan, table, name, store).values()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="build/paper, or build/paper-quick")
    parser.add_argument("--part", nargs="+", choices=(*PARTS, "report"))
    parser.add_argument("--table", nargs="+", help="compute for these tables only")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args(arguments)
    plan = QUICK if options.quick else FULL
    folder = options.out or Path(
        "build/paper-quick" if options.quick else "build/paper"
    )
    store = Store(folder / "cells")
    start = time.monotonic()
    deadline = start + 60 * options.minutes
    parts = options.part or (*PARTS, "report")
    if (options.quick or options.table) and options.record:
        parser.error("--record is for all tables of a full run")
    if absent := [
        s.file for s in plan.tables.values() if s.file and not (DATA / s.file).exists()
    ]:
        parser.error(
            f"{DATA} lacks {', '.join(absent)}. Name the folder of the data by "
            "SKDPTEXT_TEST_DATA, or see the command at work by --quick."
        )
    left: list[Cell] = []
    with threadpool_limits(1, user_api="blas"):
        for table in options.table or plan.tables:
            for part in parts:
                if part != "report":
                    cells = cells_of(plan, part, table, store)
                    left += store.fill(cells, deadline=deadline)
    if "report" in parts and not left:
        cells = [
            (part, cell)
            for part in PARTS
            for table in plan.tables
            for cell in cells_of(plan, part, table, store)
        ]
        left = [cell for _, cell in cells if cell not in store]
        if not left:
            write_report(plan, store, folder, cells, keep=options.record)
    if left:
        print(f"Stopped with {len(left)} cells to go; run again, without --part.")
    print(f"This run took {(time.monotonic() - start) / 60:.1f} minutes of wall time.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
