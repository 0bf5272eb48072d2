"""Tables and figure of the comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from corpora import AUTHORED, corpus
from field import EXPONENTS, SUCCESSES
from matplotlib.figure import Figure
from measure import DELTA, MESSAGE, N_AUDIT
from paper.cells import Store
from plan import ceiling_cell, match_cell, point_cells
from results import record

# Okabe and Ito's colours and five markers: apart for every eye.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#56b4e9")
MARKERS = "os^Dv"


class Found:
    """All that was measured, by mechanism."""

    def __init__(self, store: Store, mechanisms: list[str], corpora: list[str]) -> None:
        self.mechanisms, self.corpora = mechanisms, corpora
        self.tables = list(dict.fromkeys(corpus(of).embedding for of in corpora))
        self.ceilings = {of: store.get(ceiling_cell(of)) for of in corpora}
        self.epsilons: dict[tuple[str, str, float], float | None] = {}
        self.points: dict[tuple[str, str, str, float], Any] = {}
        for name in mechanisms:
            for table in self.tables:
                for points in store.get(match_cell(name, table)).values():
                    for point in points:
                        key = name, table, point["aim"]
                        self.epsilons[key] = point["epsilon"]
            for (kind, what, aim), one in point_cells(store, name, corpora).items():
                self.points[name, kind, what, aim] = store.get(one)


def report(
    store: Store,
    mechanisms: list[str],
    corpora: list[str],
    figures: Path,
    *,
    quick: bool,
) -> None:
    """Record the tables and draw the figure."""
    found = Found(store, mechanisms, corpora)
    prefix = "comparison_quick" if quick else "comparison"
    for table in found.tables:
        for kind, aims in (("success", SUCCESSES), ("exponent", EXPONENTS)):
            rows = [
                row for aim in aims for name in mechanisms
                if (row := words_row(found, name, table, aim, kind))
            ]  # fmt: skip
            record(
                f"{prefix}_words_{kind}_{table}", rows,
                title=f"At equal {TITLES[kind]}: {EMBEDDINGS[table]}",
                note=WORDS_NOTE,
            )  # fmt: skip
    for of in corpora:
        rows = [
            row for aim in (*SUCCESSES, *EXPONENTS) for name in mechanisms
            if (row := use_row(found, name, of, aim))
        ]  # fmt: skip
        record(
            f"{prefix}_use_{of.replace(' ', '_').lower()}", rows,
            title=f"What classifiers make of a release: {of}",
            note=use_note(found, of),
        )  # fmt: skip
    for aim in SUCCESSES:
        rows = [
            row for name in mechanisms if (row := summary_row(found, name, aim))
        ]  # fmt: skip
        record(
            f"{prefix}_summary_{100 * aim:.0f}", rows,
            title=f"Best guess right for {100 * aim:.0f} % of the words",
            note=SUMMARY_NOTE,
        )  # fmt: skip
    figures.mkdir(parents=True, exist_ok=True)
    drawn = figure(found)
    drawn.savefig(
        figures / "quick.png" if quick else figures / "accuracy.png", dpi=100,
        metadata={"Software": None},
    )  # fmt: skip


TITLES = {
    "success": "success of the best guess",
    "exponent": "promise to the nearest word",
}
EMBEDDINGS = {
    "google": "3,000 words of Google News, 300 dimensions",
    "docstrings": "3,000 words of the built-in corpus, 100 dimensions",
}
WORDS_NOTE = (
    "Best guess: how often the most likely word under the public prior is the word "
    "that was written; ten: that it is among the ten most likely. Kept: words of "
    "public text that stay themselves. S_w: different words in 100 draws, mean of 100 "
    "words. Far: released words that are not among the 100 nearest. Nats: medians of "
    f"25 pairs of words; with δ = {DELTA:g}, and for a message of {MESSAGE} words that "
    "all change. Audit: the largest lower bound on five pairs of near words, "
    f"{N_AUDIT:,} draws each, confidence 0.99, beside what is claimed for that pair. "
    "Estimated laws underestimate the best guess."
)


SUMMARY_NOTE = (
    "ε and nats under the first embedding; nats as in its own table. Then the "
    "balanced accuracy of a classifier trained on noisy text; the corpora's tables "
    "have the intervals. A dash: this success cannot be met."
)


def words_row(
    found: Found, name: str, table: str, aim: float, kind: str
) -> dict[str, object] | None:
    point = found.points.get((name, "words", table, aim))
    matched = f"{100 * aim:.0f} %" if kind == "success" else f"{aim:g} nats"
    if point is None:
        return {"matched": matched, "mechanism": name}
    return {
        "matched": matched,
        "mechanism": name,
        "ε": found.epsilons[name, table, aim],
        "best guess, %": 100 * point["success"],
        "ten, %": 100 * point["success10"],
        "kept, %": 100 * point["kept"],
        "S_w": point["distinct"],
        "far, %": 100 * point["far"],
        "nearest, nats": _nats(point["nearest"]),
        "random, nats": _nats(point["random"]),
        "message, nats": _nats(point["nearest_message"]),
        "message with δ, nats": _nats(point["nearest_message_delta"]),
        "audit, nats": point["audit_bound"],
        "claimed there": _nats(point["audit_claim"]),
    }


def summary_row(found: Found, name: str, aim: float) -> dict[str, object] | None:
    """Promise under the first embedding, and accuracy on every corpus."""
    table = found.tables[0]
    point = found.points.get((name, "words", table, aim))
    row: dict[str, object] = {"mechanism": name}
    if point is not None:
        row |= {
            "ε": found.epsilons[name, table, aim],
            "nearest, nats": _nats(point["nearest"]),
            "message with δ, nats": _nats(point["nearest_message_delta"]),
        }
    for of in found.corpora:
        use = found.points.get((name, "use", of, aim))
        for kind in found.ceilings[of]:
            row[f"{of}: {kind}"] = None if use is None else use[f"{kind}_noisy"][0]
    return row


def use_row(found: Found, name: str, of: str, aim: float) -> dict[str, object] | None:
    point = found.points.get((name, "use", of, aim))
    if point is None:
        return None
    matched = f"{100 * aim:.0f} %" if aim < 1 else f"{aim:g} nats"
    row: dict[str, object] = {"matched": matched, "mechanism": name}
    for kind in found.ceilings[of]:
        for trained_on in ("noisy", "clean"):
            row[f"{kind}, trained on {trained_on} text"] = _interval(
                point[f"{kind}_{trained_on}"]
            )
    return row | {"tokens/s": point["tokens_per_s"]}


def use_note(found: Found, of: str) -> str:
    without = "; ".join(
        f"{kind} {_interval(value)}" for kind, value in found.ceilings[of].items()
    )
    return (
        "Balanced accuracy of logistic regression on TF-IDF with 95 % bootstrap "
        f"intervals over the test documents; {corpus(of).length} words a document, "
        f"redrawn. Without noise: {without}."
    )


def _interval(value: list[float]) -> str:
    middle, low, high = value
    return f"{middle:.2f} [{low:.2f}, {high:.2f}]"


def _nats(value: float) -> float | str:
    return value if value < float("inf") else "∞"


def figure(found: Found) -> Figure:
    """Accuracy against the success of the best guess, a panel for each question."""
    panels = [(of, "topic") for of in found.corpora]
    panels += [(of, "author") for of in found.corpora if of in AUTHORED]
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    drawn = Figure(figsize=(3.6 * columns, 3.2 * rows + 1.6), layout="constrained")
    axes = drawn.subplots(rows, columns, squeeze=False).ravel()
    for axis, (of, kind) in zip(axes, panels, strict=False):
        for i, name in enumerate(found.mechanisms):
            table = corpus(of).embedding
            at = [a for a in SUCCESSES if (name, "use", of, a) in found.points]
            x = [100 * found.points[name, "words", table, a]["success"] for a in at]
            y = [found.points[name, "use", of, a][f"{kind}_noisy"][0] for a in at]
            style = {"color": COLOURS[i % len(COLOURS)], "lw": 1, "ms": 4}
            axis.plot(x, y, MARKERS[i % len(MARKERS)] + "-", label=name, **style)
        axis.axhline(found.ceilings[of][kind][0], color="0.5", ls=":", lw=1)
        chance = 1 / len(set(corpus(of).labels[kind][1]))
        axis.axhline(chance, color="0.8", lw=1)
        axis.set(title=f"{of}: {kind}", xlim=(0, 85), xlabel="best guess of a word, %")
        axis.grid(lw=0.4, color="#dddddd")
        if axis in axes[::columns]:
            axis.set_ylabel("balanced accuracy")
    for axis in axes[len(panels) :]:
        axis.remove()
    handles, labels = axes[0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=3, fontsize="small")
    return drawn
