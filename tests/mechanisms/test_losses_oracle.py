"""Loss distributions against dp-accounting, which others wrote and use.

It bounds δ(t) from both sides on a grid of its own: the true value lies between. Ours,
which bounds from above, may not be below its lower bound, nor far above its upper one.
"""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest

from skdptext.mechanisms import LossDistribution

pytestmark = pytest.mark.slow

STEP = 1e-4  # of their grid


def pld():
    """Their module, which `make test-slow` installs: imported by tests that run."""
    return importlib.import_module("dp_accounting.pld.privacy_loss_distribution")


def random_pair(seed, n_outputs, spread, never=False):
    """ln Pr[z | x] and ln Pr[z | y] for each output z."""
    rng = np.random.default_rng(seed)
    logs = rng.normal(size=(2, n_outputs)) * spread
    if never:
        logs[1, 0] = -np.inf  # an output that gives x away
    return logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)


def theirs_of_pair(x, y, pessimistic):
    def as_dict(logs):
        return {z: value for z, value in enumerate(logs) if value > -np.inf}

    return pld().from_two_probability_mass_functions(
        as_dict(y), as_dict(x), pessimistic, STEP
    )


def response(epsilon, n_words):
    """Randomized response over so many words: its two distributions."""
    logs = np.full((2, n_words), -np.log(np.exp(epsilon) + n_words - 1))
    logs[0, 0] += epsilon
    logs[1, 1] += epsilon
    return logs


PAIRS = {
    "ten outputs": random_pair(0, 10, 1.0),
    "a thousand outputs": random_pair(1, 1000, 0.5),
    "far apart": random_pair(2, 40, 3.0),
    "one output tells": random_pair(3, 200, 0.5, never=True),
    "randomized response": response(2.0, 50),
}
CASES = {
    name: (
        LossDistribution.of_log_proba(*pair),
        lambda pessimistic, pair=pair: theirs_of_pair(*pair, pessimistic),
    )
    for name, pair in PAIRS.items()
} | {
    f"Laplace noise, {distance}": (
        LossDistribution.of_noise(distance, 1),
        lambda pessimistic, distance=distance: pld().from_laplace_mechanism(
            1.0, distance, pessimistic, STEP
        ),
    )
    for distance in (0.1, 1.0, 4.0)
}


@pytest.mark.parametrize("n", [1, 2, 20])
@pytest.mark.parametrize("case", CASES)
def test_between_the_bounds_of_dp_accounting(case, n):
    one, make = CASES[case]
    loss = one.times(n)
    below, above = (make(pessimistic).self_compose(n) for pessimistic in (False, True))
    last = 1.2 * above.get_epsilon_for_delta(1e-9)
    for t in np.linspace(0, last if math.isfinite(last) else 20.0, 12):
        delta = loss.delta(t)
        assert delta >= below.get_delta_for_epsilon(t) * (1 - 1e-9) - 1e-12
        assert delta <= above.get_delta_for_epsilon(t) * 1.05 + 1e-10
    for delta in (1e-2, 1e-4, 1e-6):
        exponent = loss.exponent(delta)
        least, most = (b.get_epsilon_for_delta(delta) for b in (below, above))
        assert exponent >= least * (1 - 1e-9) - 1e-9
        assert exponent <= most * 1.005 + 1e-3 or most == math.inf


@pytest.mark.parametrize("factor", [0.99, 0.9])
def test_losses_that_are_too_small_are_caught(factor):
    x, y = PAIRS["a thousand outputs"]
    small = LossDistribution.of(factor * (x - y), np.exp(x)).times(20)
    below = theirs_of_pair(x, y, False).self_compose(20)
    assert small.exponent(1e-6) < below.get_epsilon_for_delta(1e-6)
