"""A figure for each question of the pages of evidence, from the committed numbers."""

from __future__ import annotations

import re
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
USES = {name: f"comparison_use_{name.replace(' ', '_').lower()}" for name in LABELS}


class Rows(dict[str, list[dict]]):
    """Recorded rows by the name of their table, and the note of each."""

    def __init__(self, results: list[dict]) -> None:
        super().__init__({result["name"]: result["rows"] for result in results})
        self.notes = {result["name"]: result["note"] for result in results}


def new(*heights: float, **shared: bool) -> tuple[Any, Any]:
    """A figure and its axes, one below the other."""
    import palette
    from matplotlib.figure import Figure

    palette.use()
    figure = Figure(figsize=(WIDTH, sum(heights)), layout="constrained")
    ratios = {"height_ratios": heights}
    return figure, figure.subplots(len(heights), 1, **ratios, **shared)


def with_ends(text: str) -> tuple[float, float, float]:
    """The numbers of ``0.93 [0.92, 0.94]``; one without an interval stands for all.

    What follows a dot is another score.
    """
    value, *ends = map(float, re.findall(r"[\d.]+", text.partition("·")[0]))
    return (value, *(ends or (value, value)))


def marks(
    axes: Any, x: list[Any], y: list[Any], style: str, color: str, **more: Any
) -> None:
    """Marks with error bars; of a number without ends there is none."""

    def parts(numbers: list[Any]) -> tuple[list[float], Any]:
        if not isinstance(numbers[0], tuple):
            return numbers, None
        low = [max(0.0, value - low) for value, low, _ in numbers]
        high = [max(0.0, high - value) for value, _, high in numbers]
        return [value for value, *_ in numbers], [low, high]

    (x, xerr), (y, yerr) = parts(x), parts(y)
    axes.errorbar(x, y, yerr, xerr, fmt=style, color=color, capsize=2, **more)


def grid(axes: Any, **which: str) -> None:
    axes.grid(lw=0.4, color="#cccccc", **which)


def legend(figure: Any, panels: Any) -> None:
    """One legend of what the panels show, below them."""
    named: dict[str, Any] = {}
    for axes in panels:
        handles, said = axes.get_legend_handles_labels()
        named |= dict(zip(said, handles, strict=True))
    figure.legend(list(named.values()), list(named), loc="outside lower center",
                  ncols=2, fontsize="small")  # fmt: skip


def _bars(axes: Any, names: list[str], values: list[float], said: list[str]) -> None:
    """Bars with names on the left and their values at the ends."""
    axes.barh(names, values, color=BLUE)
    axes.bar_label(axes.containers[0], said, padding=4, fontsize="small")
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set_xscale("log")
    axes.spines[["top", "right"]].set_visible(False)


def release(rows: Rows) -> Any:
    """Words a second by each mechanism, on the corpus with most."""
    figure, axes = new(2.6)
    used = rows[USES["SMS"]][:-1]  # the last replaces documents
    rates = [row["tokens/s"] for row in used]
    said = [f"{rate:,.0f}" for rate in rates]
    _bars(axes, [row["mechanism"] for row in used], rates, said)
    axes.set(xlabel="words per second, one thread", xlim=(1e4, 1e6))
    return figure


def neighbors(rows: Rows) -> Any:
    figure, axes = new(3.4)
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
    grid(axes)
    axes.legend(frameon=False, fontsize="small")
    return figure


