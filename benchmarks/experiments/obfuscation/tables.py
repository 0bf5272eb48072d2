"""The tables of the experiment, each with the paper's numbers where it has some."""

from __future__ import annotations

import numpy as np
from experiments.obfuscation.accuracy import (
    AUTHOR,
    TOPIC,
    Marks,
    at_equal_topic,
    chance,
    interval,
    on_googles_scale,
    strongest,
)
from experiments.obfuscation.attack import load_problem, load_scene
from experiments.obfuscation.clusters import NOTE, Share, within
from experiments.obfuscation.grid import EPSILONS, GOOGLE, KEEP_SEEDS, LAMS, SEEDS, W2V
from experiments.obfuscation.published import ADVERSARIES, MATCH
from experiments.obfuscation.text_tables import nearest_texts, one_text_under_noise
from experiments.obfuscation.word_tables import SHORT, scale, words
from results import bracketed, record

FIXED = {GOOGLE: "google", W2V: "w2v"}
INTERVALS = f"Several releases of a snippet count as their mean, once. {NOTE}"
SCALE = {
    GOOGLE: "",
    W2V: "ε is put on Google's scale by the median distance to the nearest word, of "
    "the words of the snippets; the paper's numbers stand where its ε is at most 2.5 "
    "away. ",
}


def write_tables(marks: Marks) -> None:
    for problem in ("18 authors", "40 authors"):
        for table in (GOOGLE, W2V):
            table_one(marks, problem, table)
        other_lambdas(marks, problem)
    unknown_words(marks)
    claims(marks)
    adversaries(marks)
    trade(marks)
    words(marks)
    scale(marks)
    nearest_texts()
    one_text_under_noise()


def write_quick(marks: Marks) -> None:
    """What ``--quick`` shows: that everything works."""
    rows = []
    for cell, result in marks.results.items():
        row: dict[str, object] = {"kind": cell.kind, "ε": cell.epsilon, "λ": cell.lam}
        for name, marked in result["marks"].items():
            row[name] = marked.count("1") / len(marked)
        rows.append(row)
    record("obfuscation_quick", rows, title="A few cells")


def _shown(marks: Marks, problem: str, *what) -> str:
    return str(interval(problem, marks.of(problem, *what)))


def _none_or(epsilon: float) -> str:
    return f"{epsilon:g}" if epsilon else "none"


def table_one(marks: Marks, problem: str, table: str) -> None:
    """Table 1 of the paper: λ = 0, all four adversaries."""
    theirs, n_theirs = MATCH[problem]
    rows = []
    for epsilon in (0.0, *EPSILONS[table]):
        scaled = on_googles_scale(epsilon, table)
        near = min(theirs, key=lambda e: abs(e - scaled)) if epsilon else 0
        known = abs(near - scaled) <= 2.5
        row: dict[str, object] = {"ε": _none_or(epsilon)}
        if table != GOOGLE:
            row["ε on Google's scale"] = _none_or(round(scaled, 1))
            median = on_googles_scale(epsilon, table, used=False)
            row["by the median of all words"] = _none_or(round(median, 1))
        row["words changed"] = marks.changed(problem, table, epsilon, 0.0)
        for k, name in enumerate(ADVERSARIES):
            row[f"{name}, paper"] = theirs[near][k] / n_theirs if known else None
            row[name] = _shown(marks, problem, table, epsilon, 0.0, name)
        rows.append(row)
    p, levels = load_problem(problem), chance(problem)
    n_seeds = len(marks.of(problem, table, EPSILONS[table][0], 0.0, "SRauth"))
    record(
        f"obfuscation_{problem.split()[0]}_{FIXED[table]}",
        rows,
        title=f"{problem}, vectors of {SHORT[table]}: share of right answers",
        note=f"λ = 0, as in the paper, beside its set of {n_theirs} authors. "
        f"{len(p.known)} authors in {len(np.unique(p.topic))} fandoms, "
        f"{len(p.snippets)} snippets of {load_scene(problem, table).length} words, "
        f"{n_seeds} release{'s' if n_seeds > 1 else ''}. {INTERVALS} {SCALE[table]}"
        "Chance: author "
        f"{levels['author, blind']:.3f} blind and {levels['author']:.2f} for the most "
        f"frequent ({levels['author, topic known']:.2f} if the topic is known), topic "
        f"{levels['topic']:.2f}; in the paper {1 / n_theirs:.2f} and 0.50.",
    )


