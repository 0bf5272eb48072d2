"""The figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from experiments.paper import deniability, published, utility
from experiments.paper.plan import SEED, Plan
from experiments.paper.tables import describe, read_grid
from experiments.paper.utility_tables import (
    classified,
    interval,
    main_table,
    read_clean,
    read_equal,
    read_utility,
)
from experiments.store import Store
from scipy.spatial import Voronoi, voronoi_plot_2d

from skdptext import DPWordPerturber, WordEmbedding

MARKERS = "osD^v"
SYMBOLS = {"n_unchanged": "$N_w$", "n_distinct": "$S_w$"}
WORDS = {
    "n_unchanged": "draws of 100 unchanged",
    "n_distinct": "different outputs of 100 draws",
}


def draw_all(plan: Plan, store: Store, folder: Path) -> list[tuple[Path, str]]:
    """Draw all figures; their files and captions."""
    paths = []
    for figure, name, caption in _figures(plan, store):
        path = folder / f"{name}.png"
        figure.savefig(path, dpi=90)
        _shrink(path)
        paths.append((path, caption))
    return paths


def _figures(plan: Plan, store: Store) -> Iterator[tuple[Any, str, str]]:
    """Each figure with the name of its file and its caption."""
    yield contours(), "figure1", "Figure 1: noise around a word in a sparse region."
    for table, spec in plan.tables.items():
        numbers = "2 and 3" if spec.paper == "fastText" else "4 and 5"
        caption = f"Figures {numbers}: percentiles over the words, {spec.title}."
        yield percentiles(plan, store, table), f"figure_deniability_{table}", caption
    caption = "Mean N_w and S_w at one scale of ε per table, with the paper's."
    yield scaled_means(plan, store), "figure_scaled", caption
    main = main_table(plan)
    for name in plan.sets:
        number = {"Disaster tweets": "Figure 6: ", "SMS spam": "Figure 7: "}
        file = f"figure_utility_{name.split()[-1].lower()}"
        caption = f"{number.get(name, '')}{name}, {plan.tables[main].title}."
        yield scores(plan, store, main, name), file, caption
    others = [table for table in classified(plan) if table != main]
    if others:
        caption = "Accuracy with the other tables, both sides noisy."
        yield other_tables(plan, store, others), "figure_utility_others", caption
    caption = "Accuracy at equal N_w, both sides noisy."
    yield equal(plan, store), "figure_equal", caption


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


def _panels(n_rows: int, n_columns: int, size: tuple[float, float], **more: Any) -> Any:
    from matplotlib.figure import Figure  # no window, no state to close

    figure = Figure(
        figsize=(size[0] * n_columns, size[1] * n_rows), layout="constrained"
    )
    return figure, figure.subplots(n_rows, n_columns, squeeze=False, **more)


def _epsilon_axis(axis: Any, epsilons: Any) -> None:
    axis.set_xscale("log")
    axis.set_xticks(epsilons, [f"{e:g}" for e in epsilons])
    axis.minorticks_off()


def _legend(figure: Any, axis: Any, **more: Any) -> None:
    handles, labels = axis.get_legend_handles_labels()
    fitting = int(figure.get_figwidth() / 1.3)
    figure.legend(
        handles, labels, loc="outside lower center", ncols=min(fitting, 7), **more
    )


def contours() -> Any:
    """Figure 1: the same scale of noise, as a circle and as an ellipse."""
    rng = np.random.default_rng(SEED)
    # a crowd along a line, and one word off its end
    crowd = rng.normal(size=(60, 2)) * (1.3, 0.45)
    rotation = np.array([[0.85, 0.53], [-0.53, 0.85]])
    vectors = np.vstack([[[5.2, 0.3]], crowd]) @ rotation
    words = ["A", *(f"w{i}" for i in range(60))]
    embedding = WordEmbedding(words, vectors)
    figure, axes = _panels(1, 2, (4.6, 4.3), sharex=True, sharey=True)
    angle = np.linspace(0, 2 * np.pi, 200)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    for axis, lam, title in zip(
        axes[0], (0.0, 1.0), ("λ = 0, Laplace", "λ = 1, Mahalanobis"), strict=True
    ):
        perturber = DPWordPerturber(
            embedding, epsilon=1.0, lam=lam, document_length=1, random_state=SEED
        ).fit([])
        changed = (perturber.perturb_words(["A"], 20_000) != "A").mean()
        voronoi_plot_2d(
            Voronoi(vectors),
            axis,
            show_points=False,
            show_vertices=False,
            line_colors="0.85",
            line_width=0.7,
        )
        axis.scatter(*vectors[1:].T, s=14, color="0.45", zorder=3)
        for radius in (1.0, 2.0, 3.0):
            ring = vectors[0] + radius * circle @ perturber.noise_factor_
            axis.plot(*ring.T, ":", color="#0072b2", linewidth=1.6)
        axis.scatter(*vectors[0], s=45, color="#d55e00", zorder=4)
        axis.annotate(
            "A", vectors[0], (7, 5), textcoords="offset points", color="#d55e00"
        )
        axis.set(
            title=f"{title}: A changes in {changed:.0%} of the draws",
            xlabel="first coordinate",
            aspect="equal",
            xlim=(-4.5, 8),
            ylim=(-3, 6.5),
        )
        axis.title.set_fontsize(10)
    axes[0, 0].set_ylabel("second coordinate")
    return figure


def percentiles(plan: Plan, store: Store, table: str) -> Any:
    """Figures 2 to 5: percentiles of both statistics over the words, against ε."""
    grid = read_grid(plan, store, table)
    figure, axes = _panels(2, 3, (3.3, 2.5), sharex=True, sharey="row")
    colours = _colours(len(grid.lams))
    for i, statistic in enumerate(deniability.STATISTICS):
        for k, percent in enumerate((5, 50, 95)):
            axis = axes[i, k]
            for j, lam in enumerate(grid.lams):
                axis.plot(
                    grid.epsilons,
                    grid.columns[statistic][f"p{percent}"][:, j],
                    marker=MARKERS[j],
                    markersize=4,
                    color=colours[j],
                    label=f"λ = {lam:g}",
                )
            _epsilon_axis(axis, grid.epsilons)
            axis.set_title(f"{SYMBOLS[statistic]}, {percent}th percentile", fontsize=10)
        axes[i, 0].set_ylabel(WORDS[statistic], fontsize=9)
    for axis in axes[1]:
        axis.set_xlabel("ε")
    figure.suptitle(describe(plan, store, table), fontsize=11)
    _legend(figure, axes[0, 0])
    return figure


def scaled_means(plan: Plan, store: Store) -> Any:
    """Ours as lines, the paper's as crosses, at the paper's ε times a factor."""
    tables = list(plan.tables)
    figure, axes = _panels(2, len(tables), (3.4, 2.6), sharex=True, sharey=True)
    colours = _colours(len(plan.lams))
    for k, table in enumerate(tables):
        grid = read_grid(plan, store, table, scaled=True)
        paper = plan.tables[table].paper
        for i, statistic in enumerate(deniability.STATISTICS):
            axis = axes[i, k]
            for j, lam in enumerate(plan.lams):
                axis.plot(
                    plan.epsilons,
                    grid.columns[statistic]["mean"][:, j],
                    color=colours[j],
                    label=f"λ = {lam:g}",
                )
                theirs = [
                    published.mean(paper, statistic, epsilon, lam)
                    for epsilon in plan.epsilons
                ]
                axis.plot(
                    plan.epsilons,
                    theirs,
                    "x",
                    color=colours[j],
                    label="the paper's" if lam == plan.lams[-1] else None,
                )
            _epsilon_axis(axis, plan.epsilons)
        factor = grid.epsilons[0] / plan.epsilons[0]
        axes[0, k].set_title(
            f"{plan.tables[table].title}\nε × {factor:.2f}; × {paper}", fontsize=9
        )
        axes[1, k].set_xlabel("the paper's ε")
    for i, statistic in enumerate(deniability.STATISTICS):
        axes[i, 0].set_ylabel(f"mean {SYMBOLS[statistic]}")
    _legend(figure, axes[0, 0])
    return figure


def _draw_scores(
    axis: Any, plan: Plan, scores: Any, key: tuple[str, str, str], xs: list[float]
) -> None:
    """A line per λ with intervals, side by side so that they can be told apart."""
    colours = _colours(len(plan.lams))
    ratio = (xs[-1] / xs[0]) ** (1 / max(1, len(xs) - 1))
    for j, lam in enumerate(plan.lams):
        if (xs[0], lam) not in scores:
            continue
        middle, width = np.transpose([interval(scores[x, lam][key]) for x in xs])
        shift = ratio ** (0.035 * (j - (len(plan.lams) - 1) / 2))
        axis.errorbar(
            np.array(xs) * shift,
            middle,
            yerr=width,
            marker=MARKERS[j],
            markersize=3.5,
            linewidth=1,
            elinewidth=1,
            color=colours[j],
            label=f"λ = {lam:g}",
        )


def _against_epsilon(
    axis: Any,
    plan: Plan,
    store: Store,
    table: str,
    name: str,
    key: tuple[str, str, str],
) -> None:
    """One score of a set under a table against ε, beside that without noise."""
    classifier, _, metric = key
    clean = read_clean(plan, store, table, name)
    level = clean["covered words", classifier, metric].mean()
    axis.axhline(level, color="0.5", linestyle=":", label="without noise")
    epsilons = list(plan.tables[table].trials[name].epsilons)
    _draw_scores(axis, plan, read_utility(plan, store, table, name), key, epsilons)
    _epsilon_axis(axis, epsilons)


def scores(plan: Plan, store: Store, table: str, name: str) -> Any:
    """Figures 6 and 7: three scores, and four ways to train and test."""
    key = utility.MAIN[name]
    rows = [
        (key, "both", "train and test noisy"),
        (key, "train", "only train noisy"),
        (key, "test", "only test noisy"),
        (utility.WMD, "both", "train and test noisy"),
    ]
    figure, axes = _panels(4, 3, (3.3, 2.2), sharex=True, sharey="col")
    for i, (classifier, mode, label) in enumerate(rows):
        for k, metric in enumerate(utility.METRICS):
            shown = classifier, mode, metric
            _against_epsilon(axes[i, k], plan, store, table, name, shown)
            if i == 0:
                axes[i, k].set_title(metric, fontsize=10)
        axes[i, 0].set_ylabel(f"{classifier}\n{label}", fontsize=9)
    for axis in axes[-1]:
        axis.set_xlabel("ε")
    figure.suptitle(f"{name}; {describe(plan, store, table)}", fontsize=11)
    _legend(figure, axes[0, 0])
    return figure


def other_tables(plan: Plan, store: Store, tables: list[str]) -> Any:
    """Accuracy against ε with the tables that are not the main one."""
    names = list(plan.sets)
    figure, axes = _panels(len(names), len(tables), (4.4, 2.5), sharey="row")
    for i, name in enumerate(names):
        for k, table in enumerate(tables):
            key = utility.MAIN[name], "both", "accuracy"
            _against_epsilon(axes[i, k], plan, store, table, name, key)
            axes[i, k].set_title(f"{name}; {plan.tables[table].title}", fontsize=9)
        axes[i, 0].set_ylabel(f"accuracy, {utility.MAIN[name]}", fontsize=9)
    for axis in axes[-1]:
        axis.set_xlabel("ε")
    _legend(figure, axes[0, 0])
    return figure


def equal(plan: Plan, store: Store) -> Any:
    """Accuracy against λ where every λ leaves as many words unchanged."""
    table, names = main_table(plan), list(plan.sets)
    figure, axes = _panels(1, 2 * len(names), (2.7, 2.8), sharex=True)
    colours = _colours(len(plan.equal_shares))
    for i, name in enumerate(names):
        by_share = read_equal(plan, store, table, name)
        for k, key in enumerate((utility.MAIN[name], utility.WMD)):
            axis = axes[0, 2 * i + k]
            for s, share in enumerate(plan.equal_shares):
                values = [
                    by_share[share, lam][key, "both", "accuracy"]
                    for lam in plan.equal_lams
                ]
                middle, width = np.transpose(list(map(interval, values)))
                axis.errorbar(
                    np.array(plan.equal_lams)
                    + 0.02 * (s - (len(plan.equal_shares) - 1) / 2),
                    middle,
                    yerr=width,
                    marker=MARKERS[s],
                    markersize=4,
                    color=colours[s],
                    label=f"mean $N_w$ = {100 * share:g}",
                )
            axis.set_title(f"{name}\n{key}", fontsize=10)
            axis.set_xlabel("λ")
    axes[0, 0].set_ylabel("accuracy")
    _legend(figure, axes[0, 0])
    return figure
