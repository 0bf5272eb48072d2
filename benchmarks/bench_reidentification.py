"""Is the person found in a text that was made anonymous? TRIR's and TAB's test beds.

The attacker holds another text of each person, and no original::

    python benchmarks/bench_reidentification.py [actors] [judgments]

``actors``: abstracts of Wikipedia's articles on 50 actors as nine tools and people made
them anonymous, among 50 and 543 people whose articles' bodies are held. ``judgments``:
144 judgments of the Text Anonymization Benchmark among 1,268 people, of each of whom a
tenth of the public judgment is held. The data are in ``reidentification`` of the shared
data. The published figures are those of TRIR, a fine-tuned DistilBERT.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

import measuring
import numpy as np
from real_data import DATA, absent
from results import bracketed, record

from skdptext.attacks import linkage_attack

FOLDER = "reidentification"
ACTORS = {50: "wikiactors_50_eval", 543: "wikiactors_500_random"}
JUDGMENTS = ("tab_144", "tab_background")
# By the README of TRIR's repository, which says that runs differ.
PUBLISHED = {
    "original": 1.0,
    "ner3": 0.70,
    "ner4": 0.60,
    "ner7": 0.88,
    "presidio": 0.74,
    "spacy": 0.70,
    "word2vec_t=0.5": 0.48,
    "word2vec_t=0.25": 0.26,
    "manual": 0.10,
}
NOTE = (
    "Identified: the adversary is chosen on one half of the releases and scored on the "
    "other, with the 95 % interval of Clopper and Pearson. With these data in view we "
    "chose to compare similarities with what is usual for a person, and which words "
    "count as placeholders."
)


def load(name: str) -> Any:
    """A file of the test beds."""
    with gzip.open(DATA / FOLDER / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)


def attacked(
    background: list[str], released: list[str], truth: np.ndarray
) -> dict[str, object]:
    """How often the person of a release is identified."""
    scores = linkage_attack(
        background, released, truth=truth, n_candidates=len(background), random_state=0
    )
    best = scores["linkage"]
    words = next(row for row in scores.rows if row.adversary == "words in common")
    return {
        "identified": bracketed(best.value, best.low, best.high),
        "words in common alone": words.value,
        "by": best.adversary,
    }


def table_of_actors(_: Any) -> None:
    """Record what is found of the actors."""
    if absent(*(f"{FOLDER}/{name}.json.gz" for name in ACTORS.values())):
        return
    rows = []
    for n, name in ACTORS.items():
        people = load(name)
        for tool, published in PUBLISHED.items():
            texts = [person[f"{tool}_abstract"] for person in people]
            truth = np.array([i for i, text in enumerate(texts) if text])
            ours = attacked(
                [person["public_knowledge"] for person in people],
                [texts[i] for i in truth],
                truth,
            )
            known = {"TRIR, published": published} if n == 50 else {}
            rows.append({"people": n, "made anonymous by": tool} | known | ours)
    record(
        "reidentification_actors",
        rows,
        title="Actors of Wikipedia who are found in anonymised abstracts",
        note=(
            "50 abstracts; candidates are known by the body of their article. The "
            "published figures are one run of a fine-tuned DistilBERT, by its README, "
            f"which has none for 543 people. {NOTE}"
        ),
    )


def masked(text: str, spans: list[list[Any]]) -> str:
    """A text whose spans, (start, end[, replacement]), are replaced."""
    for start, end, *by in sorted(spans, reverse=True):
        text = text[:start] + (by[0] if by else "") + text[end:]
    return text


def table_of_judgments(_: Any) -> None:
    """Record what is found of the applicants."""
    if absent(*(f"{FOLDER}/{name}.json.gz" for name in JUDGMENTS)):
        return
    bed, background = map(load, JUDGMENTS)
    people = list(background)
    ids = sorted(bed["texts"])
    truth = np.array([people.index(name) for name in ids])
    releases = {"nothing": [bed["texts"][name] for name in ids]}
    for kind, spans in bed["masks"].items():
        releases[kind] = [masked(bed["texts"][name], spans[name]) for name in ids]
    rows = [
        {"people": len(people), "made anonymous by": kind}
        | attacked(list(background.values()), released, truth)
        for kind, released in releases.items()
    ]
    record(
        "reidentification_judgments",
        rows,
        title="Applicants who are found in anonymised judgments (TAB)",
        note=(
            "144 judgments; candidates are known by a tenth of the public judgment. No "
            f"figure of TRIR is published for this rebuilt test bed. {NOTE}"
        ),
    )


PARTS = {"actors": table_of_actors, "judgments": table_of_judgments}


def main() -> None:
    measuring.options(__doc__, PARTS)


if __name__ == "__main__":
    main()
