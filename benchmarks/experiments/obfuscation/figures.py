"""The figures of the page on the 2019 paper: small PNG files, one colour per λ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from experiments.obfuscation.accuracy import (
    AUTHOR,
    TOPIC,
    Marks,
    chance,
    interval,
    on_googles_scale,
    strongest,
)
from experiments.obfuscation.grid import EPSILONS, GOOGLE, LAMS, W2V
from experiments.obfuscation.word_tables import by_noise
from matplotlib.figure import Figure

# Okabe and Ito's blue, vermilion, green: apart for every eye.
COLOURS = ("#0072b2", "#d55e00", "#009e73")
MARKERS = "os^"
NAMES = {GOOGLE: "Google News, 8,000 words", W2V: "news and fiction, 30,000 words"}
NONE = 54  # where "no noise" stands on the axis of ε
KEPT = "Google News, unknown words kept in clear"


def draw(marks: Marks, folder: Path) -> None:
    for drawn, name in (
        (four_adversaries(marks), "adversaries"),
        (trade(marks), "trade"),
        (words(marks), "words"),
    ):
        drawn.savefig(folder / f"{name}.png", dpi=100, metadata={"Software": None})


def four_adversaries(marks: Marks) -> Figure:
    """The paper's four adversaries against ε, λ = 0; and the paper's own numbers."""
    from experiments.obfuscation.published import ADVERSARIES, FIFTY

    figure = Figure(figsize=(8.4, 6.4), layout="constrained")
    axes = figure.subplots(2, 2, sharey=True, sharex=True)
    levels = chance("40 authors")
    for k, (name, axis) in enumerate(zip(ADVERSARIES, axes.T.ravel(), strict=True)):
        topic = name.endswith("topic")
        for table, colour, marker in zip((GOOGLE, W2V), COLOURS, MARKERS, strict=False):
            x, y, down, up = [], [], [], []
            for epsilon in EPSILONS[table]:
                if on_googles_scale(epsilon, table) > NONE - 3:
                    continue  # hardly any noise
                right = marks.of("40 authors", table, epsilon, 0.0, name)
                share, low, high = interval("40 authors", right)
                x.append(on_googles_scale(epsilon, table))
                y.append(share)
                down.append(max(0, share - low))
                up.append(max(0, high - share))
            style = {"color": colour, "marker": marker, "capsize": 2}
            axis.errorbar(x, y, yerr=[down, up], label=NAMES[table], **style)
            clean = marks.of("40 authors", table, 0.0, 0.0, name).mean()
            axis.plot(NONE, clean, marker, color=colour, clip_on=False)
        in_clear = [
            (e, marks.of("40 authors", GOOGLE, e, 0.0, name, "keep"))
            for e in (*EPSILONS[GOOGLE], 0.0)
            if name.startswith("DR")
        ]
        if in_clear:
            x = [e or NONE for e, _ in in_clear]
            y = [right.mean() for _, right in in_clear]
            axis.plot(x[:-1], y[:-1], "^--", color=COLOURS[2], label=KEPT)
            axis.plot(x[-1], y[-1], "^", color=COLOURS[2], clip_on=False)
        theirs = [(e, FIFTY[e][k] / 50) for e in FIFTY if e]
        axis.plot(
            *zip(*theirs, strict=True), "D:", color="black", label="paper, 50 authors"
        )
        axis.plot(NONE, FIFTY[0][k] / 50, "D", color="black", clip_on=False)
        axis.axhline(
            levels["topic" if topic else "author"], color="0.6", lw=1, label="chance"
        )
        axis.set_title(f"{name}: {'keep' if topic else 'hide'}")
        axis.set(
            ylim=(-0.02, 1.02), xlim=(0, NONE + 1), xticks=[5, 10, 20, 30, 40, NONE]
        )
        axis.set_xticklabels(["5", "10", "20", "30", "40", "none"])
        axis.grid(lw=0.4, color="#dddddd")
    for axis in axes[-1]:
        axis.set_xlabel("ε on Google News' scale (nats per unit)")
    for axis in axes[:, 0]:
        axis.set_ylabel("right answers")
    handles, labels = axes[0, 1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def trade(marks: Marks) -> Figure:
    """Author against topic over ε and λ: the Pareto figure."""
    figure = Figure(figsize=(8.4, 4.3), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    levels = chance("40 authors")
    for table, axis in zip((GOOGLE, W2V), panels, strict=True):
        points = []
        for lam, colour, marker in zip(LAMS, COLOURS, MARKERS, strict=True):
            x, y, errors = [], [], []
            for epsilon in EPSILONS[table]:
                topic = strongest(marks, "40 authors", table, epsilon, lam, TOPIC)[2]
                author = strongest(marks, "40 authors", table, epsilon, lam)[2]
                x.append(topic.share)
                y.append(author.share)
                errors.append((author.share - author.low, author.high - author.share))
                if lam == 0.0:
                    points.append((x[-1], y[-1], epsilon))
            axis.plot(x, y, color=colour, marker=marker, ms=5, label=f"λ = {lam:g}")
            axis.errorbar(
                x, y, yerr=np.array(errors).T, fmt="none", color=colour, alpha=0.25
            )
        for px, py, epsilon in points:
            axis.annotate(
                f"{epsilon:g}",
                (px, py),
                xytext=(6, -11),
                textcoords="offset points",
                color=COLOURS[0],
                fontsize="small",
            )
        clean = [
            strongest(marks, "40 authors", table, 0.0, 0.0, names)[2].share
            for names in (TOPIC, AUTHOR)
        ]
        axis.plot(*clean, "*", color="black", ms=11, label="no noise")
        axis.axhline(levels["author"], color="0.5", ls=":", label="chance")
        axis.axvline(levels["topic"], color="0.5", ls=":")
        axis.axhline(
            levels["author, topic known"],
            color="0.5",
            ls="--",
            label="author from the topic alone",
        )
        axis.set(
            title=NAMES[table], xlabel="best topic classifier (keep)", xlim=(0, 1.09)
        )
        axis.grid(lw=0.4, color="#dddddd")
    panels[0].set_ylabel("strongest on authors (hide)")
    panels[0].set_ylim(0, None)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=6, fontsize="small"
    )
    return figure


def words(marks: Marks) -> Figure:
    """Reconstruction of single words against ε."""
    figure = Figure(figsize=(5.6, 3.9), layout="constrained")
    axis = figure.subplots()
    guessed = by_noise(marks)
    lines = (
        ("naive", "released word", ":"),
        ("top1", "Bayes", "-"),
        ("top10", "Bayes, ten guesses", "--"),
    )
    for lam, colour in ((0.0, COLOURS[0]), (1.0, COLOURS[1])):
        mine = [(e, seeds) for (own, e), seeds in guessed.items() if own == lam]
        for key, label, style in lines:
            axis.plot(
                [e for e, _ in mine],
                [seeds[key].mean() for _, seeds in mine],
                style,
                color=colour,
                marker="o",
                ms=4,
                label=f"{label}, λ = {lam:g}",
            )
    for key, text in (("blind_top1", "blind"), ("blind_top10", "blind, ten guesses")):
        level = np.mean([seeds[key].mean() for seeds in guessed.values()])
        axis.axhline(level, color="0.5", lw=0.8)
        axis.annotate(
            text,
            (30, level),
            xytext=(0, 2),
            textcoords="offset points",
            ha="right",
            color="0.3",
            fontsize="small",
        )
    axis.set(xlabel="ε (nats per unit of distance)", ylabel="words found", ylim=(0, 1))
    axis.grid(lw=0.4, color="#dddddd")
    axis.legend(fontsize="small")
    return figure
