"""A figure for each question of the page of benchmarks, from the committed numbers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from palette import COLORS

BLUE, RED, GREEN = COLORS[:3]
GREY = "#666666"
WIDTH = 5.6  # inches: a phone shows letters of 11 points at two thirds
# Labels of each corpus: guessing one of n has a balanced accuracy of 1 / n
LABELS = {
    "SMS": {"topic": 2},
    "tweets": {"topic": 2},
    "fan fiction": {"topic": 5, "author": 40},
    "docstrings": {"topic": 16, "author": 5},
}


class Rows(dict[str, list[dict]]):
    """Recorded rows by the name of their table, and the note of each."""

    def __init__(self, results: list[dict]) -> None:
        super().__init__({result["name"]: result["rows"] for result in results})
        self.notes = {result["name"]: result["note"] for result in results}


def new(
    height: float = 3.4, heights: list[float] | None = None, **shared: bool
) -> tuple[Any, Any]:
    """A figure and its axes, one below the other."""
    import palette
    from matplotlib.figure import Figure

    palette.use()
    figure = Figure(figsize=(WIDTH, sum(heights or [height])), layout="constrained")
    ratios = {"height_ratios": heights} if heights else {}
    return figure, figure.subplots(len(heights or [0]), 1, **ratios, **shared)


def save(figure: Any, path: Path) -> None:
    figure.savefig(path, dpi=150, metadata={"Software": None})


def with_ends(text: str) -> tuple[float, float, float]:
    """The numbers of ``0.93 [0.92, 0.94]``; one without an interval stands for all."""
    value, *ends = map(float, re.findall(r"[\d.]+", text))
    return (value, *(ends or (value, value)))


def errors(values: list[tuple[float, float, float]]) -> list[list[float]]:
    """Lengths of error bars, below and above."""
    low = [max(0.0, value - low) for value, low, _ in values]
    return [low, [max(0.0, high - value) for value, _, high in values]]


def _bars(axes: Any, names: list[str], values: list[float], said: list[str]) -> None:
    """Bars with names on the left and their values at the ends."""
    axes.barh(names, values, color=BLUE)
    axes.bar_label(axes.containers[0], said, padding=4, fontsize="small")
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.spines[["top", "right"]].set_visible(False)


def release(rows: Rows) -> Any:
    """Words a second by each mechanism, on the corpus with most."""
    figure, axes = new(2.6)
    used = rows["comparison_use_sms"][:-1]  # the last replaces documents
    rates = [row["tokens/s"] for row in used]
    said = [f"{rate:,.0f}" for rate in rates]
    _bars(axes, [row["mechanism"] for row in used], rates, said)
    axes.set_xscale("log")
    axes.set(xlabel="words per second, one thread", xlim=(1e4, 1e6))
    return figure


def neighbors(rows: Rows) -> Any:
    figure, axes = new()
    found = sorted(rows["wmd"], key=lambda row: row["words"])
    for key, color, style in (("× gensim", RED, "s"), ("× emd2", BLUE, "o")):
        x, y = [row["words"] for row in found], [row[key] for row in found]
        axes.plot(x, y, style, color=color, label=key, markersize=4)
    axes.set(
        xscale="log", yscale="log",
        xlabel="distinct words of a document", ylabel="times as fast",
    )  # fmt: skip
    axes.set_xticks([10, 20, 50, 100, 200], ["10", "20", "50", "100", "200"])
    axes.minorticks_off()
    axes.set_yticks([10, 100, 1000], ["10", "100", "1,000"])
    axes.grid(lw=0.4, color="#cccccc")
    axes.legend(frameon=False, fontsize="small")
    return figure


def mechanisms(rows: Rows) -> Any:
    """What is proved, of a word and of a document apart."""
    rows_of = [row for row in rows["comparison_summary"] if row["SMS: topic"]]
    words = [row for row in rows_of if not row["mechanism"].startswith("Replaced")]
    figure, both = new(heights=[3.7, 4.0])
    for axes, key, found, title, other in (
        (both[0], "nearest, nats", words, "One word", "its nearest word"),
        (
            both[1],
            "message with δ, nats",
            rows_of,
            "A document of 16 words",
            "the nearest",
        ),
    ):
        names = [
            row["mechanism"]
            if "ε =" in row["mechanism"]
            else f"{row['mechanism']}, ε = {row['ε']:.3g}"
            for row in found
        ]
        values = [float("inf") if row[key] == "∞" else row[key] for row in found]
        most = 3 * max(value for value in values if value < float("inf"))
        said = ["∞" if v == float("inf") else f"{v:.3g}" for v in values]
        _bars(axes, names, [min(value, most) for value in values], said)
        axes.set_xscale("log")
        axes.set_xticks([1, 10, 100], ["1", "10", "100"])
        axes.set(
            title=title, xlabel=f"exponent to {other}, proved", xlim=(0.5, 3 * most)
        )
        axes.tick_params(axis="y", labelsize="small")
    return figure


# How a topic and an author are drawn: marker, its filling, the line of a guess.
MARKS = {"topic": ("o", "full", "-"), "author": ("s", "none", "--")}


def uses(rows: Rows) -> Any:
    """Accuracy of each mechanism with its interval, a panel for each corpus."""
    used = rows["comparison_use_sms"]
    names = ["as written", *(row["mechanism"] for row in used)]
    heights = [0.2 * len(names) + 0.8] * len(LABELS)
    figure, panels = new(heights=[*heights[:-1], heights[-1] + 0.6], sharex=True)
    for axes, corpus in zip(panels, LABELS, strict=True):
        for kind in LABELS[corpus]:
            _accuracies(axes, rows, corpus, kind, names)
        axes.set_yticks(range(len(names)), names, fontsize="small")
        axes.set(title=corpus, xlim=(0, 1), ylim=(len(names) - 0.5, -0.5))
        axes.grid(axis="x", lw=0.4, color="#cccccc")
        axes.tick_params(labelbottom=True)
    panels[-1].set_xlabel("balanced accuracy")
    for kind, (marker, fill, line) in MARKS.items():
        panels[0].plot([], [], marker, color=GREY, fillstyle=fill, label=kind)
        panels[0].plot([], [], line, color=GREEN, label=f"guessing the {kind}")
    figure.legend(loc="outside lower center", ncols=2, fontsize="small")
    return figure


def _accuracies(
    axes: Any, rows: Rows, corpus: str, kind: str, names: list[str]
) -> None:
    """One question about a corpus: a mark for each of the names."""
    table, (marker, fill, line) = _use_table(corpus), MARKS[kind]
    (clear,) = re.findall(rf"Without.*{kind} ([\d.]+ \[.*?\])", rows.notes[table])
    kept = {row["mechanism"]: row[kind] for row in rows[table]}
    kept["as written"] = clear
    colors = {"Exponential, exact": BLUE, "as written": "black", names[-1]: RED}
    for here, name in enumerate(names):
        if kept.get(name):
            value, *ends = with_ends(kept[name])
            color = colors.get(name, GREY)
            axes.plot(ends, [here, here], color=color)
            axes.plot(value, here, marker, color=color, fillstyle=fill)
    axes.axvline(1 / LABELS[corpus][kind], color=GREEN, linestyle=line)


def _use_table(corpus: str) -> str:
    return f"comparison_use_{corpus.replace(' ', '_').lower()}"


def found(rows: Rows) -> Any:
    """Means over the corpora, with the least and the most."""
    figure, axes = new(7)
    corpora = [key for key in rows["release_report_kinds"][0] if key != "release"]
    shares = {row["release"]: [float(row[each]) for each in corpora]
              for row in rows["release_report_kinds"]}  # fmt: skip
    values = [(sum(s) / len(s), min(s), max(s)) for s in shares.values()]
    axes.barh(list(shares), [value for value, *_ in values], xerr=errors(values),
              color=BLUE, capsize=2)  # fmt: skip
    axes.axvline(0.01, color=RED, linestyle=":", label="guessing: 0.01")
    axes.invert_yaxis()
    axes.tick_params(axis="y", labelsize="small")
    axes.set(xlabel="identified among 100, mean of four corpora", xlim=(0, 1.02))
    axes.legend(loc="lower right", fontsize="small")
    return figure


def protection(rows: Rows) -> Any:
    """Topics kept against documents identified, a panel for each corpus."""
    figure, panels = new(heights=[2.4] * len(LABELS), sharex=True)
    kinds = {
        "as written": ("black", "*"), "noisy words": (RED, "o-"),
        "stand-ins": (BLUE, "D"), "stand-ins, labels": (GREEN, "^"),
    }  # fmt: skip
    for axes, corpus in zip(panels, LABELS, strict=True):
        for kind, (color, style) in kinds.items():
            mine = [row for row in rows["protection"]
                    if (row["text"], row["release"]) == (corpus, kind)]  # fmt: skip
            x = [with_ends(row["identified"]) for row in mine]
            y = [with_ends(row["topic"]) for row in mine]
            axes.errorbar([value for value, *_ in x], [value for value, *_ in y],
                          errors(y), errors(x), fmt=style, color=color, capsize=2,
                          label=kind)  # fmt: skip
        guess = 1 / LABELS[corpus]["topic"]
        axes.axhline(guess, color=GREY, linestyle=":", label="guessing the topic")
        axes.axvline(0.01, color=GREY, linestyle="--", label="guessing the document")
        axes.set(title=corpus, xscale="log", ylim=(0, 1), ylabel="topics right")
        axes.set(xlim=(0.009, 1.1))
        axes.set_xticks([0.01, 0.1, 1], ["1%", "10%", "all"])
        axes.minorticks_off()
        axes.grid(lw=0.4, color="#cccccc")
    panels[-1].set_xlabel("identified among 100")
    figure.legend(*panels[0].get_legend_handles_labels(), fontsize="small",
                  loc="outside lower center", ncols=2)  # fmt: skip
    return figure


def statistics(rows: Rows) -> Any:
    """False alarms; and apart from them, which violations are caught."""
    figure, (alarms, power) = new(heights=[3.4, 3.6])
    audits = (("audit_word_privacy", BLUE, "o"), ("audit_noise_law", RED, "s"))
    for shift, (name, color, marker) in enumerate(audits):
        mine = [row for row in rows["audit_alarms"] if row["audit"] == name]
        y = [
            (row["false alarms"], *map(float, row["99 % interval"].split(" to ")))
            for row in mine
        ]
        x = [row["false alarms allowed"] * (1 + 0.06 * shift) for row in mine]
        alarms.errorbar(x, [value for value, *_ in y], errors(y), fmt=marker,
                        color=color, capsize=3, label=name)  # fmt: skip
        mine = [row for row in rows["audit_power"] if row["audit"] == name]
        x = [row["true ε above the claim (%)"] for row in mine]
        y = [wilson(row["caught (%)"] / 100, 20) for row in mine]
        power.errorbar(x, [value for value, *_ in y], errors(y), fmt=f"{marker}-",
                       color=color, capsize=3, label=name)  # fmt: skip
    # a straight line is a curve on this scale
    allowed = [0.008 * 1.05**i for i in range(81)]
    alarms.plot(allowed, allowed, color=GREY, linestyle=":", label="allowed")
    alarms.set(xscale="log", xlim=(0.008, 0.4), ylim=(-0.01, 0.32))
    alarms.set(title="False alarms: the claim is true", xlabel="share allowed",
               ylabel="share of audits")  # fmt: skip
    alarms.set_xticks([0.01, 0.1, 0.3], ["0.01", "0.1", "0.3"])
    power.set(title="Power: the claim is false", ylim=(0, 1.02),
              xlabel="true ε above the claim, %", ylabel="share caught")  # fmt: skip
    for axes in (alarms, power):
        axes.minorticks_off()
        axes.grid(lw=0.4, color="#cccccc")
    alarms.legend(fontsize="small")
    return figure


def wilson(share: float, n: int) -> tuple[float, float, float]:
    """A share of n, and its 95% interval."""
    z = 1.96
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    wide = (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5 * z / (1 + z * z / n)
    return share, middle - wide, middle + wide


def learn(rows: Rows) -> Any:
    """Accuracy against ε, a panel for each corpus."""
    figure, panels = new(heights=[2.6] * len(LABELS), sharex=True)
    goals = rows["learn_goals"]
    for axes, (corpus, labels) in zip(panels, LABELS.items(), strict=True):
        alone = [row for row in goals if row["texts"] == corpus]
        axes.axhline(with_ends(alone[0]["clear"])[0], color=GREY, label="original text")
        by = {f"{many} authors": [row for row in goals
                                  if row["texts"] == f"{corpus} by {many} authors"]
              for many in (800, 300)}  # fmt: skip
        for mine, what, color, style, label in (
            (alone, "predict", BLUE, "o-", "model"),
            (alone, "a model of the corpus", RED, "s-", "trained on the corpus"),
            *((some, "predict", GREEN, "^v"["300" in name], f"model, {name}")
              for name, some in by.items()),
        ):  # fmt: skip
            if mine:
                x = [
                    row["ε of a person"] * (1.04 if what[0] == "a" else 1)
                    for row in mine
                ]
                y = [with_ends(row[what]) for row in mine]
                axes.errorbar(x, [value for value, *_ in y], errors(y), fmt=style,
                              color=color, capsize=3, label=label)  # fmt: skip
        guess = 1 / labels["topic"]
        axes.axhline(guess, color=GREY, linestyle=":", label="guessing, or majority")
        axes.set(title=corpus, ylim=(max(0, guess - 0.1), 1), xscale="log")
        axes.set_xticks([0.5, 1, 2], ["0.5", "1", "2"])
        axes.minorticks_off()
        axes.tick_params(labelbottom=True)
        axes.grid(lw=0.4, color="#cccccc")
    panels[-1].set_xlabel("ε of a person, texts and labels")
    figure.supylabel("balanced accuracy", fontsize="medium")
    named: dict[str, Any] = {}
    for axes in panels:
        handles, said = axes.get_legend_handles_labels()
        named |= dict(zip(said, handles, strict=True))
    figure.legend(list(named.values()), list(named), loc="outside lower center",
                  ncols=2, fontsize="small")  # fmt: skip
    return figure


# Part of the page to its figure, the results it is drawn from, and what it shows.
FIGURES = {
    "release": (
        release, ["comparison_use_sms"],
        "Words released per second, by mechanism.",
    ),
    "neighbors": (
        neighbors, ["wmd"],
        "How many times as fast the search is, against the words of a document.",
    ),
    "mechanisms": (
        mechanisms, ["comparison_summary"],
        "Proved exponents of a word and of a document, by mechanism, where the best "
        "guess is right for half of the words.",
    ),
    "uses": (
        uses, [_use_table(corpus) for corpus in LABELS],
        "Balanced accuracy of topics and authors, a dot with an interval for each "
        "mechanism. Most intervals overlap; replaced documents keep the topics of fan "
        "fiction better and those of docstrings and tweets worse.",
    ),
    "learn": (
        learn, ["learn_goals"],
        "Balanced accuracy against ε on four corpora, with original text and guessing.",
    ),
    "found": (
        found, ["release_report_kinds"],
        "Share of documents identified among 100 candidates, for 34 kinds of release, "
        "with the least and the most of four corpora.",
    ),
    "protected": (
        protection, ["protection"],
        "Topics right against documents identified, on four corpora: noisy words keep "
        "topics only where most are identified, stand-ins where few are.",
    ),
    "statistics": (
        statistics, ["audit_alarms", "audit_power"],
        "Share of false alarms against what is allowed; and share of audits that catch "
        "a violation, against its size.",
    ),
}  # fmt: skip
