"""Accuracies and their intervals from the marks of finished cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments.obfuscation.attack import (
    cell_of,
    load_problem,
)
from experiments.obfuscation.clusters import Share
from experiments.obfuscation.clusters import interval as over_authors
from experiments.obfuscation.grid import Setting, all_settings
from experiments.store import Store


class Marks:
    """Right or wrong by release (seed) and snippet, for every setting."""

    def __init__(self, store: Store, quick: bool) -> None:
        self.results: dict[Setting, dict[str, Any]] = {
            setting: store.get(cell_of(setting)) for setting in all_settings(quick)
        }

    def _seeds(self, problem: str, epsilon: float, kind: str) -> list[dict[str, Any]]:
        return [
            result
            for cell, result in self.results.items()
            if (cell.kind, cell.problem, cell.epsilon) == (kind, problem, epsilon)
        ]

    def of(
        self, problem: str, epsilon: float, adversary: str, kind: str = "release"
    ) -> np.ndarray:
        """Array (n_seeds, n_snippets) of 0 and 1."""
        seeds = self._seeds(problem, epsilon, kind)
        return np.array([list(map(int, one["marks"][adversary])) for one in seeds])

    def changed(self, problem: str, epsilon: float) -> float:
        """Share of the words that change."""
        seeds = self._seeds(problem, epsilon, "release")
        return float(np.mean([one["words_changed"] for one in seeds]))

    def kept(self, problem: str) -> dict[str, Any]:
        """A cell in which unknown words are kept."""
        return self._seeds(problem, 0.0, "keep")[0]


def interval(problem: str, marks: np.ndarray) -> Share:
    """Accuracy with its interval over the authors of the problem."""
    return over_authors(marks, load_problem(problem).author)


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
