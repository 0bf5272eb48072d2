"""Risk minus control and membership: against slow ways, and against what they promise.

What is promised with 95 % may fail in 5 % of the trials; false alarms of these tests:
1e-6 at a rate of exactly 5 %.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, mannwhitneyu, norm

# Inside of `membership_attack`: no texts would bring these scores about.
from skdptext.attacks._risk import (
    auc,
    auc_interval,
    epsilon_bound,
    mean_interval,
    membership,
    minus_control,
)

N_TRIALS = 200
ALLOWED = binom.isf(1e-6, N_TRIALS, 0.05)


def test_the_excess_is_anonymeters():
    """Of 10 that control leaves, 4 more are found; none where it leaves none."""
    risk, control = np.repeat([1.0, 0.0], [94, 6]), np.repeat([1.0, 0.0], [90, 10])
    value, low, high = minus_control(risk, control)
    assert value == pytest.approx(0.4)
    assert low < 0 < value < high
    ones = np.ones(50)
    value, low, _ = minus_control(ones, ones)
    assert low < value == 0
    assert minus_control(0 * ones, ones)[0] == -1
    value, low, high = minus_control(ones, 0 * ones)  # certain finds leave room
    assert value == high == 1
    assert 0.85 < low < 0.95


@pytest.mark.parametrize(("r", "c"), [(0.3, 0.3), (0.5, 0.1), (0.9, 0.5), (0.02, 0.02)])
def test_the_interval_of_the_excess_holds_it(r, c):
    truth, missed = (r - c) / (1 - c), 0
    for seed in range(N_TRIALS):
        rng = np.random.default_rng(seed)
        risk, control = (
            (rng.random(n) < p).astype(float) for n, p in ((60, r), (40, c))
        )
        _, low, high = minus_control(risk, control)
        missed += not low <= truth <= high
    assert missed <= ALLOWED


def test_the_area_is_that_of_mann_and_whitney():
    rng = np.random.default_rng(0)
    for size in ((7, 12), (30, 4)):
        members, others = (np.round(rng.normal(size=n), 1) for n in size)
        u = mannwhitneyu(members, others).statistic
        assert auc(members, others) == pytest.approx(u / np.prod(size))


@pytest.mark.parametrize(("n", "m"), [(12, 12), (30, 200)])
@pytest.mark.parametrize("value", [0.0, 0.2, 0.5, 0.93, 1.0])
def test_the_interval_of_the_area_solves_newcombes_equation(value, n, m):
    low, high = auc_interval(value, n, m)

    def excess(a):
        more = (n + m) / 2 - 1
        variance = a * (1 - a) / (n * m)
        variance *= 1 + more * (1 - a) / (2 - a) + more * a / (1 + a)
        return (value - a) ** 2 - norm.ppf(0.975) ** 2 * variance

    if value > 0:
        assert low == pytest.approx(brentq(excess, 1e-12, value - 1e-9), abs=1e-5)
    if value < 1:
        assert high == pytest.approx(brentq(excess, value + 1e-9, 1 - 1e-12), abs=1e-5)
    assert (low == 0) == (value == 0)
    assert (high == 1) == (value == 1)


def scores(rng, n, m, shift=0.0, digits=None):
    drawn = rng.normal(size=(n + m, 3))
    drawn[:n] += shift
    drawn = drawn if digits is None else np.round(drawn, digits)
    return drawn[:n], drawn[n:]


def false_finds(n_trials, n, m, digits=None):
    """How often each number says that members differ from others, who do not."""
    found = np.zeros(3, dtype=int)
    for seed in range(n_trials):
        rng = np.random.default_rng(seed)
        it = membership(*scores(rng, n, m, digits=digits), rng)
        found += [it.low > 0.5, it.high < 0.5, it.epsilon > 0]
    return found


SIZES = [(24, 24, None), (60, 200, None), (300, 100, None), (100, 100, 0)]


@pytest.mark.parametrize(("n", "m", "digits"), SIZES)
def test_nothing_is_found_of_members_like_others(n, m, digits):
    assert false_finds(20, n, m, digits).max() <= binom.isf(1e-6, 20, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m", "digits"), SIZES)
def test_nothing_is_found_in_95_percent(n, m, digits):
    assert false_finds(N_TRIALS, n, m, digits).max() <= ALLOWED


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
    found = membership(column[is_member], column[~is_member], rng)
    return found.epsilon > epsilon, found.epsilon


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
    found = membership(members, others, rng)
    assert (found.area, found.area_by, found.n) == (1.0, 1, 100)
    largest = float(epsilon_bound(100, 0, 100, 100))  # that so many can show
    assert 3 < largest - 0.1 < found.epsilon <= largest


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
