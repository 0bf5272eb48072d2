"""What names outside the vocabulary tell of their author: `oov="keep"` against "drop".

One command, about two minutes on one core::

    python benchmarks/bench_oov.py [--seeds 2]

The 2019 paper suspects that words unknown to the embedding, often names, gave its
authors away, since they passed through unchanged. Here the authors of fan fiction
(``pan19_fanfiction_en.jsonl.gz``) are looked for by the paper's adversary in releases
that keep the unknown words and in releases that drop them, with known text from the
same fandom, as in the paper, and from other fandoms.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable

import measuring
import numpy as np
from experiments.obfuscation.clusters import NOTE, interval
from experiments.obfuscation.corpora import FANDOMS, fan_fiction
from real_data import DATA, GOOGLE, STORIES, absent, read_stories
from results import record

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.attacks import KoppelAuthorClassifier
from skdptext.preprocessing import DocumentPreparer

EPSILONS = (30.0, 20.0, 10.0, 5.0)
N_RAW = 500  # words of a snippet in other fandoms, before any is left out
N_TEXTS = 60  # snippets of each problem there

Problem = tuple[list[str], np.ndarray, list[str], np.ndarray]


def same_fandom() -> list[Problem]:
    """The problem of `make obfuscation`: 2,000 words known, snippets of 1,000."""
    own = fan_fiction("same fandom", FANDOMS)
    return [(own.known, own.known_author, own.snippets, own.author)]


def other_fandoms() -> list[Problem]:
    """PAN's five problems: nine authors each, seven known texts of other fandoms."""
    by_problem = defaultdict(list)
    for story in read_stories():
        by_problem[story["problem"]].append(story)
    problems = []
    for stories in by_problem.values():
        known = [s for s in stories if s["split"] == "known"]
        authors = {s["author"] for s in known}
        asked = [s for s in stories if s["split"] != "known" and s["author"] in authors]
        # spread over the file, where texts are not in the order of their authors
        asked = asked[:: max(1, len(asked) // N_TEXTS)][:N_TEXTS]
        problems.append(
            (
                [s["text"] for s in known],
                np.array([s["author"] for s in known]),
                [" ".join(s["text"].split()[:N_RAW]) for s in asked],
                np.array([s["author"] for s in asked]),
            )
        )
    return problems


def right(problem: Problem, releases: list[str], seed: int) -> np.ndarray:
    """Which texts the adversary, who knows all words in clear, attributes rightly."""
    known, known_author, _, author = problem
    clear = DocumentPreparer(output="text").transform(known)
    adversary = KoppelAuthorClassifier(random_state=seed).fit(clear, known_author)
    return adversary.predict(releases) == author


def measure(
    label: str,
    problems: list[Problem],
    release: Callable[[list[str], int], list[str]],
    n_seeds: int,
) -> dict[str, object]:
    """Mean over authors of the share of their texts, each text by its mean over seeds.

    Texts of one author are alike, and there are 1 to 51 of each: the author counts
    once, and the interval is over authors.
    """
    hits = [
        np.concatenate([right(p, release(p[2], seed), seed) for p in problems])
        for seed in range(n_seeds)
    ]
    authors = np.concatenate([author for *_, author in problems])
    return {label: str(interval(np.array(hits), authors, each="author"))}


def noisy(table: WordEmbedding, epsilon: float, oov: str):
    """Releases at one ε; each seed has noise of its own."""

    def release(texts: list[str], seed: int) -> list[str]:
        perturber = DPWordPerturber(
            table, epsilon=epsilon, lam=0.0, stop_words="english", oov=oov,
            output="text", random_state=seed,
        )  # fmt: skip
        return perturber.fit_transform(texts)

    return release


def unknown_only(table: WordEmbedding):
    """Texts of the words that oov="keep" releases in clear, whatever the noise does."""

    def leave(texts: list[str], seed: int) -> list[str]:
        tokens = DocumentPreparer().transform(texts)
        return [" ".join(w for w in t if table.find([w])[0] < 0) for t in tokens]

    return leave


def main() -> None:
    n_seeds = measuring.options(__doc__, seeds=2).seeds
    if absent(STORIES, GOOGLE):
        return
    table = WordEmbedding.load(DATA / GOOGLE)
    start, rows = time.perf_counter(), []
    clear = {
        oov: DocumentPreparer(table, oov=oov, output="text") for oov in ("keep", "drop")
    }
    for name, problems in (
        ("the same fandom", same_fandom()),
        ("other fandoms", other_fandoms()),
    ):
        n_words = {
            oov: sum(int(preparer.lengths(p[2]).sum()) for p in problems)
            for oov, preparer in clear.items()
        }
        base = {
            "known text from": name,
            "authors": sum(len(np.unique(p[3])) for p in problems),
            "texts": sum(len(p[3]) for p in problems),
            "unknown words": f"{1 - n_words['drop'] / n_words['keep']:.0%}",
            "blind": float(np.mean([1 / len(np.unique(p[1])) for p in problems])),
        }
        row = base | {"ε": "no noise"}
        for oov, preparer in clear.items():
            row |= measure(
                oov, problems, lambda texts, _, p=preparer: p.transform(texts), n_seeds
            )
        rows.append(row)
        for epsilon in EPSILONS:
            row = base | {"ε": f"{epsilon:g}"}
            for oov in clear:
                row |= measure(oov, problems, noisy(table, epsilon, oov), n_seeds)
            rows.append(row)
        row = base | {"ε": "unknown words alone"}
        rows.append(row | measure("keep", problems, unknown_only(table), n_seeds))
    record(
        "oov",
        rows,
        title="Author found in releases that keep or drop unknown words",
        note=(
            "KoppelAuthorClassifier: mean over the authors of the share of their texts "
            f"that it finds, and over {n_seeds} seeds of noise and adversary. {NOTE} "
            f"Table: {GOOGLE}, λ = 0. "
            "Stop words and punctuation are left out everywhere; the adversary's known "
            "texts hold all other words in clear. Releases have the length that they "
            'come to. "Unknown words alone": texts of nothing but the words that '
            'oov="keep" releases in clear.\n\n'
            f"{time.perf_counter() - start:.0f} s on one thread."
        ),
    )


if __name__ == "__main__":
    main()
