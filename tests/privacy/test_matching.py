"""The cheapest matching itself, against all of them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from skdptext.privacy._matching import matching_plan


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("forbidden", [0.0, 0.4])
def test_plan_is_the_best_of_all(seed, forbidden):
    rng = np.random.default_rng(seed)
    n, k, units = *rng.integers(1, 4, 2), 5
    supply = np.bincount(rng.integers(0, n, units), minlength=n)
    demand = np.bincount(rng.integers(0, k, units), minlength=k)
    supply, demand = supply[supply > 0], demand[demand > 0]
    cost = rng.exponential(size=(len(supply), len(demand))) * 10.0 ** rng.integers(
        -9, 9
    )
    cost[rng.random(cost.shape) < forbidden] = math.inf
    plan = matching_plan(supply, demand, cost)
    assert plan.dtype.kind == "i"
    assert plan.sum(axis=1).tolist() == supply.tolist()
    assert plan.sum(axis=0).tolist() == demand.tolist()
    rows = np.repeat(np.arange(len(supply)), supply)
    columns = np.repeat(np.arange(len(demand)), demand)

    def total(costs):
        # the number of forbidden matches counts first
        forbidden_matches = np.isinf(costs)
        return int(forbidden_matches.sum()), float(costs[~forbidden_matches].sum())

    best = min(total(cost[rows, list(o)]) for o in itertools.permutations(columns))
    at = plan.nonzero()
    planned = total(np.repeat(cost[at], plan[at]))
    assert planned[0] == best[0]
    assert planned[1] == pytest.approx(best[1], rel=1e-9)
