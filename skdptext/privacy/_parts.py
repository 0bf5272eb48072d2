"""The parts of guarantees: releases of one kind, except those of noisy words."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp

from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import (
    ExactResponse,
    LossDistribution,
    SumLoss,
    gaussian_sigma,
    laplace_scale,
)
from skdptext.utils import check_integer, check_option, check_real

# The largest accepted number of releases, more than anyone makes. Sums with it do not
# overflow.
_MOST_RELEASES = 10**9


@dataclass(frozen=True, eq=False, kw_only=True)
class Part(ABC):
    """Releases of one kind: their number, their promise, and what voids it.

    Subclasses are frozen dataclasses. They have a `unit`, "word", "document" or
    "person", and the `epsilon` of one release. Parts of words and of stand-ins also
    have ``at_epsilon(epsilon)``, and bounds on all releases together:
    ``exponent(x, y)``, and ``losses(x, y)``, a list of one or two distributions. Parts
    hold numbers; `_statement` turns them into sentences.
    """

    releases: int = 1
    caveats: tuple[str, ...] = ()

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        check_integer("releases", self.releases, low=1, high=_MOST_RELEASES)
        if not all(isinstance(caveat, str) for caveat in self.caveats):
            raise InvalidParameterError("caveats must be sentences.")

    @property
    def key(self) -> Hashable:
        """Key that is equal for parts that only differ in releases or caveats."""
        return self.kind, repr(self.options())

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """Get all fields but these two, as JSON values."""

    @classmethod
    @abstractmethod
    def of_options(
        cls, options: Mapping[str, Any], embedding: Any, **common: Any
    ) -> "Part":
        """Make a part from stored `options`; raises ValueError or the like if wrong."""

    def stored(self) -> dict[str, Any]:
        """Get all fields as JSON values."""
        common = {"releases": self.releases, "caveats": list(self.caveats)}
        return {"kind": self.kind, **common, **self.options()}

    @property
    def numerical_delta(self) -> float | None:
        """Probability that finite arithmetic changes a release; None if unknown."""
        return 0.0

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences on what voids or weakens the promise."""
        return self.caveats

    # -- totals over the parts of one kind and unit ---------------------------------

    @staticmethod
    def epsilon_of_all(parts: Sequence[Any]) -> Any:
        """Add up the ε of all releases; None if they have no common unit."""
        return float(sum(part.releases * part.epsilon for part in parts))

    @staticmethod
    @abstractmethod
    def of_person(parts: Sequence[Any], n_documents: int) -> tuple[float, float]:
        """Compute ε and δ of one person with `n_documents` documents."""


# -- stand-ins -----------------------------------------------------------------------

# Up to so many releases, the bound on linkage is computed. For more, the number of
# groups K is used, which the bound then approaches.
_MANY = 32
# Bounds are raised by this factor. It outweighs rounding errors.
_UP = 1 + 2.0**-40
# At ε = 8, randomized response over so many groups keeps the group in 42% of answers. A
# grouper with more groups identifies documents instead of topics.
MOST_GROUPS = 4096