def other_lambdas(marks: Marks, problem: str) -> None:
    """Table 1 for λ = 0.5 and 1, which the paper has not."""
    rows = [
        {
            "vectors": SHORT[table],
            "λ": lam,
            "ε": f"{epsilon:g}",
            "words changed": marks.changed(problem, table, epsilon, lam),
            **{
                name: _shown(marks, problem, table, epsilon, lam, name)
                for name in ADVERSARIES
            },
        }
        for table in (GOOGLE, W2V)
        for lam in LAMS[1:]
        for epsilon in EPSILONS[table]
    ]
    record(
        f"obfuscation_lambdas_{problem.split()[0]}",
        rows,
        title=f"{problem}, λ = 0.5 and 1: share of right answers",
        note=f"As the tables for λ = 0. {INTERVALS}",
    )


def unknown_words(marks: Marks) -> None:
    """The paper's set-up to the letter: words without a vector stay in clear."""
    rows, unknown, lengths = [], [], []
    for epsilon in (0.0, *EPSILONS[GOOGLE]):
        row: dict[str, object] = {"ε": _none_or(epsilon)}
        for problem in ("18 authors", "40 authors"):
            theirs, n_theirs = MATCH[problem]
            for name in ("DRauth", "DRtopic"):
                k = ADVERSARIES.index(name)
                label = f"{name}, {problem.split()[0]}"
                row[f"{name}, paper's {n_theirs}"] = (
                    theirs[epsilon][k] / n_theirs if epsilon in theirs else None
                )
                for kind in ("keep", "release"):
                    which = "kept" if kind == "keep" else "dropped"
                    row[f"{label}, {which}"] = _shown(
                        marks, problem, GOOGLE, epsilon, 0.0, name, kind
                    )
        rows.append(row)
    for cell, result in marks.results.items():
        if cell.kind == "keep" and not cell.epsilon:
            unknown.append(f"{result['unknown']:.0%}")
            lengths.append(str(result["length"]))
    record(
        "obfuscation_kept",
        rows,
        title="Words without a vector: kept in clear, or dropped",
        note=f"Google News, λ = 0, {KEEP_SEEDS} releases with such words kept, "
        f"{SEEDS['18 authors', GOOGLE]} and {SEEDS['40 authors', GOOGLE]} with them "
        "dropped. The paper releases words that have no vector as they "
        f"are; {' and '.join(unknown)} of our snippets' words (of "
        f"{' and '.join(lengths)} each) are such, many of them names. {INTERVALS}",
    )


def claims(marks: Marks) -> None:
    """Where the paper's adversaries lose the author, what is left of the topic?"""
    rows: list[dict[str, object]] = []
    for problem in ("18 authors", "40 authors"):
        theirs, n_theirs = MATCH[problem]
        row: dict[str, object] = {
            "problem": f"paper, {n_theirs} authors, 2 topics",
            "vectors": "Google News",
            "ε": "none → 10",
        }
        for k, name in enumerate(ADVERSARIES):
            row[name] = (
                f"{theirs[0][k] / n_theirs:.2f} → {theirs[10][k] / n_theirs:.2f}"
            )
        row["chance"] = f"{1 / n_theirs:.2f}, 0.50"
        rows.append(row)
        topics = len(np.unique(load_problem(problem).topic))
        for table in (GOOGLE, W2V):
            hidden = where_hidden(marks, problem, table)
            if hidden is None:
                continue
            levels = chance(problem)
            changed = marks.changed(problem, table, hidden, 0.0)
            row = {
                "problem": f"{problem}, {topics} topics",
                "vectors": SHORT[table],
                "ε": f"none → {hidden:g}",
                "words changed": f"{changed:.0%}",
            }
            apart = []
            for name in (*ADVERSARIES, *sorted(set(TOPIC) - set(ADVERSARIES))):
                clean = marks.of(problem, table, 0.0, 0.0, name)
                noisy = interval(problem, marks.of(problem, table, hidden, 0.0, name))
                row[name] = f"{clean.mean():.2f} → {noisy}"
                if noisy.low > levels["topic" if "topic" in name else "author"]:
                    apart.append(name)
            name, _, author = strongest(marks, problem, table, hidden, 0.0)
            row["strongest on authors"] = f"{author} ({name})"
            if author.low > levels["author"]:
                apart.append("strongest on authors")
            row["chance"] = f"{levels['author']:.2f}, {levels['topic']:.2f}"
            row["better than chance"] = ", ".join(apart) or "none is told from it"
            rows.append(row)
    record(
        "obfuscation_claims",
        rows,
        title="Where the paper's adversaries on authors are not told from chance",
        note="λ = 0. Ours: the largest ε from which on the intervals of SRauth and "
        "DRauth both reach down to the answer that is the most frequent author. Not to "
        "be told from chance is not to be at chance, least of all with 18 snippets. "
        "The paper: its smallest ε. Chance: of the most frequent author and topic. "
        f"Better than chance: whose interval lies above it. {INTERVALS} The strongest "
        "is chosen in hindsight, and anew in each resample.",
    )


