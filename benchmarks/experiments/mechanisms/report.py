"""Tables of the comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments.mechanisms.corpora import corpus
from experiments.mechanisms.field import REPLACED, SUCCESSES
from experiments.mechanisms.intervals import accuracies, limits, two_sided
from experiments.mechanisms.measure import (
    DELTA,
    MESSAGE,
    N_GROUPS,
    N_RELEASES,
)
from experiments.mechanisms.plan import (
    REPLACED_EPSILON,
    USED,
    ceiling_cell,
    in_order,
    match_cell,
    use_cells,
    word_cells,
)
from experiments.paper.significance import holm
from experiments.store import Store
from results import bracketed, record

# What the others are compared with: what we recommend.
REFERENCE = "Exponential, exact"
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
    "all change. Estimated distributions underestimate the best guess."
)


class Words:
    """What was measured of words, by mechanism."""

    def __init__(self, store: Store, mechanisms: list[str], corpora: list[str]) -> None:
        self.mechanisms, self.corpora = mechanisms, corpora
        self.tables = list(dict.fromkeys(corpus(of).embedding for of in corpora))
        self.epsilons: dict[tuple[str, str, float], float | None] = {}
        self.points: dict[tuple[str, str, float], Any] = {}
        for name in mechanisms:
            for table in self.tables:
                for point in store.get(match_cell(name, table)):
                    self.epsilons[name, table, point["aim"]] = point["epsilon"]
            for (table, aim), one in word_cells(store, name, corpora).items():
                self.points[name, table, aim] = store.get(one)

    def row(self, name: str, table: str, aim: float) -> dict[str, object]:
        row: dict[str, object] = {"matched": f"{100 * aim:.0f} %", "mechanism": name}
        point = self.points.get((name, table, aim))
        if point is None:
            return row
        return row | {
            "ε": self.epsilons[name, table, aim],
            "best guess, %": 100 * point["success"],
            "ten, %": 100 * point["success10"],
            "kept, %": 100 * point["kept"],
            "S_w": point["distinct"],
            "far, %": 100 * point["far"],
            "nearest, nats": _nats(point["nearest"]),
            "random, nats": _nats(point["random"]),
            "message, nats": _nats(point["nearest_message"]),
            "message with δ, nats": _nats(point["nearest_message_delta"]),
        }


def report_words(words: Words) -> None:
    """Record the tables of words."""
    for table in words.tables:
        each = [(one, aim) for aim in SUCCESSES for one in words.mechanisms]
        record(
            f"comparison_words_success_{table}",
            [words.row(one, table, aim) for one, aim in each],
            title=f"At equal success of the best guess: {EMBEDDINGS[table]}",
            note=WORDS_NOTE,
        )  # fmt: skip


class Use:
    """What classifiers make of releases, and what is sure of it."""

    def __init__(self, store: Store, words: Words) -> None:
        self.words, self.corpora = words, words.corpora
        self.speed: dict[tuple[str, str], float] = {}
        right: dict[tuple[str, str, str], list[np.ndarray]] = {}
        for name in in_order(words.mechanisms):
            for (_, of, _), one in use_cells(store, name, self.corpora).items():
                result = store.get(one)
                fastest = max(self.speed.get((name, of), 0.0), result["tokens_per_s"])
                self.speed[name, of] = fastest
                for what in result.keys() - {"tokens_per_s"}:
                    right.setdefault((name, of, what), []).append(marked(result[what]))
        self.draws = {
            (name, of, what): accuracies(np.array(marks), truth(of, what))
            for (name, of, what), marks in right.items()
        }
        self.ceilings = {
            of: {
                kind: accuracies(
                    np.tile(marked(marks), (N_RELEASES, 1)), truth(of, kind)
                )
                for kind, marks in store.get(ceiling_cell(of)).items()
            }
            for of in self.corpora
        }

    def has(self, name: str, of: str) -> bool:
        return (name, of, "topic") in self.draws

    def against(self) -> dict[tuple[str, str, str], tuple[float, ...]]:
        """Gain of each mechanism over the reference, its limits, and Holm's p."""
        gains = {}
        for name in (*self.words.mechanisms, REPLACED):
            for of in self.corpora:
                for kind in self.ceilings[of]:
                    mine = self.draws.get((name, of, kind))
                    base = self.draws.get((REFERENCE, of, kind))
                    if name != REFERENCE and mine is not None and base is not None:
                        gains[name, of, kind] = mine - base
        p = holm([two_sided(gain) for gain in gains.values()])
        return {
            key: (*limits(gain), float(corrected))
            for (key, gain), corrected in zip(gains.items(), p, strict=True)
        }


