"""`make obfuscation`: hiding the author, keeping the topic, as in 2018 and 2019.

Half an hour on two idle cores. Reads ``pan19_fanfiction_en.jsonl.gz`` and Google News.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
from experiments.obfuscation.attack import (
    attack_kept,
    attack_release,
    load_problem,
    load_scene,
)
from experiments.obfuscation.clusters import NOTE, interval
from real_data import GOOGLE, STORIES, absent
from results import record

# Of no noise, and of the noise. The paper has 30 to 10, and says that at 40 nothing
# changes.
EPSILONS = (0.0, 40.0, 30.0, 25.0, 20.0, 15.0, 10.0, 5.0)
# Releases of each problem: dropping words that have no vector, or keeping them.
WORKS = {"dropped": attack_release, "kept": attack_kept}
SEEDS = {"dropped": {"18 authors": 3, "40 authors": 2},
         "kept": {"18 authors": 2, "40 authors": 2}}  # fmt: skip
ADVERSARIES = ("SRauth", "SRtopic", "DRauth", "DRtopic")
# Table 1 of the paper, its sets of 20 and 50 snippets: by ε, right answers of each.
TWENTY = {
    0: (12, 16, 15, 18),
    30: (8, 18, 16, 18),
    25: (8, 18, 14, 17),
    20: (5, 11, 11, 16),
    15: (2, 11, 12, 17),
    10: (0, 15, 11, 19),
}
FIFTY = {
    0: (19, 36, 27, 43),
    30: (19, 37, 29, 43),
    25: (17, 34, 24, 41),
    20: (12, 28, 19, 42),
    15: (9, 22, 13, 42),
    10: (1, 24, 10, 43),
}
# Our problem to theirs: right answers, and of how many
MATCH = {"18 authors": (TWENTY, 20), "40 authors": (FIFTY, 50)}
INTERVALS = f"Several releases of a snippet count as their mean, once. {NOTE}"
Row = dict[str, object]


def cells(
    problem: str, epsilon: float, words: str = "dropped", quick: bool = False
) -> list[dict]:
    """What was found of each release."""
    n = 1 if quick or not epsilon else SEEDS[words][problem]
    return [WORKS[words](problem, epsilon, seed) for seed in range(n)]


def units(quick: bool) -> dict[str, Callable[[], None]]:
    """What shares an adversary's training."""
    if absent(STORIES, GOOGLE):
        return {}
    if quick:
        return {"quick": partial(table_one, "18 authors", True)}
    return {
        f"{words}, ε = {epsilon:g}": partial(attack, words, epsilon)
        for words, epsilon in product(WORKS, EPSILONS)
    }


def attack(words: str, epsilon: float) -> None:
    for problem in MATCH:
        cells(problem, epsilon, words)


def report(quick: bool) -> None:
    """The tables."""
    if quick:
        return
    for problem in MATCH:
        table_one(problem)
    unknown_words()
    adversaries()


def share(problem: str, found: list[dict], adversary: str) -> str:
    """Accuracy with its interval over the authors of the problem."""
    marks = np.array([each["marks"][adversary] for each in found])
    return str(interval(marks, load_problem(problem).author))


def begun(problem: str, epsilon: float) -> tuple[Row, dict[str, float]]:
    """A row, and the paper's shares."""
    theirs, n = MATCH[problem]
    right = theirs.get(int(epsilon), ())
    shares = {name: k / n for name, k in zip(ADVERSARIES, right, strict=False)}
    return {"ε": f"{epsilon:g}" if epsilon else "none"}, shares


