"""The summary of the frontier, and its figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from experiments.frontier.plan import (
    ALLOWED,
    AT,
    BEST,
    BY_DOCUMENTS,
    BY_LABELS,
    CHOSEN_BY,
    DEFAULT,
    FIRST,
)
from results import bracketed, record

EPSILON = 4.0
Rows = list[dict[str, Any]]


def record_summary(tables: dict[str, Rows]) -> None:
    """Record a row for each kind of release of each corpus."""
    rows = [row for name, table in tables.items() for row in summary(name, table)]
    record(
        "frontier_summary",
        rows,
        title="Which release protects: topic kept where hardly a document is found",
        note=(
            "Words: the accuracy at which 10 % of the documents are found, between two "
            "measured ε; where fewer are found at the largest ε, what it keeps. "
            "Documents replaced: ε = 4. Public labels: the default of the constructor. "
            "Encoder, groups and their number were chosen in each division by "
            "compare_groupings, on public text and its labels, for found at most 10 %; "
            "groups of other fandoms and topics by labels of these. The "
            "choice is by an accuracy in which labels count alike or, where it says "
            "so, documents. Where an encoder is named, it and K are the same in all "
            "divisions, and were settled on others (frontier_tried). Topic: each topic "
            "has the same weight; documents: the share that is named right. The "
            "tables of each corpus have settings and intervals."
        ),
    )


def summary(name: str, rows: Rows) -> Rows:
    """A row for each kind of release."""
    lines: Rows = []
    for release in ("clear", "words"):
        mine = [row for row in rows if row["release"] == release]
        row = mine[0] if release == "clear" else at_found(mine, ALLOWED)
        lines.append({"corpus": name, "release": release, **shown(row)})
    for row in rows:
        if row["release"] == "documents replaced" and row["epsilon"] == EPSILON:
            by_labels = row["groups"] == "public labels"
            settled = BEST.get(name, FIRST), AT[name]
            fixed = (row["encoder"], row["n_groups"]) == settled
            default = row["encoder"] == DEFAULT
            if by_labels or fixed or default or row["encoder"] in CHOSEN_BY:
                groups = f"replaced, K = {row['n_groups']}, {row['groups']}"
                if row["encoder"] == BY_DOCUMENTS:
                    groups += ", for documents"
                elif fixed or default:
                    groups += f", {row['encoder']}"
                lines.append({"corpus": name, "release": groups, **shown(row)})
    return lines


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """Topic, document and author, with intervals where there are any."""
    cells: dict[str, Any] = {}
    for what in ("topic", "documents", "found", "author"):
        if what not in row:
            cells[what] = None
        elif f"{what} low" in row:
            ends = row[f"{what} low"], row[f"{what} high"]
            cells[what] = bracketed(row[what], *ends)
        else:
            cells[what] = f"{row[what]:.2f}"
    return cells


def at_found(rows: Rows, allowed: float) -> dict[str, Any]:
    """What is kept where so many documents are found, between two settings."""
    rows = sorted(rows, key=lambda row: row["found"])
    at = [row["found"] for row in rows]
    return {
        what: float(np.interp(allowed, at, [row[what] for row in rows]))
        for what in ("topic", "documents", "found", "author")
        if what in rows[0]
    }


def draw(tables: dict[str, Rows], folder: Path) -> None:
    """Topic kept against documents identified, a panel per corpus, one below another.

    A phone shows them at the size of its text.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(4, 1, figsize=(4.4, 12), layout="constrained")
    for axis, (name, rows) in zip(axes.flat, tables.items(), strict=False):
        (clear,) = [row for row in rows if row["release"] == "clear"]
        topics = by(rows, groups="public labels")[0]["n_groups"]
        for level, said in ((clear["topic"], "as written"), (1 / topics, "guessing")):
            axis.axhline(level, color="0.5", linewidth=1,
                         linestyle="-" if said == "as written" else ":")  # fmt: skip
            axis.text(1.1, level, said, ha="right", va="bottom", color="0.3",
                      fontsize=9.5)  # fmt: skip
        groups = next(
            row["groups"] for row in rows if row["groups"] not in ("", "public labels")
        )
        for label, marker, colour, mine in (
            ("noisy words, ε a unit of distance", "o", "#d55e00",
             by(rows, release="words")),
            ("stand-ins, clusters of public text, ε a document", "D", "#56b4e9",
             by(rows, groups=groups, encoder=BY_LABELS)),
            ("stand-ins, public labels, ε a document", "^", "#0072b2",
             by(rows, groups="public labels")),
        ):  # fmt: skip
            mine = sorted(mine, key=lambda row: row["epsilon"])
            x, y = ([row[what] for row in mine] for what in ("found", "topic"))
            bars = [
                [[max(0, row[w] - row[f"{w} low"]) for row in mine],
                 [max(0, row[f"{w} high"] - row[w]) for row in mine]]
                for w in ("found", "topic")
            ]  # fmt: skip
            axis.errorbar(np.maximum(x, 0.008), y, yerr=bars[1], xerr=None,
                          marker=marker, markersize=5, color=colour, capsize=2,
                          label=label)  # fmt: skip
            for end, side in ((0, "right"), (-1, "left")):  # which way ε grows
                axis.annotate(f"{mine[end]['epsilon']:g}", (max(x[end], 0.008), y[end]),
                              xytext=(6 if end else -6, -4), ha=side,
                              textcoords="offset points", color=colour,
                              fontsize=9.5)  # fmt: skip
        axis.axvline(ALLOWED, color="0.8", linewidth=1, zorder=0)
        axis.set(title=name, xscale="log", xlim=(0.007, 1.15), ylim=(0, 1),
                 xticks=[0.01, 0.03, 0.1, 0.3, 1])  # fmt: skip
        axis.set_xticklabels(["1 %", "3 %", "10 %", "30 %", "all"])
        axis.minorticks_off()
        axis.spines[["top", "right"]].set_visible(False)
    figure.legend(*axes.flat[0].get_legend_handles_labels(), ncols=1, frameon=False,
                  loc="outside upper center", fontsize=9.5)  # fmt: skip
    figure.supxlabel("identified among 100, the mechanism being known", fontsize=10)
    figure.supylabel("topic accuracy; numbers at the ends of lines: ε", fontsize=10)
    figure.savefig(folder / "frontier.png", dpi=160)
    plt.close(figure)


def by(rows: Rows, **wanted: Any) -> Rows:
    return [row for row in rows if all(row[k] == v for k, v in wanted.items())]
