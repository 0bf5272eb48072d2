"""Tables and figure of the comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments.mechanisms.corpora import corpus
from experiments.mechanisms.field import EXPONENTS, REPLACED, SUCCESSES
from experiments.mechanisms.intervals import accuracies, limits, two_sided
from experiments.mechanisms.measure import (
    DELTA,
    MESSAGE,
    N_AUDIT,
    N_CANDIDATES,
    N_FOUND,
    N_GROUPS,
    N_RELEASES,
    K,
)
from experiments.mechanisms.plan import (
    AT_NEIGHBOURS,
    OF_NEIGHBOURS,
    REPLACED_EPSILON,
    USED,
    ceiling_cell,
    in_order,
    match_cell,
    use_cells,
    word_cells,
)
from experiments.paper.significance import holm
from experiments.store import MissingCellError, Store
from results import bracketed, record

# What the others are compared with: what we recommend.
REFERENCE = "Exponential, exact"
# Okabe and Ito's blue, vermilion and grey: apart for every eye.


class Words:
    """What was measured of words, by mechanism."""

    def __init__(self, store: Store, mechanisms: list[str], corpora: list[str]) -> None:
        self.mechanisms, self.corpora = mechanisms, corpora
        self.tables = list(dict.fromkeys(corpus(of).embedding for of in corpora))
        self.epsilons: dict[tuple[str, str, float], float | None] = {}
        self.points: dict[tuple[str, str, float], Any] = {}
        for name in mechanisms:
            for table in self.tables:
                for points in store.get(match_cell(name, table)).values():
                    for point in points:
                        key = name, table, point["aim"]
                        self.epsilons[key] = point["epsilon"]
            for (table, aim), one in word_cells(store, name, corpora).items():
                self.points[name, table, aim] = store.get(one)


def report_words(words: Words) -> None:
    """Record the tables of words."""
    for table in words.tables:
        for kind, aims in (("success", SUCCESSES), ("exponent", EXPONENTS)):
            rows = [
                words_row(words, name, table, aim, kind)
                for aim in aims
                for name in words.mechanisms
            ]
            record(
                f"comparison_words_{kind}_{table}", rows,
                title=f"At equal {TITLES[kind]}: {EMBEDDINGS[table]}",
                note=WORDS_NOTE,
            )  # fmt: skip


class Use:
    """What classifiers and adversaries make of releases, and what is sure of it."""

    def __init__(self, store: Store, words: Words) -> None:
        self.words, self.corpora = words, words.corpora
        mechanisms, corpora = words.mechanisms, words.corpora
        self.clear = {of: store.get(ceiling_cell(of)) for of in corpora}
        self.linked: dict[tuple[str, str, float], Any] = {}
        self.speed: dict[tuple[str, str, float], float] = {}
        right: dict[tuple[Any, ...], list[np.ndarray]] = {}
        results, missing = {}, set()
        cells = [use_cells(store, name, corpora) for name in in_order(mechanisms)]
        for key, one in (item for each in cells for item in each.items()):
            try:
                results[key] = store.get(one)
            except MissingCellError:
                missing.add((key[1], key[3] if key[0] != "neighbours" else None))
        for key, result in results.items():
            kind, name, of, *rest = key
            aim = rest[0] if kind != "neighbours" else None
            if (name, aim) in missing:  # a mechanism is compared on all corpora
                continue
            if kind == "found":
                self.linked[name, of, rest[0]] = result
                continue
            if kind == "use":
                speed = self.speed.get((name, of, rest[0]), 0.0)
                self.speed[name, of, rest[0]] = max(speed, result.pop("tokens_per_s"))
            for what, marks in result.items():
                right.setdefault((name, of, aim, what), []).append(marked(marks))
        self.mechanisms = [
            name
            for name in (*mechanisms, REPLACED)
            if any(key[0] == name and key[2] is not None for key in right)
        ]
        self.draws = {
            key: accuracies(np.array(marks), corpus(key[1]).labels[question(key[3])][1])
            for key, marks in right.items()
        }
        self.ceilings = {
            of: {
                kind: accuracies(
                    np.tile(marked(marks), (N_RELEASES, 1)), corpus(of).labels[kind][1]
                )
                for kind, marks in clear.items()
            }
            for of, clear in self.clear.items()
        }

    def aims(self, name: str, of: str) -> list[float]:
        return [aim for aim in USED if (name, of, aim, "topic_noisy") in self.draws]

    def has(self, name: str, aim: float) -> bool:
        """Whether there is something to say, if only that this cannot be met."""
        can = self.words_at(name, aim) is not None
        return not can or aim in self.aims(name, self.corpora[0])

    def words_at(self, name: str, aim: float) -> dict[str, object] | None:
        """The row of its words under the first embedding; None if it has none."""
        if (name, self.words.tables[0], aim) not in self.words.points:
            return None
        return words_row(self.words, name, self.words.tables[0], aim, "success")

    def against(self, aim: float) -> dict[tuple[str, str, str], tuple[float, ...]]:
        """By (mechanism, corpus, question): gain over the reference, limits, Holm's p.

        Replaced documents have no aim of their own: they are compared at each.
        """
        keys, gains = [], []
        for name in self.mechanisms:
            for of in self.corpora:
                own = AT_NEIGHBOURS if name == REPLACED else aim
                for kind in self.ceilings[of]:
                    mine = self.draws.get((name, of, own, f"{kind}_noisy"))
                    base = self.draws.get((REFERENCE, of, aim, f"{kind}_noisy"))
                    if name != REFERENCE and mine is not None and base is not None:
                        keys.append((name, of, kind))
                        gains.append(mine - base)
        p = holm([two_sided(gain) for gain in gains])
        return {
            key: (*limits(gain), float(corrected))
            for key, gain, corrected in zip(keys, gains, p, strict=True)
        }


def question(what: str) -> str:
    """ "topic" or "author", of a name such as "topic_noisy" or "topic: tf-idf, L1"."""
    return "author" if what.startswith("author") else "topic"


def marked(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), dtype=np.uint8) == ord("1")


def report_use(store: Store, words: Words) -> None:
    """Record the tables of use."""
    mechanisms, corpora = words.mechanisms, words.corpora
    use = Use(store, words)
    aims = [aim for aim in USED if aim in use.aims(REFERENCE, corpora[0])]
    gains = {aim: use.against(aim) for aim in aims}
    for of in corpora:
        rows = [
            use_row(use, gains[aim], name, of, aim)
            for aim in aims
            for name in use.mechanisms
            if aim in use.aims(name, of)
        ]
        record(
            f"comparison_use_{of.replace(' ', '_').lower()}", rows,
            title=f"What classifiers make of a release: {of}",
            note=use_note(use, of),
        )  # fmt: skip
    for aim in aims:
        record(
            f"comparison_summary_{100 * aim:.0f}",
            [
                summary_row(use, gains[aim], name, aim)
                for name in (*mechanisms, REPLACED)
                if use.has(name, aim)
            ],
            title=f"Best guess right for {100 * aim:.0f} % of the words",
            note=summary_note(use, [n for n in mechanisms if not use.has(n, aim)]),
        )
    record(
        "comparison_neighbours", neighbour_rows(use),
        title="A vote of neighbours on released text, by three distances",
        note=NEIGHBOURS_NOTE,
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
    "Estimated distributions underestimate the best guess."
)


def words_row(
    words: Words, name: str, table: str, aim: float, kind: str
) -> dict[str, object]:
    point = words.points.get((name, table, aim))
    matched = f"{100 * aim:.0f} %" if kind == "success" else f"{aim:g} nats"
    if point is None:
        return {"matched": matched, "mechanism": name}
    return {
        "matched": matched,
        "mechanism": name,
        "ε": words.epsilons[name, table, aim],
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


def summary_row(
    use: Use, gains: dict[Any, tuple[float, ...]], name: str, aim: float
) -> dict[str, object]:
    """Promise under the first embedding, and accuracy on every corpus."""
    point = use.words_at(name, aim)
    row: dict[str, object] = {"mechanism": name}
    if point is not None:
        row |= {k: point[k] for k in ("ε", "nearest, nats", "message with δ, nats")}
    elif name == REPLACED:  # of whole documents, whatever their words
        row |= dict.fromkeys(
            ("nearest, nats", "message with δ, nats"), REPLACED_EPSILON
        )
        row["ε"] = REPLACED_EPSILON
    own = AT_NEIGHBOURS if name == REPLACED else aim
    differs = []
    for of in use.corpora:
        for kind in use.ceilings[of]:
            draws = use.draws.get((name, of, own, f"{kind}_noisy"))
            row[f"{of}: {kind}"] = None if draws is None else float(draws[0])
            if gains.get((name, of, kind), (0.0, 0.0, 0.0, 1.0))[3] < 0.05:
                differs.append(f"{of}: {kind}")
    row[f"differs from {REFERENCE}"] = ", ".join(differs) or None
    for of in use.corpora:
        if cell := use.linked.get((name, of, own)):
            row[f"{of}: found among {N_CANDIDATES}, at least"] = _linked_share(cell)
    return row


def use_row(
    use: Use, gains: dict[Any, tuple[float, ...]], name: str, of: str, aim: float
) -> dict[str, object]:
    row: dict[str, object] = {"matched": f"{100 * aim:.0f} %", "mechanism": name}
    if name == REPLACED:
        row["matched"] = "–"
    for kind in use.ceilings[of]:
        row[kind] = bracketed(*limits(use.draws[name, of, aim, f"{kind}_noisy"]))
        if (gain := gains.get((name, of, kind))) and name != REPLACED:
            value, low, high, p = gain
            row[f"{kind}, less {REFERENCE}"] = (
                f"{value:+.3f} [{low:+.3f}, {high:+.3f}], p {_p(p)}"
            )
        clear = use.draws.get((name, of, aim, f"{kind}_clean"))
        if clear is not None:
            row[f"{kind}, trained on clear text"] = f"{clear[0]:.2f}"
    if cell := use.linked.get((name, of, aim)):
        row |= {
            f"found among {N_CANDIDATES}, at least": _linked_share(cell),
            "by": cell["strongest"],
        }
    return row | {"tokens/s": use.speed[name, of, aim]}


def _p(p: float) -> str:
    return f"{p:.2f}" if p >= 0.01 else "< 0.01"


def _linked_share(cell: dict[str, Any]) -> str:
    value, error = cell["found"], 1.96 * cell["error"]
    return bracketed(value, max(0, value - error), min(1, value + error))


def neighbour_rows(use: Use) -> list[dict[str, object]]:
    """Word Mover's Distance and plain distances of the same weights."""
    rows, gains = [], []
    for of in use.corpora:
        for name in OF_NEIGHBOURS:
            for kind in use.ceilings[of]:
                draws = {
                    way: use.draws.get((name, of, None, f"{kind}: {way}"))
                    for way in WAYS
                }
                if any(value is None for value in draws.values()):
                    continue
                gain = draws[WAYS[0]] - draws[WAYS[1]]
                gains.append(gain)
                rows.append(
                    {"corpus": of, "asked": kind, "mechanism": name}
                    | {way: bracketed(*limits(value)) for way, value in draws.items()}
                )
    p = holm([two_sided(gain) for gain in gains])
    for row, gain, corrected in zip(rows, gains, p, strict=True):
        value, low, high = limits(gain)
        text = f"{value:+.3f} [{low:+.3f}, {high:+.3f}], p {_p(corrected)}"
        row[f"{WAYS[0]} less {WAYS[1]}"] = text
    return rows


WAYS = ("Word Mover's", "tf-idf, L1", "tf-idf, L2")
NEIGHBOURS_NOTE = (
    f"Balanced accuracy of the vote of the {K} nearest released documents, all "
    "weighted by tf-idf, where the best guess is right for half of the words. L1: "
    "Manhattan distance of rows of sum 1; L2: Euclidean, of rows of length 1. "
    f"Means of {N_RELEASES} releases; 95 % intervals and differences by the "
    "bootstrap over documents and releases, in pairs, p by Holm's method."
)


def summary_note(use: Use, missing: list[str]) -> str:
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
        f"after Holm's correction for the whole table. In clear: {clear}. Found: of "
        f"{N_FOUND} documents released as bags, by the strongest adversary, chosen on "
        "one half of them and scored on the other. Replaced documents: the other half "
        f"of the training text is public, in {N_GROUPS} groups made without labels; "
        f"their ε = {REPLACED_EPSILON:g} holds between any two documents, and nobody "
        "finds more than 0.07; what is released is all of a public text, not 3,000 "
        "words. A dash: this success cannot be met."
        + f" Not measured: {', '.join(missing)}."
        * bool(missing)
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
