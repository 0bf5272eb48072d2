"""Rows of the tables, from kept cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from experiments.paper import deniability, published, significance
from experiments.paper.plan import Plan
from experiments.store import Store

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Table:
    """A table: the name of its files, a heading, a note, and rows."""

    name: str
    title: str
    note: str
    rows: Rows


@dataclass(frozen=True)
class Grid:
    """The statistics of a table's vocabulary: every column of shape (ε, λ)."""

    epsilons: np.ndarray
    lams: np.ndarray
    columns: dict[str, dict[str, np.ndarray]]

    def paired(self, replicates: list[dict[str, Any]], statistic: str) -> np.ndarray:
        """One-sided p of λ against 0, of shape (ε, λ > 0), not yet corrected."""
        values = np.array([replicate[statistic] for replicate in replicates])
        return significance.paired_p(
            values[:, :, :1],
            values[:, :, 1:],
            direction=deniability.DIRECTION[statistic],
        )


def read_grid(plan: Plan, store: Store, table: str) -> Grid:
    """The kept cells of a grid, put together."""
    cells = deniability.grid_cells(plan, table)
    results = [store.get(cell) for cell in cells.values()]

    def stack(get: Any) -> np.ndarray:
        return np.array([get(result) for result in results]).T

    return Grid(
        np.array(results[0]["epsilons"]),
        np.array(list(cells)),
        {
            name: {
                key: stack(lambda result, n=name, k=key: result[n][k])
                for key in results[0][name]
            }
            for name in deniability.STATISTICS
        },
    )


def describe(plan: Plan, store: Store, table: str) -> str:
    """As in "Google News word2vec, 5,593 × 300"."""
    facts = store.get(deniability.density_cell(plan, table))
    return f"{plan.tables[table].title}, {facts['words']:,} × {facts['dim']}"


def statistic_tables(plan: Plan, store: Store) -> list[Table]:
    """Tables 1 to 4: the paper's rows, then those of each of our tables."""
    tables = []
    for (paper, statistic), number in published.NUMBERS.items():
        rows: Rows = []
        for lam in plan.lams:
            row: dict[str, Any] = {"vectors": f"paper, {paper} 300-d", "λ": f"{lam:g}"}
            for epsilon in plan.epsilons:
                mean = published.mean(paper, statistic, epsilon, lam)
                std = published.std(paper, statistic, epsilon, lam)
                row[f"ε = {epsilon:g}"] = f"{mean:.2f} ± {std:.2f}"
            rows.append(row)
        ours = [t for t in plan.tables if plan.tables[t].paper == paper]
        for table in ours:
            grid = read_grid(plan, store, table)
            title = describe(plan, store, table)
            summary = grid.columns[statistic]
            for j, lam in enumerate(grid.lams):
                row = {"vectors": title, "λ": f"{lam:g}"}
                for i, epsilon in enumerate(plan.epsilons):
                    mean, std = summary["mean"][i, j], summary["std"][i, j]
                    row[f"ε = {epsilon:g}"] = f"{mean:.2f} ± {std:.2f}"
                rows.append(row)
        if ours:
            letter = "N_w" if statistic == "n_unchanged" else "S_w"
            tables.append(
                Table(
                    f"table{number}",
                    f"Table {number}: {letter}, mean ± standard deviation over the "
                    "words",
                    "",
                    rows,
                )
            )
    return tables


def percentile_table(plan: Plan, store: Store, table: str) -> Table:
    """Figures 2 to 5: percentiles of both statistics over the words."""
    grid, vectors = read_grid(plan, store, table), describe(plan, store, table)
    letters = {"N_w": "n_unchanged", "S_w": "n_distinct"}
    rows: Rows = [
        {"vectors": vectors, "λ": f"{lam:g}", "ε": f"{epsilon:g}"}
        | {
            f"{letter}, {percent} %": f"{grid.columns[name][f'p{percent}'][i, j]:.1f}"
            for letter, name in letters.items()
            for percent in (5, 50, 95)
        }
        for j, lam in enumerate(grid.lams)
        for i, epsilon in enumerate(grid.epsilons)
    ]
    title = f"Percentiles of N_w and S_w over the words: {vectors}"
    return Table(f"percentiles_{table}", title, "", rows)


def claims(plan: Plan, store: Store) -> Table:
    """Does N_w fall and S_w rise with λ, significantly, where the paper says so?"""
    rows: Rows = []
    for table in plan.tables:
        grid = read_grid(plan, store, table)
        replicates = list(map(store.get, deniability.replicate_cells(plan, table)))
        p = significance.holm(
            [grid.paired(replicates, name) for name in deniability.STATISTICS]
        )
        for k, statistic in enumerate(deniability.STATISTICS):
            summary = grid.columns[statistic]
            direction = deniability.DIRECTION[statistic]
            ruled = significance.disjoint_intervals(
                (summary["mean"][:, :1], summary["std"][:, :1]),
                (summary["mean"][:, 1:], summary["std"][:, 1:]),
                plan.n_draws,
                direction=direction,
            )
            monotone = (direction * np.diff(summary["mean"], axis=1) > 0).all(1)
            for epsilon in plan.claimed:
                i = plan.epsilons.index(epsilon)
                mean = summary["mean"][i]
                sound = int((p[k, i] < 0.05).sum())
                rows.append(
                    {
                        "vectors": plan.tables[table].title,
                        "ε": f"{epsilon:g}",
                        "statistic": "N_w" if k == 0 else "S_w",
                        "λ = 0": f"{mean[0]:.2f}",
                        "λ = 1": f"{mean[-1]:.2f}",
                        "monotone in λ": bool(monotone[i]),
                        "paper's rule": f"{ruled[i].sum()} of {ruled.shape[1]}",
                        "paired test": f"{sound} of {ruled.shape[1]}",
                        "largest p": f"{p[k, i].max():.1e}",
                    }
                )
    return Table(
        "claims",
        "Does λ > 0 lower N_w and raise S_w against λ = 0?",
        "Paper's rule: the intervals mean ± 1.96 std/√100 do not overlap, for how many "
        f"λ > 0. Paired test: a one-sided t-test over {plan.n_replicates} independent "
        "repetitions of the experiment on up to 2,000 random words, noise "
        "shared between λ within a repetition, corrected by Holm for all ε, λ and "
        "both statistics of a table; significant at 0.05 for how many λ > 0, and the "
        "largest corrected p.",
        rows,
    )


def density(plan: Plan, store: Store) -> Table:
    """Table 5."""
    rows: Rows = []
    for name in plan.sets:
        if name in published.DENSITY:
            rows.append(
                {"data": name, "vectors": "paper, fastText", **published.DENSITY[name]}
            )
        for table, spec in plan.tables.items():
            facts = store.get(deniability.density_cell(plan, table))["sets"][name]
            row = {k: v for k, v in facts.items() if k != "sparsest"}
            row |= {k: f"{v:.2f}" for k, v in row.items() if isinstance(v, float)}
            rows.append({"data": name, "vectors": spec.title, **row})
    return Table("table5", "Table 5: density of the two vocabularies", "", rows)


def all_tables(plan: Plan, store: Store) -> list[Table]:
    """The tables on deniability, in the order of the report."""
    return [
        *statistic_tables(plan, store),
        *(percentile_table(plan, store, table) for table in plan.tables),
        claims(plan, store),
        density(plan, store),
    ]
