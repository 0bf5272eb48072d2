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
KEPT_AT, KEPT_SIZES, SPLITS, DRAWS = 4.0, (1, 5, 10), 3, 100


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
    return np.array([np.bincount(r, minlength=n_groups).argmax() for r in groups])


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
                    "at most": _up(min(1.0, of_k**k / N_CANDIDATES)),
                    "found, of any topics": round(float(np.mean(mixed)), 3),
                    "found, of one topic each": round(float(np.mean(single)), 3),
                    "authors=: ε of a person": epsilon,
                    "at most ": _up(of_k / N_CANDIDATES),
                    "found ": round(float(np.mean(once)), 3),
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
    split: corpora.Split, k: int, rng: np.random.Generator
) -> Iterator[dict[str, np.ndarray]]:
    """Per author, what is right, in releases of k documents of each."""
    topics = np.unique(split.public_topic)
    _, groups, known = grouped(split, labels_grouper(), by_labels=True)
    n_groups, P = len(topics), response(len(topics), KEPT_AT)
    topic = np.searchsorted(topics, split.topic)
    for _ in range(DRAWS):
        names, rows = persons_of(split, k, rng)
        of = np.array([np.bincount(known[split.known_author == n], minlength=n_groups)
                       for n in names])  # fmt: skip
        profile = (of + 1 / n_groups) / (of.sum(axis=1, keepdims=True) + 1)
        theirs, main = groups[rows], main_group(groups[rows], n_groups)
        truth = main_group(topic[rows], n_groups)
        # whom the adversary takes for possible: those of the same topic, or all
        rivals = np.ones((len(names), len(names)), bool)
        if split.elsewhere:
            rivals = truth[:, None] == truth[None]
        noisy = drawn(P, theirs, rng)
        logs = np.log(profile @ P)[:, noisy].sum(axis=2).T
        mains = np.array([
            np.bincount(main_group(rng.choice(n_groups, (400, k), p=shares), n_groups),
                        minlength=n_groups) / 400
            for shares in profile
        ])  # fmt: skip
        once = drawn(P, main, rng)
        log_once = np.log(mains @ P + 1e-300)[:, once].T
        yield {
            "topic, one by one": (P[theirs, topic[rows]]).mean(axis=1),
            "topic, authors=": P[main[:, None], topic[rows]].mean(axis=1),
            "main topic, one by one": main_group(noisy, n_groups) == truth,
            "main topic, authors=": P[main, truth],
            "found, one by one": one_by_one(theirs, P, rng),
            "found, authors=": likeliest(np.log(P)[main][:, once].T),
            "named, one by one": likeliest(np.where(rivals, logs, -np.inf)),
            "named, authors=": likeliest(np.where(rivals, log_once, -np.inf)),
            "chance": 1 / rivals.sum(axis=1),
        }


def kept(_: object) -> None:
    """Topics told and authors named, one by one and by authors."""
    rows: list[dict[str, object]] = []
    for corpus in ("fan fiction", "docstrings"):
        for k in KEPT_SIZES:
            rng = np.random.default_rng(k)
            totals: dict[str, list[float]] = {}
            sizes = []
            for seed in range(SPLITS):
                fan_fiction = corpus == "fan fiction"
                split = corpora.split(corpus, seed) if fan_fiction else docstrings(seed)
                for values in draws(split, k, rng):
                    sizes.append(len(values["chance"]))
                    for name, of_authors in values.items():
                        totals.setdefault(name, []).append(float(of_authors.mean()))
            row = {"text": corpus, "documents": k, "authors": round(np.mean(sizes))}
            row |= {name: round(float(np.mean(v)), 3) for name, v in totals.items()}
            rows.append(row)
            print(row, flush=True)
    record(
        "replacement_authors",
        rows,
        title="Several documents of one author: topics kept and authors named, ε = 4",
        note="Groups by public labels, the topics. Means over 3 divisions and 100 "
        "releases of k documents of each author who has as many. topic: of a document, "
        "is its stand-in of it. main topic: most of an author's documents are of it, "
        "and most of the stand-ins. found: among all authors, by an adversary who "
        "holds the documents themselves. named: by one who has other documents of each "
        "author, in fan fiction among the authors of the same topic; chance is a blind "
        "guess of that. one by one: each document answers, k ε for an author; "
        "authors=: each author answers once, ε.",
    )


def main() -> None:
    measuring.options(__doc__, {"found": found, "kept": kept})


if __name__ == "__main__":
    main()
