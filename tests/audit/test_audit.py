"""The audit of words: true claims stand, false ones fall."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from skdptext import WordEmbedding
from skdptext.audit import audit_word_privacy
from tests.channels import sample
from tests.expected import refusals
from tests.mistakes import (
    CLOUD,
    LINE,
    Perturber,
    from_a_pool,
    keep_if_far,
    one_in_clear,
    renormalised,
    scaled_by_all_entries,
    vickrey,
)

HONEST = Perturber(LINE, 1.0, 0.0)


def audit(perturber, pairs=20, **params):
    params = {"n_draws": 20_000, "random_state": 0} | params
    return audit_word_privacy(perturber, pairs, **params)


# -- true claims -------------------------------------------------------------------


@pytest.mark.no_cover
@pytest.mark.parametrize("repeats", [30, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("embedding", "lam", "pairs"),
    [
        (LINE, 0.0, [("b", "c")]),
        (LINE, 0.0, [("b", "c"), ("a", "c"), ("b", "d")]),
        (LINE, 0.0, 4),  # found by the audit
        (CLOUD, 1.0, [("w18", "w20"), ("w16", "w44")]),
    ],
)
def test_false_alarms_at_the_stated_rate(embedding, lam, pairs, repeats):
    # On the line the exponent is attained, so that any bound that is too high violates
    # the claim. Bonferroni's correction keeps the rate well below the stated one. False
    # alarm 1e-6; of 30, a rate of 0.6 is found with probability 0.95.
    rate, alarms, perturber = 0.1, 0, Perturber(embedding, 1.0, lam)
    for seed in range(repeats):
        perturber.rng = np.random.default_rng(seed)
        options = {"confidence": 1 - rate, "random_state": seed}
        alarms += audit(perturber, pairs, n_draws=1000, **options).violated.any()
    assert alarms <= binom.isf(1e-6, repeats, rate)


@pytest.mark.parametrize("pairs", [[("b", "c")], [("a", "b"), ("c", "d")]])
def test_bound_of_words_that_never_change(pairs):
    # 125 draws learn and 218 choose. The other 657 show k = n and k = 0, where Clopper
    # and Pearson's limits are a^(1/n) and 1 - a^(1/n); two limits and two directions of
    # each pair share the error rate.
    class Faithful(Perturber):
        def perturb_words(self, words, n_draws=1):
            return np.repeat(np.array(words, dtype=object)[:, None], n_draws, axis=1)

    result = audit(Faithful(LINE, 1.0, 0.0), pairs, n_draws=1000, confidence=0.9)
    low = (0.1 / (4 * len(pairs))) ** (1 / 657)
    np.testing.assert_allclose(result.lower_bound, math.log(low / (1 - low)))


def test_bounds_come_close_to_the_exponent():
    result = audit(Perturber(LINE, 1.0, 0.0), [("b", "c")], n_draws=100_000)
    # From "b" to "a": Laplace tails, ratio exactly exp(0.5).
    assert 0.45 < result.lower_bound[0] <= 0.5 == result.claimed[0]


# -- false claims ------------------------------------------------------------------


def noisy(sampler, epsilon=3.0, lam=1.0):
    return Perturber(CLOUD, epsilon, lam, sample=sampler)


def stepping(choose):
    perturber = Perturber(CLOUD, 1.0, 0.0)
    perturber.choose = choose(perturber)
    return perturber


def twice_epsilon(mechanism, rng, n):
    return sample(mechanism, rng, n) / 2


# The audit of the law finds more mistakes in the noise: see `test_law`.
@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("make", "n_draws"),
    [
        pytest.param(lambda: noisy(renormalised), 50_000, marks=pytest.mark.slow),
        (lambda: noisy(scaled_by_all_entries(CLOUD.vectors)), 5000),
        (lambda: noisy(twice_epsilon, 1.0, 0.5), 5000),
        (lambda: noisy(from_a_pool, 1.0), 10_000),
        (lambda: stepping(vickrey), 5000),
        (lambda: stepping(lambda p: keep_if_far(p, 5.0)), 20_000),  # a few per cent
        (lambda: stepping(lambda p: one_in_clear(p, 7)), 5000),
    ],
)
def test_mistakes_are_caught(make, n_draws):
    result = audit(make(), 10, n_draws=n_draws, confidence=1 - 1e-6)
    assert result.violated.any()
    assert str(result).startswith(f"{result.violated.sum()} of 10 pairs violate")


def test_equal_vectors_promise_equal_outputs():
    twins = WordEmbedding(["a", "twin", "b"], [[0.0], [0.0], [2.0]])
    honest = Perturber(twins, 1.0, 0.0)
    result = audit(honest, [("a", "twin")], n_draws=2000)
    assert result.claimed[0] == 0
    assert not result.violated.any()


# -- choice of pairs ---------------------------------------------------------------


def test_chosen_pairs_are_close_different_and_repeatable():
    result = audit(Perturber(CLOUD, 1.0, 0.0), pairs=8, n_draws=1000)
    assert len(set(map(frozenset, result.pairs))) == len(result.pairs) == 8
    gaps = np.linalg.norm(CLOUD.vectors[:, None] - CLOUD.vectors, axis=2)
    gaps[np.diag_indices(60)] = np.inf
    closest = {CLOUD.words[i] for i in np.unravel_index(gaps.argmin(), gaps.shape)}
    assert set(result.pairs[0]) == closest
    assert (np.diff(result.claimed[:4]) >= 0).all()
    same = audit(Perturber(CLOUD, 1.0, 0.0), pairs=8, n_draws=1000)
    assert same.pairs == result.pairs
    few = audit(Perturber(LINE, 1.0, 0.0), pairs=50, n_draws=1000)
    assert len(few.pairs) <= 6  # there are no more


# -- the sweep ---------------------------------------------------------------------


def crowd(seed):
    rng = np.random.default_rng(seed)
    return WordEmbedding([f"w{i}" for i in range(200)], rng.normal(size=(200, 3)))


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", range(3))
def test_one_word_of_200_in_clear_is_found(seed):
    perturber = Perturber(crowd(seed), 2.0, 0.0, seed=seed)
    perturber.choose = one_in_clear(perturber, 20 * seed)
    options = {"confidence": 1 - 1e-6, "random_state": seed}
    result = audit(perturber, pairs=10, n_draws=5000, **options)
    of_the_word = np.array([f"w{20 * seed}" in pair for pair in result.pairs])
    assert (result.violated & of_the_word).any()
    assert (result.violated <= of_the_word).all()


def test_pairs_that_the_sweep_found_are_tested_by_new_draws():
    """Each word comes out as it is in the sweep, and never in the test."""
    calls = []

    class Changing(Perturber):
        def perturb_words(self, words, n_draws=1):
            calls.append((words, n_draws))
            noisy = super().perturb_words(words, n_draws)
            if n_draws < 2000:
                noisy[:] = np.array(words, dtype=object)[:, None]
            return noisy

    result = audit(Changing(CLOUD, 1.0, 0.0), n_draws=2000, pairs=10)
    words, n_draws = calls.pop()
    assert n_draws == 2000 > max(n for _, n in calls)
    assert sorted(words) == sorted({word for pair in result.pairs for word in pair})
    assert not result.violated.any()


# -- the result --------------------------------------------------------------------


class Misshapen(Perturber):
    def perturb_words(self, words, n_draws=1):
        return super().perturb_words(words, n_draws)[:, :-1]


ORDERS = [("a", "b"), ("b", "a")]


class Stated:
    """Releases "a" for "a" and "b" for "b" with these probabilities."""

    def __init__(self, claims):
        self.guarantee = lambda: self
        self.exponent = lambda *order: claims[order]
        self.law = {"a": (0.9, 0.1), "b": (0.6, 0.4)}
        self.rng = np.random.default_rng(1)

    def perturb_words(self, words, n_draws):
        drawn = [self.rng.choice(["a", "b"], n_draws, p=self.law[w]) for w in words]
        return np.array(drawn)


@refusals(
    (object(), {}, "releaser must have perturb_words"),
    (HONEST, {"pairs": ["ab"]}, "pairs must be a non-empty"),
    (HONEST, {"pairs": [("a", 1)]}, "pairs must be a non-empty"),
    (HONEST, {"pairs": [("a", "b"), ("c", "c")]}, "two different words"),
    (HONEST, {"confidence": 1.0}, r"in \[0\.5, 1\), got 1\.0"),
    (Stated({}), {"pairs": None}, "pairs must be given where"),
    (Misshapen(LINE, 1.0, 0.0), {}, r"must return .* got shape \(\d, \d+9\)"),
    *(
        (
            Stated(dict.fromkeys(ORDERS, claim)),
            {"pairs": ORDERS[:1]},
            "must be a finite",
        )
        for claim in (math.nan, None, -math.inf, -0.5, "1", np.array([1.0]))
    ),
)
def test_bad_input(perturber, params):
    audit(perturber, **params)


@pytest.mark.parametrize("pair", ORDERS)
def test_claims_that_depend_on_the_order_are_each_held_to_their_own(pair):
    lost = {("a", "b"): np.log(0.9 / 0.6), ("b", "a"): np.array(np.log(0.4 / 0.1))}
    assert not audit(Stated(lost), [pair], confidence=1 - 1e-6).violated.any()
    for which in lost:
        result = audit(Stated({**lost, which: lost[which] / 2}), [pair])
        assert result.violated.all()
        assert result.claimed == pytest.approx([lost[which] / 2])
