"""`make learn`: what a holder's private text and labels teach, at ε for a person.

SMS, tweets, docstrings and fan fiction in public, private and test thirds, five times,
with drawn authors where a person has many documents. Beside `DPTextClassifier`: clear
text, public labels, stand-ins, diffprivlib and noisy naive Bayes, other sums than the
default's, other ways to read the same sums, and the cost of a million documents. Twenty
minutes on one idle core. Tables: ``benchmarks/results/learn_*.json``. ``--quick`` takes
one split of SMS, or of docstrings where there is no other set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from experiments.learn import measure, tried
from experiments.learn.corpora import CASES, SPLITS, Case, names
from experiments.store import Cell, MissingCellError, Store
from results import bracketed, record
from scipy.stats import t as student_t

VERSION = 2
MILLION = {"quick": 20_000, "full": 1_000_000}
NOTE = (
    "Balanced accuracy on a third of the texts; a third is public, without its labels, "
    "and a third private (of docstrings 500). The rules of the default were chosen on "
    "the first three corpora; fan fiction (200 words of each of 1,391 stories of five "
    "fandoms) was held out. Intervals of 95 % over five splits, each "
    "with its own people and three draws of noise: Student's t of the means of splits."
)


def chosen(quick: bool) -> list[str]:
    here = names()
    return [here[0]] if quick else here


def seeds(quick: bool) -> list[int]:
    return list(SPLITS)[: 1 if quick else None]


def tried_on(quick: bool) -> list[int]:
    return seeds(quick)[:3]


def cases(quick: bool) -> list[Case]:
    return [case for case in CASES if case.corpus in chosen(quick)]


def _cell(*what: object, compute: Callable[[], Any]) -> Cell:
    return Cell.named("learn", *what, version=VERSION, compute=compute)


def _learned(case: Case, seed: int) -> Cell:
    compute = partial(measure.learned, case, seed)
    return _cell(case.name, case.epsilon, seed, compute=compute)


def _clear(name: str, seed: int) -> Cell:
    return _cell("clear", name, seed, compute=partial(measure.in_clear, name, seed))


def _counts(name: str, epsilon: float, seed: int) -> Cell:
    compute = partial(measure.noisy_counts, name, epsilon, seed)
    return _cell("counts", name, epsilon, seed, compute=compute)


def _peer(name: str, seed: int) -> Cell:
    epsilons = sorted({case.epsilon for case in CASES})
    compute = partial(measure.by_diffprivlib, name, epsilons, seed)
    return _cell("diffprivlib", name, seed, compute=compute)


def _tried(name: str, seed: int) -> Cell:
    return _cell("tried", name, seed, compute=partial(tried.ways, name, seed))


def _million(kind: str, quick: bool) -> Cell:
    n = MILLION["quick" if quick else "full"]
    compute = partial(measure.million, kind, n)
    return _cell("million", kind, n, compute=compute)


def units(quick: bool) -> dict[str, Callable[[Store], None]]:
    """Each corpus, by us and by others; and a million documents."""

    def ours(name: str, store: Store) -> None:
        for seed in seeds(quick):
            for case in cases(quick):
                if case.corpus == name:
                    store.get(_learned(case, seed))

    def others(name: str, store: Store) -> None:
        for seed in seeds(quick):
            store.get(_clear(name, seed))
            store.get(_peer(name, seed))
            for epsilon in sorted({case.epsilon for case in CASES}):
                store.get(_counts(name, epsilon, seed))
        for seed in tried_on(quick):
            store.get(_tried(name, seed))

    def many(store: Store) -> None:
        for kind in ("vectors alone", "groups alone"):
            store.get(_million(kind, quick))

    every: dict[str, Callable[[Store], None]] = {}
    for name in reversed(chosen(quick)):  # the longest first
        every[name] = partial(ours, name)
        every[f"{name}: others"] = partial(others, name)
    return every | {"a million documents": many}


def interval(by_split: Iterable[float]) -> tuple[float, float, float]:
    """Mean, and its interval over splits."""
    values = np.array(list(by_split))
    mean = float(values.mean())
    if len(values) < 2:
        return mean, mean, mean
    error = values.std(ddof=1) / np.sqrt(len(values))
    wide = float(student_t.ppf(0.975, len(values) - 1) * error)
    return mean, mean - wide, mean + wide


def report(store: Store, folder: Path, quick: bool) -> None:
    report_goals(store, quick)
    report_others(store, quick)
    report_regret(store, quick)
    for rest in (report_tried, report_million):
        try:
            rest(store, quick)
        except MissingCellError as error:
            print(f"{error} is not finished: the last table stays.")


def _values(store: Store, case: Case, what: str, quick: bool) -> list[float]:
    """Means of splits."""
    found = []
    for seed in seeds(quick):
        rows = store.get(_learned(case, seed))
        key = [row["default"] if what == "default" else what for row in rows]
        values = [row[k] for row, k in zip(rows, key, strict=True)]
        found.append(float(np.mean(values)))
    return found


def report_goals(store: Store, quick: bool) -> None:
    """Goals and what is reached."""
    rows = []
    for case in cases(quick):
        model = interval(_values(store, case, "default", quick))
        corpus = interval(_values(store, case, "corpus", quick))
        clear = interval(
            store.get(_clear(case.corpus, s))["clear"] for s in seeds(quick)
        )
        kind = store.get(_learned(case, 0))[0]["default"]
        best = max(model[0], corpus[0])
        rows.append(
            {
                "texts": case.name,
                "ε of a person": case.epsilon,
                "goal": case.goal,
                "predict": bracketed(*model, digits=3),
                "a model of the corpus": bracketed(*corpus, digits=3),
                "goal reached": None if case.goal is None else best >= case.goal,
                "clear": f"{clear[0]:.3f}",
                "sums": kind,
            }
        )
    record("learn_goals", rows, title="A model of private text and labels", note=NOTE)


def report_others(store: Store, quick: bool) -> None:
    """The same test thirds, by others."""
    rows = []
    for case in cases(quick):
        if case.authors:  # they know no authors
            continue

        def clear(what: str, case: Case = case) -> str:
            every = (store.get(_clear(case.corpus, s))[what] for s in seeds(quick))
            return f"{np.mean(list(every)):.3f}"

        row: dict[str, Any] = {"texts": case.corpus, "ε": case.epsilon}
        ours = interval(_values(store, case, "default", quick))
        row["DPTextClassifier"] = bracketed(*ours, digits=3)
        for model in ("LogisticRegression", "GaussianNB"):
            found = [store.get(_peer(case.corpus, s)).get(model) for s in seeds(quick)]
            row[f"diffprivlib {model}"] = None
            if all(each is not None for each in found):
                values = (np.mean(each[str(case.epsilon)]) for each in found)
                row[f"diffprivlib {model}"] = bracketed(*interval(values), digits=3)
        counts = (
            store.get(_counts(case.corpus, case.epsilon, s)) for s in seeds(quick)
        )
        row["noisy naive Bayes"] = bracketed(*interval(counts), digits=3)
        row["stand-ins, local ε = 4"] = clear("stand-ins")
        row["public labels"] = clear("public labels")
        row["clear"] = clear("clear")
        rows.append(row)
    record(
        "learn_others",
        rows,
        title="The same texts and labels, by others",
        note=f"{NOTE}\n\ndiffprivlib 0.6.6 has the same vectors of 20 directions, and "
        "its own class weights; its ε is of one row replaced by another. Naive Bayes "
        "has noisy counts of 2,000 public words, of 20 different ones per document. "
        "Stand-ins have their labels in clear: their ε hides the text only. Public "
        "labels: the same model as of clear text, trained on the public third with "
        "its true labels, which cost no ε where they exist.",
    )


def report_regret(store: Store, quick: bool) -> None:
    """Each kind of sums, and what the default loses to the best of them."""
    rows = []
    for case in cases(quick):
        means = {
            kind: float(np.mean(_values(store, case, kind, quick)))
            for kind in measure.KINDS
        }
        default = store.get(_learned(case, 0))[0]["default"]
        rows.append(
            {"texts": case.name, "ε": case.epsilon}
            | {kind: f"{mean:.3f}" for kind, mean in means.items()}
            | {
                "the default": default,
                "its regret": f"{max(means.values()) - means[default]:.3f}",
            }
        )
    record(
        "learn_regret",
        rows,
        title="Which sums: groups, vectors, or both with half of ε each",
        note=f"{NOTE}\n\nThe default is chosen by public numbers: persons expected "
        "times ε for each class, below 100, 400 and above. Regret: to the best of the "
        "three on average, which nobody knows beforehand.",
    )


def report_tried(store: Store, quick: bool) -> None:
    """Other ways to read the same sums, as differences to the default's."""
    found = {
        name: [store.get(_tried(name, seed)) for seed in tried_on(quick)]
        for name in chosen(quick)
    }
    rows = []
    for what in next(iter(found.values()))[0]:
        kind = what.partition(":")[0]
        row: dict[str, Any] = {"way": what}
        for name, splits in found.items():
            base = [ways[f"{kind}: the default"] for ways in splits]
            mine = [ways[what] for ways in splits]
            if what.endswith(": the default"):
                row[name] = f"{np.mean(base):.3f}"
                continue
            gained = interval(np.subtract(mine, base))
            row[name] = bracketed(*gained, digits=3, sign="+")
        rows.append(row)
    record(
        "learn_tried",
        rows,
        title="Other ways to read the same noisy sums",
        note="Balanced accuracy of the student at ε = 1, a document a person, with "
        "simulated noise; the other lines are differences to the default of their "
        "kind, over the same three splits, with intervals of 95 %.",
    )


def report_million(store: Store, quick: bool) -> None:
    """Time and memory."""
    n = MILLION["quick" if quick else "full"]
    rows = []
    for kind in ("vectors alone", "groups alone"):
        found = store.get(_million(kind, quick))
        rows.append(
            {
                "sums": kind,
                "documents of 20 words": n,
                "seconds of one core": found["seconds"],
                "MB more than before": found["peak"] - found["before"],
                "MB, all": found["peak"],
            }
        )
    record(
        "learn_million",
        rows,
        title="A million private documents",
        note="`fit` on a generator of texts, with labels and the authors of five "
        "documents each in memory; the time to make the texts is taken off. 2,000 "
        "public documents, whose groups and vectors are made before.",
    )