def table_one(problem: str, quick: bool = False) -> None:
    """Table 1 of the paper: all four adversaries."""
    rows = []
    for epsilon in (0.0, 30.0) if quick else EPSILONS:
        found = cells(problem, epsilon, quick=quick)
        row, theirs = begun(problem, epsilon)
        row["words changed"] = np.mean([each["words changed"] for each in found])
        for name in ADVERSARIES:
            row[f"{name}, paper"] = theirs.get(name)
            row[name] = share(problem, found, name)
        rows.append(row)
    p, n_theirs = load_problem(problem), MATCH[problem][1]

    def most(labels: np.ndarray) -> int:
        return np.unique(labels, return_counts=True)[1].max()

    n = len(p.author)
    within = sum(most(p.author[p.topic == topic]) for topic in np.unique(p.topic))
    record(
        f"obfuscation_{problem.split()[0]}_google",
        rows,
        title=f"{problem}, vectors of Google News: share of right answers",
        note=f"λ = 0, as in the paper, next to its set of {n_theirs} authors. "
        f"{len(p.known)} authors in {len(np.unique(p.topic))} fandoms, "
        f"{n} snippets of {load_scene(problem).length} words, "
        f"{SEEDS['dropped'][problem]} releases. {INTERVALS} Chance: author "
        f"{1 / len(p.known):.3f} blind and {most(p.author) / n:.2f} for the most "
        f"frequent ({within / n:.2f} if the topic is known), topic "
        f"{most(p.topic) / n:.2f}; in the paper {1 / n_theirs:.2f} and 0.50.",
    )


def unknown_words() -> None:
    """The paper's set-up to the letter: words without a vector stay as they are."""
    rows = []
    for epsilon in EPSILONS:
        row: Row = {}
        for problem, (_, n_theirs) in MATCH.items():
            start, theirs = begun(problem, epsilon)
            row |= start
            for name in ("DRauth", "DRtopic"):
                row[f"{name}, paper's {n_theirs}"] = theirs.get(name)
                for words in ("kept", "dropped"):
                    found = cells(problem, epsilon, words)
                    label = f"{name}, {problem.split()[0]}, {words}"
                    row[label] = share(problem, found, name)
        rows.append(row)
    unknown = (cells(problem, 0.0, "kept")[0]["unknown"] for problem in MATCH)
    lengths = (load_scene(problem, "keep").length for problem in MATCH)
    releases = {words: " and ".join(map(str, n.values())) for words, n in SEEDS.items()}
    record(
        "obfuscation_kept",
        rows,
        title="Words without a vector: kept as they are, or dropped",
        note=f"Google News, λ = 0, {releases['kept']} releases with such words kept, "
        f"{releases['dropped']} with them dropped. The paper releases words that have "
        f"no vector as they are; {' and '.join(f'{each:.0%}' for each in unknown)} of "
        f"our snippets' words (of {' and '.join(map(str, lengths))} each) are such, "
        f"many of them names. {INTERVALS}",
    )


def adversaries() -> None:
    """All adversaries at some ε, on the problem with most snippets."""
    problem, rows = "40 authors", []
    what = {
        "SRauth": "nearest text by Word Mover's Distance (paper)",
        "DRauth": "Koppel, known text as long as a snippet (paper)",
        "DRauth all known": "Koppel, all known text",
        "DRauth informed": "the same, known text through the noise",
        "DRauth other fandoms": "Koppel, knows texts in other fandoms only",
        "linear author": "linear, all known text",
        "linear author informed": "the same, known text through the noise",
        "SRtopic": "5 nearest known texts (paper)",
        "DRtopic": "fastText on texts of others (paper)",
        "DRtopic informed": "the same, those texts through the noise",
        "linear topic": "linear, on texts of others",
        "linear topic informed": "the same, those texts through the noise",
    }
    for name, text in what.items():
        wants = "topic" if "topic" in name else "author"
        row: Row = {"wants": wants, "adversary": text}
        for epsilon in (0.0, 30.0, 25.0, 20.0, 15.0):
            label = f"ε {epsilon:g}" if epsilon else "none"
            row[label] = share(problem, cells(problem, epsilon), name)
        rows.append(row)
    record(
        "obfuscation_adversaries",
        rows,
        title="Stronger adversaries than the paper's",
        note=f"40 authors, 168 snippets, Google News, λ = 0. {INTERVALS} Informed: the "
        "adversary puts its texts through the mechanism, with ε and λ known and noise "
        "of its own: the known texts once for each release, the 464 texts of others "
        "once for all.",
    )
