"""What noisy sums over people promise."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import reduce
from operator import add
from typing import Any

from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import SumLoss
from skdptext.privacy import ComposedGuarantee
from skdptext.utils import (
    bound_in_table,
    bullets,
    check_integer,
    check_option,
    check_real,
    kind_of,
    odds_factor,
    page,
    paragraph,
    rounded_up,
    table,
)

# Candidates of which a printed guarantee speaks.
_CANDIDATES = 100
_UP = 1 + 2.0**-40
UNITS = ("person", "document")
NEIGHBOURS = ("add/remove", "replace")
_FORMAT = "skdptext-learning-guarantee-1"


@dataclass(frozen=True)
class LearningPart:
    """Noisy sums of one kind."""

    unit: str  # who counts once: "person" or "document"
    epsilon: float  # as asked for
    delta: float
    laplace_scale: int  # of the noise on groups, in steps of the grid; 0: no groups
    gaussian_sigma: int  # of that on vectors; 0: no vectors
    n_cells: int  # cells with Gaussian noise
    grid: int  # steps for a person
    releases: int = 1
    caveats: tuple[str, ...] = ()

    @property
    def kind(self) -> LearningPart:
        """What parts share that differ in the number of releases, or in caveats."""
        return replace(self, releases=1, caveats=())

    @property
    def loss(self) -> SumLoss:
        """Of all releases, of a person added or removed."""
        loss = SumLoss()
        if self.laplace_scale:
            loss += SumLoss.of_laplace(self.laplace_scale, self.grid)
        if self.gaussian_sigma:
            loss += SumLoss.of_gaussian(self.gaussian_sigma, self.n_cells, self.grid)
        return loss.times(self.releases)


class LearningGuarantee(ComposedGuarantee):
    r"""What one or several models promise; made by `DPTextClassifier.guarantee`.

    For any two sets of people that differ in one person, with all of this person's
    documents and labels, and any set S of results: Pr[S] ≤ e^ε Pr'[S] + δ. It is
    differential privacy in its usual, central form: the holder, who adds the noise, is
    trusted, and nobody else.

    Parameters
    ----------
    parts : iterable of LearningPart
        Made by the classifier; all of one unit.

    Attributes
    ----------
    parts : tuple of LearningPart
        One for each kind of release that is composed here.
    unit : {"person", "document"}
        Who is hidden: a person, with all of their documents; or a document, where
        `fit` was not told the authors.
    epsilon, delta : float
        Of one person added or removed, by all releases.
    epsilon_replace : float
        The ε, at the same δ, of one person replaced by another.
    releases : int
        Number of releases.
    numerical_delta : float
        0: the draws are exact.

    See Also
    --------
    skdptext.replacement.ReplacementGuarantee : Of stand-ins for single documents.

    Notes
    -----
    *Laplace noise* on sums of groups: sums of one more person differ by at most 1 in L1
    norm, so that the loss is at most 1/scale, and δ is 0.

    *Gaussian noise* on sums of vectors: they differ by at most 1 in Euclidean norm. The
    δ of continuous noise is known exactly [2]_; for noise in whole numbers [1]_ it is
    larger by less than one part in 10⁶, which is proved, and counted, here.

    *Several releases.* The 1/σ² of Gaussian noises add up, and δ follows from their
    sum; the ε of Laplace noises add up. A person who is in one of the releases only
    loses by that one only.

    *A person replaced* is one removed and one added: twice the norm, and so at most 2ε
    where δ is 0.

    References
    ----------
    .. [1] C. Canonne, G. Kamath, T. Steinke (2020). The discrete Gaussian for
       differential privacy. NeurIPS.
    .. [2] B. Balle, Y.-X. Wang (2018). Improving the Gaussian mechanism for
       differential privacy: analytical calibration and optimal denoising. ICML.

    Examples
    --------
    >>> from skdptext import DPTextClassifier
    >>> public = ["a cat and a dog", "dogs and a cat", "tea and milk", "milk or tea"]
    >>> model = DPTextClassifier(public, n_groups=2, epsilon=1.0, classes=["no", "yes"])
    >>> texts, labels = ["my cat Tom", "no milk today"], ["yes", "no"]
    >>> guarantee = model.fit(texts, labels, authors=["Ann", "Bo"]).guarantee()
    >>> guarantee.unit, guarantee.epsilon, guarantee.delta, guarantee.epsilon_replace
    ('person', 1.0, 0.0, 2.0)
    >>> print(guarantee)
    Whoever sees the model and knows everybody else's texts and labels is right about
    whether one person is in it at most 73.2 times in 100 (a coin: 50).
    ...
    >>> guarantee.compose(4).epsilon
    4.0
    """

    parts: tuple[LearningPart, ...]

    def __init__(self, parts: Iterable[LearningPart]) -> None:
        self.parts = tuple(parts)
        if len({part.unit for part in self.parts}) != 1:
            raise InvalidParameterError(
                "parts must be of one unit, got "
                f"{', '.join(sorted({part.unit for part in self.parts})) or 'none'}."
            )

    @property
    def unit(self) -> str:
        """Who is hidden: "person" or "document"."""
        return self.parts[0].unit

    @property
    def _loss(self) -> SumLoss:
        return reduce(add, (part.loss for part in self.parts))

    def _loss_between(self, neighbours: str) -> SumLoss:
        check_option("neighbours", neighbours, NEIGHBOURS)
        return self._loss.larger(2.0 if neighbours == "replace" else 1.0)

    @property
    def delta(self) -> float:
        """The δ that goes with `epsilon`."""
        return min(1.0, sum(part.releases * part.delta for part in self.parts))

    @property
    def epsilon(self) -> float:
        """Privacy parameter ε of one person added or removed, by all releases."""
        added = float(sum(part.releases * part.epsilon for part in self.parts))
        if self.releases == 1 or not self.delta:
            return added
        return min(added, self._loss.epsilon(self.delta))

    @property
    def epsilon_replace(self) -> float:
        """The ε of one person replaced by another, at `delta`."""
        if not self.delta:
            return 2 * self.epsilon
        return self.epsilon_at(self.delta, neighbours="replace")

    @property
    def numerical_delta(self) -> float:
        """Probability that finite arithmetic changes a release: none does."""
        return 0.0

    def epsilon_at(self, delta: float, *, neighbours: str = "add/remove") -> float:
        """The ε that holds but for a probability δ.

        Parameters
        ----------
        delta : float in [0, 1)
            The δ.
        neighbours : {"add/remove", "replace"}, default="add/remove"
            Whether one person more or less is in the sums, or another one.

        Returns
        -------
        epsilon : float
            Inf where only a δ above 0 is promised.
        """
        delta = check_real("delta", delta, low=0, high=1, open_high=True)
        return self._loss_between(neighbours).epsilon(delta)

    def delta_at(self, epsilon: float, *, neighbours: str = "add/remove") -> float:
        """The δ that goes with an ε.

        Parameters
        ----------
        epsilon : float >= 0
            The ε.
        neighbours : {"add/remove", "replace"}, default="add/remove"
            Whether one person more or less is in the sums, or another one.

        Returns
        -------
        delta : float in [0, 1]
            Rounded up.
        """
        epsilon = check_real("epsilon", epsilon, low=0)
        return self._loss_between(neighbours).delta(epsilon)

    @property
    def right_at_most(self) -> float:
        """How often anyone is right about whether one person is in the sums, at most.

        Of an adversary who knows everybody else's documents and labels, everything of
        the mechanism, and tosses a coin otherwise: (1 + δ(0)) / 2, where δ(0) is the
        largest difference between the probabilities of any result.
        """
        pure = 1.0
        if self.epsilon < 700:
            pure = (math.exp(self.epsilon) + self.delta) / (1 + math.exp(self.epsilon))
        return min(pure, (1 + self._loss.delta(0.0)) / 2) * _UP

    def found_at_most(self, n_candidates: int) -> float:
        """Share of cases in which anyone finds which of so many persons is in the sums.

        Parameters
        ----------
        n_candidates : int >= 1
            Persons of whom the adversary knows all documents and labels, equally
            likely, one of whom is in the sums with people that the adversary knows.

        Returns
        -------
        share : float in (0, 1]
            A bound for every adversary. At least a random guess, 1/n.
        """
        n = check_integer("n_candidates", n_candidates, low=1)
        # each candidate's result is e^ε Pr0 + δ at most, with Pr0 that of nobody in it
        each = [self.epsilon, *(self.epsilon * i / 20 for i in range(20))]
        loss = self._loss
        shares = [math.exp(min(e, 700.0)) / n + loss.delta(e) for e in each]
        return min(1.0, max(1 / n, min(shares)) * _UP)

    def _of_person(self, n_documents: int) -> tuple[float, float]:
        """Of all documents replaced; those of a person are one contribution."""
        if self.unit == "person":
            return self.epsilon_replace, self.delta
        loss = self._loss.larger(2.0 * n_documents)
        return loss.epsilon(self.delta), self.delta

    # -- files -----------------------------------------------------------------

    def to_json(self) -> str:
        """The guarantee as JSON, from which `from_json` makes it again.

        Returns
        -------
        text : str
            Of public numbers only.
        """
        return json.dumps(
            {"format": _FORMAT, "parts": [asdict(part) for part in self.parts]}
        )

    @classmethod
    def from_json(cls, text: str) -> LearningGuarantee:
        """A guarantee that `to_json` wrote.

        Parameters
        ----------
        text : str
            JSON.

        Returns
        -------
        guarantee : LearningGuarantee
            The same.

        Raises
        ------
        InvalidParameterError
            If the text is anything else.
        """
        rule = "text must be what LearningGuarantee.to_json wrote"
        try:
            given = json.loads(text)
            parts = [_part(**each) for each in given["parts"]]
            if given["format"] != _FORMAT:
                raise ValueError
            return cls(parts)
        except (InvalidParameterError, TypeError, KeyError, ValueError) as error:
            said = f" ({error})" if isinstance(error, InvalidParameterError) else ""
            raise InvalidParameterError(f"{rule}, got {kind_of(text)}{said}.") from None

    # -- in words --------------------------------------------------------------

    @property
    def sentences(self) -> list[str]:
        """The promise in sentences, what matters most first."""
        caveats = [c for part in self.parts for c in part.caveats]
        return [*self._promises(), *dict.fromkeys(caveats)]

    def _promises(self) -> list[str]:
        one, seen = self.unit, "the model"
        if self.releases > 1:
            seen = f"all {self.releases} models"
        others = "everybody else's texts and labels"
        whole = "with all of the person's documents and labels"
        if one == "document":
            others, whole = "all other texts and labels", "with its label"
        right = rounded_up(100 * self.right_at_most, 3)
        but = (
            f", but for a probability of δ = {rounded_up(self.delta, 3)}"
            if self.delta
            else ""
        )
        share = rounded_up(100 * self.found_at_most(_CANDIDATES), 3)
        promises = [
            f"Whoever sees {seen} and knows {others} is right about whether one {one} "
            f"is in {'it' if self.releases == 1 else 'them'} at most {right} times in "
            "100 (a coin: 50).",
            f"If one {one} is added or removed, {whole}, the odds of any result change "
            f"by at most a factor of exp({rounded_up(self.epsilon)}) = "
            f"{odds_factor(self.epsilon)}{but}; if one is replaced by another, by "
            f"exp({rounded_up(self.epsilon_replace)}) = "
            f"{odds_factor(self.epsilon_replace)}{but} "
            f"({'(ε, δ)' if self.delta else 'pure ε'}-differential privacy of a {one}, "
            "in its central form: the holder of the texts is trusted).",
            f"Who knows that one of {_CANDIDATES} equally likely {one}s is in it names "
            f"the right one at most {share} times in 100 (a guess: 1).",
            "Texts, labels and who wrote what are covered, and so is how many there "
            "are. All that is made of the model and of the corpus that it labels is "
            "covered, too.",
        ]
        if one == "document":
            promises.insert(
                1,
                "fit was not told the authors: what is hidden is a document. The ε of "
                "several documents of one person add up.",
            )
        return promises

    @property
    def limits(self) -> list[str]:
        """What is not promised."""
        people = "people" if self.unit == "person" else "documents"
        return [
            "Anything against the holder, who reads all texts and adds the noise.",
            "Every fit is another release, and its ε adds up (see compose): each "
            "candidate and fold of a search over private text is one. People who are "
            "new in a later fit cost the earlier ones nothing.",
            f"Groups: for k {people} together it is k times the sensitivity, and what "
            "many have in common is learned, since that is what a model is for.",
            "Anything, if what must be public is not: the public documents, the "
            "encoder, the list of classes, n_expected, ε, δ and all other parameters "
            "must not have been chosen by the private texts.",
            "That authors are told apart rightly: who writes under two names counts "
            "twice. And what one person's text says about another is the writer's.",
            "Secrecy of an integer random_state: anyone who has it and all other texts "
            "can undo the noise. ChaCha20 and keyed BLAKE2b, which draw the noise, are "
            "taken for random bits.",
        ]

    def scale(self) -> list[dict[str, Any]]:
        """The promise on a human scale, as numbers.

        Returns
        -------
        rows : list of dict
            Ready for JSON: how often anyone is right about one person, and shares found
            among candidates, at most.
        """
        rows: list[dict[str, Any]] = [
            {"candidates": n, "found_at_most": self.found_at_most(n)}
            for n in (10, 100, 1000)
        ]
        one = f"whether one {self.unit} is in it"
        return [{"about": one, "right_at_most": self.right_at_most}, *rows]

    def __repr__(self) -> str:
        releases = f", releases={self.releases}" if self.releases > 1 else ""
        return (
            f"LearningGuarantee(epsilon={rounded_up(self.epsilon, 6)}, "
            f"delta={rounded_up(self.delta, 6)}, unit={self.unit!r}{releases})\n{self}"
        )

    def _repr_html_(self) -> str:
        rows = [
            [row["candidates"], bound_in_table(row["found_at_most"])]
            for row in self.scale()
            if "candidates" in row
        ]
        return page(
            f"Privacy guarantee: ε = {rounded_up(self.epsilon, 6)}, "
            f"δ = {rounded_up(self.delta, 6)} for a {self.unit}",
            *map(paragraph, self.sentences),
            table(["candidates", "found at most, on average"], rows),
            paragraph("Not promised:"),
            bullets(self.limits),
        )


def _part(**given: Any) -> LearningPart:
    """A part of plain values, after a check of each."""
    caveats = given.pop("caveats")
    if not isinstance(caveats, list) or not all(isinstance(c, str) for c in caveats):
        raise ValueError
    part = LearningPart(**given, caveats=tuple(caveats))
    check_option("unit", part.unit, UNITS)
    check_real("epsilon", part.epsilon, low=0, open_low=True)
    check_real("delta", part.delta, low=0, high=1, open_high=True)
    for name in ("laplace_scale", "gaussian_sigma", "n_cells"):
        check_integer(name, getattr(part, name), low=0)
    for name in ("grid", "releases"):
        check_integer(name, getattr(part, name), low=1)
    if replace(part, releases=1).loss.delta(part.epsilon) > part.delta * _UP:
        raise InvalidParameterError("its noise does not give its ε and δ")
    return part
