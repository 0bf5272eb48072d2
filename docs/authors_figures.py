"""The figures of the page on the 2019 paper, from the committed numbers."""

from __future__ import annotations

import re
from typing import Any

from bench_figures import BLUE, GREEN, GREY, RED, Rows, errors, new, with_ends

NONE = 54  # where "no noise" stands on the axis of ε
TICKS = (5, 10, 20, 30, 40, NONE)
TOPIC, AUTHOR = "best on topics", "strongest on authors"
LAMS = ((0.0, BLUE, "o"), (0.5, RED, "s"), (1.0, GREEN, "^"))
ADVERSARIES = {
    "SRauth": "same representation, author: hide",
    "DRauth": "other representation, author: hide",
    "SRtopic": "same representation, topic: keep",
    "DRtopic": "other representation, topic: keep",
}


def _chance(rows: Rows) -> dict[str, float]:
    """The most frequent author and topic, and the author where the topic is known."""
    author, known, topic = re.search(
        r"([\d.]+) for the most frequent \(([\d.]+) if .*?topic ([\d.]+);",
        rows.notes["obfuscation_40_google"],
    ).groups()
    return {"author": float(author), "known": float(known), "topic": float(topic)}


def adversaries(rows: Rows) -> Any:
    """The paper's four adversaries against ε, λ = 0; and the paper's own numbers."""
    figure, panels = new(heights=[2.4, 2.4, 2.4, 3.2], sharex=True)
    chance = _chance(rows)
    google, w2v = rows["obfuscation_40_google"], rows["obfuscation_40_w2v"]
    for axes, (name, title) in zip(panels, ADVERSARIES.items(), strict=True):
        for table, scale, column, style, colour, label in (
            (google, "ε", name, "o-", BLUE, "Google News, 8,000 words"),
            (w2v, "ε on Google's scale", name, "s-", RED, "news and fiction, 30,000"),
            (rows["obfuscation_kept"], "ε", f"{name}, 40, kept", "^--", GREEN,
             "Google News, unknown words kept"),
            (google, "ε", f"{name}, paper", "D:", "black", "the paper, 50 authors"),
        ):  # fmt: skip
            points = {
                NONE if row[scale] == "none" else float(row[scale]):
                with_ends(str(row[column]))
                for row in table if row.get(column) is not None
            }  # fmt: skip
            noisy = sorted(x for x in points if x < NONE)
            for xs, fmt in ((noisy, style), ([NONE], style[0])):
                y = [points[x] for x in xs if x in points]
                if y:
                    axes.errorbar(xs, [value for value, *_ in y], errors(y), fmt=fmt,
                                  color=colour, capsize=2, markersize=5,
                                  label=label if xs is noisy else None)  # fmt: skip
        level = chance["topic" if name.endswith("topic") else "author"]
        axes.axhline(level, color=GREY, linestyle=":", label="most frequent")
        axes.set(title=title, ylim=(-0.02, 1.02), xlim=(0, NONE + 2))
        axes.set_xticks(
            [5, 10, 20, 30, 40, NONE], ["5", "10", "20", "30", "40", "none"]
        )
        axes.set_ylabel("right answers")
        axes.grid(lw=0.4, color="#cccccc")
    panels[-1].set_xlabel("ε on Google News' scale, nats per unit")
    figure.legend(*panels[1].get_legend_handles_labels(), fontsize="small",
                  loc="outside lower center", ncols=2)  # fmt: skip
    return figure


def trade(rows: Rows) -> Any:
    """Author against topic over ε and λ."""
    figure, panels = new(heights=[3.4, 4.2], sharex=True)
    chance = _chance(rows)
    vectors = ("Google News", "news and fiction")
    for axes, name in zip(panels, vectors, strict=True):
        mine = [row for row in rows["obfuscation_trade"] if row["vectors"] == name]
        for lam, colour, marker in LAMS:
            path = [row for row in mine if row["λ"] == lam]
            topic = [with_ends(row[TOPIC])[0] for row in path]
            author = [with_ends(row[AUTHOR]) for row in path]
            axes.plot(topic, [y for y, *_ in author], f"{marker}-", color=colour,
                      markersize=5, label=f"λ = {lam:g}")  # fmt: skip
            axes.errorbar(topic, [y for y, *_ in author], errors(author), fmt="none",
                          color=colour, alpha=0.25)  # fmt: skip
            marked = zip(topic, author, path, strict=True) if lam == 0 else ()
            for x, (y, *_), row in marked:
                axes.annotate(row["ε"], (x, y), xytext=(6, -11), color=colour,
                              textcoords="offset points", fontsize="small")  # fmt: skip
        (clear,) = [row for row in mine if row["ε"] == "none"]
        x, y = (with_ends(clear[column])[0] for column in (TOPIC, AUTHOR))
        axes.plot(x, y, "*", color="black", markersize=11, label="no noise")
        axes.axhline(chance["author"], color=GREY, linestyle=":", label="most frequent")
        axes.axvline(chance["topic"], color=GREY, linestyle=":")
        axes.axhline(chance["known"], color=GREY, linestyle="--",
                     label="author from the topic alone")  # fmt: skip
        axes.set(title=name, xlim=(0, 1.05), ylim=(0, 0.85), ylabel="author (hide)")
        axes.grid(lw=0.4, color="#cccccc")
    panels[-1].set_xlabel("best topic classifier (keep)")
    figure.legend(*panels[0].get_legend_handles_labels(), fontsize="small",
                  loc="outside lower center", ncols=2)  # fmt: skip
    return figure


def words(rows: Rows) -> Any:
    """Reconstruction of single words against ε."""
    figure, axes = new(4.6)
    table = rows["obfuscation_words"]
    lines = {
        "released word is the written one": ("released word", ":"),
        "Bayes, top 1": ("Bayes", "-"),
        "Bayes, top 10": ("Bayes, ten guesses", "--"),
    }
    for lam, colour in ((0.0, BLUE), (1.0, RED)):
        mine = [row for row in table if row["λ"] == lam]
        for column, (label, style) in lines.items():
            axes.plot([row["ε"] for row in mine], [row[column] for row in mine], style,
                      color=colour, marker="o", markersize=4,
                      label=f"{label}, λ = {lam:g}")  # fmt: skip
    for column, label, style in (
        ("blind, top 1", "blind", (0, (1, 3))),
        ("blind, top 10", "blind, ten guesses", (0, (5, 3))),
    ):
        axes.axhline(table[0][column], color=GREY, linestyle=style, label=label)
    axes.set(xlabel="ε, nats per unit of distance", ylabel="words found", ylim=(0, 1))
    axes.grid(lw=0.4, color="#cccccc")
    figure.legend(fontsize="small", loc="outside lower center", ncols=2)
    return figure


FIGURES = {
    "authors_adversaries": (
        adversaries,
        ["obfuscation_40_google", "obfuscation_40_w2v", "obfuscation_kept"],
        "Four panels of accuracy against epsilon, for two embeddings, for releases "
        "that keep unknown words, and for the paper.",
    ),
    "authors_trade": (
        trade, ["obfuscation_trade", "obfuscation_40_google"],
        "Accuracy on authors against accuracy on topics, a line for each lambda.",
    ),
    "authors_words": (
        words, ["obfuscation_words"],
        "Share of words found against epsilon, for three kinds of guesses and two "
        "lambda.",
    ),
}  # fmt: skip
