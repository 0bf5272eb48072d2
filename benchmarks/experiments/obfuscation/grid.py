"""The settings of the experiment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GOOGLE, W2V = "googlenews_8k_300d", "w2v_news_fiction_30k_300d"
# The paper has 30 to 10, and says that at 40 nothing changes.
EPSILONS = {
    GOOGLE: (40.0, 30.0, 25.0, 20.0, 15.0, 10.0, 5.0),
    W2V: (30.0, 25.0, 20.0, 15.0, 10.0, 5.0),
}
LAMS = (0.0, 0.5, 1.0)
# Releases (seeds of the noise) of each problem under each table.
SEEDS = {
    ("18 authors", GOOGLE): 3,
    ("40 authors", GOOGLE): 2,
    ("18 authors", W2V): 2,
    ("40 authors", W2V): 2,
}
KEEP_SEEDS, WORD_SEEDS = 2, 2
# Raise it when a change of the code changes the numbers of a cell.
VERSION = 3


@dataclass(frozen=True)
class Setting:
    """One release and the attacks on it; ε = 0 stands for no noise."""

    # "release"; "keep", with unknown words in clear; or "words", each of which is to be
    # guessed from its release
    kind: str
    problem: str
    table: str
    epsilon: float
    lam: float
    seed: int

    @property
    def group(self) -> str:
        """Those of a group share an adversary's training; one process does them all."""
        table = self.table.split("_")[0]
        return f"{self.kind}-{table}-e{self.epsilon:g}-l{self.lam:g}"

    @property
    def name(self) -> str:
        return f"{self.group}-{self.problem.replace(' ', '')}-s{self.seed}"


def all_settings(quick: bool = False) -> list[Setting]:
    """Every setting."""
    seeds = {("18 authors", GOOGLE): 1} if quick else SEEDS
    lams = (0.0, 0.5) if quick else LAMS
    settings = []
    for (problem, table), n_seeds in seeds.items():
        settings.append(Setting("release", problem, table, 0.0, 0.0, 0))
        settings += [
            Setting("release", problem, table, epsilon, lam, seed)
            for seed in range(n_seeds)
            for epsilon in ((30.0,) if quick else EPSILONS[table])
            for lam in lams
        ]
    if not quick:
        settings += [
            Setting("keep", problem, GOOGLE, epsilon, 0.0, seed)
            for problem in ("18 authors", "40 authors")
            for epsilon in (0.0, *EPSILONS[GOOGLE])
            for seed in range(KEEP_SEEDS if epsilon else 1)
        ]
        settings += [
            Setting("words", "40 authors", GOOGLE, epsilon, lam, seed)
            for epsilon in (30.0, 20.0, 15.0, 10.0, 5.0)
            for lam in (0.0, 1.0)
            for seed in range(WORD_SEEDS)
        ]
    return settings


def as_marks(correct: np.ndarray) -> str:
    """One character per snippet: 1 if it was attributed rightly."""
    return "".join("1" if right else "0" for right in correct)