def mechanisms(rows: Rows) -> Any:
    """What is proved, of a word and of a document apart."""
    every = [row for row in rows["comparison_summary"] if row["SMS: topic"]]
    words = [row for row in every if not row["mechanism"].startswith("Replaced")]
    figure, both = new(3.7, 4.0)
    for axes, key, found, title, other in (
        (both[0], "nearest, nats", words, "One word", "its nearest word"),
        (both[1], "message with δ, nats", every, "A document of 16 words",
         "the nearest"),
    ):  # fmt: skip
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
    names = ["as written", *(row["mechanism"] for row in rows[USES["SMS"]])]
    colors = {"Exponential, exact": BLUE, "as written": "black", names[-1]: RED}
    height = 0.2 * len(names) + 0.8
    figure, panels = new(*[height] * 3, height + 0.6, sharex=True)
    for axes, (corpus, kinds) in zip(panels, LABELS.items(), strict=True):
        table = USES[corpus]
        for kind, n in kinds.items():
            marker, fill, line = MARKS[kind]
            note = rows.notes[table]
            clear = re.search(rf"Without.*{kind} ([\d.]+ \[.*?\])", note)[1]
            kept = {row["mechanism"]: row[kind] for row in rows[table]}
            for here, name in enumerate(names):
                if said := kept.get(name, clear if name == "as written" else None):
                    value, *ends = with_ends(said)
                    color = colors.get(name, GREY)
                    axes.plot(ends, [here, here], color=color)
                    axes.plot(value, here, marker, color=color, fillstyle=fill)
            axes.axvline(1 / n, color=GREEN, linestyle=line)
        axes.set_yticks(range(len(names)), names, fontsize="small")
        axes.set(title=corpus, xlim=(0, 1), ylim=(len(names) - 0.5, -0.5))
        grid(axes, axis="x")
        axes.tick_params(labelbottom=True)
    panels[-1].set_xlabel("balanced accuracy")
    for kind, (marker, fill, line) in MARKS.items():
        panels[0].plot([], [], marker, color=GREY, fillstyle=fill, label=kind)
        panels[0].plot([], [], line, color=GREEN, label=f"guessing the {kind}")
    legend(figure, panels[:1])
    return figure


def found(rows: Rows) -> Any:
    """Means over the corpora, with the least and the most."""
    figure, axes = new(7)
    corpora = [key for key in rows["release_report_kinds"][0] if key != "release"]
    shares = {row["release"]: [float(row[each]) for each in corpora]
              for row in rows["release_report_kinds"]}  # fmt: skip
    axes.barh(list(shares), [sum(s) / len(s) for s in shares.values()], color=BLUE)
    values = [(sum(s) / len(s), min(s), max(s)) for s in shares.values()]
    marks(axes, values, list(shares), "none", "black")
    axes.axvline(0.01, color=RED, linestyle=":", label="guessing: 0.01")
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.tick_params(axis="y", labelsize="small")
    axes.set(xlabel="identified among 100, mean of four corpora", xlim=(0, 1.02))
    axes.legend(loc="lower right", fontsize="small")
    return figure


def protection(rows: Rows) -> Any:
    """Topics kept against documents identified, a panel for each corpus."""
    figure, panels = new(*[2.4] * len(LABELS), sharex=True)
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
            marks(axes, x, y, style, color, label=kind)
        guess = 1 / LABELS[corpus]["topic"]
        axes.axhline(guess, color=GREY, linestyle=":", label="guessing the topic")
        axes.axvline(0.01, color=GREY, linestyle="--", label="guessing the document")
        axes.set(title=corpus, xscale="log", ylim=(0, 1), ylabel="topics right")
        axes.set(xlim=(0.009, 1.1))
        axes.set_xticks([0.01, 0.1, 1], ["1%", "10%", "all"])
        axes.minorticks_off()
        grid(axes)
    panels[-1].set_xlabel("identified among 100")
    legend(figure, panels[:1])
    return figure


