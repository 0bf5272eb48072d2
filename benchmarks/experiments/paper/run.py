"""`make paper`: the experiments of the 2020 paper [1]_ beside the paper's own numbers.

Reads SMS spam, disaster tweets and three tables of word vectors. Writes tables
(Markdown, CSV, JSON), figures (PNG) and ``index.md`` into its folder. ``--quick`` runs
on the built-in corpus and embedding, where no data is needed. A full run also puts
tables and figures where the documentation has them.

.. [1] Xu, Aggarwal, Feyisetan, Teissier (2020). A differentially private text
   perturbation method using a regularized Mahalanobis metric.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from experiments.paper import deniability, utility
from experiments.paper.plan import FULL, QUICK, Plan
from experiments.paper.report import write_report
from experiments.store import Cell, Store
from real_data import absent

PARTS = (
    "density",
    "grid",
    "replicates",
    "utility",
    "equal",
)


def cells_of(plan: Plan, part: str, table: str, store: Store) -> Iterator[Cell]:
    """The cells of a part, for one table, in the order in which they are done."""
    if part == "density":
        yield deniability.density_cell(plan, table)
    elif part == "grid":
        yield from deniability.grid_cells(plan, table).values()
    elif part == "replicates":
        yield from deniability.replicate_cells(plan, table)
    elif part == "utility":
        for name in plan.tables[table].trials:
            yield from utility.clean_cells(plan, table, name)
            yield from utility.noisy_cells(plan, table, name).values()
    elif plan.tables[table].main:
        yield from deniability.equal_cells(plan, table).values()
        for name in plan.sets:
            yield from utility.equal_cells(plan, table, name, store).values()


def units(quick: bool) -> dict[str, Callable[[Store], None]]:
    """Everything that is measured of a table of vectors."""
    plan = QUICK if quick else FULL
    if absent(*(spec.file for spec in plan.tables.values() if spec.file)):
        raise SystemExit("Name the folder by SKDPTEXT_TEST_DATA, or see --quick.")

    def measure(table: str, store: Store) -> None:
        for part in PARTS:
            for cell in cells_of(plan, part, table, store):
                store.get(cell)

    return {table: partial(measure, table) for table in plan.tables}


def report(store: Store, folder: Path, quick: bool) -> None:
    write_report(QUICK if quick else FULL, store, folder, keep=not quick)
