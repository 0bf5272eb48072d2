"""`make paper`: the experiments of the 2020 paper [1]_ next to the paper's own numbers.

Reads SMS spam, disaster tweets and three tables of word vectors; writes tables (CSV)
and figures (PNG) where the documentation has them. ``--quick`` runs on the built-in
corpus and embedding, where no data is needed.

.. [1] Xu, Aggarwal, Feyisetan, Teissier (2020). A differentially private text
   perturbation method using a regularized Mahalanobis metric.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import partial

from experiments.paper import deniability, figures, utility
from experiments.paper.plan import FULL, QUICK, VECTORS, Plan
from experiments.paper.tables import CLAIMS_NOTE, LOSSES_NOTE, all_tables
from real_data import SMS, TWEETS, absent
from results import cell, columns, figures_folder, record


def measure(plan: Plan, vectors: str) -> None:
    """Everything that is measured of a table of vectors."""
    for lam in plan.lams:
        deniability.summary(plan, vectors, lam)
    for number in range(plan.n_replicates):
        deniability.replicate(plan, vectors, number)


def classify(plan: Plan, name: str) -> None:
    """Everything that is measured of a set of texts."""
    for repeat in range(plan.repeats):
        utility.clean(plan, name, repeat)
        for epsilon in plan.epsilons:
            for lam in plan.lams:
                utility.noisy(plan, name, epsilon, lam, repeat)


def units(quick: bool) -> dict[str, Callable[[], None]]:
    plan = QUICK if quick else FULL
    files = [VECTORS[vectors].file for vectors in plan.vectors]
    if not quick and absent(SMS, TWEETS, *files):
        return {}
    return {name: partial(classify, plan, name) for name in plan.sets} | {
        vectors: partial(measure, plan, vectors) for vectors in plan.vectors
    }


def report(quick: bool) -> None:
    plan = QUICK if quick else FULL
    folder, tables = figures_folder("paper"), all_tables(plan)
    for name, rows in tables.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns(rows), lineterminator="\n")
            writer.writeheader()
            writer.writerows({key: cell(row[key]) for key in row} for row in rows)
    figures.draw_all(plan, folder)
    record(
        "paper_claims",
        tables["claims"],
        title="Does λ > 0 lower N_w and raise S_w against λ = 0?",
        note=CLAIMS_NOTE.format(n_replicates=plan.n_replicates),
    )
    record(
        "paper_losses",
        tables["losses"],
        title="Accuracy at λ = 1 less accuracy at λ = 0",
        note=LOSSES_NOTE,
    )
