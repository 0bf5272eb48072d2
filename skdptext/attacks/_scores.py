"""Scores of attackers as one table of numbers."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from skdptext import utils

# The least gain over chance that counts; half of chance, if this is less. With many
# documents, a gain is significant long before it matters.
_LEAST_GAIN = 0.005
_AMOUNTS = {0.95: "almost all", 0.5: "most", 0.2: "many", 0.0: "some"}
# Questions in words. All other questions are names of labels.
QUESTIONS = {
    "linkage": "original identified",
    "person": "person identified",
    "author": "author identified",
    "words": "words of a text left",
    "rare words": "rare words left",
    "spans of 5 words": "phrases of 5 words left",
    "copies": "copies of an original, of any row",
    "membership": "training text picked of two",
    "training texts copied": "training texts copied, against control",
    "training phrases copied": "phrases of 5 words copied, against control",
}
_HEADER = ("", "share", "95% interval", "guessing", "amount", "by")


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
    """

    question: str
    adversary: str
    value: float
    low: float
    high: float
    chance: float
    n_documents: int

    @property
    def what(self) -> str:
        """The question in words."""
        return QUESTIONS.get(self.question, f"{self.question} inferred")

    @property
    def is_above(self) -> bool:
        """Whether the score exceeds guessing with 95% confidence.

        The excess must be at least half a point, or half of chance.
        """
        gain = self.low - self.chance
        return gain > 0 and gain >= min(_LEAST_GAIN, self.chance / 2)

    @property
    def amount(self) -> str:
        """The amount by the low end of the interval: some, many, most, almost all."""
        if not self.is_above:
            return "not above guessing"
        return next(word for least, word in _AMOUNTS.items() if self.low >= least)

    def __str__(self) -> str:
        # A no-break space keeps "here" with its number.
        least, here = percent(self.low, math.floor), f"{percent(self.value)}\u00a0here"
        return f"at least {least} ({here}; guessing: {percent(self.chance)})"


class Scores(dict[str, Score]):
    """The strongest attacker for each question; `rows` has all attackers.

    Parameters
    ----------
    rows : iterable of Score
        A score for each question and attacker, the strongest of a question first.
    """

    def __init__(self, rows: Iterable[Score] = ()) -> None:
        self.rows = list(rows)
        super().__init__()
        for row in self.rows:
            self.setdefault(row.question, row)

    def to_frame(self) -> Any:
        """Convert all rows to a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            The fields of `Score`, a row for each question and attacker.
        """
        return utils.import_pandas("to_frame").DataFrame(map(asdict, self.rows))

    def _cells(self) -> list[list[str]]:
        return [
            [
                row.what,
                percent(row.value),
                f"{percent(row.low, math.floor)} to {percent(row.high, math.ceil)}",
                percent(row.chance),
                row.amount,
                row.adversary,
            ]
            for row in self.values()
        ]

    def __repr__(self) -> str:
        return "\n".join(
            utils.lined_up([list(_HEADER), *self._cells()], left=(0, 4, 5))
        )

    def _repr_html_(self) -> utils.Fragment:
        return utils.table(_HEADER, self._cells())


def scored(
    question: str,
    right: Mapping[str, np.ndarray],
    chance: float,
    seed: int,
    together: int = 1,
) -> Scores:
    """Score each attacker by whether it was `right` about each document.

    Half of the documents choose the strongest, and all are scored on the other half.
    """
    # Choosing and scoring on the same documents would favor the luckiest attacker.
    order = np.random.default_rng(seed).permutation(len(next(iter(right.values()))))
    choosing, scoring = np.split(order, [len(order) // 2])
    ranked = sorted(right, key=lambda name: -right[name][choosing].sum())
    return Scores(
        read_off(question, right[name][scoring], chance, name, together)
        for name in ranked
    )


def read_off(
    question: str,
    values: np.ndarray,
    chance: float,
    by: str = "reading",
    together: int = 1,
) -> Score:
    """Score a mean of shares with Clopper and Pearson's 95% interval.

    The interval counts so many values `together` as one. Use 2 if each document is
    attacked by a model of the others: two most similar documents are both right or both
    wrong, depending on whether their labels are equal, and the variance of the mean is
    at most twice that of independent answers. (For docstrings with random authors it
    was up to twice as large, and 5% of ordinary intervals were above chance; with this
    correction 2% are.)
    """
    hits, n = values.sum() / together, len(values) / together
    low, high = utils.lower_limit(hits, n, 0.025), utils.upper_limit(hits, n, 0.025)
    # With few documents, folds can make a guess worse than chance.
    ends = float(low), max(float(high), chance), chance
    return Score(question, by, float(values.mean()), *ends, len(values))


def by_name(given: Any, rule: str, *methods: str) -> dict[str, Any]:
    """Check a dictionary by name, or None, whose values have all of the methods."""
    given = {} if given is None else given
    utils.check_kind(given, Mapping, rule)
    for name, value in given.items():
        utils.check_kind(name, str, rule)
        utils.check_kind(value, methods, rule)
    return dict(given)


def gain(question: str, own: np.ndarray, other: np.ndarray) -> Score:
    """Score a mean of shares above that of others, which is its chance.

    The interval is that of the gain, because both shares are high for the same texts.
    """
    low, high = (2 * end - 1 for end in mean_interval((own - other + 1) / 2))
    value, chance = float(own.mean()), float(other.mean())
    ends = max(0.0, chance + low), min(1.0, chance + high), chance
    return Score(question, "reading", value, *ends, len(own))


def mean_interval(values: np.ndarray) -> tuple[float, float]:
    """Compute Student's 95% interval of a mean of shares.

    A 0 and a 1 are added to the values: even if all are equal, another one could have
    differed. (Agresti and Coull, 1998, do this for shares of 0 and 1.)
    """
    more = np.append(values, [0.0, 1.0])
    half = float(utils.half_width(more.std(ddof=1), len(more)))
    middle = float(more.mean())
    return max(0.0, middle - half), min(1.0, middle + half)


def percent(share: float, to: Callable[[float], int] = round) -> str:
    """Format a share in percent, rounded `to` whole ones; a small one has decimals."""
    if to is round and 0.99 < share < 1:
        to = math.floor  # 100% is said only of all
    parts = 1 if share >= 0.01 else 100 if share >= 1e-4 else 10**6
    return f"{to(round(100 * parts * share, 6)) / parts:g}%"
