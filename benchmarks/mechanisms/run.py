"""Which mechanism for what? All of them, matched, on four corpora.

One command, at most an hour on two idle cores::

    make mechanisms            (python benchmarks/mechanisms/run.py)

Every mechanism is given the ε at which the best guess of a word from its release is
right for 10, 25, 50 and 75 % of the words of public text, and the ε at which it
promises 4 and 8 nats between a word and its nearest. At each, its words, its promise
and what classifiers make of a release are measured. It can be interrupted: what is done
is kept in ``build/mechanisms``. ``--budget 150`` stops after so many seconds,
``--quick`` does three mechanisms on the built-in corpus, ``--tables`` only writes
tables and figure. The public sets are read from the folder named by SKDPTEXT_TEST_DATA,
or ../shared/data; without them it does the built-in corpus alone.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))  # results, real_data, paper

from corpora import corpus  # noqa: E402
from paper.cells import Store  # noqa: E402
from parts import run_parts  # noqa: E402
from plan import ceiling_cell, chosen, match_cell, point_cells  # noqa: E402

CACHE = HERE.parents[1] / "build" / "mechanisms"
FIGURES = HERE.parents[1] / "docs" / "_static" / "mechanisms"


def work(
    mechanisms: list[str], corpora: list[str], store: Store, budget: float
) -> bool:
    """Do what is missing of some mechanisms; whether all is done."""
    deadline = time.monotonic() + budget
    tables = list(dict.fromkeys(corpus(of).embedding for of in corpora))
    left = store.fill([ceiling_cell(of) for of in corpora], deadline=deadline)
    for name in mechanisms:
        matches = [match_cell(name, table) for table in tables]
        left += store.fill(matches, deadline=deadline)
        points = point_cells(store, name, corpora)
        left += store.fill(points.values(), deadline=deadline)
    return not left


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", help="as in 1/2: every second mechanism")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds")
    parser.add_argument("--quick", action="store_true", help="a few, in minutes")
    parser.add_argument("--tables", action="store_true", help="tables and figure only")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--figures", type=Path, default=FIGURES)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    store = Store(options.cache)
    mechanisms, corpora = chosen(options.quick)
    if options.part:
        first, parts = map(int, options.part.split("/"))
        mine = mechanisms[first - 1 :: parts]
        return 0 if work(mine, corpora, store, options.budget) else 3
    passed_on = ["--budget", str(options.budget), "--cache", str(options.cache)]
    passed_on += ["--quick"] * options.quick
    if not options.tables and not run_parts(__file__, passed_on):
        print("Not finished; the same command goes on from here.")
        return 3
    from report import report

    report(store, mechanisms, corpora, options.figures, quick=options.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
