"""`make frontier`: topic accuracy against documents and authors that are linked.

For fan fiction, docstrings, SMS and tweets: releases word by word with
`Exponential`, answers with topics, and documents replaced by public ones; and other
ways to group public documents. A quarter of an hour on one idle core. Tables:
``benchmarks/results/frontier_*.json``. ``--quick`` takes one division of docstrings and
few settings.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from experiments.frontier import corpora, tried
from experiments.frontier.plan import corpus_rows
from experiments.frontier.report import draw, record_summary
from experiments.store import MissingCellError, Store
from results import figures_folder, load, record

NOTE = (
    "Topic: accuracy of a classifier that knows the mechanism and learned from "
    "public documents, each topic with the same weight. Documents: the share of the "
    "documents whose topic it names, where it also knows how frequent the topics are. "
    "Found: of 100 protected "
    "documents, the share that an adversary who knows the mechanism links to its "
    "release. Author: share found among the protected authors of the topic, which is "
    "known. Near-copies are "
    "taken out; public and protected documents are apart. Intervals of 95 %: bootstrap "
    "over divisions, documents (of fan fiction: writers and their stories) and, for "
    "words, noise."
)


def names(quick: bool) -> list[str]:
    here = corpora.names()
    return [name for name in here if name == "docstrings"] if quick else here


def units(quick: bool) -> dict[str, Callable[[Store], object]]:
    """The releases of each corpus, and other ways to group its public documents."""

    def measure(name: str, store: Store) -> None:
        corpus_rows(store, name, quick=quick)

    every: dict[str, Callable[[Store], object]] = {}
    for name in names(quick):
        every[name] = partial(measure, name)
        if not quick:
            every[f"{name}: tried"] = partial(tried.differences, name)
    return every


def report(store: Store, folder: Path, quick: bool) -> None:
    tables = {}
    for name in names(quick):
        before, file = store.spent, f"frontier_{name.replace(' ', '_').lower()}"
        try:
            tables[name] = corpus_rows(store, name, quick=quick)
        except MissingCellError:
            print(f"{name} is not finished: its last table stays.")
            tables[name] = next(t["rows"] for t in load() if t["name"] == file)
            continue
        record(
            file,
            tables[name],
            title=f"Which release protects: {name}",
            note=f"{NOTE}\n\nCPU seconds: {store.spent - before:.0f}.",
        )
    if not quick:
        record_summary(tables)
        draw(tables, figures_folder("frontier"))
        tried.record_differences(store, list(tables))