@dataclass(frozen=True, eq=False)
class ReplacementPart(Part):
    """Releases through one grouping of documents."""

    n_groups: int
    epsilon: float  # of one release
    grouping: bytes  # digest of the groups
    unit: str = "document"  # or "person", whose documents share one answer
    #: Function from documents to numbers of groups; None if read from a file.
    assign: Callable[[Sequence[Any]], np.ndarray] | None = None

    kind = "stand-ins"

    @cached_property
    def mechanism(self) -> ExactResponse:
        """Randomized response over the groups."""
        return ExactResponse(self.n_groups, self.epsilon)

    def options(self) -> dict[str, Any]:
        return {
            "n_groups": int(self.n_groups),
            "epsilon": float(self.epsilon),
            "grouping": self.grouping.hex(),
            "unit": self.unit,
        }

    @classmethod
    def of_options(
        cls, options: Mapping[str, Any], embedding: Any, **common: Any
    ) -> "ReplacementPart":
        grouping = bytes.fromhex(options["grouping"])
        if len(grouping) != 32:
            raise ValueError
        return cls(
            check_integer("n_groups", options["n_groups"], low=2, high=MOST_GROUPS),
            check_real("epsilon", options["epsilon"], low=0, open_low=True),
            grouping,
            check_option("unit", options["unit"], ("document", "person")),
            **common,
        )

    def at_epsilon(self, epsilon: float) -> "ReplacementPart":
        return replace(self, epsilon=epsilon)

    def _groups_of(self, x: Any, y: Any) -> tuple[int, int]:
        if x is None and y is None:  # any two
            return 0, 1
        if self.assign is None:
            raise InvalidParameterError(
                "this guarantee was read from a file, which does not contain the "
                "groups of documents: use that of the fitted DPDocumentReplacer."
            )
        g, h = self.assign([x, y])
        return g, h

    def exponent(self, x: Any, y: Any) -> float:
        g, h = self._groups_of(x, y)
        return self.releases * self.epsilon if g != h else 0.0

    def losses(self, x: Any, y: Any) -> list[LossDistribution]:
        return [self.mechanism.losses(*self._groups_of(x, y)).times(self.releases)]

    @staticmethod
    def of_person(parts: Sequence[Any], n_documents: int) -> tuple[float, float]:
        times = n_documents if parts[0].unit == "document" else 1
        return times * Part.epsilon_of_all(parts), 0.0

    @staticmethod
    def found_at_most(parts: Sequence[Any], n_candidates: int) -> float:
        # All answers through one grouping depend on the document's group only. The
        # group itself would reveal all that they reveal, so Σ_z max_d Pr[z | d] is at
        # most Σ_g Σ_z Pr[z | g] = K.
        total: dict[bytes, float] = {}
        for part in parts:
            added = total.get(part.grouping, 0.0) + part.log_sum_of_best
            total[part.grouping] = min(math.log(part.n_groups), added)
        # The bound is rounded up: it may be too large by 2^-40, but never too small.
        share = math.exp(sum(total.values()) - math.log(n_candidates))
        return min(1.0, share * _UP)

    @property
    def log_sum_of_best(self) -> float:
        """Compute ln Σ_z max_d Pr[z | d], over all answers z of all releases.

        An answer is a sequence of r groups. The best document belongs to the group that
        occurs most often, m times, and has Pr = p^m q^(r−m).
        """
        k, r = self.n_groups, self.releases
        most = math.log(k)
        if r > _MANY:
            return most
        log_p = -math.log1p((k - 1) * math.exp(-self.epsilon))
        upto = [_n_sequences(k, r, m) for m in range(r + 1)]
        terms = [  # q = p e^−ε
            math.log(n - fewer) + r * log_p - (r - m) * self.epsilon
            for m, (fewer, n) in enumerate(pairwise(upto), start=1)
            if n > fewer
        ]
        return min(most, float(logsumexp(terms)))


