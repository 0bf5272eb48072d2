"""The figures, drawn from the tables: a change here needs no run of the experiment.

Six inches wide, panels one below the other, so that a phone shows letters to be read.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from experiments.paper import utility
from experiments.paper.plan import Plan
from experiments.paper.utility_tables import main_table

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
Read = Callable[[str], list[dict[str, str]]]


def draw_all(plan: Plan, folder: Path) -> list[tuple[Path, str]]:
    """Draw all figures from the CSV files in a folder, into it; files and captions."""

    def read(name: str) -> list[dict[str, str]]:
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    paths = []
    for figure, name, caption in _figures(plan, read):
        path = folder / f"{name}.png"
        figure.savefig(path, dpi=120)
        _shrink(path)
        paths.append((path, caption))
    return paths


def _figures(plan: Plan, read: Read) -> Iterator[tuple[Any, str, str]]:
    """Each figure with the name of its file and its caption."""
    for table, spec in plan.tables.items():
        numbers = "2 and 3" if spec.paper == "fastText" else "4 and 5"
        caption = f"Figures {numbers}: percentiles over the words, {spec.title}."
        yield percentiles(read, table), f"figure_deniability_{table}", caption
    main = main_table(plan)
    for name in plan.sets:
        number = {"Disaster tweets": "Figure 6: ", "SMS spam": "Figure 7: "}
        file = f"figure_utility_{name.split()[-1].lower()}"
        caption = f"{number.get(name, '')}{name}, {plan.tables[main].title}."
        yield scores(plan, read, main, name), file, caption


def _shrink(path: Path) -> None:
    """64 colours are enough for lines on white, and a third of the bytes."""
    from PIL import Image  # matplotlib needs it too

    with Image.open(path) as image:
        small = image.convert("RGB").quantize(64)
    small.save(path, optimize=True)


def _colours(n: int) -> list[Any]:
    import matplotlib as mpl

    # the yellow end is too pale on white
    return [mpl.colormaps["viridis"](x) for x in np.linspace(0, 0.85, n)]


def _panels(n_rows: int, n_columns: int = 1, height: float = 2.1, **more: Any) -> Any:
    from matplotlib.figure import Figure  # no window, no state to close

    figure = Figure(figsize=(5.6, height * n_rows + 0.8), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False, **more)


def _epsilon_axis(axis: Any, epsilons: Any) -> None:
    axis.set_xscale("log")
    axis.set_xticks(epsilons, [f"{e:g}" for e in epsilons])
    axis.minorticks_off()


def _legend(figure: Any, axis: Any) -> None:
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)


def _numbers(cell: str) -> tuple[float, float]:
    """A mean and what follows ±."""
    value, _, width = cell.partition(" ± ")
    return float(value), float(width)


def _by_lam(rows: list[dict[str, str]]) -> dict[float, list[dict[str, str]]]:
    by_lam: dict[float, list[dict[str, str]]] = {}
    for row in rows:
        by_lam.setdefault(float(row["λ"]), []).append(row)
    return by_lam


def percentiles(read: Read, table: str) -> Any:
    """Figures 2 to 5: percentiles of both statistics over the words, against ε."""
    rows = read(f"percentiles_{table}")
    by_lam = _by_lam(rows)
    figure, axes = _panels(len(PERCENTS), 2, sharex=True, sharey=True)
    colours = _colours(len(by_lam))
    for i, percent in enumerate(PERCENTS):
        for k, (statistic, said) in enumerate(SYMBOLS.items()):
            axis = axes[i, k]
            for j, (lam, mine) in enumerate(by_lam.items()):
                axis.plot(
                    [float(row["ε"]) for row in mine],
                    [float(row[f"{statistic}, {percent} %"]) for row in mine],
                    marker=MARKERS[j],
                    markersize=4,
                    color=colours[j],
                    label=f"λ = {lam:g}",
                )
            _epsilon_axis(axis, sorted({float(row["ε"]) for row in rows}))
            axis.tick_params(axis="x", labelsize="small")
            if i == 0:
                axis.set_title(said, fontsize="medium")
        axes[i, 0].set_ylabel(f"{percent}th percentile")
    for axis in axes[-1]:
        axis.set_xlabel("ε")
    figure.suptitle(rows[0]["vectors"], fontsize="medium")
    _legend(figure, axes[0, 0])
    return figure


def scores(plan: Plan, read: Read, table: str, name: str) -> Any:
    """Figures 6 and 7: scores of a set against ε, without noise, and of a guess."""
    figure, axes = _panels(len(SCORES), sharex=True)
    rows = read(f"utility_{table}_{name.split()[-1].lower()}")
    labels = plan.sets[name][1]
    for axis, (column, said) in zip(axes[:, 0], SCORES.items(), strict=True):
        metric, _, how = column.partition(", ")
        key = utility.WMD if how == utility.WMD else utility.MAIN[name]
        words = f"covered words of {plan.tables[table].title}"
        (clean,) = [row[metric] for row in read("benchmarks")
                    if (row["data"], row["classifier"], row["words"])
                    == (name, key, words)]  # fmt: skip
        clear = _numbers(clean)[0]
        axis.axhline(clear, color="0.3", linestyle="--", label="without noise")
        if metric == "accuracy":
            most = max(np.mean(labels), 1 - np.mean(labels))
            axis.axhline(most, color="0.5", linestyle=":", label="majority")
        _draw_scores(axis, rows, column)
        axis.set_title(f"{said} ({key})", fontsize="medium")
        axis.set_ylabel(metric)
    axes[-1, 0].set_xlabel("ε")
    _legend(figure, axes[0, 0])
    return figure


def _draw_scores(axis: Any, rows: list[dict[str, str]], column: str) -> None:
    """A line per λ with intervals, side by side so that they can be told apart."""
    by_lam = _by_lam(rows)
    colours = _colours(len(by_lam))
    epsilons = sorted({float(row["ε"]) for row in rows})
    ratio = (epsilons[-1] / epsilons[0]) ** (1 / max(1, len(epsilons) - 1))
    for j, (lam, mine) in enumerate(by_lam.items()):
        shift = ratio ** (0.035 * (j - (len(by_lam) - 1) / 2))
        middle, width = np.transpose([_numbers(row[column]) for row in mine])
        axis.errorbar(
            np.array([float(row["ε"]) for row in mine]) * shift,
            middle,
            yerr=width,
            marker=MARKERS[j],
            markersize=3.5,
            linewidth=1,
            color=colours[j],
            label=f"λ = {lam:g}",
        )
    _epsilon_axis(axis, epsilons)
