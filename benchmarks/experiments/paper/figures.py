"""The figures, drawn from the tables: a change here needs no run of the experiment.

Six inches wide, panels one below the other, so that a phone shows letters to be read.
"""

from __future__ import annotations

import csv
import itertools
from pathlib import Path
from typing import Any

import numpy as np
from experiments.paper.plan import VECTORS, Plan, texts_of
from experiments.paper.utility import MAIN, WMD

MARKERS = "osD^v"
SYMBOLS = {"N_w": "$N_w$: draws of 100 unchanged", "S_w": "$S_w$: outputs of 100 draws"}
PERCENTS = (5, 50, 95)
# Columns of a table of utility, and what they are called.
SCORES = {
    "accuracy": "accuracy, train and test noisy",
    "precision": "precision, train and test noisy",
    "recall": "recall, train and test noisy",
    "accuracy, only train noisy": "accuracy, only train noisy",
    "accuracy, only test noisy": "accuracy, only test noisy",
    "accuracy, WMD-kNN": "accuracy, train and test noisy",
}
Rows = list[dict[str, str]]


def draw_all(plan: Plan, folder: Path) -> None:
    """Draw all figures from the CSV files in a folder, into it."""

    def read(name: str) -> Rows:
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    for vectors in plan.vectors:
        figure = percentiles(read(f"percentiles_{vectors}"))
        figure.savefig(folder / f"figure_deniability_{vectors}.png", dpi=120)
    for name in plan.sets:
        slug = name.split()[-1].lower()
        rows = read(f"utility_{plan.vectors[0]}_{slug}")
        figure = scores(plan, name, rows, read("benchmarks"))
        figure.savefig(folder / f"figure_utility_{slug}.png", dpi=120)


def _panels(n_rows: int, n_columns: int = 1, **shared: bool) -> Any:
    from matplotlib.figure import Figure  # no window, no state to close

    figure = Figure(figsize=(5.6, 2.1 * n_rows + 0.8), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False, **shared)


def _epsilon_axis(axis: Any, rows: Rows) -> None:
    epsilons = sorted({float(row["ε"]) for row in rows})
    axis.set_xscale("log")
    axis.set_xticks(epsilons, [f"{e:g}" for e in epsilons], fontsize="small")
    axis.minorticks_off()


def _legend(figure: Any, axis: Any) -> None:
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)


def _by_lam(rows: Rows) -> list[tuple[Rows, dict[str, Any]]]:
    """The rows of each λ, and how it is drawn."""
    import matplotlib as mpl

    lams = list(dict.fromkeys(row["λ"] for row in rows))
    # the yellow end is too pale on white
    colours = [mpl.colormaps["viridis"](x) for x in np.linspace(0, 0.85, len(lams))]
    return [
        ([row for row in rows if row["λ"] == lam],
         {"marker": marker, "color": colour, "label": f"λ = {lam}"})
        for lam, marker, colour in zip(lams, MARKERS, colours, strict=False)
    ]  # fmt: skip


def percentiles(rows: Rows) -> Any:
    """Figures 2 to 5: percentiles of both statistics over the words, against ε."""
    figure, axes = _panels(len(PERCENTS), 2, sharex=True, sharey=True)
    for (i, percent), (k, (statistic, said)) in itertools.product(
        enumerate(PERCENTS), enumerate(SYMBOLS.items())
    ):
        for mine, look in _by_lam(rows):
            axes[i, k].plot(
                [float(row["ε"]) for row in mine],
                [float(row[f"{statistic}, {percent} %"]) for row in mine],
                markersize=4,
                **look,
            )
        _epsilon_axis(axes[i, k], rows)
        axes[0, k].set_title(said, fontsize="medium")
        axes[i, 0].set_ylabel(f"{percent}th percentile")
        axes[-1, k].set_xlabel("ε")
    figure.suptitle(rows[0]["vectors"], fontsize="medium")
    _legend(figure, axes[0, 0])
    return figure


def _numbers(cell: str) -> tuple[float, float]:
    """A mean and what follows ±."""
    value, _, width = cell.partition(" ± ")
    return float(value), float(width)


def scores(plan: Plan, name: str, rows: Rows, benchmarks: Rows) -> Any:
    """Figures 6 and 7: scores of a set against ε, without noise, and of a guess."""
    figure, axes = _panels(len(SCORES), sharex=True)
    most = np.bincount(texts_of(name)[1]).max() / len(texts_of(name)[1])
    words = f"covered words of {VECTORS[plan.vectors[0]].title}"
    for axis, (column, said) in zip(axes[:, 0], SCORES.items(), strict=True):
        metric, _, how = column.partition(", ")
        key = WMD if how == WMD else MAIN[name]
        (clean,) = [row[metric] for row in benchmarks
                    if (row["data"], row["classifier"], row["words"])
                    == (name, key, words)]  # fmt: skip
        line = {"color": "0.3", "linestyle": "--", "label": "without noise"}
        axis.axhline(_numbers(clean)[0], **line)
        if metric == "accuracy":
            axis.axhline(most, color="0.5", linestyle=":", label="majority")
        lams = _by_lam(rows)
        for j, (mine, look) in enumerate(lams):
            # side by side, so that they can be told apart
            shift = 1.025 ** (j - (len(lams) - 1) / 2)
            middle, width = np.transpose([_numbers(row[column]) for row in mine])
            epsilons = np.array([float(row["ε"]) for row in mine]) * shift
            axis.errorbar(
                epsilons, middle, yerr=width, markersize=3.5, linewidth=1, **look
            )
        _epsilon_axis(axis, rows)
        axis.set_title(f"{said} ({key})", fontsize="medium")
        axis.set_ylabel(metric)
    axes[-1, 0].set_xlabel("ε")
    _legend(figure, axes[0, 0])
    return figure