def _n_sequences(k: int, r: int, m: int) -> int:
    """Count sequences of r of k symbols in which none occurs more than m times."""
    # It is r! times the coefficient of x^r in (Σ_{j≤m} x^j/j!)^k, by Euler's recurrence
    # for powers of a polynomial. Whole numbers lose no digits.
    counts = [1]
    for n in range(1, r + 1):
        terms = (
            ((k + 1) * j - n) * math.comb(n, j) * counts[n - j]
            for j in range(1, min(m, n) + 1)
        )
        counts.append(sum(terms) // n)
    return counts[r]


# -- sums over people ----------------------------------------------------------------

# Number of grid steps in a contribution of norm 1. Its square, and sums over 2^33
# people, fit into 64 bits.
GRID = 2**30
UNITS = ("person", "document")
ADJACENCY = ("add_remove", "replace")
_FIELDS = {"unit": str, "epsilon": float, "delta": float, "n_cells": int}


@dataclass(frozen=True, eq=False)
class LearningPart(Part):
    """Noisy sums of groups or vectors; these options determine their noise."""

    unit: str  # what counts once: "person" or "document"
    epsilon: float  # requested ε of one release, for one person added or removed
    delta: float  # δ of sums of vectors; 0 for groups
    n_cells: int  # number of cells of sums of vectors; 0 for groups

    kind = "sums"

    @property
    def scale(self) -> int:
        """Scale of Laplace noise, or σ of Gaussian noise, in grid steps."""
        if self.delta:
            return gaussian_sigma(self.epsilon, self.delta, self.n_cells, GRID)
        return laplace_scale(self.epsilon, GRID)

    @property
    def loss(self) -> SumLoss:
        """Loss of all releases, for a person added or removed."""
        if self.delta:
            loss = SumLoss.of_gaussian(self.scale, self.n_cells, GRID)
        else:
            loss = SumLoss.of_laplace(self.scale, GRID)
        return loss.times(self.releases)

    def options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}

    @classmethod
    def of_options(
        cls, options: Mapping[str, Any], embedding: Any, **common: Any
    ) -> "LearningPart":
        given = [options[name] for name in _FIELDS]
        part = cls(*given, **common)
        gaussian = 0 < part.delta < 1 <= part.n_cells
        # Without noise nothing is promised, so such a file is refused.
        if (
            list(map(type, given)) != list(_FIELDS.values())
            or part.unit not in UNITS
            or not 0 < part.epsilon < math.inf
            or not (gaussian or part.delta == 0 == part.n_cells)
        ):
            raise ValueError
        part.loss  # noqa: B018, refuses noise that 64 bits do not hold
        return part

    # -- of all releases of a unit ---------------------------------------------------

    @staticmethod
    def loss_of(parts: Sequence[Any], adjacency: str = ADJACENCY[0]) -> SumLoss:
        check_option("adjacency", adjacency, ADJACENCY)
        loss = reduce(add, (part.loss for part in parts))
        return loss.larger(2.0 if adjacency == "replace" else 1.0)

    @staticmethod
    def delta_of_all(parts: Sequence[Any]) -> float:
        return min(1.0, float(sum(part.releases * part.delta for part in parts)))

    @staticmethod
    def epsilon_of_all(parts: Sequence[Any]) -> float:
        added = float(sum(part.releases * part.epsilon for part in parts))
        delta = LearningPart.delta_of_all(parts)
        if sum(part.releases for part in parts) == 1 or not delta:
            return added
        return min(added, LearningPart.loss_of(parts).epsilon(delta))

    @staticmethod
    def of_person(parts: Sequence[Any], n_documents: int) -> tuple[float, float]:
        """Compute ε and δ if all documents of a person are replaced."""
        # With authors, the documents of a person are one contribution of norm 1.
        delta = LearningPart.delta_of_all(parts)
        times = 2.0 * (n_documents if parts[0].unit == "document" else 1)
        if not delta:
            return times * LearningPart.epsilon_of_all(parts), 0.0
        return LearningPart.loss_of(parts).larger(times).epsilon(delta), delta

    @staticmethod
    def right_at_most(parts: Sequence[Any]) -> float:
        odds = math.exp(-LearningPart.epsilon_of_all(parts))
        pure = (1 + LearningPart.delta_of_all(parts) * odds) / (1 + odds)
        right = min(pure, (1 + LearningPart.loss_of(parts).delta(0.0)) / 2)
        return min(1.0, right * _UP)

    @staticmethod
    def found_at_most(parts: Sequence[Any], n_candidates: int) -> float:
        # A result has probability at most e^ε Pr0 + δ for each candidate, where Pr0 is
        # its probability if no candidate took part.
        # e^700 is more than any number of candidates. An infinite ε has no steps.
        epsilon = min(LearningPart.epsilon_of_all(parts), 700.0)
        loss = LearningPart.loss_of(parts)
        shares = [
            math.exp(e) / n_candidates + loss.delta(e)
            for e in (epsilon * i / 20 for i in range(21))
        ]
        return min(1.0, max(1 / n_candidates, min(shares)) * _UP)
