"""What noisy sums over people promise, in numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from skdptext.learning._sums import GRID
from skdptext.mechanisms import SumLoss, gaussian_sigma, laplace_scale
from skdptext.privacy import Part
from skdptext.utils import check_option

_UP = 1 + 2.0**-40
UNITS = ("person", "document")
NEIGHBOURS = ("add/remove", "replace")
_FIELDS = "unit", "groups_epsilon", "vectors_epsilon", "delta", "n_cells"


@dataclass(frozen=True, eq=False)
class LearningPart(Part):
    """Noisy sums of one kind; their noise follows from these options."""

    unit: str  # who counts once: "person" or "document"
    groups_epsilon: float  # share of ε for sums of groups; 0: there are none
    vectors_epsilon: float  # of sums of vectors
    delta: float  # of these; 0 without them
    n_cells: int  # of these

    kind = "sums"

    @property
    def epsilon(self) -> float:
        """As asked for, of one person added or removed, by one release."""
        return self.groups_epsilon + self.vectors_epsilon

    @property
    def laplace_scale(self) -> int:
        """Of the noise on groups, in steps of the grid; 0: no groups."""
        return laplace_scale(self.groups_epsilon, GRID) if self.groups_epsilon else 0

    @property
    def gaussian_sigma(self) -> int:
        """Of the noise on vectors; 0: no vectors."""
        if not self.vectors_epsilon:
            return 0
        return gaussian_sigma(self.vectors_epsilon, self.delta, self.n_cells, GRID)

    @property
    def loss(self) -> SumLoss:
        """Of all releases, of a person added or removed."""
        loss = SumLoss()
        if self.groups_epsilon:
            loss += SumLoss.of_laplace(self.laplace_scale, GRID)
        if self.vectors_epsilon:
            loss += SumLoss.of_gaussian(self.gaussian_sigma, self.n_cells, GRID)
        return loss.times(self.releases)

    def options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}

    @classmethod
    def of_options(
        cls, options: Mapping[str, Any], embedding: Any, **common: Any
    ) -> LearningPart:
        given = [options[name] for name in _FIELDS]
        if list(map(type, given)) != [str, float, float, float, int]:
            raise ValueError
        part = cls(*given, **common)
        shares = part.groups_epsilon, part.vectors_epsilon
        # δ and cells are those of Gaussian noise, and without noise nothing is promised
        gaussian = 0 < part.delta < 1 <= part.n_cells
        if not shares[1]:
            gaussian = part.delta == part.n_cells == 0
        at_all = sum(shares) > 0 and all(0 <= share < math.inf for share in shares)
        if part.unit not in UNITS or not gaussian or not at_all:
            raise ValueError
        part.loss  # noqa: B018, refuses noise that 64 bits do not hold
        return part

    # -- of all releases of a unit ---------------------------------------------------

    @staticmethod
    def loss_of(parts: Sequence[Any], neighbours: str = NEIGHBOURS[0]) -> SumLoss:
        check_option("neighbours", neighbours, NEIGHBOURS)
        loss = reduce(add, (part.loss for part in parts))
        return loss.larger(2.0 if neighbours == "replace" else 1.0)

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
        """Of all documents replaced; those of a person are one contribution."""
        delta = LearningPart.delta_of_all(parts)
        times = 2.0 * (n_documents if parts[0].unit == "document" else 1)
        if not delta:
            return times * LearningPart.epsilon_of_all(parts), 0.0
        return LearningPart.loss_of(parts).larger(times).epsilon(delta), delta

    @staticmethod
    def right_at_most(parts: Sequence[Any]) -> float:
        epsilon, pure = LearningPart.epsilon_of_all(parts), 1.0
        if epsilon < 700:
            delta = LearningPart.delta_of_all(parts)
            pure = (math.exp(epsilon) + delta) / (1 + math.exp(epsilon))
        return min(pure, (1 + LearningPart.loss_of(parts).delta(0.0)) / 2) * _UP

    @staticmethod
    def found_at_most(parts: Sequence[Any], n_candidates: int) -> float:
        # each candidate's result is e^ε Pr0 + δ at most, with Pr0 that of nobody in it
        epsilon, loss = LearningPart.epsilon_of_all(parts), LearningPart.loss_of(parts)
        shares = [
            math.exp(min(e, 700.0)) / n_candidates + loss.delta(e)
            for e in (epsilon * i / 20 for i in range(21))
        ]
        return min(1.0, max(1 / n_candidates, min(shares)) * _UP)
