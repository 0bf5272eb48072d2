"""Whose text is it? Adversaries who hold other texts of the same people.

They need no original: the candidates are people, each known by what else they wrote, or
by what was written about them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skdptext.attacks._documents import DocumentAdversaries
from skdptext.attacks._similarity import (
    FEWEST_PAIRS,
    learned_similarity,
    text_similarities,
    words_of,
)
from skdptext.attacks._table import Score, make_halves


def texts_by_person(
    background: Sequence[Any], people: np.ndarray
) -> tuple[np.ndarray, list[list[str]]]:
    """The different people, sorted, and the words of all that is held of each."""
    names, numbers = np.unique(people, return_inverse=True)
    held: list[list[str]] = [[] for _ in names]
    for text, number in zip(background, numbers.tolist(), strict=True):
        held[number] += words_of(text)
    return names, held


def person_similarities(
    held: Sequence[Sequence[str]],
    released: Sequence[Any],
    truth: np.ndarray,
    *,
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """How like what is held of each person every release is, (n_released, n_people).

    `truth` numbers the person of each release; those who combine the others learn from
    other releases whose people they know.
    """
    scores = text_similarities(held, released, common=True)
    if len(released) > 1:
        # somebody of whom much is held is like all releases: how much more than usual?
        alike = scores["tf-idf"]
        scores["tf-idf, more than usual"] = alike - alike.mean(axis=0)
    if len(truth) < FEWEST_PAIRS or len(held) < 2:
        return scores
    return {"learned": learned_similarity(scores, truth, random_state=seed)} | scores


def person_rows(
    held: Sequence[Sequence[str]],
    released: Sequence[Any],
    truth: np.ndarray,
    *,
    seed: int = 0,
) -> list[Score]:
    """How often the person of a release is named, among all of whom texts are held.

    And by an adversary who abstains unless nine of ten names are right.
    """
    scores = person_similarities(held, released, truth, seed=seed)
    halves = make_halves(np.arange(len(truth)), seed)
    adversaries = DocumentAdversaries(scores, {"learned": "pairs"})
    rows = adversaries.rows("person", truth, halves, len(held))
    return [*rows, adversaries.sure("person, if sure", rows, truth, halves)]
