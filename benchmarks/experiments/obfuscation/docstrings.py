"""The same question on the built-in corpus, which everybody can repeat offline.

Author: the library (NumPy or SciPy). Topic: the subject. As many documents of each
author on each topic, so that the topic does not tell the author. The report itself does
the work.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from experiments.obfuscation.accuracy import as_cell
from experiments.obfuscation.grid import VERSION
from experiments.store import Cell, Store
from results import record

from skdptext import DPWordPerturber
from skdptext.datasets import load_docstring_embedding, load_docstrings
from skdptext.inspection import ObfuscationReport, obfuscation_report

EPSILONS = (30, 25, 20, 15, 10, 5)
LAMS = (0.0, 0.5, 1.0)
LENGTH, WORDS, N_EACH = 40, 3000, 26
TOPICS = ("linear algebra", "signals and images", "statistics")


def load() -> tuple[list[str], np.ndarray, np.ndarray]:
    """Documents, authors and topics, balanced."""
    corpus = load_docstrings(
        topics=TOPICS,
        authors=["numpy", "scipy"],
        remove=["examples", "headers", "names"],
    )
    rng = np.random.default_rng(0)
    pairs = corpus.author * len(TOPICS) + corpus.target
    rows = np.concatenate(
        [rng.permutation(np.flatnonzero(pairs == p))[:N_EACH] for p in np.unique(pairs)]
    )
    return (
        [corpus.data[i] for i in rows],
        np.array(corpus.author_names)[corpus.author[rows]],
        np.array(corpus.target_names)[corpus.target[rows]],
    )


def cell(quick: bool) -> Cell:
    settings = {"version": VERSION, "quick": quick}
    return Cell("docstrings", settings, partial(attack, quick))


def attack(quick: bool) -> list[dict[str, object]]:
    """Attack the grid: the strongest adversary of each release."""
    documents, authors, topics = load()
    embedding = load_docstring_embedding().restrict(WORDS)
    grid = [
        DPWordPerturber(embedding, epsilon=e, lam=lam, document_length=LENGTH)
        for e in ((10,) if quick else EPSILONS)
        for lam in ((0.0,) if quick else LAMS)
    ]
    report = obfuscation_report(
        documents,
        authors,
        topics,
        grid,
        trained_on="originals" if quick else "both",
        cv=2 if quick else None,
        random_state=0,
    )
    rows = [_clean(report)]
    for i, release in enumerate(report.releases):
        author, topic = (report.of(target, i)[0] for target in ("author", "topic"))
        rows.append(
            {
                "ε": f"{release.epsilon:g}",
                "λ": release.lam,
                "words changed": release.words_changed,
                "strongest on authors": as_cell(author),
                "which": author.adversary,
                "best on topics": as_cell(topic),
                "which topic": topic.adversary,
                "exponent between documents": float(report.exponents[i]),
            }
        )
    return rows


def report(store: Store, quick: bool) -> None:
    record(
        "obfuscation_docstrings",
        store.get(cell(quick)),
        title="Docstrings: author is the library, topic the subject",
        note=f"{2 * len(TOPICS) * N_EACH} documents of {LENGTH} words, of two "
        f"libraries on {len(TOPICS)} subjects, {N_EACH} of each pair; the built-in "
        f"table, {WORDS:,} words × 100; 5 folds. The strongest of one half of the "
        "documents, on the other; 95 % intervals over documents. Chance: author 0.50, "
        "topic 0.33. The exponent bounds the log of "
        "what the odds between two documents of different libraries change by. "
        f"{store.seconds(cell(quick)):.0f} s of processor time.",
    )


def _clean(report: ObfuscationReport) -> dict[str, object]:
    row: dict[str, object] = {"ε": "none", "λ": None, "words changed": 0.0}
    for target, best in (
        ("author", "strongest on authors"),
        ("topic", "best on topics"),
    ):
        row[best] = f"{report.of(target)[0].clear:.2f}"
    return row
