"""The settings of the experiment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# The paper has 30 to 10, and says that at 40 nothing changes.
EPSILONS = (40.0, 30.0, 25.0, 20.0, 15.0, 10.0, 5.0)
SEEDS = {"18 authors": 3, "40 authors": 2}  # releases of each problem
KEEP_SEEDS = 2
VERSION = 4  # raise it when a change of the code changes the numbers of a cell


@dataclass(frozen=True)
class Setting:
    """One release and the attacks on it; ε = 0 stands for no noise."""

    kind: str  # "release"; or "keep", with unknown words in clear
    problem: str
    epsilon: float
    seed: int

    @property
    def group(self) -> str:
        """Those of a group share an adversary's training; one process does them all."""
        return f"{self.kind}-e{self.epsilon:g}"

    @property
    def name(self) -> str:
        return f"{self.group}-{self.problem.replace(' ', '')}-s{self.seed}"


def all_settings(quick: bool = False) -> list[Setting]:
    """Every setting."""
    if quick:
        return [Setting("release", "18 authors", epsilon, 0) for epsilon in (0.0, 30.0)]
    return [
        Setting(kind, problem, epsilon, seed)
        for kind in ("release", "keep")
        for problem, n in SEEDS.items()
        for epsilon in (0.0, *EPSILONS)
        for seed in range((n if kind == "release" else KEEP_SEEDS) if epsilon else 1)
    ]


def as_marks(correct: np.ndarray) -> str:
    """One character per snippet: 1 if it was attributed rightly."""
    return "".join("1" if right else "0" for right in correct)
