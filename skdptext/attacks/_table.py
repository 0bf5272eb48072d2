"""One table of what adversaries found, and the statistics of its rows.

This file knows numbers: no texts, no classifiers, no words for readers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from skdptext.utils import import_pandas, share_interval

Interval = Callable[[np.ndarray], tuple[float, float]]


@dataclass(frozen=True)
class Score:
    """What one adversary found, with all that the number must be read with.

    Attributes
    ----------
    question : str
        What was looked for: ``"linkage"``, ``"author"``, ``"words"``, …
    adversary : str
        Who looked for it; ``"reading"`` where nobody had to guess.
    value : float
        Share of the cases in which the adversary was right, on documents that had no
        part in choosing the strongest. Others may reach more.
    low, high : float
        95 % interval of `value`, for documents like these. At least `low` is given
        away; `high` is at least `chance`, which anybody reaches.
    chance : float
        What is reached without looking at the release.
    n_documents : int
        How many documents `value` is the mean of. Of an adversary, half of those that
        were attacked, as the strongest one was chosen on the others; of what is read
        off (copies and rare words), all documents that have it.
    knows : str
        What the adversary used besides the release and the candidates.
    clear : float or None
        What the strongest adversary reaches on the original texts.
    strongest : bool
        Whether this adversary was the strongest on the half that chose.
    """

    question: str
    adversary: str
    value: float
    low: float
    high: float
    chance: float
    n_documents: int
    knows: str = ""
    clear: float | None = None
    strongest: bool = True


@dataclass(eq=False, repr=False)
class ScoreTable:
    """Rows of one table: adversaries × scores, the strongest of each question first.

    Attributes
    ----------
    rows : list of Score
        A row for each question and adversary.
    """

    rows: list[Score]

    def of(self, question: str) -> list[Score]:
        """The rows of one question.

        Parameters
        ----------
        question : str
            What was looked for.

        Returns
        -------
        rows : list of Score
            The strongest adversary first; empty if nobody looked for it.
        """
        every = [row for row in self.rows if row.question == question]
        return sorted(every, key=lambda row: not row.strongest)

    @property
    def scores(self) -> dict[str, Score]:
        """The strongest adversary of each question."""
        return {row.question: row for row in self.rows if row.strongest}

    def to_frame(self) -> Any:
        """All rows, as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            The fields of `Score`.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        columns = [field.name for field in fields(Score)]
        rows = [asdict(row) for row in self.rows]
        return import_pandas("to_frame").DataFrame(rows, columns=columns)


class Halves(NamedTuple):
    """Documents that choose the strongest adversary, and those that it is scored on."""

    choosing: np.ndarray
    scoring: np.ndarray


def make_halves(rows: np.ndarray, seed: int) -> Halves:
    """Halves of some rows, at random."""
    order = rows[np.random.default_rng(seed).permutation(len(rows))]
    return Halves(order[: len(order) // 2], order[len(order) // 2 :])


def strongest_of(right: Mapping[str, np.ndarray], halves: Halves) -> str:
    """The adversary that was right most often on the half that is not scored."""
    if not len(halves.choosing):
        return next(iter(right))
    return max(right, key=lambda name: float(right[name][halves.choosing].mean()))


def scored(
    question: str,
    right: Mapping[str, np.ndarray],
    halves: Halves,
    chance: float,
    *,
    interval: Interval = share_interval,
    knows: Mapping[str, str] | None = None,
) -> list[Score]:
    """A row for each adversary; `right` has the share of each document, by name."""
    best, rows = strongest_of(right, halves), []
    for name, shares in right.items():
        row = read_off(question, shares[halves.scoring], chance, interval, name)
        known = (knows or {}).get(name, "")
        row = replace(at_least_chance(row), knows=known, strongest=name == best)
        rows.append(row)
    return rows


def at_least_chance(row: Score) -> Score:
    """A score whose interval ends no lower than where anybody gets.

    Folds that share out a few documents make classifiers that learned nothing worse
    than chance: what is frequent among those known is rare among those held out. And
    who guesses is never sure. But the strongest need not look at the release.
    """
    return replace(row, high=max(row.high, row.chance))


def lead(scores: np.ndarray) -> np.ndarray:
    """By how much the most alike candidate of each release is ahead of the next."""
    second, first = np.partition(scores, -2, axis=1)[:, -2:].T
    return first - second


def read_off(
    question: str,
    values: np.ndarray,
    chance: float,
    interval: Interval,
    by: str = "reading",
) -> Score:
    """The mean of some shares; by nobody, where they had not to be guessed."""
    low, high = interval(values)
    mean = float(values.mean())
    return Score(question, by, mean, low, high, chance, len(values))