def learn(rows: Rows) -> Any:
    """Accuracy against ε, a panel for each corpus."""
    figure, panels = new(*[2.6] * len(LABELS), sharex=True)
    goals, model = rows["learn_goals"], "predict, equal priors"
    for axes, (corpus, labels) in zip(panels, LABELS.items(), strict=True):
        alone = [row for row in goals if row["texts"] == corpus]
        known = with_ends(alone[0]["original text"])[0]
        axes.axhline(known, color=GREY, label="original text")
        by = {f"{many} authors": [row for row in goals
                                  if row["texts"] == f"{corpus} by {many} authors"]
              for many in (800, 300)}  # fmt: skip
        for mine, what, color, style, label in (
            (alone, model, BLUE, "o-", "model"),
            (alone, "a model of the corpus", RED, "s-", "trained on the corpus"),
            *((some, model, GREEN, "^v"["300" in name], f"model, {name}")
              for name, some in by.items()),
        ):  # fmt: skip
            if mine:
                shift = 1.04 if what[0] == "a" else 1
                x = [row["ε of a person"] * shift for row in mine]
                y = [with_ends(row[what]) for row in mine]
                marks(axes, x, y, style, color, label=label)
        guess = 1 / labels["topic"]
        axes.axhline(guess, color=GREY, linestyle=":", label="guessing, or majority")
        axes.set(title=corpus, ylim=(max(0, guess - 0.1), 1), xscale="log")
        axes.set_xticks([0.5, 1, 2, 4, 8], ["0.5", "1", "2", "4", "8"])
        axes.minorticks_off()
        axes.tick_params(labelbottom=True)
        grid(axes)
    panels[-1].set_xlabel("ε of a person, texts and labels")
    figure.supylabel("balanced accuracy", fontsize="medium")
    legend(figure, panels)
    return figure


NONE = 54  # where "no noise" stands on the axis of ε
ADVERSARIES = {
    "SRauth": "same representation, author: hide",
    "DRauth": "other representation, author: hide",
    "SRtopic": "same representation, topic: keep",
    "DRtopic": "other representation, topic: keep",
}


def authors(rows: Rows) -> Any:
    """The four attackers of the 2019 paper against ε, and the paper's numbers."""
    figure, panels = new(2.4, 2.4, 2.4, 3.2, sharex=True)
    google = rows["obfuscation_40_google"]
    note = rows.notes["obfuscation_40_google"]
    said = r"([\d.]+) for the most frequent .*?topic ([\d.]+);"
    author, topic = map(float, re.search(said, note).groups())
    for axes, (name, title) in zip(panels, ADVERSARIES.items(), strict=True):
        for table, column, style, color, label in (
            (google, name, "o-", BLUE, "ours, 40 authors"),
            (rows["obfuscation_kept"], f"{name}, 40, kept", "^--", GREEN,
             "unknown words kept"),
            (google, f"{name}, paper", "D:", "black", "the paper, 50 authors"),
        ):  # fmt: skip
            points = {
                NONE if row["ε"] == "none" else float(row["ε"]):
                with_ends(str(row[column]))
                for row in table if row.get(column) is not None
            }  # fmt: skip
            noisy = sorted(x for x in points if x < NONE)
            for xs, fmt in ((noisy, style), ([NONE], style[0])):
                y = [points[x] for x in xs if x in points]
                if y:
                    called = {"label": label} if xs is noisy else {}
                    marks(axes, xs, y, fmt, color, markersize=5, **called)
        level = topic if name.endswith("topic") else author
        axes.axhline(level, color=GREY, linestyle=":", label="most frequent")
        axes.set(title=title, ylim=(-0.02, 1.02), xlim=(0, NONE + 2))
        axes.set_xticks(
            [5, 10, 20, 30, 40, NONE], ["5", "10", "20", "30", "40", "none"]
        )
        axes.set_ylabel("right answers")
        grid(axes)
    panels[-1].set_xlabel("ε, nats per unit of distance")
    legend(figure, panels[1:2])
    return figure


# Name to its figure, the results it is drawn from, and what it shows.
FIGURES = {
    "release": (
        release, [USES["SMS"]],
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
        uses, list(USES.values()),
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
    "authors_adversaries": (
        authors, ["obfuscation_40_google", "obfuscation_kept"],
        "Four panels of accuracy against epsilon: ours, with unknown words kept, and "
        "the paper's.",
    ),
}  # fmt: skip
