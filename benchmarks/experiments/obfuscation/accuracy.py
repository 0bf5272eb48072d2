"""Accuracies and their intervals from the marks of finished cells."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from experiments.obfuscation.attack import (
    cell_of,
    load_embedding,
    load_problem,
    load_scene,
)
from experiments.obfuscation.clusters import Share, at_level, best_of
from experiments.obfuscation.clusters import interval as over_authors
from experiments.obfuscation.grid import EPSILONS, GOOGLE, Setting, all_settings
from experiments.store import Store

from skdptext.attacks import Score

AUTHOR = (
    "SRauth",
    "DRauth",
    "DRauth all known",
    "DRauth informed",
    "linear author",
    "linear author informed",
)
TOPIC = (
    "SRtopic",
    "DRtopic",
    "DRtopic informed",
    "linear topic",
    "linear topic informed",
)


class Marks:
    """Right or wrong by release (seed) and snippet, for every setting."""

    def __init__(self, store: Store, quick: bool) -> None:
        before = store.spent
        self.results: dict[Setting, dict[str, Any]] = {
            setting: store.get(cell_of(setting)) for setting in all_settings(quick)
        }
        self.seconds = store.spent - before

    def _seeds(
        self, problem: str, table: str, epsilon: float, lam: float, kind: str
    ) -> list[dict[str, Any]]:
        """The cells at a setting; without noise λ does not count."""
        return [
            result
            for cell, result in self.results.items()
            if (cell.kind, cell.problem, cell.table) == (kind, problem, table)
            and cell.epsilon == epsilon
            and (not epsilon or cell.lam == lam)
        ]

    def of(
        self,
        problem: str,
        table: str,
        epsilon: float,
        lam: float,
        adversary: str,
        kind: str = "release",
    ) -> np.ndarray:
        """Array (n_seeds, n_snippets) of 0 and 1."""
        seeds = self._seeds(problem, table, epsilon, lam, kind)
        return np.array([list(map(int, one["marks"][adversary])) for one in seeds])

    def changed(self, problem: str, table: str, epsilon: float, lam: float) -> float:
        """Share of the words that change."""
        return float(self.mean("words_changed", problem, table, epsilon, lam))

    def mean(self, key: str, problem: str, table: str, epsilon: float, lam: float):
        """Mean over the seeds of another number of the cells."""
        seeds = self._seeds(problem, table, epsilon, lam, "release")
        return np.mean([one[key] for one in seeds], axis=0)


def interval(problem: str, marks: np.ndarray) -> Share:
    """Accuracy with its interval over the authors of the problem."""
    return over_authors(marks, load_problem(problem).author)


def as_cell(score: Score) -> str:
    """The same from a row of a report."""
    return str(Share(score.value, score.low, score.high))


def strongest(
    marks: Marks, problem: str, table: str, epsilon: float, lam: float, names=AUTHOR
) -> tuple[str, np.ndarray, Share]:
    """The adversary who gets most right; it is chosen in hindsight, so a bit high."""
    each = {n: marks.of(problem, table, epsilon, lam, n) for n in names}
    return best_of(each, load_problem(problem).author)


@cache
def _nearest(table: str) -> np.ndarray:
    """Distance of each word to its nearest other word."""
    vectors = load_embedding(table).vectors.astype(np.float64)
    squares = (vectors**2).sum(axis=1)
    nearest = []
    for rows in np.array_split(np.arange(len(vectors)), max(1, len(vectors) // 500)):
        distances = squares[rows, None] - 2 * vectors[rows] @ vectors.T + squares
        distances[np.arange(len(rows)), rows] = np.inf
        nearest.append(np.sqrt(np.maximum(distances.min(axis=1), 0)))
    return np.concatenate(nearest)


def nearest_distance(table: str) -> float:
    """Median distance of a word to its nearest other word."""
    return float(np.median(_nearest(table)))


def used_distance(table: str) -> float:
    """The same over the words of the snippets, as often as they occur."""
    counts = np.asarray(load_scene("40 authors", table).clean.sum(axis=0)).ravel()
    return float(np.median(np.repeat(_nearest(table), counts.astype(int))))


def half_changed(marks: Marks, table: str) -> float:
    """The ε at which half of the words of the snippets change, λ = 0."""
    epsilons = sorted(EPSILONS[table])
    changed = [marks.changed("40 authors", table, e, 0.0) for e in epsilons]
    return float(np.interp(-0.5, -np.array(changed), epsilons))


def on_googles_scale(epsilon: float, table: str, used: bool = True) -> float:
    """The ε at which Google's words see as much noise, against their neighbours.

    By the distances of words as they are used; or of all words of the tables alike.
    """
    distance = used_distance if used else nearest_distance
    return epsilon * distance(table) / distance(GOOGLE)


def chance(problem: str) -> dict[str, float]:
    """Most frequent answers: author, topic, and author where the topic is known."""
    p = load_problem(problem)

    def majority(labels: np.ndarray) -> float:
        return float(np.unique(labels, return_counts=True)[1].max() / len(labels))

    within = [
        np.unique(p.author[p.topic == t], return_counts=True)[1].max()
        for t in np.unique(p.topic)
    ]
    return {
        "author": majority(p.author),
        "topic": majority(p.topic),
        "author, topic known": float(np.sum(within) / len(p.author)),
        "author, blind": 1 / len(p.known_author),
    }


def at_equal_topic(
    marks: Marks, problem: str, table: str, lam: float, level: float
) -> np.ndarray:
    """Strongest author accuracy where the best topic accuracy crosses `level`.

    As it is and in each resample of authors; NaN where the level is not crossed.
    """
    steps = (0.0, *EPSILONS[table])  # from no noise to most

    def means(names: tuple[str, ...]) -> np.ndarray:
        return np.array(
            [
                [marks.of(problem, table, e, lam, n).mean(axis=0) for n in names]
                for e in steps
            ]
        )

    return at_level(means(TOPIC), means(AUTHOR), load_problem(problem).author, level)
