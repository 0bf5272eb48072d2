"""The tables of the experiment, each with the paper's numbers where it has some."""

from __future__ import annotations

import numpy as np
from experiments.obfuscation.accuracy import (
    Marks,
    chance,
    interval,
)
from experiments.obfuscation.attack import load_problem, load_scene
from experiments.obfuscation.clusters import NOTE
from experiments.obfuscation.grid import EPSILONS, KEEP_SEEDS, SEEDS
from experiments.obfuscation.published import ADVERSARIES, MATCH
from results import record

INTERVALS = f"Several releases of a snippet count as their mean, once. {NOTE}"


def write_tables(marks: Marks) -> None:
    for problem in SEEDS:
        table_one(marks, problem)
    unknown_words(marks)
    adversaries(marks)


def write_quick(marks: Marks) -> None:
    """What ``--quick`` shows: that everything works."""
    rows = []
    for cell, result in marks.results.items():
        row: dict[str, object] = {"kind": cell.kind, "ε": cell.epsilon}
        for name, marked in result["marks"].items():
            row[name] = marked.count("1") / len(marked)
        rows.append(row)
    record("obfuscation_quick", rows, title="A few cells")


def _shown(marks: Marks, problem: str, *what) -> str:
    return str(interval(problem, marks.of(problem, *what)))


def _none_or(epsilon: float) -> str:
    return f"{epsilon:g}" if epsilon else "none"


def table_one(marks: Marks, problem: str) -> None:
    """Table 1 of the paper: all four adversaries."""
    theirs, n_theirs = MATCH[problem]
    rows = []
    for epsilon in (0.0, *EPSILONS):
        row: dict[str, object] = {"ε": _none_or(epsilon)}
        row["words changed"] = marks.changed(problem, epsilon)
        known = theirs.get(epsilon)
        for k, name in enumerate(ADVERSARIES):
            row[f"{name}, paper"] = known[k] / n_theirs if known else None
            row[name] = _shown(marks, problem, epsilon, name)
        rows.append(row)
    p, levels, n_seeds = load_problem(problem), chance(problem), SEEDS[problem]
    record(
        f"obfuscation_{problem.split()[0]}_google",
        rows,
        title=f"{problem}, vectors of Google News: share of right answers",
        note=f"λ = 0, as in the paper, beside its set of {n_theirs} authors. "
        f"{len(p.known)} authors in {len(np.unique(p.topic))} fandoms, "
        f"{len(p.snippets)} snippets of {load_scene(problem).length} words, "
        f"{n_seeds} releases. {INTERVALS} Chance: author "
        f"{levels['author, blind']:.3f} blind and {levels['author']:.2f} for the most "
        f"frequent ({levels['author, topic known']:.2f} if the topic is known), topic "
        f"{levels['topic']:.2f}; in the paper {1 / n_theirs:.2f} and 0.50.",
    )


def unknown_words(marks: Marks) -> None:
    """The paper's set-up to the letter: words without a vector stay in clear."""
    rows = []
    for epsilon in (0.0, *EPSILONS):
        row: dict[str, object] = {"ε": _none_or(epsilon)}
        for problem, (theirs, n_theirs) in MATCH.items():
            known = theirs.get(epsilon)
            for name in ("DRauth", "DRtopic"):
                k = ADVERSARIES.index(name)
                label = f"{name}, {problem.split()[0]}"
                row[f"{name}, paper's {n_theirs}"] = (
                    known[k] / n_theirs if known else None
                )
                for kind, which in (("keep", "kept"), ("release", "dropped")):
                    shown = _shown(marks, problem, epsilon, name, kind)
                    row[f"{label}, {which}"] = shown
        rows.append(row)
    clear = [marks.kept(problem) for problem in MATCH]
    unknown = " and ".join(f"{one['unknown']:.0%}" for one in clear)
    lengths = " and ".join(str(one["length"]) for one in clear)
    record(
        "obfuscation_kept",
        rows,
        title="Words without a vector: kept in clear, or dropped",
        note=f"Google News, λ = 0, {KEEP_SEEDS} releases with such words kept, "
        f"{' and '.join(map(str, SEEDS.values()))} with them "
        "dropped. The paper releases words that have no vector as they are; "
        f"{unknown} of our snippets' words (of {lengths} each) are such, "
        f"many of them names. {INTERVALS}",
    )


def adversaries(marks: Marks) -> None:
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
        row: dict[str, object] = {"wants": wants, "adversary": text}
        for epsilon in (0.0, 30.0, 25.0, 20.0, 15.0):
            label = f"ε {epsilon:g}" if epsilon else "none"
            row[label] = _shown(marks, problem, epsilon, name)
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
