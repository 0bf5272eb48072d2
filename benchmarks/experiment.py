"""The experiments that take long: `make paper`, `make learn` and others.

One command for each, which can be stopped and run again, as every piece of the
computation is kept in ``build/cells`` when it is done::

    python benchmarks/experiment.py paper [--quick] [--jobs 2]

Data is read from the folder named by SKDPTEXT_TEST_DATA, or ../shared/data. Tables go
where `results.record` puts them and figures into ``docs/_static``; both into the folder
named by SKDPTEXT_BENCH_RESULTS, where it is set. ``--quick`` is a run in a minute or
so, of which no number means anything; its tables go into ``build/quick``. `experiments`
says how to write another.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import measuring  # noqa: F401, one thread in this process and those that it starts

EXPERIMENTS = ("learn", "mechanisms", "obfuscation", "paper")


def quietly(function: Callable[..., None], *given: object) -> None:
    with warnings.catch_warnings(action="ignore"):  # nothing is released
        function(*given)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=EXPERIMENTS)
    parser.add_argument("--quick", action="store_true", help="small, to see it at work")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args(arguments)
    if options.quick:
        folder = Path(__file__).resolve().parents[1] / "build" / "quick"
        os.environ.setdefault("SKDPTEXT_BENCH_RESULTS", str(folder))
    experiment = importlib.import_module(f"experiments.{options.name}.run")
    units = experiment.units(options.quick)
    if not units:
        raise SystemExit("No data: name its folder by SKDPTEXT_TEST_DATA.")
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, mp_context=spawn) as pool:
        list(pool.map(quietly, units.values()))
    quietly(experiment.report, options.quick)


if __name__ == "__main__":
    main()
