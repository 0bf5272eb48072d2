"""What noisy sums over people promise, in numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from skdptext.learning._features import GRID
from skdptext.mechanisms import SumLoss, gaussian_sigma, laplace_scale
from skdptext.privacy import Part
from skdptext.utils import check_option

_UP = 1 + 2.0**-40
UNITS = ("person", "document")
ADJACENCY = ("add_remove", "replace")
_FIELDS = {"unit": str, "epsilon": float, "delta": float, "n_cells": int}


@dataclass(frozen=True, eq=False)
class LearningPart(Part):
    """Noisy sums of groups, or of vectors; their noise follows from these options."""

    unit: str  # who counts once: "person" or "document"
    epsilon: float  # as asked for, of one person added or removed, by one release
    delta: float  # of sums of vectors; 0: of groups
    n_cells: int  # of sums of vectors; 0: of groups

    kind = "sums"

    @property
    def laplace_scale(self) -> int:
        """Of the noise on groups, in steps of the grid; 0: no groups."""
        return 0 if self.delta else laplace_scale(self.epsilon, GRID)

    @property
    def gaussian_sigma(self) -> int:
        """Of the noise on vectors; 0: no vectors."""
        if not self.delta:
            return 0
        return gaussian_sigma(self.epsilon, self.delta, self.n_cells, GRID)

    @property
    def loss(self) -> SumLoss:
        """Of all releases, of a person added or removed."""
        if self.delta:
            loss = SumLoss.of_gaussian(self.gaussian_sigma, self.n_cells, GRID)
        else:
            loss = SumLoss.of_laplace(self.laplace_scale, GRID)
        return loss.times(self.releases)

    def options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}

    @classmethod
    def of_options(
        cls, options: Mapping[str, Any], embedding: Any, **common: Any
    ) -> LearningPart:
        given = [options[name] for name in _FIELDS]
        part = cls(*given, **common)
        # δ and cells are those of Gaussian noise, and without noise nothing is promised
        if (
            list(map(type, given)) != list(_FIELDS.values())
            or part.unit not in UNITS
            or not 0 < part.epsilon < math.inf
            or not (
                0 < part.delta < 1 <= part.n_cells or part.delta == 0 == part.n_cells
            )
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
