"""Several documents of one person: what is found, and what is kept.

Each document answers by itself, so that a person's documents cost k ε; or each person
answers once, with the group that most of the documents are in (``authors=``).

``found``: of 100 persons with k documents each, how many the best adversary finds, who
holds all of them. ``kept``: fan fiction (nine authors a topic) and docstrings
(libraries), groups by public labels: topics that readers are told, and authors that are
found by their own documents, or named by other documents of theirs::

    python benchmarks/bench_persons.py [found] [kept]
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import measuring
import numpy as np
from bench_replacement import corpora as corpora_of_texts
from experiments.frontier import corpora
from experiments.frontier.measure import grouped, labels_grouper, response
from experiments.texts import labelled
from results import record

from skdptext import DPDocumentReplacer

N_CANDIDATES, N_SETS = 100, 50
N_GROUPS, EPSILONS, SIZES = 8, (1.0, 2.0, 4.0), (1, 2, 5, 10, 20)
KEPT_AT, KEPT_SIZES, SPLITS, DRAWS = 4.0, (1, 5, 10), 3, 50


def drawn(P: np.ndarray, groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A noisy group for each group."""
    return (rng.random((*groups.shape, 1)) > P[groups].cumsum(axis=-1)).sum(axis=-1)


def likeliest(logs: np.ndarray) -> np.ndarray:
    """How often release i is taken for candidate i, ties shared."""
    best = logs >= logs.max(axis=1, keepdims=True) - 1e-9
    return np.diag(best) / best.sum(axis=1)


def one_by_one(groups: np.ndarray, P: np.ndarray, rng: np.random.Generator) -> Any:
    """Who of the persons in the rows is found, if each document answers."""
    noisy = drawn(P, groups, rng)
    own, other = np.log(P[0, 0]), np.log(P[0, 1])
    # places where the answer of i is the group of j
    same = (noisy[:, None, :] == groups[None]).sum(axis=2)
    return likeliest(same * own + (groups.shape[1] - same) * other)


def main_group(groups: np.ndarray, n_groups: int) -> np.ndarray:
    """The most frequent of each row; of equal ones the first."""
    return (groups[..., None] == np.arange(n_groups)).sum(axis=-2).argmax(axis=-1)


def found(_: object) -> None:
    """Persons found among 100, by k and ε."""
    texts = corpora_of_texts()["tweets"]
    rng = np.random.default_rng(0)
    texts = [texts[i] for i in rng.permutation(len(texts))]
    half = len(texts) // 2
    replacer = DPDocumentReplacer(texts[:half], n_groups=N_GROUPS, output="group")
    private = replacer.fit().groups_of(texts[half:])
    rows: list[dict[str, object]] = []
    for epsilon in EPSILONS:
        P = response(N_GROUPS, epsilon)
        of_k = P[0, 0] * N_GROUPS
        for k in SIZES:
            mixed, single, once = [], [], []
            for _ in range(N_SETS):
                persons = rng.choice(private, (N_CANDIDATES, k))
                mixed.append(one_by_one(persons, P, rng).mean())
                of_one = np.repeat(persons[:, :1], k, axis=1)
                single.append(one_by_one(of_one, P, rng).mean())
                main = main_group(persons, N_GROUPS)
                once.append(P[main].max(axis=0).sum() / N_CANDIDATES)
            rows.append(
                {
                    "documents": k,
                    "ε": epsilon,
                    "one by one: ε of a person": k * epsilon,
                    "found at most": _up(min(1.0, of_k**k / N_CANDIDATES)),
                    "found, any topics": round(float(np.mean(mixed)), 3),
                    "found, one topic": round(float(np.mean(single)), 3),
                    "authors=: ε of a person": epsilon,
                    "authors=, found at most": _up(of_k / N_CANDIDATES),
                    "authors=, found, any topics": round(float(np.mean(once)), 3),
                }
            )
            print(rows[-1], flush=True)
    record(
        "replacement_persons",
        rows,
        title="Persons found among 100 with as many documents, by k and ε",
        note="The adversary knows the mechanism and holds all documents of 100 "
        "persons; ties are shared. Tweets, the public half in 8 groups by the default "
        "grouper; persons of any topics have k tweets drawn at random, those of one "
        "topic k of one group. One by one: means over 50 sets, each released once, "
        "and at most (K p)^k / 100, for every adversary. authors=: each person "
        "answers once; found exactly, without a draw, and at most K p / 100.",
    )


def _up(share: float) -> float:
    return math.ceil(1e4 * share) / 1e4


def docstrings(seed: int) -> corpora.Split:
    """Docstrings of libraries; the public half is what is known of these."""
    corpus = labelled("docstrings")
    kept = corpora.without_near_copies(corpus.data)
    order = np.random.default_rng(seed).permutation(kept)
    public, protected = np.array_split(order, 2)
    topics = np.array(corpus.target_names)[corpus.target]
    author = np.array(corpus.author)
    texts = [[corpus.data[i] for i in part] for part in (public, protected)]
    return corpora.Split(
        texts[0], topics[public], texts[1], topics[protected], [], author[protected],
        texts[0], author[public],
    )  # fmt: skip


