"""What tables 1 to 4 and figures 2 to 5 are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments import kept
from experiments.paper.plan import EPSILONS, SEED, VECTORS, Plan, vocabulary
from record import calibrated

from skdptext.metrics import PlausibleDeniability, plausible_deniability

# Both statistics, and which way λ should move them.
DIRECTION = {"n_unchanged": -1, "n_distinct": 1}


def _drawn(
    plan: Plan, vectors: str, epsilon: float, lam: float, seed: int = SEED
) -> PlausibleDeniability:
    """Both statistics of the sampled words; the same draws for all ε and λ."""
    words = vocabulary(plan, vectors)
    return plausible_deniability(
        words.perturber(epsilon, lam),
        words.sample,
        n_draws=plan.n_draws,
        random_state=seed,
    )


@kept
def summary(plan: Plan, vectors: str, lam: float) -> list[dict[str, dict[str, Any]]]:
    """Both statistics over the sampled words, an entry per ε of the table."""
    epsilons = (*EPSILONS, *VECTORS[vectors].more_epsilons)
    return [_drawn(plan, vectors, epsilon, lam).summary() for epsilon in epsilons]


@kept
def replicate(plan: Plan, vectors: str, number: int) -> np.ndarray:
    """Means of both statistics by ε and λ, with fresh noise."""
    results = [
        [_drawn(plan, vectors, epsilon, lam, SEED + 1 + number) for lam in plan.lams]
        for epsilon in EPSILONS
    ]
    return np.array(
        [[[getattr(one, name).mean() for one in row] for row in results]
         for name in DIRECTION]
    )  # fmt: skip


@kept
def equal_epsilon(plan: Plan, lam: float, share: float) -> float:
    """The ε at which this share of the draws leaves words unchanged."""
    words = vocabulary(plan, plan.vectors[0])
    sample = [[word] for word in words.sample]
    found = calibrated(words.perturber(1.0, lam), sample, SEED, 1 - share)
    return float(f"{found:.4g}")
