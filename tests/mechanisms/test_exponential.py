"""The exponential mechanism: its law, and a claim that is exact and attained."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from sklearn import config_context

from skdptext import WordEmbedding
from skdptext.mechanisms import Exponential, TableMechanism
from tests.expected import leaks_allowed
from tests.laws import distances, losses

pytestmark = leaks_allowed


def named(vectors):
    return WordEmbedding([f"w{i}" for i in range(len(vectors))], vectors)


CHANGES = st.sampled_from(["equal", "next", "1e-5", "1e-3", "zero", "negative zero"])


def random_table(n_words, dim, seed, changes=()):
    """Clusters of unequal density; some vectors are made like another, or zero."""
    rng = np.random.default_rng(seed)
    v = rng.normal(size=(n_words, dim)) * rng.choice([0.1, 1, 3], (n_words, 1))
    v = v.astype(np.float32)
    for number, change in changes:
        i, j = number % n_words, (number + 1) % n_words
        v[i] = v[j] if "zero" not in change else 0.0
        if change == "next":
            v[i, 0] = np.nextafter(v[j, 0], np.float32(9))
        elif change == "negative zero":
            v[i] = -v[i]
        elif change.startswith("1e"):
            v[i, -1] += np.float32(change)
    return named(v)


def law(D, rate):
    K = np.exp(-rate * D)
    return K / K.sum(axis=1, keepdims=True)


def per_distance(t, D):
    """The largest loss per unit of distance."""
    apart = D > 1e-9
    return (t[apart] / D[apart]).max()


def all_of(prepared):
    ids = np.arange(len(prepared.embedding))
    return np.exp(prepared.log_proba(ids)), prepared.exponents(ids, ids)


# -- the claim, enumerated -------------------------------------------------------------


@pytest.mark.no_cover
@settings(max_examples=120)
@given(
    n_words=st.integers(2, 60),
    dim=st.integers(1, 5),
    seed=st.integers(0, 10**6),
    epsilon=st.floats(0.05, 12),
    lam=st.sampled_from([0.0, 0.5, 0.9]),
    cap=st.sampled_from([None, 0.3, 2.0]),
    changes=st.lists(st.tuples(st.integers(0, 59), CHANGES), max_size=6),
    memory=st.sampled_from([1e-3, 1024]),  # pairs of words, or all words, at once
)
def test_claims_are_what_is_lost(
    n_words, dim, seed, epsilon, lam, cap, changes, memory
):
    table = random_table(n_words, dim, seed, changes)
    same = (table.vectors[:, None] == table.vectors).all(axis=2)
    assume(not same.all())
    D = np.minimum(distances(table.vectors, lam), cap or math.inf)
    far = D[~same].min() > 0.02  # else rounding shows
    for calibration in ("half", "exact"):
        with config_context(working_memory=memory):
            prepared = Exponential(calibration, cap).prepare(table, epsilon, lam)
            P, claimed = all_of(prepared)
        np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
        lost = losses(P)
        # the claim: never below what is lost, never above ε d, 0 for equal vectors
        assert (lost <= claimed + 1e-11 + 1e-10 * claimed).all()
        np.testing.assert_allclose(lost, claimed, rtol=1e-9, atol=1e-11)
        assert (claimed <= epsilon * D * (1 + 1e-12) + 1e-7).all()
        assert (claimed[same] == 0).all()
        for i, j in np.argwhere(same):
            np.testing.assert_array_equal(P[i], P[j])
        assert prepared.attained <= epsilon * (1 + 1e-13)
        # half of ε always holds, but for what is counted for rounding
        assert epsilon / 2 * (1 - 1e-9) <= prepared.rate <= epsilon
        if far:
            np.testing.assert_allclose(P, law(D, prepared.rate), 1e-6, atol=1e-300)
            attained = per_distance(lost, D)
            assert prepared.attained == pytest.approx(attained, rel=1e-8)
    if far:  # ε is spent to the last digit
        assert attained == pytest.approx(epsilon, rel=1e-8)
        assert attained <= epsilon * (1 + 1e-13)


def lost_at(D, rate):
    """The largest loss per unit of distance, by the ratios of all normalizers."""
    logs = np.logaddexp.reduce(-rate * D, axis=1)
    apart = D > 0
    return rate + np.abs(np.subtract.outer(logs, logs)[apart] / D[apart]).max()


TABLES = {
    "clusters": random_table(100, 3, 0),
    "even": named(np.random.default_rng(1).normal(size=(80, 10))),
    "a grid": named(np.indices((9, 8)).reshape(2, -1).T * [0.5, 2.0]),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("lam", [0.0, 0.7])
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
@pytest.mark.parametrize("name", TABLES)
def test_the_rate_by_trying_many_in_12_settings(name, epsilon, lam):
    """The largest of 200 rates that holds, and bisection up to the next one."""
    D = distances(TABLES[name].vectors, lam)
    rates = np.linspace(epsilon / 2, epsilon, 200)
    lost = np.array([lost_at(D, rate) for rate in rates])
    last = np.flatnonzero(lost <= epsilon).max(initial=0)
    low, high = rates[last], rates[min(last + 1, 199)]
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if lost_at(D, middle) <= epsilon else (low, middle)
    rate = Exponential().prepare(TABLES[name], epsilon, lam).rate
    assert rate == pytest.approx(low, rel=1e-5)


# -- what is drawn ---------------------------------------------------------------------


def inverse(prepared, word, uniforms):
    """The inverse of the cumulative probabilities, summed exactly."""
    masses = np.exp(prepared.log_proba(np.array([word]))[0])
    total = math.fsum(masses)
    upto = [math.fsum(masses[: i + 1]) / total for i in range(len(masses))]
    return np.searchsorted(upto, uniforms, side="right").clip(0, len(masses) - 1)


RARE = named(np.r_[0.0, np.linspace(17, 18, 999)][:, None])
TAIL = 1 - np.linspace(1e-7, 1e-5, 40)


def test_small_masses_are_not_lost():
    prepared = Exponential("half").prepare(RARE, 2.0, 0.0)
    words = prepared.apply(np.zeros(40, int), (TAIL,))
    np.testing.assert_array_equal(words, inverse(prepared, 0, TAIL))
    assert len(set(words.tolist())) > 20


def test_the_ends_of_the_uniforms():
    # masses of 0 first and last
    table = named([[-5000.0], [0.0], [1.0], [5000.0]])
    prepared = Exponential("half").prepare(table, 2.0, 0.0)
    ends = np.array([0.0, 2.0**-53, 1 - 2.0**-53, np.nextafter(1, 0)])
    for words, noisy in ([1] * 4, [1, 1, 2, 2]), ([0, 1, 2, 3],) * 2:
        assert prepared.apply(np.array(words), (ends,)).tolist() == noisy


# -- mistakes, each one published or easily made ---------------------------------------

# one word alone, eleven together: their normalisers differ as much as they can
LONELY = named(np.r_[0.0, 1 + np.arange(11) / 1000][:, None])


class WholeRate(TableMechanism):
    """Takes a = ε, as if the normalisers told nothing."""

    def rate(self, D):
        return self.epsilon

    def log_proba(self, words):
        D = distances(self.embedding.vectors, 0)
        return np.log(law(D, self.rate(D))[words])

    def exponents(self, x, y):
        return self.epsilon * distances(self.embedding.vectors, 0)[np.ix_(x, y)]


class WrongSign(WholeRate):
    """Solves a (1 − κ) = ε."""

    def rate(self, D):
        def excess(rate):
            return 2 * rate - per_distance(losses(law(D, rate)), D) - self.epsilon

        return brentq(excess, self.epsilon, 20 * self.epsilon)


@pytest.mark.parametrize("kind", [WholeRate, WrongSign])
def test_rates_too_large_are_caught(kind):
    P, claimed = all_of(kind().prepare(LONELY, 1.0))
    assert (losses(P) - claimed).max() > 0.5
    P, claimed = all_of(Exponential().prepare(LONELY, 1.0, 0.0))
    assert (losses(P) <= claimed + 1e-12).all()
    assert per_distance(claimed, distances(LONELY.vectors, 0)) == pytest.approx(
        1, rel=1e-8
    )