def persons_of(split: corpora.Split, k: int, rng: np.random.Generator) -> Any:
    """Authors with k protected documents and some known ones, and k rows of each."""
    assert split.author is not None
    assert split.known_author is not None
    names = [
        name
        for name in np.unique(split.author)
        if (split.author == name).sum() >= k and (split.known_author == name).any()
    ]
    rows = [rng.choice(np.flatnonzero(split.author == n), k, False) for n in names]
    return names, np.array(rows)


def draws(
    split: corpora.Split, groups: Any, k: int, rng: np.random.Generator
) -> Iterator[dict[str, dict[str, np.ndarray]]]:
    """Per author, what is right, in releases of k documents of each."""
    topics = np.unique(split.public_topic)
    _, own, known = groups
    n_groups, P = len(topics), response(len(topics), KEPT_AT)
    topic = np.searchsorted(topics, split.topic)
    names, _ = persons_of(split, k, rng)
    of = [np.bincount(known[split.known_author == n], minlength=n_groups)
          for n in names]  # fmt: skip
    profile = np.array(of) + 1 / n_groups
    profile /= profile.sum(axis=1, keepdims=True)
    # of k documents of such an author, how often each group is the most frequent
    sampled = rng.random((len(names), 400, k, 1)) > profile.cumsum(1)[:, None, None]
    main_of = main_group(sampled.sum(axis=-1).clip(max=n_groups - 1), n_groups)
    mains = (main_of[..., None] == np.arange(n_groups)).mean(axis=1) + 1e-9
    for _ in range(DRAWS):
        _, rows = persons_of(split, k, rng)
        theirs, main = own[rows], main_group(own[rows], n_groups)
        truth = main_group(topic[rows], n_groups)
        # of whom the adversary knows the topic that they write about
        alike = truth[:, None] == truth[None]
        noisy, once = drawn(P, theirs, rng), drawn(P, main, rng)
        logs = np.log(profile @ P)[:, noisy].sum(axis=2).T
        log_once = np.log(mains @ P)[:, once].T
        yield {
            "one by one": {
                "topic": P[theirs, topic[rows]].mean(axis=1),
                "main topic": main_group(noisy, n_groups) == truth,
                "found": one_by_one(theirs, P, rng),
                "named": likeliest(logs),
                "named, topic known": likeliest(np.where(alike, logs, -np.inf)),
            },
            "authors=": {
                "topic": P[main[:, None], topic[rows]].mean(axis=1),
                "main topic": P[main, truth],
                "found": likeliest(np.log(P)[main][:, once].T),
                "named": likeliest(log_once),
                "named, topic known": likeliest(np.where(alike, log_once, -np.inf)),
            },
            "chance": {"named": 1 / np.full(len(names), len(names)),
                       "named, topic known": 1 / alike.sum(axis=1)},
        }  # fmt: skip


def divided(corpus: str, seed: int) -> tuple[corpora.Split, Any]:
    """A division, and the groups of its documents."""
    split = docstrings(seed) if corpus == "docstrings" else corpora.split(corpus, seed)
    return split, grouped(split, labels_grouper(), by_labels=True)


def kept(_: object) -> None:
    """Topics told and authors named, one by one and by authors."""
    rows: list[dict[str, object]] = []
    for corpus in ("fan fiction", "docstrings"):
        divisions = [divided(corpus, seed) for seed in range(SPLITS)]
        for k in KEPT_SIZES:
            rng = np.random.default_rng(k)
            totals: dict[tuple[str, str], list[float]] = {}
            for split, groups in divisions:
                for values in draws(split, groups, k, rng):
                    for way, scores in values.items():
                        for name, of_authors in scores.items():
                            known = totals.setdefault((way, name), [])
                            known.append(float(of_authors.mean()))
            ways = {"one by one": k * KEPT_AT, "authors=": KEPT_AT, "chance": None}
            for way, epsilon in ways.items():
                row = {"text": corpus, "documents": k, "way": way, "ε": epsilon}
                for (of, name), each in totals.items():
                    if of == way:
                        row[name] = round(float(np.mean(each)), 3)
                rows.append(row)
                print(row, flush=True)
    record(
        "replacement_authors",
        rows,
        title="Several documents of one author: topics kept and authors named, ε = 4",
        note="Groups by public labels, the topics. Means over 3 divisions and 50 "
        "releases of k documents of each author who has as many: 41, 35 and 25 or so "
        "of fan fiction. topic: of a document, is its stand-in of it. main topic: most "
        "of an author's documents are of it, and most of the stand-ins. found: among "
        "all authors, by an adversary who holds the documents themselves. named: by "
        "one who has other documents of each author, among all authors, or among those "
        "of whom most documents are of the same topic. chance: a blind guess. one by "
        "one: each document answers, k ε for an author; authors=: each author answers "
        "once, ε.",
    )


def main() -> None:
    measuring.options(__doc__, {"found": found, "kept": kept})


if __name__ == "__main__":
    main()
