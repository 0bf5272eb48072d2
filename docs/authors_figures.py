"""The figures of the page on the 2019 paper, from the committed numbers."""

from __future__ import annotations

import re
from typing import Any

from bench_figures import BLUE, GREEN, GREY, Rows, errors, new, with_ends

NONE = 54  # where "no noise" stands on the axis of ε
ADVERSARIES = {
    "SRauth": "same representation, author: hide",
    "DRauth": "other representation, author: hide",
    "SRtopic": "same representation, topic: keep",
    "DRtopic": "other representation, topic: keep",
}


def _chance(rows: Rows) -> dict[str, float]:
    """The most frequent author and topic."""
    author, topic = re.search(
        r"([\d.]+) for the most frequent .*?topic ([\d.]+);",
        rows.notes["obfuscation_40_google"],
    ).groups()
    return {"author": float(author), "topic": float(topic)}


def adversaries(rows: Rows) -> Any:
    """The four attackers of the paper against ε at λ = 0, and the paper's numbers."""
    figure, panels = new(heights=[2.4, 2.4, 2.4, 3.2], sharex=True)
    chance = _chance(rows)
    google = rows["obfuscation_40_google"]
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
                    axes.errorbar(xs, [value for value, *_ in y], errors(y), fmt=fmt,
                                  color=color, capsize=2, markersize=5,
                                  label=label if xs is noisy else None)  # fmt: skip
        level = chance["topic" if name.endswith("topic") else "author"]
        axes.axhline(level, color=GREY, linestyle=":", label="most frequent")
        axes.set(title=title, ylim=(-0.02, 1.02), xlim=(0, NONE + 2))
        axes.set_xticks(
            [5, 10, 20, 30, 40, NONE], ["5", "10", "20", "30", "40", "none"]
        )
        axes.set_ylabel("right answers")
        axes.grid(lw=0.4, color="#cccccc")
    panels[-1].set_xlabel("ε, nats per unit of distance")
    figure.legend(*panels[1].get_legend_handles_labels(), fontsize="small",
                  loc="outside lower center", ncols=2)  # fmt: skip
    return figure


FIGURES = {
    "authors_adversaries": (
        adversaries,
        ["obfuscation_40_google", "obfuscation_kept"],
        "Four panels of accuracy against epsilon: ours, with unknown words kept, and "
        "the paper's.",
    ),
}