def truth(of: str, what: str) -> np.ndarray:
    """The labels of the test half."""
    return corpus(of).labels[what][1]


def marked(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), dtype=np.uint8) == ord("1")


def report_use(store: Store, words: Words) -> None:
    """Record the tables of use."""
    use = Use(store, words)
    gains, every = use.against(), (*words.mechanisms, REPLACED)
    for of in words.corpora:
        record(
            f"comparison_use_{of.replace(' ', '_').lower()}",
            [use_row(use, gains, name, of) for name in every if use.has(name, of)],
            title=f"What classifiers make of a release: {of}",
            note=use_note(use, of),
        )
    record(
        f"comparison_summary_{100 * USED:.0f}",
        [summary_row(use, gains, name) for name in every],
        title=f"Best guess right for {100 * USED:.0f} % of the words",
        note=summary_note(use),
    )


def summary_row(
    use: Use, gains: dict[Any, tuple[float, ...]], name: str
) -> dict[str, object]:
    """Promise under the first embedding, and accuracy on every corpus."""
    row: dict[str, object] = {"mechanism": name}
    keys = ("ε", "nearest, nats", "message with δ, nats")
    if name == REPLACED:  # of whole documents, whatever their words
        row |= dict.fromkeys(keys, REPLACED_EPSILON)
    else:
        point = use.words.row(name, use.words.tables[0], USED)
        row |= {key: point.get(key) for key in keys}
    differs = []
    for of in use.corpora:
        for kind in use.ceilings[of]:
            draws = use.draws.get((name, of, kind))
            row[f"{of}: {kind}"] = None if draws is None else float(draws[0])
            if gains.get((name, of, kind), (0.0, 0.0, 0.0, 1.0))[3] < 0.05:
                differs.append(f"{of}: {kind}")
    row[f"differs from {REFERENCE}"] = ", ".join(differs) or None
    return row


def use_row(
    use: Use, gains: dict[Any, tuple[float, ...]], name: str, of: str
) -> dict[str, object]:
    matched = "–" if name == REPLACED else f"{100 * USED:.0f} %"
    row: dict[str, object] = {"matched": matched, "mechanism": name}
    for kind in use.ceilings[of]:
        row[kind] = bracketed(*limits(use.draws[name, of, kind]))
        if (gain := gains.get((name, of, kind))) and name != REPLACED:
            value, low, high, p = gain
            row[f"{kind}, less {REFERENCE}"] = (
                f"{value:+.3f} [{low:+.3f}, {high:+.3f}], "
                f"p {f'{p:.2f}' if p >= 0.01 else '< 0.01'}"
            )
    return row | {"tokens/s": use.speed[name, of]}


def summary_note(use: Use) -> str:
    clear = "; ".join(
        f"{of} {kind} {draws[0]:.2f}"
        for of, kinds in use.ceilings.items()
        for kind, draws in kinds.items()
    )
    return (
        "ε and nats under the first embedding; nats as in its own table. Then the "
        "balanced accuracy of a classifier trained on noisy text, the mean of "
        f"{N_RELEASES} releases; the corpora's tables have the intervals. Differs "
        f"from {REFERENCE}: p < 0.05, two-sided, in pairs over documents and releases, "
        f"after Holm's correction for the whole table. In plain text: {clear}. "
        "Replaced documents: the other half of the training text is public, in "
        f"{N_GROUPS} groups made without labels; their ε = {REPLACED_EPSILON:g} holds "
        "between any two documents, and no attacker identifies more than 0.07; all of "
        "a public text is released, not 3,000 words. A dash: this success cannot be "
        "met."
    )


def use_note(use: Use, of: str) -> str:
    without = "; ".join(
        f"{kind} {bracketed(*limits(value))}"
        for kind, value in use.ceilings[of].items()
    )
    return (
        f"Balanced accuracy of logistic regression on TF-IDF, the mean of {N_RELEASES} "
        f"releases; {corpus(of).length} words a document, redrawn. 95 % intervals by "
        "the bootstrap over the test documents and the releases; differences of pairs, "
        "with p, two-sided, after Holm's correction for all mechanisms and corpora at "
        f"the same success. Without noise: {without}."
    )


def _nats(value: float) -> float | str:
    return value if value < float("inf") else "∞"
