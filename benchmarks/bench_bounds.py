"""How often the best candidate of a search misses the bound that it was chosen by.

One command, half a minute; no data is needed::

    python benchmarks/bench_bounds.py

Thirteen candidates whose true scores lie 0.01 apart around a bound, the more private
the lower; scores of splits are normal around them. `best_under_constraint` takes
the most private one that meets the bound, by its mean or by its 95 % interval.
"""

from __future__ import annotations

import measuring
import numpy as np
from results import record

from skdptext.exceptions import NoFeasibleCandidateError
from skdptext.model_selection import best_under_constraint

BOUND, STEP = 0.7, 0.01
TRUE = BOUND + STEP * np.arange(-6, 7)
SPLITS, SPREADS = (2, 3, 5, 10), (0.01, 0.02, 0.03)


def searches(n: int, splits: int, spread: float, confidence: float | None) -> list[int]:
    """The candidate that each of `n` searches takes, or −1."""
    rng = np.random.default_rng(0)
    rule = best_under_constraint(
        maximize="privacy",
        subject_to={"accuracy": BOUND},
        confidence=confidence,
        tuned_on="public",
    )
    chosen = []
    for _ in range(n):
        scores = TRUE + spread * rng.standard_normal((splits, len(TRUE)))
        results = {
            "mean_test_privacy": -TRUE,
            "mean_test_accuracy": scores.mean(axis=0),
        }
        results |= {f"split{i}_test_accuracy": row for i, row in enumerate(scores)}
        try:
            chosen.append(rule(results))
        except NoFeasibleCandidateError:
            chosen.append(-1)
    return chosen


def line(n: int, splits: int, spread: float) -> dict[str, object]:
    """What both rules do."""
    row: dict[str, object] = {"splits": splits, "sd of a split": spread}
    for name, confidence in (("mean", None), ("0.95", 0.95)):
        chosen = np.array(searches(n, splits, spread, confidence))
        slack = TRUE[chosen[chosen >= 0]] - BOUND
        missed = slack < -STEP / 2
        row |= {
            f"{name}: misses the bound": float(missed.sum() / n),
            f"{name}: finds none": float((chosen < 0).mean()),
            f"{name}: above the bound, on average": float(slack.mean()),
        }
    return row


def main() -> None:
    n = measuring.options(__doc__, searches=2000).searches
    record(
        "tuning_bounds",
        [line(n, splits, spread) for splits in SPLITS for spread in SPREADS],
        title="A bound that is met by the mean, and by a 95 % interval",
        note=(
            f"Shares of {n:,} searches each, with standard errors of "
            f"{0.5 / n**0.5:.3f} at most: among {len(TRUE)} candidates with true "
            f"scores {STEP:g} apart around the bound, the most private one that meets "
            "it. The scores of the splits are normal with the given standard deviation "
            "(sd). Above the bound: the true score of what is chosen, less the bound. "
            "python benchmarks/bench_bounds.py repeats it."
        ),
    )


if __name__ == "__main__":
    main()
