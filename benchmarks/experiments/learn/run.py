"""`make learn`: what a holder's private text and labels teach, at ε for a person.

SMS, tweets, docstrings, fan fiction and film reviews in public, private and test
thirds, five times, with authors where a person has many documents. Next to
`DPTextClassifier`: original text, public labels, stand-ins, diffprivlib and noisy naive
Bayes; and the cost of a million documents. Some twenty minutes on one idle core.
Tables: ``benchmarks/results/learn_*.json``. ``--quick`` takes one split of SMS, or of
docstrings where there is no other set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from experiments.learn.corpora import (
    CASES,
    EPSILONS,
    REAL,
    SPLITS,
    Case,
    names,
    usual,
)
from experiments.learn.measure import (
    SCORES,
    by_diffprivlib,
    in_clear,
    learned,
    million,
    noisy_counts,
)
from results import bracketed, record

from skdptext.utils import half_width

OTHERS = [0.5, 1.0, 2.0]  # ε of the others
MILLION = {"quick": 20_000, "full": 1_000_000}
NOTE = (
    "In each cell: balanced accuracy, accuracy and the precision of the rarest class, "
    "on a third of the texts. Another third is public, without its labels, and another "
    "private (of docstrings 500). The rules of the default were "
    "chosen on eight corpora, the first three among them; fan fiction (200 words of "
    "each of 1,391 stories of five fandoms) was held out, and the number "
    "of directions was chosen on SMS, tweets and reviews, the weight of the sums in "
    "predictions on these and, at ε = 8, on fan fiction, and the power of idf in short "
    "texts on all of these and on short pieces of them. Of these stories are the "
    "classes of 1:3:9, and the 964 whose authors are known, 41 people; opinions are "
    "4,500 film reviews. “Rarest × 3” is a guess of its size three times too large. "
    "Intervals of 95% over five splits, each with its own people and three draws of "
    "noise: Student's t of the means of splits."
)


def chosen(quick: bool) -> list[str]:
    here = names()
    return [here[0]] if quick else here


def seeds(quick: bool) -> list[int]:
    return list(SPLITS)[: 1 if quick else None]


def cases(quick: bool) -> list[Case]:
    return [case for case in CASES if case.corpus in chosen(quick)]


def peer(name: str, seed: int) -> dict[str, Any]:
    return by_diffprivlib(name, OTHERS, seed)


def units(quick: bool) -> dict[str, Callable[[], None]]:
    """Each corpus, by us and by others; and a million documents."""

    every: dict[str, Callable[[], None]] = {}
    for name in reversed(chosen(quick)):  # the longest first
        every[name] = partial(ours, name, quick)
        every[f"{name}: others"] = partial(others, name, quick)
    return every | {"a million documents": partial(many, quick)}


def ours(name: str, quick: bool) -> None:
    for seed in seeds(quick):
        for case in cases(quick):
            if case.corpus == name:
                learned(case, seed)


def others(name: str, quick: bool) -> None:
    for seed in seeds(quick):
        in_clear(name, seed)
        peer(name, seed)
        for epsilon in OTHERS:
            noisy_counts(name, epsilon, seed)


def many(quick: bool) -> None:
    for vectors in (True, False):
        million(vectors, MILLION["quick" if quick else "full"])


def interval(by_split: Iterable[float]) -> tuple[float, float, float]:
    """Mean, and its interval over splits."""
    values = np.array(list(by_split))
    mean = float(values.mean())
    if len(values) < 2:
        return mean, mean, mean
    wide = half_width(values.std(ddof=1), len(values))
    return mean, mean - wide, mean + wide


def report(quick: bool) -> None:
    report_goals(quick)
    report_growth(quick)
    report_others(quick)
    report_million(quick)


def mean_scores(found: Iterable[dict[str, float]]) -> dict[str, float]:
    """Means of the draws of a split."""
    rows = list(found)
    return {what: float(np.mean([row[what] for row in rows])) for what in SCORES}


def shown(by_split: Iterable[dict[str, float]]) -> str:
    """Balanced accuracy with its interval, accuracy, and precision of the rarest."""
    rows = list(by_split)
    balanced = bracketed(*interval(row["balanced"] for row in rows), digits=3)
    means = [np.mean([row[what] for row in rows]) for what in SCORES[1:]]
    return f"{balanced} · {dots(means)}"


def dots(scores: Iterable[float]) -> str:
    return " · ".join(f"{score:.3f}" for score in scores)


def report_goals(quick: bool) -> None:
    """Goals and what is reached."""
    rows = []
    for case in cases(quick):
        found = [learned(case, seed) for seed in seeds(quick)]

        def of(what: str, found: Any = found) -> list[dict[str, float]]:
            return [mean_scores(row[what] for row in split) for split in found]

        clear = [in_clear(case.corpus, s)["clear"] for s in seeds(quick)]
        reached, known = (sum(x["balanced"] for x in xs) for xs in (of("equal"), clear))
        row: dict[str, Any] = {
            "texts": case.name,
            "ε of a person": case.epsilon,
            "predict, equal priors": shown(of("equal")),
            "predict, released priors": shown(of("released")),
            "a model of the corpus": shown(of("corpus")),
            "original text": shown(clear),
            "goal, of original text": case.goal,
            "reached": None if case.goal is None else reached >= case.goal * known,
        }
        rows.append(row)
    record("learn_goals", rows, title="A model of private text and labels", note=NOTE)


def report_growth(quick: bool) -> None:
    """Whether more ε ever costs accuracy: means over all corpora."""
    rows: list[dict[str, Any]] = []
    before = None
    for epsilon in EPSILONS:
        now = []
        for name in chosen(quick):
            splits = [learned(usual(name, epsilon), seed) for seed in seeds(quick)]
            found = [mean_scores(row["equal"] for row in split) for split in splits]
            clear = [in_clear(name, seed)["clear"] for seed in seeds(quick)]
            reached, known = (
                np.array([[x[what] for what in SCORES] for x in xs]).sum(axis=0)
                for xs in (found, clear)
            )
            now.append(reached / known)
        every = dict(zip(chosen(quick), now, strict=True), mean=np.mean(now, axis=0))
        if before is not None:
            change = np.array(now) - before
            every["mean, more than at half of ε"] = change.mean(axis=0)
            every["least of a corpus"] = change.min(axis=0)
        rows.append({"ε of a person": epsilon} | {k: dots(v) for k, v in every.items()})
        before = now
    record(
        "learn_growth",
        rows,
        title="Share of the scores on the original text",
        note=NOTE,
    )


def report_others(quick: bool) -> None:
    """The same test thirds, by others."""
    rows = []
    for case in cases(quick):
        # they know no authors
        if case.authors or not case.vectors or case.guess or case.corpus == REAL:
            continue
        if case.epsilon not in OTHERS:
            continue
        row: dict[str, Any] = {"texts": case.corpus, "ε": case.epsilon}
        for priors in ("equal", "released"):
            row[f"DPTextClassifier, {priors}"] = shown(
                mean_scores(each[priors] for each in learned(case, seed))
                for seed in seeds(quick)
            )
        for model in ("LogisticRegression", "GaussianNB"):
            found = [peer(case.corpus, s).get(model) for s in seeds(quick)]
            row[f"diffprivlib {model}"] = None
            if all(each is not None for each in found):
                row[f"diffprivlib {model}"] = shown(
                    mean_scores(each[str(case.epsilon)]) for each in found
                )
        row["noisy naive Bayes"] = shown(
            noisy_counts(case.corpus, case.epsilon, s) for s in seeds(quick)
        )
        clear = [in_clear(case.corpus, seed) for seed in seeds(quick)]
        row["stand-ins, local ε = 4"] = shown(each["stand-ins"] for each in clear)
        row["public labels"] = shown(each["public labels"] for each in clear)
        row["original text"] = shown(each["clear"] for each in clear)
        rows.append(row)
    record(
        "learn_others",
        rows,
        title="The same texts and labels, by others",
        note=f"{NOTE}\n\ndiffprivlib 0.6.6 has vectors of 20 directions, and its "
        "own class weights; its ε is of one row replaced by another. Naive Bayes "
        "has noisy counts of 2,000 public words, of 20 different ones per document. "
        "Stand-ins keep the true labels: their ε hides the text only. Public "
        "labels: the same model as of the original text, trained on the public third "
        "with its true labels, which cost no ε where they exist.",
    )


def report_million(quick: bool) -> None:
    """Time and memory."""
    n = MILLION["quick" if quick else "full"]
    rows = []
    for vectors in (True, False):
        found = million(vectors, n)
        rows.append(
            {
                "sums": "vectors" if vectors else "groups",
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
