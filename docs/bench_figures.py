"""A figure for each question of the page of benchmarks, from the committed numbers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from palette import COLORS

BLUE, RED, GREEN = COLORS[:3]
GREY = "#666666"
Rows = dict[str, list[dict]]


def new(width: float = 6.4, height: float = 3.4, panels: int = 1) -> tuple[Any, Any]:
    """A figure and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(1, panels)


def save(figure: Any, path: Path) -> None:
    figure.savefig(path, dpi=150, metadata={"Software": None})


def _bars(axes: Any, names: list[str], values: list[float], said: list[str]) -> None:
    """Bars with names on the left and what they say beside their ends."""
    axes.barh(names, values, color=BLUE)
    axes.bar_label(axes.containers[0], said, padding=4, fontsize="small")
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.spines[["top", "right"]].set_visible(False)


def release(rows: Rows) -> Any:
    figure, axes = new(height=2.6)
    found = rows["mechanisms_speed"]
    rates = [row["words/s"] for row in found]
    _bars(
        axes, [row["mechanism"] for row in found], rates, [f"{r:,.0f}" for r in rates]
    )
    axes.set_xscale("log")
    axes.set(xlabel="words per second, one thread", xlim=(1e3, 3e6))
    return figure


def neighbours(rows: Rows) -> Any:
    figure, axes = new()
    found = rows["wmd_short"] + rows["wmd_sixteen"] + rows["wmd_long"]
    lines = [("× gensim", "numba", RED, "s"), ("× emd_c", "numba", BLUE, "o"),
             ("× emd_c", "NumPy", BLUE, "x")]  # fmt: skip
    for key, path, colour, style in lines:
        mine = [row for row in found if row["path"] == path]
        x, y = [row["words"] for row in mine], [row[key] for row in mine]
        axes.plot(x, y, style, color=colour, label=f"{key} ({path})", markersize=4)
    axes.set(
        xscale="log", yscale="log",
        xlabel="distinct words of a document", ylabel="times as fast",
    )  # fmt: skip
    axes.set_xticks(
        [10, 20, 50, 100, 200, 400], ["10", "20", "50", "100", "200", "400"]
    )
    axes.minorticks_off()
    axes.set_yticks([10, 100, 1000], ["10", "100", "1,000"])
    axes.grid(lw=0.4, color="#cccccc")
    axes.legend(frameon=False, fontsize="small")
    return figure


def mechanisms(rows: Rows) -> Any:
    figure, (left, right) = new(8, 4.2, panels=2)
    found = [row for row in rows["comparison_summary_50"] if row["SMS: topic"]]
    names = [row["mechanism"] for row in found]
    for corpus, colour, marker in zip(
        ("SMS", "tweets", "docstrings", "fan fiction"), COLORS, "os^D", strict=False
    ):
        scores = [row[f"{corpus}: topic"] for row in found]
        kept = [float("nan") if score is None else score for score in scores]
        left.plot(kept, names, marker, color=colour, label=corpus)
    left.set(xlabel="balanced accuracy of topics", xlim=(0.2, 0.9))
    left.legend(
        frameon=False, fontsize="small", ncols=4, loc="lower left",
        bbox_to_anchor=(-0.6, 1), columnspacing=1, handletextpad=0.2,
    )  # fmt: skip
    nats = [row["nearest, nats"] for row in found]
    infinite = [isinstance(value, str) for value in nats]
    most = [200.0 if far else value for value, far in zip(nats, infinite, strict=True)]
    said = ["∞" if far else f"{value:.3g}"
            for value, far in zip(nats, infinite, strict=True)]  # fmt: skip
    _bars(right, names, most, said)
    right.set(xscale="log", xlabel="exponent to the nearest word, proved")
    right.set_yticks([])
    right.set_xticks([1, 10, 100], ["1", "10", "100"])
    left.set_ylim(right.get_ylim())
    left.grid(lw=0.4, color="#cccccc")
    return figure


def found(rows: Rows) -> Any:
    figure, axes = new(7, 3.6)
    reports = rows["release_report"]
    ends = [
        [float(x) for x in re.findall(r"[\d.]+", row["found among 100, at least"])]
        for row in reports
    ]
    _bars(
        axes, [row["release"] for row in reports], [value for value, *_ in ends],
        [f"{value:.2f}" for value, *_ in ends],
    )  # fmt: skip
    axes.set(xlabel="found among 100 candidates, at least", xlim=(0, 1.12))
    return figure


def accuracy(rows: Rows) -> Any:
    figure, panels = new(8, 3.2, panels=2)
    for axes, name, title in zip(
        panels, ("utility_sms", "utility_tweets"), ("SMS spam", "tweets"), strict=True
    ):
        found = sorted(rows[name], key=lambda row: row["words changed"])
        changed = [row["words changed"] for row in found]
        for key, colour, marker in [
            ("logistic regression", BLUE, "o"),
            ("WMD-kNN", RED, "s"),
        ]:
            y = [row[key] for row in found]
            axes.plot(changed, y, marker, color=colour, label=key, markersize=5)
        axes.set(title=title, xlabel="share of words changed", ylabel="accuracy")
        axes.grid(lw=0.4, color="#cccccc")
    panels[0].legend(frameon=False, fontsize="small")
    return figure


def statistics(rows: Rows) -> Any:
    figure, axes = new()
    for (name, said), colour, marker in zip(
        {"audit_word_privacy": "words", "audit_noise_law": "noise itself"}.items(),
        (BLUE, RED), "os", strict=True,
    ):  # fmt: skip
        mine = [row for row in rows["audit_power"] if row["audit"] == name]
        x = [row["true ε above the claim (%)"] for row in mine]
        y = [row["caught (%)"] for row in mine]
        axes.plot(x, y, f"{marker}-", color=colour, label=f"{said} ({name})")
    axes.set(
        xlabel="true ε above the claim, %", ylabel="caught, % of 20 audits",
        ylim=(-3, 103),
    )  # fmt: skip
    axes.legend(frameon=False, fontsize="small", bbox_to_anchor=(0.27, 1))
    axes.grid(lw=0.4, color="#cccccc")
    return figure


# Part of the page to its figure, the results it is drawn from, and what it shows.
FIGURES = {
    "release": (
        release, ["mechanisms_speed"],
        "Words released per second by four mechanisms.",
    ),
    "neighbours": (
        neighbours, ["wmd_short", "wmd_sixteen", "wmd_long"],
        "How many times as fast the search is, against the words of a document.",
    ),
    "mechanisms": (
        mechanisms, ["comparison_summary_50"],
        "Accuracy of topics, and proved exponents, by mechanism, where the best guess "
        "is right for half of the words.",
    ),
    "found": (
        found, ["release_report"],
        "Share of documents found among 100 candidates, for ten kinds of release.",
    ),
    "accuracy": (
        accuracy, ["utility_sms", "utility_tweets"],
        "Accuracy on SMS and tweets against the share of words changed.",
    ),
    "statistics": (
        statistics, ["audit_power"],
        "Share of audits that catch a violation, against its size.",
    ),
}  # fmt: skip
