"""Topic accuracy against documents and authors found, for words and for documents.

For fan fiction, docstrings, SMS and tweets: releases word by word with
`Exponential`, answers with topics, and documents replaced by public ones. Tables:
``benchmarks/results/frontier_*.json``. Stopped and called again, it goes on where it
was. ``--quick`` takes one division and few settings, and writes nothing.

    python benchmarks/frontier/run.py
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]
import corpora  # noqa: E402
import measure  # noqa: E402
from corpora import Split  # noqa: E402
from results import record  # noqa: E402

KEPT = Path(__file__).resolve().parents[2] / "build" / "frontier"
DIVISIONS = 5  # for replaced documents
WORD_DIVISIONS = 2  # and for encoders that are only compared
EPSILONS = (1.0, 2.0, 3.0, 4.0, 6.0)
GROUPS = (4, 8, 12)
WORDS = {
    "fan fiction": (1.3, 1.7, 2.0, 2.5, 3.0),
    "docstrings": (1.0, 1.5, 2.0, 2.5, 3.5),
    "SMS": (1.0, 1.5, 2.0, 3.0),
    "tweets": (1.0, 1.5, 2.0, 3.0),
}
TOPICS = (0.7, 1.5, 3.0, 6.0)
TOPICS_OF = {"fan fiction": (1.5, 3.0, 6.0, 12.0)}
BOOTSTRAP = 1000
# The encoder and K of a division, chosen by `compare_groupings` on public text.
BY_LABELS = "chosen by public labels"
CHOICE = {"epsilon": 4.0, "n_groups": (4, 6, 8, 12), "cv": 3}
ALLOWED = 0.10
# The encoder of each corpus that is measured with all numbers of groups; the others are
# compared with it at one number, on fewer divisions.
FIRST = "correspondence analysis 10"
CHOSEN = {"tweets": "mean vectors"}
AT = {"fan fiction": 12, "docstrings": 12, "SMS": 4, "tweets": 4}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=sorted(corpora.FILES))
    options = parser.parse_args()
    chosen = [options.only] if options.only else corpora.names()
    for name in chosen:
        start = time.process_time()
        rows = corpus_rows(name, quick=options.quick)
        spent = time.process_time() - start
        if options.quick:
            for row in rows:
                print(row)
            continue
        record(
            f"frontier_{name.replace(' ', '_').lower()}",
            rows,
            title=f"Which release protects: {name}",
            note=NOTE + f"\n\nCPU seconds, as far as not kept: {spent:.0f}.",
        )


NOTE = (
    "Topic: accuracy of a classifier that knows the mechanism and learned from "
    "public documents, each topic with the same weight. Documents: the share of the "
    "documents whose topic it names, where it also knows how frequent the topics are. "
    "Found: of 100 protected "
    "documents, the share that an adversary who knows the mechanism links to its "
    "release. Author: share found among the protected authors of the topic, which is "
    "known. Near-copies are "
    "taken out; public and protected documents are apart. Intervals of 95 %: bootstrap "
    "over divisions, documents and, for words, noise."
)


def corpus_rows(name: str, *, quick: bool) -> list[dict[str, Any]]:
    """All rows of a corpus."""
    rows: list[dict[str, Any]] = []
    author = name == "fan fiction"
    divisions = range(1 if quick else DIVISIONS)
    few = range(1 if quick else WORD_DIVISIONS)

    def add(release: str, setting: dict[str, Any], of: Any, seeds: Any) -> None:
        cells = [of(seed) for seed in seeds]
        rows.append({"release": release, **setting, **summary(cells)})

    add("clear", blank(), lambda s: words_cell(name, "clear", 0, s), few)
    for kind, scale in (
        ("words", WORDS[name]),
        ("topics", TOPICS_OF.get(name, TOPICS)),
    ):
        for epsilon in scale[1:4:2] if quick else scale:
            add(
                "words" if kind == "words" else "words answer topics",
                blank(epsilon=epsilon),
                lambda s, k=kind, e=epsilon: words_cell(name, k, e, s),
                few,
            )
    kinds: list[tuple[str, str, str | None]] = [("public labels", "own", None)]
    encoders = list(measure.encoders(name))
    kinds += [
        ("other fandoms", "elsewhere", e) if author else ("no labels", "own", e)
        for e in (*encoders, BY_LABELS)
    ]
    if name == "docstrings":
        kinds += [("other topics", "held out", BY_LABELS)]
    for groups, division, encoder in kinds[: 2 if quick else None]:
        on_public = encoder == BY_LABELS
        chosen = encoder in (None, CHOSEN.get(name, FIRST))
        seeds = divisions if chosen or on_public else few
        if division != "own" and on_public:
            # for stories, groups are chosen six times: the authors of each fandom apart
            seeds = few
        scale = GROUPS if chosen and not quick and not author else (AT[name],)
        for n_groups in (0,) if encoder is None or on_public else scale:
            cells = {
                seed: replaced_cell(name, division, encoder, n_groups, seed)
                for seed in seeds
            }
            for i, epsilon in enumerate(EPSILONS):
                some = [cells[seed][i] for seed in seeds]
                rows.append(
                    {
                        "release": "documents replaced",
                        **blank(
                            epsilon=epsilon,
                            groups=groups,
                            encoder=encoder or "classifier",
                            n_groups=_sizes(some),
                        ),
                        **summary(some),
                    }
                )
    return rows


def _sizes(cells: list[dict[str, Any]]) -> Any:
    """K, or its range over the divisions."""
    each = sorted({cell["n_groups"] for cell in cells})
    return each[0] if len(each) == 1 else f"{each[0]} to {each[-1]}"


def blank(**given: Any) -> dict[str, Any]:
    return {"epsilon": None, "groups": "", "encoder": "", "n_groups": None} | given


def split_of(name: str, division: str, seed: int) -> Any:
    if division == "held out":
        return corpora.held_out(name, seed)
    if division == "elsewhere":
        return corpora.stories_elsewhere(seed)
    return corpora.split(name, seed)


def words_cell(name: str, kind: str, epsilon: float, seed: int) -> dict[str, Any]:
    def make() -> dict[str, Any]:
        split, rng = corpora.split(name, seed), np.random.default_rng([seed, 1])
        if kind == "clear":
            classifiers = measure.classifiers(name)
            by, _ = measure.chosen(split, classifiers, 1.0, **CHOICE)
            return cell(measure.clear(split, classifiers[by]), split)
        return cell(measure.by_words(name, split, epsilon, kind, rng), split)

    return kept(["words", name, kind, epsilon, seed], make)


def replaced_cell(
    name: str, division: str, encoder: str | None, n_groups: int, seed: int
) -> list[dict[str, Any]]:
    """A cell for each ε: the groups are the same."""

    def make() -> list[dict[str, Any]]:
        split = split_of(name, division, seed)
        size, found_author = n_groups, division == "elsewhere" and encoder == BY_LABELS
        if encoder is None:
            options, allowed = measure.classifiers(name), 1.0
        else:
            options, allowed = measure.encoders(name), ALLOWED
        by = encoder
        if encoder in (None, BY_LABELS):
            by, size = measure.chosen(split, options, allowed, **CHOICE)
            print(f"{name}, division {seed}: {by}, K = {size}", flush=True)
        groups = measure.grouped(split, options[by], size)
        k = size
        found = []
        for epsilon in EPSILONS:
            rng = np.random.default_rng([seed, 2])
            result = measure.replaced(split, groups, k, epsilon, rng)
            found.append(cell(result, split) | {"n_groups": k})
        if found_author:
            for one, nine in zip(found, of_nine(options, seed), strict=True):
                one |= nine
        return found

    return kept(["replaced", name, division, encoder, n_groups, seed], make)


def of_nine(encoders: dict[str, Any], seed: int) -> list[dict[str, Any]]:
    """Authors found among all nine of a fandom, by groups that none of them wrote.

    The topic accuracy of these groups cannot be known: they differ by fandom.
    """
    told: list[list[np.ndarray]] = [[] for _ in EPSILONS]
    authors = []
    for fandom in corpora.FANDOMS:
        split = corpora.stories_elsewhere(seed, of_problem=fandom)
        by, n_groups = measure.chosen(split, encoders, ALLOWED, **CHOICE)
        groups = measure.grouped(split, encoders[by], n_groups)
        authors.append(split.author)
        for i, epsilon in enumerate(EPSILONS):
            rng = np.random.default_rng([seed, 3])
            result = measure.replaced(split, groups, n_groups, epsilon, rng)
            told[i].append(result["author"])
    names = np.concatenate(authors)
    found = []
    for values in told:
        author = {"author": np.concatenate(values)}
        nine = Split([], names, [""] * len(names), names, [], names)
        found.append(cell(author, nine))
        found[-1]["chance"] = 1 / 9
    return found


def cell(result: dict[str, Any], split: Any) -> dict[str, Any]:
    """Means, and a bootstrap over documents, in a few numbers."""
    rng = np.random.default_rng(0)
    n = len(split.protected)
    found: dict[str, Any] = {}
    for what, values in result.items():
        draws = []
        if what == "found":
            mean = float(values.mean())
            draws = [mean] * 100
            if len(values) > 1:
                picks = rng.integers(0, len(values), (100, len(values)))
                draws = values[picks].mean(axis=1).tolist()
        else:
            # topics count alike, and so do authors
            label = split.author if what == "author" else split.topic
            if what == "documents":
                label = np.zeros(n)
            mean = measure.by_topic(values, label)
            for _ in range(100):
                rows = rng.integers(0, n, n)
                draws.append(measure.by_topic(values[rows], label[rows]))
        found[what] = {"mean": mean, "draws": [round(x, 4) for x in draws]}
    if split.author is not None:
        found["chance"] = float(
            np.mean(
                [
                    1 / len(np.unique(split.author[split.topic == t]))
                    for t in np.unique(split.topic)
                ]
            )
        )
    return found


def summary(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over divisions, with intervals over divisions and documents."""
    rng = np.random.default_rng(0)
    row: dict[str, Any] = {}
    for what in ("topic", "documents", "found", "author"):
        if what not in cells[0]:
            continue
        means = [c[what]["mean"] for c in cells]
        picks = rng.integers(0, len(cells), (BOOTSTRAP, len(cells)))
        draws = np.array([c[what]["draws"] for c in cells])
        which = rng.integers(0, draws.shape[1], picks.shape)
        low, high = np.quantile(draws[picks, which].mean(axis=1), [0.025, 0.975])
        row[what] = round(float(np.mean(means)), 3)
        row[f"{what} low"] = round(min(float(low), row[what]), 3)
        row[f"{what} high"] = round(max(float(high), row[what]), 3)
    if "chance" in cells[0]:
        row["author chance"] = round(float(np.mean([c["chance"] for c in cells])), 3)
    return row


def kept(key: list[Any], make: Any) -> Any:
    """A cell, made once; a change of the measures makes it anew."""
    source = b"".join(
        Path(__file__).with_name(f"{part}.py").read_bytes()
        for part in ("corpora", "measure")
    )
    name = hashlib.blake2b(json.dumps(key).encode() + source, digest_size=12)
    path = KEPT / f"{name.hexdigest()}.json"
    if path.exists():
        return json.loads(path.read_text())
    found = make()
    KEPT.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(".part")
    aside.write_text(json.dumps(found))
    aside.replace(path)
    return found


if __name__ == "__main__":
    main()
