"""What noisy sums over people promise."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import SumLoss
from skdptext.privacy import KEY, Guarantee, Part, Statement, exposure, fields
from skdptext.utils import (
    check_integer,
    check_option,
    check_real,
    odds_factor,
    percent_up,
    rounded_up,
)

# Candidates of which a printed guarantee speaks.
_CANDIDATES = 100
_UP = 1 + 2.0**-40
UNITS = ("person", "document")
NEIGHBOURS = ("add/remove", "replace")
_FIELDS = (
    *("unit", "epsilon", "delta"),
    *("laplace_scale", "gaussian_sigma", "n_cells", "grid"),
)


@dataclass(frozen=True)
class LearningPart(Part):
    """Noisy sums of one kind."""

    unit: str  # who counts once: "person" or "document"
    epsilon: float  # as asked for
    delta: float
    laplace_scale: int  # of the noise on groups, in steps of the grid; 0: no groups
    gaussian_sigma: int  # of that on vectors; 0: no vectors
    n_cells: int  # cells with Gaussian noise
    grid: int  # steps for a person

    name = "sums"

    @property
    def kind(self) -> Hashable:
        """What parts share that differ in the number of releases, or in caveats."""
        return replace(self, releases=1, caveats=())

    def plain(self) -> dict[str, Any]:
        """All fields but the number of releases and the caveats, for JSON."""
        return {name: getattr(self, name) for name in _FIELDS}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], **common: Any) -> LearningPart:
        """The part that `plain` was called on; a ValueError or TypeError if none."""
        part = cls(*fields(plain, *_FIELDS), **common)
        check_option("unit", part.unit, UNITS)
        check_real("epsilon", part.epsilon, low=0, open_low=True)
        check_real("delta", part.delta, low=0, high=1, open_high=True)
        for name in ("laplace_scale", "gaussian_sigma", "n_cells"):
            check_integer(name, getattr(part, name), low=0)
        check_integer("grid", part.grid, low=1)
        if replace(part, releases=1).loss.delta(part.epsilon) > part.delta * _UP:
            raise InvalidParameterError("its noise does not give its ε and δ")
        return part

    def dp_event(self, dp_accounting: Any) -> Any:
        """All releases, as dp-accounting describes them."""
        events = []
        if self.laplace_scale:
            noise = self.laplace_scale / self.grid
            events.append(dp_accounting.LaplaceDpEvent(noise))
        if self.gaussian_sigma:
            noise = self.gaussian_sigma / self.grid
            events.append(dp_accounting.GaussianDpEvent(noise))
        one = dp_accounting.ComposedDpEvent(events)
        return dp_accounting.SelfComposedDpEvent(one, self.releases)

    @property
    def loss(self) -> SumLoss:
        """Of all releases, of a person added or removed."""
        loss = SumLoss()
        if self.laplace_scale:
            loss += SumLoss.of_laplace(self.laplace_scale, self.grid)
        if self.gaussian_sigma:
            loss += SumLoss.of_gaussian(self.gaussian_sigma, self.n_cells, self.grid)
        return loss.times(self.releases)


class LearningGuarantee(Guarantee):
    r"""What one or several models promise; made by `DPTextClassifier.guarantee`.

    An adversary who knows everybody else, and guesses whether one person is in it, is
    right in at most the share e^ε / (1 + e^ε) of cases, plus δ. For any two sets of
    people that differ in one person, with all of this person's documents and labels,
    and any set S of results: Pr[S] ≤ e^ε Pr'[S] + δ. It is
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
    Privacy statement. A model of noisy sums, ε = 1, for a person.
    <BLANKLINE>
    WHETHER ONE PERSON TOOK PART IS HARD TO TELL.
    Nobody is right about it more than 73.2 times in 100 (a coin: 50), if both are
    equally likely.
    ...
    >>> guarantee.compose(4).epsilon
    4.0
    """

    parts: tuple[LearningPart, ...]

    _part_class = LearningPart

    @classmethod
    def _check(cls, parts: Sequence[Any]) -> None:
        units = {part.unit for part in parts}
        if len(units) != 1:
            raise InvalidParameterError(
                f"parts must be of one unit, got {', '.join(sorted(units)) or 'none'}."
            )

    @property
    def unit(self) -> str:
        """Who is hidden: "person" or "document"."""
        unit: str = self.parts[0].unit
        return unit

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

    # -- in words --------------------------------------------------------------

    @property
    def sentences(self) -> list[str]:
        """The promise in sentences, what matters most first."""
        return [*self._promises(), *self._broken()]

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
            f"Anyone who sees {seen} and knows {others} is right about whether one "
            f"{one} is in {'it' if self.releases == 1 else 'them'} at most {right} "
            "times in 100, if both are equally likely (a coin: 50).",
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
                "The authors were not given: what is hidden is a document. The ε of "
                "several documents of one person add up.",
            )
        return promises

    @property
    def limits(self) -> list[str]:
        """What is not promised."""
        people = "people" if self.unit == "person" else "documents"
        return [
            "Anything against the holder, who reads all texts and adds the noise.",
            "Every fit is another release, and its ε adds up: each candidate and "
            "fold of a search over private text is one. People who are new in a later "
            "fit cost the earlier ones nothing.",
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

    def _head(self) -> str:
        releases = f", releases={self.releases}" if self.releases > 1 else ""
        return (
            f"LearningGuarantee(epsilon={rounded_up(self.epsilon, 6)}, "
            f"delta={rounded_up(self.delta, 6)}, unit={self.unit!r}{releases})"
        )

    def _statement(self) -> Statement:
        one, right = self.unit, self.right_at_most
        times = f", {self.releases} models" if self.releases > 1 else ""
        promised = (
            f"WHETHER ONE {one.upper()} TOOK PART IS HARD TO TELL",
            f"WHETHER ONE {one.upper()} TOOK PART IS PARTLY HIDDEN",
            f"NOTHING USEFUL IS PROMISED FOR A {one.upper()}",
        )[exposure(right, 0.5)]
        others = "everybody else's texts and labels"
        if one == "document":
            others = "all other texts and labels"
        epsilons = {
            f"one {one} added or removed": self.epsilon,
            f"one {one} replaced by another": self.epsilon_replace,
        }
        delta = f", δ = {rounded_up(self.delta, 3)}" if self.delta else ""
        return Statement(
            f"A model of noisy sums, ε = {rounded_up(self.epsilon)}{delta}, for a "
            f"{one}{times}.",
            [
                f"{promised}.",
                "Nobody is right about it more than "
                f"{rounded_up(100 * right, 3)} times in 100 (a coin: 50), if both are "
                "equally likely.",
                "The holder of the texts is trusted. What is made of the model is "
                "protected, too.",
            ],
            f"Proved against anyone who knows {others}, if all candidates are equally "
            "likely. At most:",
            [
                [
                    f"right about whether one {one} is in it",
                    percent_up(right),
                    "coin 50%",
                ],
                [
                    f"right about which of {_CANDIDATES} {one}s is in it",
                    percent_up(self.found_at_most(_CANDIDATES)),
                    "guessing 1%",
                ],
                *(
                    [
                        f"odds of any result, {change}",
                        odds_factor(epsilon),
                        f"exponent {rounded_up(epsilon)}",
                    ]
                    for change, epsilon in epsilons.items()
                ),
            ],
            f"But for a probability of δ = {rounded_up(self.delta, 3)}."
            if self.delta
            else "",
            [
                "Anything against the holder, who reads all texts and adds the noise.",
                "A further fit, or a search over private text: their ε add up.",
                "What many people have in common: it is learned.",
                "Anything, if public documents, encoder, classes, n_expected, ε or δ "
                "come from the private texts.",
                *(
                    ["Authors, who were not given: documents of one person add up."]
                    if one == "document"
                    else []
                ),
                KEY,
            ],
        )
