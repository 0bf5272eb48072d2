"""`make mechanisms`: which mechanism for what?

Every mechanism is given the ε at which the best guess of a word from its release is
right for half of the words of public text. There, its words and its promise are
measured, and what classifiers make of five releases of each of four corpora. The public
sets that are not here are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from experiments.mechanisms.corpora import corpus, names
from experiments.mechanisms.field import FIELD, REPLACED
from experiments.mechanisms.intervals import accuracies, limits, two_sided
from experiments.mechanisms.measure import (
    DELTA,
    MESSAGE,
    N_GROUPS,
    N_RELEASES,
    REPLACED_EPSILON,
    in_clear,
    use,
    words,
)
from experiments.paper.significance import holm
from results import bracketed, record

# What the others are compared with: what we recommend.
REFERENCE = "Exponential, exact"
EMBEDDINGS = {
    "google": "3,000 words of Google News, 300 dimensions",
    "docstrings": "3,000 words of the built-in corpus, 100 dimensions",
}
WORDS_NOTE = (
    "Best guess: how often the most likely word under the public prior is the word "
    "that was written. Kept: words of public text that stay themselves. Nats: medians "
    f"of 25 pairs of words; with δ = {DELTA:g} for a message of {MESSAGE} words that "
    "all change. Estimated distributions underestimate the best guess."
)
# Accuracies of what was asked of a corpus, first as they are, then bootstrapped
Draws = dict[tuple[str, str, str], np.ndarray]


def chosen(quick: bool) -> tuple[list[str], list[str]]:
    """The mechanisms and corpora of a run."""
    if quick:
        return ["Laplace noise", REFERENCE, "Randomized response"], ["docstrings"]
    return list(FIELD), names()


def units(quick: bool) -> dict[str, Callable[[], None]]:
    """The documents as written, and the words and releases of each mechanism."""
    mechanisms, corpora = chosen(quick)
    every = {name: partial(measure, name, corpora) for name in (*mechanisms, REPLACED)}
    return every | {"clear": partial(clear, corpora)}


def clear(corpora: list[str]) -> None:
    for of in corpora:
        in_clear(of)


def measure(name: str, corpora: list[str]) -> None:
    if name != REPLACED:  # it has no words
        for table in tables_of(corpora):
            words(name, table)
    for of in corpora:
        for release in range(N_RELEASES):
            use(name, of, release)


def tables_of(corpora: list[str]) -> list[str]:
    return list(dict.fromkeys(corpus(of).embedding for of in corpora))


def report(quick: bool) -> None:
    mechanisms, corpora = chosen(quick)
    for table in tables_of(corpora):
        record(
            f"comparison_words_{table}",
            [{"mechanism": name} | words(name, table) for name in mechanisms],
            title="Where the best guess is right for half of the words: "
            f"{EMBEDDINGS[table]}",
            note=WORDS_NOTE,
        )
    report_use((*mechanisms, REPLACED), corpora)


def report_use(mechanisms: tuple[str, ...], corpora: list[str]) -> None:
    """Record what classifiers make of releases, and what is sure of it."""
    draws: Draws = {}
    speed: dict[tuple[str, str], float] = {}
    for of in corpora:
        for kind, right in in_clear(of).items():
            several = np.tile(right, (N_RELEASES, 1))
            draws["clear", of, kind] = accuracies(several, truth(of, kind))
        for name in mechanisms:
            found = [use(name, of, release) for release in range(N_RELEASES)]
            if found[0]:
                speed[name, of] = max(float(one["tokens/s"]) for one in found)
            for kind in found[0].keys() - {"tokens/s"}:
                right = np.array([one[kind] for one in found])
                draws[name, of, kind] = accuracies(right, truth(of, kind))
    for of in corpora:
        record(
            f"comparison_use_{of.replace(' ', '_').lower()}",
            [{"mechanism": name}
             | {kind: bracketed(*limits(draws[name, of, kind]))
                for kind in corpus(of).labels}
             | {"tokens/s": speed[name, of]}
             for name in mechanisms if (name, of) in speed],
            title=f"What classifiers make of a release: {of}",
            note="Balanced accuracy of logistic regression on TF-IDF, the mean of "
            f"{N_RELEASES} releases; {corpus(of).length} words a document, redrawn. "
            "95% intervals by the bootstrap over the test documents and the "
            "releases. Without noise: "
            + "; ".join(f"{kind} {bracketed(*limits(draws['clear', of, kind]))}"
                        for kind in corpus(of).labels) + ".",
        )  # fmt: skip
    clear = "; ".join(f"{of} {kind} {found[0]:.2f}"
                      for (name, of, kind), found in draws.items()
                      if name == "clear")  # fmt: skip
    first, differs = tables_of(corpora)[0], differing(draws)
    record(
        "comparison_summary",
        [summary_row(draws, differs, name, first, corpora) for name in mechanisms],
        title="Best guess right for half of the words",
        note="ε and nats under the first embedding; nats as in its own table. Then "
        "the balanced accuracy of a classifier trained on noisy text, the mean of "
        f"{N_RELEASES} releases; the corpora's tables have the intervals. Differs "
        f"from {REFERENCE}: p < 0.05, two-sided, in pairs over documents and "
        "releases, after Holm's correction for the whole table. In plain text: "
        f"{clear}. Replaced documents: the other half of the training text is "
        f"public, in {N_GROUPS} groups made without labels; their "
        f"ε = {REPLACED_EPSILON:g} holds between any two documents, and no attacker "
        "identifies more than 0.07; all of a public text is released, not 3,000 "
        "words. A dash: this success cannot be met.",
    )


def truth(of: str, kind: str) -> np.ndarray:
    """The labels of the test half."""
    return corpus(of).labels[kind][1]


def differing(draws: Draws) -> dict[tuple[str, str, str], bool]:
    """Whether each differs from the reference: p < 0.05 after Holm's correction."""
    gains = {
        (name, *what): found - draws[REFERENCE, *what]
        for (name, *what), found in draws.items()
        if name not in ("clear", REFERENCE)
    }
    p = holm([two_sided(gain) for gain in gains.values()])
    return dict(zip(gains, p < 0.05, strict=True))


def summary_row(
    draws: Draws,
    differs: dict[tuple[str, str, str], bool],
    name: str,
    table: str,
    corpora: list[str],
) -> dict[str, object]:
    """Promise under the first embedding, and accuracy on every corpus."""
    keys = ("ε", "nearest, nats", "message with δ, nats")
    # of whole documents, with any words
    found = dict.fromkeys(keys, REPLACED_EPSILON)
    if name != REPLACED:
        found = words(name, table)
    row: dict[str, object] = {"mechanism": name} | {k: found.get(k) for k in keys}
    where = []
    for of in corpora:
        for kind in corpus(of).labels:
            mine = draws.get((name, of, kind))
            row[f"{of}: {kind}"] = None if mine is None else float(mine[0])
            if differs.get((name, of, kind)):
                where.append(f"{of}: {kind}")
    return row | {f"differs from {REFERENCE}": ", ".join(where) or None}
