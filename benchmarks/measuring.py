"""What the benchmarks share: options, times, and one thread.

Importing it gives this process, and those that it starts, one thread for linear
algebra, as ``make bench`` does; so it is imported before NumPy, which the order of the
alphabet sees to.
"""

from __future__ import annotations

import argparse
import os
import re
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

for pool in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{pool}_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402, the threads first
from results import cell  # noqa: E402

from skdptext.exceptions import PrivacyLeakWarning  # noqa: E402

Row = dict[str, object]
Part = Callable[[argparse.Namespace], object]


def options(
    doc: str, parts: Mapping[str, Part] | None = None, /, **defaults: object
) -> argparse.Namespace:
    """The options of the command line, which have the types of their defaults.

    A flag is False by default. Of a list of numbers, others may be named; of other
    collections, some of their members. Of `parts`, those are run that are named first,
    or all. Nothing is released here: there is no warning of a leak.
    """
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    if parts:
        parser.add_argument("parts", nargs="*", help=", ".join(parts))
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
    args = parser.parse_args()
    for part in (args.parts or parts) if parts else ():
        if part not in parts:
            parser.error(f"parts are {', '.join(parts)}, got {part}")
        parts[part](args)
    return args


def shown(rows: Iterable[Row]) -> list[Row]:
    """The rows, each printed as soon as it is there."""
    printed = []
    for row in rows:
        print(
            ", ".join(f"{key}: {cell(value)}" for key, value in row.items()), flush=True
        )
        printed.append(row)
    return printed


def peak_mb() -> float:
    """Most memory that the process has held.

    Not `ru_maxrss`, which begins with what the parent had.
    """
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024


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
