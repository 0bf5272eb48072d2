"""Scores of attackers as one table of numbers."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import (
    Fragment,
    check_kind,
    import_pandas,
    kind_of,
    lined_up,
    share_interval,
    table,
)

# The least gain over chance that counts, in points or as a factor. With many words, a
# gain is significant long before it matters.
_LEAST_GAIN = 0.005, 1.5
_AMOUNTS = {0.95: "almost all", 0.5: "most", 0.2: "many", 0.0: "some"}
# Questions in words. All other questions are names of labels.
QUESTIONS = {
    "linkage": "original identified",
    "person": "person identified",
    "author": "author identified",
    "words": "words of a text left",
    "rare words": "rare words left",
    "spans of 5 words": "phrases of 5 words left",
    "copies": "releases that copy an original, of any row",
    "membership": "training text picked of two (a coin flip: 50%)",
    "training texts copied": "training texts copied, beyond control",
    "training phrases copied": "their phrases of 5 words, beyond control",
}
_HEADER = ("", "share", "95% interval", "guessing", "above guessing", "by")


@dataclass(frozen=True)
class Score:
    """The score of an attacker, with interval and chance level.

    Attributes
    ----------
    question : str
        What was attacked: ``"linkage"``, ``"author"``, ``"words"``, …
    adversary : str
        Name of the attacker; ``"reading"`` if no guess was needed.
    value : float
        Share of the cases in which the attacker was right, on documents that were not
        used to choose the strongest attacker.
    low, high : float
        95% interval of `value`, for documents like these. `high` is at least `chance`,
        which a guess reaches.
    chance : float
        Score without looking at the release.
    n_documents : int
        Number of documents in the mean `value`.
    strongest : bool
        Whether this attacker was the best on the half that chooses.
    clear : float or None
        Score of the best attacker on the original texts.
    """

    question: str
    adversary: str
    value: float
    low: float
    high: float
    chance: float
    n_documents: int
    strongest: bool = True
    clear: float | None = None

    @property
    def is_above(self) -> bool:
        """Whether the score exceeds guessing with 95% confidence.

        The excess must be at least half a point, or half of chance.
        """
        points, times = _LEAST_GAIN
        gain = self.low - self.chance
        # With many documents, even a tiny excess is significant. It counts only if it
        # also matters, absolutely or relative to chance.
        return gain > 0 and (gain >= points or self.low >= times * self.chance)

    @property
    def amount(self) -> str:
        """The amount by the low end of the interval: some, many, most, almost all."""
        if not self.is_above:
            return "none"
        return next(word for least, word in _AMOUNTS.items() if self.low >= least)


class Scores(Mapping[str, Score]):
    """The strongest attacker for each question; `rows` has all attackers.

    Parameters
    ----------
    rows : iterable of Score
        A score for each question and attacker.
    """

    def __init__(self, rows: Iterable[Score] = ()) -> None:
        self.rows = list(rows)
        self._strongest = {row.question: row for row in self.rows if row.strongest}

    def __getitem__(self, question: str) -> Score:
        return self._strongest[question]

    def __iter__(self) -> Iterator[str]:
        return iter(self._strongest)

    def __len__(self) -> int:
        return len(self._strongest)

    def to_frame(self) -> Any:
        """Convert all rows to a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            The fields of `Score`, a row for each question and attacker.
        """
        columns = [field.name for field in fields(Score)]
        return import_pandas("to_frame").DataFrame(
            map(asdict, self.rows), columns=columns
        )

    def _cells(self) -> list[list[str]]:
        return [
            [
                QUESTIONS.get(row.question, f"{row.question} inferred"),
                percent(row.value),
                f"{at_least(row.low)} to {math.ceil(100 * row.high - 1e-9)}%",
                percent(row.chance),
                row.amount,
                row.adversary,
            ]
            for row in self.values()
        ]

    def __repr__(self) -> str:
        found = ", ".join(f"{name}: {row.value:.2f}" for name, row in self.items())
        return f"Scores({found})"

    def __str__(self) -> str:
        return "\n".join(lined_up([list(_HEADER), *self._cells()], left=(0, 4, 5)))

    def _repr_html_(self) -> Fragment:
        return table(_HEADER, self._cells())


def scored(
    question: str,
    right: Mapping[str, np.ndarray],
    chance: float,
    seed: int,
    interval: Callable[[np.ndarray], tuple[float, float]] = share_interval,
) -> list[Score]:
    """Score each attacker by whether it was `right` about each document.

    Half of the documents choose the strongest, and all are scored on the other half.
    """
    # Choosing and scoring on the same documents would favor the luckiest attacker.
    order = np.random.default_rng(seed).permutation(len(next(iter(right.values()))))
    choosing, scoring = np.split(order, [len(order) // 2])
    best = max(right, key=lambda name: right[name][choosing].sum())
    rows = {
        name: read_off(question, hits[scoring], chance, interval, name)
        for name, hits in right.items()
    }
    # With few documents, folds can make a guess worse than chance.
    return [
        replace(row, high=max(row.high, chance), strongest=name == best)
        for name, row in rows.items()
    ]


def check_adversaries(given: Any, what: str, *methods: str) -> dict[str, Any]:
    """Check custom attackers by name, each with all of the methods."""
    if given is None:
        return {}
    rule = f"adversaries must map names to {what}"
    if not isinstance(given, Mapping) or not all(isinstance(x, str) for x in given):
        raise InvalidParameterError(f"{rule}, got {kind_of(given)}.")
    for adversary in given.values():
        check_kind(adversary, methods, rule)
    return dict(given)


def read_off(
    question: str,
    values: np.ndarray,
    chance: float,
    interval: Callable[[np.ndarray], tuple[float, float]] = share_interval,
    by: str = "reading",
) -> Score:
    """Score a mean of shares, with its interval."""
    mean = float(values.mean())
    return Score(question, by, mean, *interval(values), chance, len(values))


def percent(share: float) -> str:
    """Format a share in percent; 0% and 100% only if they are exact."""
    if 0 <= share < 0.01:
        return f"{100 * share:.1g}%"
    return f"{99 if 0.99 < share < 1 else round(100 * share)}%"


def at_least(share: float) -> str:
    """Format a lower bound on a share in percent, rounded down; 0% only if it is 0."""
    unit = 10.0 ** math.floor(math.log10(share)) if 0 < share < 0.01 else 0.01
    return f"{100 * unit * math.floor(share / unit + 1e-9):.3g}%"
