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
ACTORS = ("wikiactors_50_eval", "wikiactors_500_random")
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
    "other, with the 95% interval of Clopper and Pearson. With these data in view we "
    "chose to compare similarities with what is usual for a person."
)


def load(name: str) -> Any:
    """A file of the test beds."""
    with gzip.open(DATA / FOLDER / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)


def recorded(
    name: str, beds: list[tuple[list[str], dict[str, dict[int, str]]]], **said: str
) -> None:
    """Record how often the people of releases are identified.

    A bed is the texts that are known of people, and releases by who made them: of each
    person released, by number, a text.
    """
    rows = []
    for background, releases in beds:
        for kind, texts in releases.items():
            scores = linkage_attack(
                background, list(texts.values()), truth=np.array(list(texts)),
                n_candidates=len(background), random_state=0,
            )  # fmt: skip
            row: dict[str, object] = {"people": len(background)}
            row["made anonymous by"] = kind
            if len(background) == 50:
                row["TRIR, published"] = PUBLISHED[kind]
            best = scores["linkage"]
            words = next(r for r in scores.rows if r.adversary == "words in common")
            row["identified"] = bracketed(best.value, best.low, best.high)
            row["words in common alone"] = words.value
            rows += measuring.shown([row | {"by": best.adversary}])
    record(name, rows, **said)


def actors(_: Any) -> None:
    """Record what is found of the actors."""
    if absent(*(f"{FOLDER}/{name}.json.gz" for name in ACTORS)):
        return
    beds = []
    for people in map(load, ACTORS):
        releases = {
            tool: {i: text for i, person in enumerate(people)
                   if (text := person[f"{tool}_abstract"])}
            for tool in PUBLISHED
        }  # fmt: skip
        beds.append(([person["public_knowledge"] for person in people], releases))
    recorded(
        "reidentification_actors",
        beds,
        title="Actors of Wikipedia identified in anonymized abstracts",
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


def judgments(_: Any) -> None:
    """Record what is found of the applicants."""
    if absent(*(f"{FOLDER}/{name}.json.gz" for name in JUDGMENTS)):
        return
    bed, background = map(load, JUDGMENTS)
    number = {name: i for i, name in enumerate(background)}
    texts = dict(sorted(bed["texts"].items()))
    releases = {
        kind: {number[name]: masked(text, spans.get(name, []))
               for name, text in texts.items()}
        for kind, spans in ({"nothing": {}} | bed["masks"]).items()
    }  # fmt: skip
    recorded(
        "reidentification_judgments",
        [(list(background.values()), releases)],
        title="Applicants identified in anonymized judgments (TAB)",
        note=(
            "144 judgments; candidates are known by a tenth of the public judgment. No "
            f"figure of TRIR is published for this rebuilt test bed. {NOTE}"
        ),
    )


def main() -> None:
    measuring.options(__doc__, {"actors": actors, "judgments": judgments})


if __name__ == "__main__":
    main()
