"""What there is to measure, piece by piece, and the rows of a corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from experiments.frontier import corpora, measure
from experiments.frontier.corpora import Split
from experiments.store import Cell, Store
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline

from skdptext import DPDocumentReplacer

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
BOOTSTRAP = 1000
# The encoder, K and start of k-means of a division, chosen by `compare_groupings` on
# public text, so that labels count alike, or documents.
BY_LABELS, BY_DOCUMENTS = "chosen by public labels", "chosen by public documents"
CHOSEN_BY = {BY_LABELS: "balanced_accuracy", BY_DOCUMENTS: "accuracy"}
CHOICE: dict[str, Any] = {"epsilon": 4.0, "n_groups": GROUPS, "cv": 3}
ALLOWED = 0.10
DEFAULT = "default"  # groups of the constructor, and as many
# The encoder of each corpus that is measured with all numbers of groups; the others are
# compared with it at one number, on fewer divisions.
FIRST = "correspondence analysis 10"
# It was settled on divisions that are none of these, see tried.py.
BEST = {"fan fiction": measure.NAMES, "tweets": "mean vectors"}
SOURCE = hashlib.blake2b(
    b"".join(Path(module.__file__).read_bytes() for module in (corpora, measure)),
    digest_size=12,
).hexdigest()
AT = {"fan fiction": 12, "docstrings": 12, "SMS": 4, "tweets": 4}


def corpus_rows(store: Store, name: str, *, quick: bool) -> list[dict[str, Any]]:
    """All rows of a corpus."""
    rows: list[dict[str, Any]] = []
    author = name == "fan fiction"
    divisions = range(1 if quick else DIVISIONS)
    few = range(1 if quick else WORD_DIVISIONS)

    def add(release: str, setting: dict[str, Any], of: Any, seeds: Any) -> None:
        cells = [store.get(of(seed)) for seed in seeds]
        rows.append({"release": release, **setting, **summary(cells)})

    add("clear", blank(), lambda s: words_cell(name, "clear", 0, s), few)
    for epsilon in WORDS[name][1:4:2] if quick else WORDS[name]:
        add(
            "words",
            blank(epsilon=epsilon),
            lambda s, e=epsilon: words_cell(name, "words", e, s),
            few,
        )
    kinds: list[tuple[str, str, str | None]] = [("public labels", "own", None)]
    encoders = list(measure.encoders(name))
    kinds += [
        ("other fandoms", "elsewhere", e) if author else ("no labels", "own", e)
        for e in (*encoders, DEFAULT, *CHOSEN_BY)
    ]
    if name == "docstrings":
        kinds += [("other topics", "held out", BY_LABELS)]
    for groups, division, encoder in kinds[: 2 if quick else None]:
        chosen = encoder is None or encoder in CHOSEN_BY
        first = encoder == BEST.get(name, FIRST)
        scale = GROUPS if first and not quick and not author else (AT[name],)
        seeds = divisions if chosen or first or encoder == DEFAULT else few
        for n_groups in (0,) if chosen else scale:
            cells = {
                seed: store.get(replaced_cell(name, division, encoder, n_groups, seed))
                for seed in seeds
            }
            for i, epsilon in enumerate(EPSILONS):
                drawn = [cells[seed][i] for seed in seeds]
                rows.append(
                    {
                        "release": "documents replaced",
                        **blank(
                            epsilon=epsilon,
                            groups=groups,
                            encoder=encoder or "classifier",
                            n_groups=_sizes(drawn),
                        ),
                        **summary(drawn),
                    }
                )
    return rows


def _sizes(cells: list[dict[str, Any]]) -> Any:
    """K, or its range over the divisions."""
    each = sorted({cell["n_groups"] for cell in cells})
    return each[0] if len(each) == 1 else f"{each[0]} to {each[-1]}"


def blank(**given: Any) -> dict[str, Any]:
    return {"epsilon": None, "groups": "", "encoder": "", "n_groups": None} | given


def cell(*what: object, compute: Callable[[], Any]) -> Cell:
    """A change of the corpora or of the measures makes it anew."""
    return Cell.named(*what, version=SOURCE, compute=compute)


def split_of(name: str, division: str, seed: int) -> Any:
    if division == "held out":
        return corpora.held_out(name, seed)
    if division == "elsewhere":
        return corpora.stories_elsewhere(seed)
    return corpora.split(name, seed)


def words_cell(name: str, kind: str, epsilon: float, seed: int) -> Cell:
    def make() -> dict[str, Any]:
        split, rng = corpora.split(name, seed), np.random.default_rng([seed, 1])
        if kind == "clear":
            classifiers = measure.classifiers(name)
            best = measure.chosen(split, classifiers, 1.0, **CHOICE)
            return resampled(measure.clear(split, best.grouper), split)
        return resampled(measure.by_words(name, split, epsilon, rng), split)

    return cell("words", name, kind, epsilon, seed, compute=make)


def replaced_cell(
    name: str, division: str, encoder: str | None, n_groups: int, seed: int
) -> Cell:
    """Of all ε: the groups are the same."""

    def make() -> list[dict[str, Any]]:
        split = split_of(name, division, seed)
        make_grouper = partial(grouper_of, name, encoder, n_groups)
        grouper, k = make_grouper(split)
        groups = measure.grouped(split, grouper, by_labels=encoder is None)
        each = []
        for epsilon in EPSILONS:
            rng = np.random.default_rng([seed, 2])
            result = measure.replaced(split, groups, k, epsilon, rng)
            each.append(resampled(result, split) | {"n_groups": k})
        if division == "elsewhere" and (encoder in CHOSEN_BY or encoder == BEST[name]):
            nine = of_nine(make_grouper, seed)
            return [one | authors for one, authors in zip(each, nine, strict=True)]
        return each

    return cell("replaced", name, division, encoder, n_groups, seed, compute=make)


def grouper_of(
    name: str, encoder: str | None, n_groups: int, split: Split
) -> tuple[Any, int]:
    """Of an encoder and so many groups, or what public text says keeps most."""
    if encoder == DEFAULT:
        replacer = DPDocumentReplacer(split.public, n_groups=n_groups).fit()
        return clone(replacer.grouper_), n_groups
    if encoder is not None and encoder not in CHOSEN_BY:
        clusterer = KMeans(n_groups, n_init=10, random_state=0)
        return make_pipeline(measure.encoders(name)[encoder], clusterer), n_groups
    if encoder is None:
        labels = split.public_topic
        replacer = DPDocumentReplacer(split.public, public_labels=labels).fit()
        return clone(replacer.grouper_), replacer.n_groups_
    options = CHOICE | {"scoring": CHOSEN_BY[encoder]}
    best = measure.chosen(split, measure.encoders(name), ALLOWED, **options)
    print(f"{name}: {best.name}, K = {best.n_groups}", flush=True)
    return best.grouper, best.n_groups


def of_nine(
    make_grouper: Callable[[Split], tuple[Any, int]], seed: int
) -> list[dict[str, Any]]:
    """Authors found among all nine of a fandom, by groups that none of them wrote.

    The topic accuracy of these groups cannot be known: they differ by fandom.
    """
    right: list[list[np.ndarray]] = [[] for _ in EPSILONS]
    authors, stories = [], []
    for fandom in corpora.FANDOMS:
        split = corpora.stories_elsewhere(seed, of_problem=fandom)
        grouper, k = make_grouper(split)
        groups = measure.grouped(split, grouper, by_labels=False)
        authors.append(split.author)
        stories.append([f"{fandom} {story}" for story in split.story])
        for i, epsilon in enumerate(EPSILONS):
            rng = np.random.default_rng([seed, 3])
            result = measure.replaced(split, groups, k, epsilon, rng)
            right[i].append(result["author"])
    names = np.concatenate(authors)
    story = np.concatenate(stories)
    nine = Split([], names, [""] * len(names), names, [], names, story=story)
    return [
        resampled({"author": np.concatenate(values)}, nine) | {"chance": 1 / 9}
        for values in right
    ]


def resampled(result: dict[str, Any], split: Any) -> dict[str, Any]:
    """Means, and draws of writers and their stories, or documents, in a few numbers."""
    rng = np.random.default_rng(0)
    means: dict[str, Any] = {}
    for what, values in result.items():
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
                label = np.zeros(len(values))
            mean = measure.by_topic(values, label)
            draws = measure.bootstrapped(values, label, split, 100)
        means[what] = {"mean": mean, "draws": [round(x, 4) for x in draws]}
    if split.author is not None:
        topics = np.unique(split.topic)
        authors = [len(np.unique(split.author[split.topic == t])) for t in topics]
        means["chance"] = float(np.mean([1 / n for n in authors]))
    return means


def summary(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over divisions, with intervals over divisions and what is drawn in one."""
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
