"""Which mechanism for what? All of them, matched, on four corpora.

One command, at most an hour on two idle cores::

    make mechanisms            (python benchmarks/mechanisms/run.py [words] [use])

``words``: every mechanism is given the ε at which the best guess of a word from its
release is right for 10, 25, 50 and 75 % of the words of public text, and the ε at which
it promises 4 and 8 nats between a word and its nearest. At each, its words and its
promise are measured. ``use``: at the recorded ε of the first four, what classifiers and
adversaries make of five releases of every corpus; half an hour on one core.

It can be interrupted: what is done is kept in ``build/mechanisms``. ``--budget 150``
stops after so many seconds, ``--quick`` does three mechanisms on the built-in corpus,
``--tables`` only writes tables and figure. The public sets are read from the folder
named by SKDPTEXT_TEST_DATA, or ../shared/data; without them it does the built-in corpus
alone.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))  # results, real_data, paper

from experiments.store import MissingCellError, Store  # noqa: E402
from parts import run_parts  # noqa: E402
from plan import ceiling_cell, chosen, use_cells, word_cells  # noqa: E402

CACHE = HERE.parents[1] / "build" / "mechanisms"
FIGURES = HERE.parents[1] / "docs" / "_static" / "mechanisms"


def work(
    part: str, mechanisms: list[str], corpora: list[str], store: Store, prefix: str
) -> bool:
    """Do what is missing of some mechanisms; whether all is done."""
    try:
        if part == "use":
            cells = [ceiling_cell(of) for of in corpora]
            cells += use_cells(prefix, mechanisms, corpora).values()
        else:
            cells = [
                cell
                for name in mechanisms
                for cell in word_cells(store, name, corpora).values()
            ]
        for cell in cells:
            store.get(cell)
    except MissingCellError:
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help="words, use")
    parser.add_argument("--part", help="as in 1/2: every second mechanism")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds")
    parser.add_argument("--quick", action="store_true", help="a few, in minutes")
    parser.add_argument("--tables", action="store_true", help="tables and figure only")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--figures", type=Path, default=FIGURES)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    store = Store(options.cache, time.monotonic() + options.budget)
    mechanisms, corpora = chosen(options.quick)
    prefix = "comparison_quick" if options.quick else "comparison"
    for part in options.parts or ["words", "use"]:
        if options.part:
            first, parts = map(int, options.part.split("/"))
            mine = mechanisms[first - 1 :: parts]
            if not work(part, mine, corpora, store, prefix):
                return 3
            continue
        passed_on = [part, "--budget", str(options.budget)]
        passed_on += ["--cache", str(options.cache), *["--quick"] * options.quick]
        if not options.tables and not run_parts(__file__, passed_on):
            print("Not finished; the same command goes on from here.")
            return 3
        from report import report_use, report_words

        store.deadline = 0.0  # what is missing now stays so
        if part == "words":
            report_words(store, mechanisms, corpora, prefix)
        else:
            report_use(store, mechanisms, corpora, prefix, options.figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
