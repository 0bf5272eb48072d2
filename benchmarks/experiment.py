"""The experiments that take long: `make paper`, `make learn` and others.

One command for each, which can be stopped and run again, as every piece of the
computation is kept in the folder's ``cells`` when it is done::

    python benchmarks/experiment.py paper [--minutes N] [--quick]

Data is read from the folder named by SKDPTEXT_TEST_DATA, or ../shared/data. Tables go
where `results.record` puts them and figures into ``docs/_static``; both into the folder
named by SKDPTEXT_BENCH_RESULTS, where it is set. ``--quick`` is a run in a minute or
so, of which no number means anything; its tables stay in its own folder. `experiments`
says how to write another.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import sys
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType

from experiments.store import MissingCellError, Store

BUILD = Path(__file__).resolve().parents[1] / "build"
EXPERIMENTS = ("learn", "mechanisms", "obfuscation", "paper")


def module_of(name: str) -> ModuleType:
    return importlib.import_module(f"experiments.{name}.run")


def work(name: str, quick: bool, unit: str, folder: Path, deadline: float) -> bool:
    """Do what is missing of a unit; whether all of it is there."""
    experiment = module_of(name)
    try:
        with warnings.catch_warnings(action="ignore"):  # nothing is released
            experiment.units(quick)[unit](Store(folder / "cells", deadline))
    except MissingCellError:
        return False
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=EXPERIMENTS)
    parser.add_argument("--quick", action="store_true", help="small, to see it at work")
    parser.add_argument("--only", nargs="+", help="units whose names contain a word")
    parser.add_argument("--report", action="store_true", help="tables and figures only")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--out", type=Path, help="build/NAME, or build/NAME-quick")
    options = parser.parse_args(arguments)
    name, quick = options.name, options.quick
    folder = options.out or BUILD / (f"{name}-quick" if quick else name)
    experiment = module_of(name)
    start = time.monotonic()
    every = list(experiment.units(quick))
    if quick:  # no number of it means anything: beside its cells
        os.environ.setdefault("SKDPTEXT_BENCH_RESULTS", str(folder / "results"))
    chosen = [u for u in every if any(w in u for w in options.only or [""])]
    if not every:
        raise SystemExit("No data: name its folder by SKDPTEXT_TEST_DATA.")
    if not chosen:
        parser.error(f"--only: none of {', '.join(every)}")
    todo = [] if options.report else chosen
    jobs = min(options.jobs, len(todo))
    deadline = start + 60 * options.minutes
    tasks = [(name, quick, unit, folder, deadline) for unit in todo]
    if jobs > 1:
        pins = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        os.environ.update(dict.fromkeys(pins, "1"))
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(jobs, mp_context=spawn) as pool:
            done = list(pool.map(work, *zip(*tasks, strict=True)))
    else:
        done = [work(*task) for task in tasks]
    complete = all(done)
    if complete and chosen == every:
        try:
            # what is still missing would be missing in the tables
            with warnings.catch_warnings(action="ignore"):
                experiment.report(Store(folder / "cells", start), folder, quick)
        except MissingCellError:
            complete = False
    if not complete:
        print("Not finished; the same command goes on from here, without --report.")
    print(f"{(time.monotonic() - start) / 60:.1f} minutes of wall time.")
    return 0 if complete else 3


if __name__ == "__main__":
    sys.exit(main())