def where_hidden(marks: Marks, problem: str, table: str) -> float | None:
    """The largest ε from which on neither of the two is told from chance."""
    level = chance(problem)["author"]
    hidden = None
    for epsilon in sorted(EPSILONS[table]):
        lows = [
            interval(problem, marks.of(problem, table, epsilon, 0.0, name)).low
            for name in ("SRauth", "DRauth")
        ]
        if max(lows) > level:
            break
        hidden = epsilon
    return hidden


def adversaries(marks: Marks) -> None:
    """All adversaries at some ε, on the problem with most snippets."""
    problem, rows = "40 authors", []
    columns = {
        GOOGLE: (0.0, 30.0, 25.0, 20.0, 15.0),
        W2V: (0.0, 25.0, 20.0, 15.0, 10.0),
    }
    pairs = list(zip(*columns.values(), strict=True))
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
    for table in (GOOGLE, W2V):
        for name, text in what.items():
            row: dict[str, object] = {
                "vectors": SHORT[table],
                "wants": "topic" if "topic" in name else "author",
                "adversary": text,
            }
            for epsilon, pair in zip(columns[table], pairs, strict=True):
                label = "ε {:g} / {:g}".format(*pair) if epsilon else "none"
                row[label] = _shown(marks, problem, table, epsilon, 0.0, name)
            rows.append(row)
    record(
        "obfuscation_adversaries",
        rows,
        title="Stronger adversaries than the paper's",
        note=f"40 authors, 168 snippets, λ = 0; ε for Google News / for news and "
        f"fiction, about equal noise. {INTERVALS} Informed: the adversary puts its "
        "texts through the mechanism, with ε and λ known and noise of its own: the "
        "known texts once for each release, the 464 texts of others once for all.",
    )


def trade(marks: Marks) -> None:
    """ε × λ on the problem with most snippets; then author at equal topic."""
    problem, rows = "40 authors", []
    for table in (GOOGLE, W2V):
        for epsilon in (0.0, *EPSILONS[table]):
            for lam in LAMS if epsilon else (0.0,):
                at = problem, table, epsilon, lam
                name, _, author = strongest(marks, *at)
                best, _, topic = strongest(marks, *at, TOPIC)
                rows.append(
                    {
                        "vectors": SHORT[table],
                        "ε": _none_or(epsilon),
                        "λ": lam if epsilon else None,
                        "words changed": marks.changed(*at),
                        "SRauth": float(marks.of(*at, "SRauth").mean()),
                        "DRauth": float(marks.of(*at, "DRauth").mean()),
                        "strongest on authors": str(author),
                        "which": name,
                        "SRtopic": float(marks.of(*at, "SRtopic").mean()),
                        "best on topics": str(topic),
                        "which topic": best,
                    }
                )
    record(
        "obfuscation_trade",
        rows,
        title="Author and topic over ε and λ",
        note=f"40 authors, 168 snippets. {INTERVALS} The strongest is chosen in "
        f"hindsight among {len(AUTHOR)} (topics: {len(TOPIC)}), and anew in each "
        "resample, so it is a bit high.",
    )
    equal(marks)


def equal(marks: Marks) -> None:
    """The author at equal topic accuracy, and what λ > 0 changes of it."""
    problem, rows = "40 authors", []
    for table in (GOOGLE, W2V):
        for level in (0.9, 0.8, 0.7):
            row: dict[str, object] = {"vectors": SHORT[table], "topic accuracy": level}
            shares = {
                lam: at_equal_topic(marks, problem, table, lam, level) for lam in LAMS
            }
            for lam in LAMS:
                row[f"λ = {lam:g}"] = _level(within(shares[lam]))
            for lam in LAMS[1:]:
                # the same authors are drawn for both
                less = within(shares[lam] - shares[0.0])
                row[f"λ = {lam:g} less λ = 0"] = _level(less, sign="+")
            rows.append(row)
    record(
        "obfuscation_lambda",
        rows,
        title="What the strongest adversary gets at equal topic accuracy",
        note="Share of authors found where the best topic classifier falls to the "
        "level given, on straight lines between the ε of the grid; 95 % percentile "
        "intervals of a bootstrap over authors, with all snippets of each: the best "
        "classifier and the strongest adversary are chosen anew in each resample, at "
        "each ε. No interval where more than 1 in 20 resamples do not cross the level.",
    )


def _level(share: Share | None, sign: str = "") -> str | None:
    if share is None:
        return None
    if np.isnan(share.low):
        return f"{share.share:{sign}.2f}"
    return bracketed(*share, sign=sign)
