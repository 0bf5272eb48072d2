"""What the benchmarks share: options, times, and one thread.

Importing it gives this process, and those that it starts, one thread for linear
algebra, as ``make bench`` does; so it is imported before NumPy, which the order of the
alphabet sees to.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterable

for pool in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{pool}_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402, the threads first
from results import cell  # noqa: E402

Row = dict[str, object]


def options(doc: str, **defaults: object) -> argparse.Namespace:
    """The options of the command line, which have the types of their defaults.

    A flag is False by default. Of a list of numbers, others may be named; of other
    collections, some of their members.
    """
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    for name, default in defaults.items():
        given: dict[str, object] = {"type": type(default), "default": default}
        if default is False:
            given = {"action": "store_true"}
        elif not isinstance(default, str | int | float):
            members = list(default)
            given = {"nargs": "*", "type": type(members[0]), "default": members}
            if isinstance(members[0], str):
                given["choices"] = members
        parser.add_argument(f"--{name.replace('_', '-')}", **given)
    return parser.parse_args()


def shown(rows: Iterable[Row]) -> list[Row]:
    """The rows, each printed as soon as it is there."""
    found = []
    for row in rows:
        print(
            ", ".join(f"{key}: {cell(value)}" for key, value in row.items()), flush=True
        )
        found.append(row)
    return found


def seconds_of(
    run: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> float:
    """Seconds of one call."""
    start = clock()
    run()
    return clock() - start


def rounds(
    runs: Iterable[Callable[[], object]],
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
    warm: bool = True,
) -> np.ndarray:
    """Seconds of each in each round, measured in turn so that drift hits all alike.

    A first round warms up and is left out, unless all is warm before.
    """
    runs = list(runs)
    times = [[seconds_of(run, clock) for run in runs] for _ in range(repeats + warm)]
    return np.array(times[warm:])


def median_seconds(
    run: Callable[[], object], clock: Callable[[], float], repeats: int
) -> float:
    """Median seconds of a call that is warm."""
    return float(np.median(rounds([run], repeats, clock, warm=False)))


class Watch:
    """Where the time of a call goes: wraps functions, and adds up the time in them."""

    def __init__(self) -> None:
        self.seconds, self.calls = 0.0, 0

    def wrap(self, function: Callable) -> Callable:
        clock = time.perf_counter

        def timed(*args, **options):
            start = clock()
            out = function(*args, **options)
            self.seconds += clock() - start
            self.calls += 1
            return out

        return timed
