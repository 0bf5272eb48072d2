"""Intervals and lower bounds: against enumeration, and against what they promise.

What is promised with 95 % may fail in 5 % of the trials; false alarms of these tests:
1e-6 at a rate of exactly 5 %.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

# Inside of `membership_attack`: no texts would bring these scores about.
from skdptext.attacks._membership import epsilon_bound, told_apart
from skdptext.attacks._scores import gain, mean_interval
from skdptext.utils import share_interval

N_TRIALS = 200
ALLOWED = binom.isf(1e-6, N_TRIALS, 0.05)


@pytest.mark.parametrize(("r", "c"), [(0.3, 0.3), (0.5, 0.1), (0.9, 0.5), (0.02, 0.02)])
def test_the_interval_of_a_gain_holds_it(r, c):
    missed = 0
    for seed in range(N_TRIALS):
        own, other = ((r, c) > np.random.default_rng(seed).random((2, 50)).T).T * 1.0
        row = gain("copies", own, other)
        assert (row.value, row.chance) == (own.mean(), other.mean())
        missed += not row.low <= row.chance + r - c <= row.high
    assert missed <= ALLOWED


def scores(rng, n, m, shift=0.0, digits=None):
    drawn = rng.normal(size=(n + m, 3))
    drawn[:n] += shift
    drawn = drawn if digits is None else np.round(drawn, digits)
    return drawn[:n], drawn[n:]


@pytest.mark.parametrize(
    "n_trials", [20, pytest.param(N_TRIALS, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    ("n", "m", "digits"),
    [(24, 24, None), (60, 200, None), (300, 100, None), (100, 100, 0)],
)
def test_nothing_is_found_of_members_like_others(n, m, digits, n_trials):
    """By each number that would say that they differ."""
    found = np.zeros(3, dtype=int)
    for seed in range(n_trials):
        rng = np.random.default_rng(seed)
        _, right, epsilon = told_apart(*scores(rng, n, m, digits=digits), rng)
        low, high = share_interval(right)
        found += [low > 0.5, high < 0.5, epsilon > 0]
    assert found.max() <= binom.isf(1e-6, n_trials, 0.05)


def refuted(epsilon, n, m, seed, together):
    """Whether an exact mechanism is said to have a larger ε than it has.

    It tells for each case whether it is a member, which is true with eᵋ/(1 + eᵋ);
    or, `together`, of ten cases which of the two most of them are, as truly: one case
    changes one answer at most, and all ten guesses are right or wrong as one.
    """
    rng = np.random.default_rng(seed)
    is_member = rng.random(n + m) < n / (n + m)
    if together:
        groups = np.arange(n + m) // 10
        votes = np.bincount(groups, np.where(is_member, 1, -1)) >= 0
        honest = rng.random(len(votes)) < 1 / (1 + np.exp(-epsilon))
        answers = np.where(honest, votes, ~votes)[groups]
    else:
        honest = rng.random(n + m) < 1 / (1 + np.exp(-epsilon))
        answers = np.where(honest, is_member, ~is_member)
    column = answers.astype(float)[:, None]
    bound = told_apart(column[is_member], column[~is_member], rng)[2]
    return bound > epsilon, bound


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize(("epsilon", "n", "m"), [(0.5, 200, 200), (2.0, 400, 100)])
def test_the_bound_holds_for_an_exact_mechanism(epsilon, n, m, together):
    trials = [refuted(epsilon, n, m, seed, together) for seed in range(N_TRIALS)]
    assert sum(wrong for wrong, _ in trials) <= ALLOWED
    if not together:  # and is no empty one
        assert np.median([bound for _, bound in trials]) > epsilon / 10


def test_the_bound_is_the_limit_of_a_binomial():
    """20 of 20 guesses right: with even odds p²⁰ = .05, and ε = ln(p/(1 − p))."""
    p = 0.05 ** (1 / 20)
    assert epsilon_bound(20, 0, 50, 50) == pytest.approx(np.log(p / (1 - p)))
    # three times as many members: a guess is right with 3/4 anyway
    assert epsilon_bound(20, 0, 75, 25) == pytest.approx(np.log(p / (1 - p) / 3))
    assert epsilon_bound(0, 5, 50, 50) == -np.inf


def test_what_stands_apart_is_found_by_the_one_who_sees_it():
    rng = np.random.default_rng(0)
    members, others = scores(rng, 200, 200)
    members[:, 1] += 10
    best, right, epsilon = told_apart(members, others, rng)
    assert (best, right.tolist()) == (1, [1.0] * 100)
    largest = float(epsilon_bound(100, 0, 100, 100))  # that so many can show
    assert 3 < largest - 0.1 < epsilon <= largest


# -- intervals of means -----------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 5, 12, 40, 1000])
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_few_equal_values_leave_room_for_another(share, n):
    """Of 12 documents that all were copied, 100 % [100 %, 100 %] was said."""
    low, high = mean_interval(np.full(n, share))
    assert low <= share <= high
    # shares for which so many equal values are no surprise
    assert high - low > 1 / (n + 1)
    assert high - low < 1 if n > 2 else (low, high) == (0, 1)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 0.9, 0.98])
@pytest.mark.parametrize("n", [8, 12, 40])
def test_intervals_of_means_hold_rare_shares(share, n):
    """They missed .98 of 12 documents in 78 of 100 cases. Here, by enumeration."""
    hits = np.arange(n + 1)
    held = []
    for h in hits:
        low, high = mean_interval(np.repeat([1.0, 0.0], [h, n - h]))
        held.append(low <= share <= high)
    assert binom.pmf(hits, n, share) @ held >= 0.92
