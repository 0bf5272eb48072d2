"""The exponential mechanism: its law, and a claim that is exact and attained."""

from __future__ import annotations

import html
import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq, linprog
from sklearn import config_context

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.audit import audit_word_privacy
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import (
    Exponential,
    ExponentialChannel,
    InvertedChannel,
    RandomizedResponse,
    embedding_spectrum,
    tem_distance,
)
from tests.expected import leaks_allowed, refusals
from tests.laws import ALPHA, assert_counts, losses

pytestmark = leaks_allowed


def named(vectors):
    return WordEmbedding([f"w{i}" for i in range(len(vectors))], vectors)


def random_table(n_words, dim, seed, *, equal=0):
    """Clusters of unequal density, with some equal vectors."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n_words, dim)) * rng.choice([0.1, 1, 3], (n_words, 1))
    if equal:
        vectors[rng.integers(n_words, size=equal)] = vectors[0]
    return named(vectors)


def distances(table, lam=0.0, cap=None):
    """Of all pairs, by the definition of the metric."""
    v = table.vectors.astype(float)
    gaps = v[:, None] - v[None]
    M = np.eye(v.shape[1])
    if lam:
        M = lam * embedding_spectrum(table).covariance + (1 - lam) * M
    squares = np.einsum("ijk,kl,ijl->ij", gaps, np.linalg.inv(M), gaps)
    D = np.sqrt(np.maximum(squares, 0))
    return D if cap is None else np.minimum(D, cap)


def law(D, rate, weights=1):
    K = np.exp(-rate * D) * weights
    return K / K.sum(axis=1, keepdims=True)


def per_distance(t, D):
    """The largest loss per unit of distance."""
    apart = D > 1e-9
    return (t[apart] / D[apart]).max()


def all_of(channel):
    ids = np.arange(len(channel.embedding))
    return np.exp(channel.log_proba(ids)), channel.exponents(ids, ids)


# -- the claim, enumerated -------------------------------------------------------------


@pytest.mark.no_cover
@settings(max_examples=60)
@given(
    n_words=st.integers(2, 60),
    dim=st.integers(1, 5),
    seed=st.integers(0, 10**6),
    epsilon=st.floats(0.05, 12),
    lam=st.sampled_from([0.0, 0.5, 0.9]),
    cap=st.sampled_from([None, 0.3, 2.0]),
    equal=st.integers(0, 5),
)
def test_claims_are_what_is_lost(n_words, dim, seed, epsilon, lam, cap, equal):
    table = random_table(n_words, dim, seed, equal=equal)
    assume(len(np.unique(table.vectors, axis=0)) > 1)
    D = distances(table, lam, cap)
    far = D[D > 1e-9].min() > 0.02  # else rounding shows
    attained = {}
    for calibration in ("half", "exact", "balanced", "tight"):
        try:
            channel = Exponential(calibration, cap).prepare(table, epsilon, lam)
        except InvalidParameterError:
            assert calibration == "tight"
            continue
        P, claimed = all_of(channel)
        weighted = np.exp(-channel.rate * D) * channel.weights
        expected = weighted / weighted.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(P, expected, rtol=1e-6, atol=1e-300)
        np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
        outputs = np.flatnonzero(channel.weights)
        np.testing.assert_array_equal(P[:, channel.never_released], 0)
        lost = losses(P[:, outputs])
        assert (lost <= claimed + 1e-11 + 1e-10 * claimed).all()
        # exact for the words that may be released
        np.testing.assert_allclose(
            lost[outputs], claimed[outputs], rtol=1e-9, atol=1e-11
        )
        attained[calibration] = per_distance(lost, D)
        assert channel.attained >= attained[calibration] * (1 - 1e-9)
        if len(outputs) == n_words and far:
            assert channel.attained == pytest.approx(attained[calibration], rel=1e-8)
        assert (claimed <= epsilon * D * (1 + 1e-12) + 1e-7).all()
        assert epsilon / 2 <= channel.rate <= epsilon
        if calibration in ("half", "exact"):
            assert (channel.weights == 1).all()
        if calibration == "tight":
            np.testing.assert_allclose(claimed, epsilon * D, rtol=2e-3, atol=1e-6)
            np.testing.assert_allclose(P, np.exp(-epsilon * D) * P.diagonal(), 2e-2)
    if far:  # ε is spent to the last digit
        for calibration in attained.keys() - {"half", "balanced"}:
            assert attained[calibration] == pytest.approx(epsilon, rel=1e-8)
            assert attained[calibration] <= epsilon * (1 + 1e-13)


def solved(D, rate):
    """K⁻¹1, equal words sharing evenly, by a dense pseudo-inverse."""
    return np.linalg.pinv(np.exp(-rate * D), hermitian=True) @ np.ones(len(D))


@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_tight_weights_are_those_of_the_linear_system(lam):
    table = random_table(30, 4, 11, equal=3)
    D = distances(table, lam)
    channel = Exponential("tight").prepare(table, 6.0, lam)
    expected = solved(D, channel.rate)
    assert expected.min() > 0
    np.testing.assert_allclose(channel.weights, expected, rtol=1e-6)
    P, claimed = all_of(channel)
    # every pair, not the worst one alone, loses ε d
    np.testing.assert_allclose(losses(P), 6.0 * D, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(claimed, 6.0 * D, rtol=1e-7, atol=1e-9)
    # words with equal vectors share their mass evenly
    twins = np.flatnonzero(D[0] == 0)
    assert len(twins) > 1
    np.testing.assert_allclose(channel.weights[twins], channel.weights[0], rtol=1e-12)
    balanced = Exponential("balanced").prepare(table, 6.0, lam)
    np.testing.assert_array_equal(balanced.weights, channel.weights)


def test_infeasible_tight_names_what_is_feasible():
    table = random_table(40, 2, 5)
    with pytest.raises(InvalidParameterError, match="epsilon must be larger") as caught:
        Exponential("tight").prepare(table, 0.5, 0.0)
    feasible = float(re.search(r"([\d.]+) is feasible", str(caught.value))[1])
    D = distances(table)
    assert solved(D, 0.5).min() < 0
    _, claimed = all_of(Exponential("tight").prepare(table, feasible, 0.0))
    np.testing.assert_allclose(claimed, feasible * D, rtol=1e-6, atol=1e-8)
    # by far not the first that came along
    assert solved(D, feasible / 1.05).min() < 0
    # two words 1e-5 apart in a crowd: so many doublings are not tried
    crowd = np.r_[random_table(20, 2, 5).vectors, [[1e-7, 0], [0, 0], [0, 1e-7]]]
    with pytest.raises(InvalidParameterError, match="no feasible value was found"):
        Exponential("tight").prepare(named(crowd), 1e-3, 0.0)


def test_balanced_where_tight_is_infeasible():
    table = random_table(60, 3, 2)
    D = distances(table)
    channel = Exponential("balanced").prepare(table, 1.0, 0.0)
    never = channel.never_released
    assert 0 < len(never) < 60
    P, _ = all_of(channel)
    assert not P[:, never].any()
    # the weights solve the system for a rate of the grid, the best of them
    solutions = {b: np.maximum(solved(D, b / 10), 0) for b in range(5, 11)}
    gaps = {b: np.abs(mu - channel.weights).max() for b, mu in solutions.items()}
    chosen = min(gaps, key=gaps.get)
    assert gaps[chosen] < 1e-4

    def best(mu):
        """The share of words that stay under the largest rate for some weights."""
        shares = []
        for rate in np.linspace(0.5, 1, 101):
            logs = np.log(np.exp(-rate * D) @ mu)
            if rate + per_distance(np.abs(np.subtract.outer(logs, logs)), D) <= 1:
                shares.append((mu * np.exp(-logs)).mean())
        return shares[-1]

    shares = {b: best(mu) for b, mu in solutions.items()}
    assert shares[chosen] >= max(shares.values()) - 0.01
    exact, _ = all_of(Exponential("exact").prepare(table, 1.0, 0.0))
    assert P.diagonal().mean() > 1.2 * exact.diagonal().mean()
    draws = channel.draw(np.random.default_rng(0), 6000)
    noisy = channel.apply(np.repeat(np.arange(60), 100), draws)
    assert not np.isin(noisy, never).any()


@pytest.mark.parametrize("seed", range(3))
def test_no_larger_rate_would_do(seed):
    table = random_table(50, 3, seed)
    D = distances(table)
    rate = Exponential().prepare(table, 2.0, 0.0).rate
    for larger in np.linspace(rate * (1 + 1e-6), 2.0, 100):
        assert per_distance(losses(law(D, larger)), D) > 2.0


def test_two_words():
    two = Exponential().prepare(named([[0.0], [2.0]]), 3.0, 0.0)
    # by symmetry the normalisers are equal, and all of ε goes to the rate
    assert two.rate == pytest.approx(3.0, rel=1e-9)
    assert two.exponents(np.array([0]), np.array([1]))[0, 0] == pytest.approx(6.0)


def test_equal_and_nearly_equal_vectors():
    rng = np.random.default_rng(0)
    v = rng.normal(size=(40, 8)).astype(np.float32) + 5  # a mean that products lose to
    v[7] = v[3]
    v[9] = v[3]
    v[9, 0] = np.nextafter(v[3, 0], np.float32(9))
    for lam in (0.0, 0.9):
        channel = Exponential().prepare(named(v), 1.5, lam)
        P, claimed = all_of(channel)
        assert claimed[3, 7] == claimed[7, 3] == 0
        np.testing.assert_array_equal(P[3], P[7])
        D = distances(named(v), lam)
        assert 0 < D[3, 9] < 1e-5
        assert claimed[3, 9] <= 1.5 * D[3, 9] + 1e-11
        apart = D > 1e-3
        assert per_distance(losses(P)[apart], D[apart]) <= 1.5 * (1 + 1e-12)
    all_equal = Exponential().prepare(named(np.ones((5, 3))), 1.5, 0.0)
    np.testing.assert_allclose(all_of(all_equal)[0], 0.2)
    assert not all_of(all_equal)[1].any()


CHANGES = st.sampled_from(["equal", "next", "1e-5", "1e-3", "zero", "negative zero"])


@pytest.mark.no_cover
@settings(max_examples=60)
@given(
    n_words=st.integers(2, 25),
    dim=st.integers(1, 4),
    seed=st.integers(0, 10**6),
    epsilon=st.floats(0.05, 12),
    lam=st.sampled_from([0.0, 0.5]),
    calibration=st.sampled_from(["balanced", "tight"]),
    changes=st.lists(st.tuples(st.integers(0, 24), CHANGES), max_size=6),
)
def test_weights_with_equal_nearly_equal_and_zero_vectors(
    n_words, dim, seed, epsilon, lam, calibration, changes
):
    v = np.random.default_rng(seed).normal(size=(n_words, dim)).astype(np.float32)
    for number, change in changes:
        i, j = number % n_words, (number + 1) % n_words
        v[i] = v[j] if "zero" not in change else 0.0
        if change == "next":
            v[i, 0] = np.nextafter(v[j, 0], np.float32(9))
        elif change == "negative zero":
            v[i] = -v[i]
        elif change.startswith("1e"):
            v[i, -1] += np.float32(change)
    table = named(v)
    assume(len(np.unique(v + 0.0, axis=0)) > 1)
    try:
        channel = Exponential(calibration).prepare(table, epsilon, lam)
    except InvalidParameterError as refused:
        assert calibration == "tight"
        match = re.search(r"([\d.e-]+) is feasible", str(refused))
        if match:  # it is, and is not below what was asked for
            feasible = float(match[1])
            assert feasible > epsilon
            assert Exponential("tight").prepare(table, feasible, lam).attained > epsilon
        return
    D = distances(table, lam)
    P, claimed = all_of(channel)
    assert channel.attained <= epsilon
    assert (channel.weights >= 0).all()
    # the claim: never above ε d, never below what is lost, and 0 for equal vectors
    assert (claimed <= epsilon * D * (1 + 1e-12) + 1e-7).all()
    lost = losses(P[:, channel.outputs])
    assert (lost <= claimed + 1e-11 + 1e-10 * claimed).all()
    for i, j in itertools.permutations(range(n_words), 2):
        if (v[i] == v[j]).all():
            assert claimed[i, j] == 0
            assert channel.weights[i] == channel.weights[j]
            np.testing.assert_array_equal(P[i], P[j])
    if calibration == "tight":
        assert len(channel.outputs) == n_words or channel.weights.min() == 0
        np.testing.assert_allclose(claimed, epsilon * D, rtol=2e-3, atol=1e-6)


@pytest.mark.no_cover
def test_balanced_leads_up_to_tight_without_a_jump(google_8k):
    """By weights that are solved for the rate in use, 0.79 of the words, then 0.88."""
    words = np.arange(1000)
    shares = [
        np.exp(
            Exponential("balanced")
            .prepare(google_8k.restrict(1000), epsilon, 0.0)
            .log_proba(words)
        )
        .diagonal()
        .mean()
        for epsilon in (2.917, 2.977, 3.007)  # "tight" is feasible at the last
    ]
    assert shares == sorted(shares)
    assert np.diff(shares).max() < 0.08
    assert shares[2] - shares[1] < 0.05


def test_calibration_does_not_depend_on_its_blocks():
    table = random_table(300, 10, 3, equal=4)
    rates = []
    for megabytes in (0.001, 0.1, 1000):
        # a cap beyond all words changes nothing but the key of what is kept
        mechanism = Exponential(max_distance=1e6 + megabytes)
        with config_context(working_memory=megabytes):
            rates.append(mechanism.prepare(table, 1.7, 0.0).rate)
    assert rates == pytest.approx([rates[2]] * 3, rel=1e-9)


@pytest.mark.no_cover
@settings(max_examples=30)
@given(
    n_words=st.integers(2, 40),
    seed=st.integers(0, 10**6),
    epsilon=st.floats(0.05, 8),
    lam=st.sampled_from([0.0, 0.5]),
    cap=st.sampled_from([None, 0.5]),
    calibration=st.sampled_from(["half", "exact"]),
    data=st.data(),
)
def test_some_words_only_may_be_released(
    n_words, seed, epsilon, lam, cap, calibration, data
):
    table = random_table(n_words, 3, seed, equal=2)
    assume(len(np.unique(table.vectors, axis=0)) > 1)
    outputs = data.draw(
        st.lists(st.integers(0, n_words - 1), min_size=1, unique=True), "outputs"
    )
    channel = Exponential(calibration, cap).prepare_among(table, epsilon, lam, outputs)
    assert channel.outputs.tolist() == sorted(outputs)
    P, claimed = all_of(channel)
    D = distances(table, lam, cap)
    K = np.where(np.isin(np.arange(n_words), outputs), np.exp(-channel.rate * D), 0)
    np.testing.assert_allclose(
        P, K / K.sum(axis=1, keepdims=True), rtol=1e-6, atol=1e-300
    )
    lost = losses(P[:, sorted(outputs)])
    assert (lost <= claimed + 1e-11 + 1e-10 * claimed).all()
    among = np.ix_(outputs, outputs)
    np.testing.assert_allclose(lost[among], claimed[among], rtol=1e-9, atol=1e-11)
    assert (claimed <= epsilon * D * (1 + 1e-12) + 1e-7).all()  # whatever is released
    draws = channel.draw(np.random.default_rng(0), n_words)
    noisy = channel.apply(np.arange(n_words), draws)
    assert set(noisy.tolist()) <= set(outputs)
    # all words: the same channel, to the noise of a seed
    everything = Exponential(calibration, cap).prepare(table, epsilon, lam)
    listed = Exponential(calibration, cap).prepare_among(
        table, epsilon, lam, np.arange(n_words)
    )
    assert listed.rate == everything.rate
    assert len({c.fingerprint for c in (channel, everything, listed)}) >= 2


@pytest.mark.parametrize("outputs", [[], [0.5], [3], [-1], [[0]], "w"])
def test_outputs_are_checked(outputs):
    table = named(np.eye(3))
    with pytest.raises(InvalidParameterError, match="outputs must be word ids"):
        Exponential().prepare_among(table, 1.0, 0.0, outputs)


# -- what is drawn ---------------------------------------------------------------------


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("mechanism", "epsilon", "outputs"),
    [
        (Exponential("half", sampler="lazy"), 0.2, None),
        (Exponential("half", sampler="lazy"), 4.0, None),
        (Exponential("exact", 1.0, sampler="lazy"), 1.5, None),
        (Exponential("balanced", sampler="lazy"), 0.8, None),
        (Exponential("half", sampler="lazy"), 1.0, np.arange(5, 35)),
    ],
    ids=repr,
)
def test_lazy_draws_follow_the_law(mechanism, epsilon, outputs):
    table = random_table(40, 3, 1, equal=3)
    of = mechanism.prepare if outputs is None else mechanism.prepare_among
    given = (table, epsilon, 0.5) if outputs is None else (table, epsilon, 0.5, outputs)
    channel = of(*given)
    allowed = np.isin(np.arange(40), channel.outputs)
    D = distances(table, 0.5, mechanism.max_distance)
    P = law(D, channel.rate, channel.weights * allowed)
    rng = np.random.default_rng(3)
    n = 1000
    for word in (3, 30):  # 3 is not among the outputs
        noisy = channel.apply(np.full(n, word), channel.draw(rng, n))
        assert not noisy[~allowed[noisy]].size
        assert_counts(np.bincount(noisy, minlength=40), P[word])


def test_lazy_draws_are_of_a_word_and_its_key_alone():
    table = random_table(300, 3, 1)
    channel = Exponential("half", sampler="lazy").prepare(table, 1.0, 0.0)
    words = np.random.default_rng(0).integers(0, 300, 200)
    (keys,) = channel.draw(np.random.default_rng(1), 200)
    assert keys.shape == (200, 4)
    assert len(np.unique(keys)) == 800
    once = channel.apply(words, (keys,))
    order = np.random.default_rng(2).permutation(200)
    for memory in (0, 2**14, 2**30):
        with channel.session(memory) as apply:
            again = [apply(words[s], (keys[s],)) for s in np.array_split(order, 9)]
        np.testing.assert_array_equal(np.concatenate(again), once[order])
    # the same words by other keys
    assert (channel.apply(words, (keys[::-1],)) != once).any()


def test_a_sampler_of_near_words_alone_is_caught():
    """The mistake: of 40 words the 7 nearest are taken for all that can win."""
    D = distances(random_table(40, 3, 1))
    rate = Exponential("half").prepare(random_table(40, 3, 1), 0.5, 0.0).rate
    near = np.argsort(D[0])[:7]
    scores = np.random.default_rng(0).gumbel(-rate * D[0, near], size=(2000, 7))
    noisy = near[scores.argmax(axis=1)]
    with pytest.raises(AssertionError):
        assert_counts(np.bincount(noisy, minlength=40), law(D, rate)[0])


@pytest.mark.no_cover
def test_large_tables_are_lazy():
    vectors = np.random.default_rng(0).normal(size=(100_000, 2))
    table = named(vectors)
    channel = Exponential("half").prepare(table, 20.0, 0.0)
    assert channel.draw(np.random.default_rng(0), 2)[0].shape == (2, 4)
    rows = Exponential("half", sampler="rows").prepare(table, 20.0, 0.0)
    assert rows.draw(np.random.default_rng(0), 2)[0].shape == (2,)
    smaller = Exponential("half").prepare(table.restrict(99_999), 20.0, 0.0)
    assert smaller.draw(np.random.default_rng(0), 2)[0].shape == (2,)
    # Under so many words near 0 the noise has length a² r e^(−a r) in the plane
    words = np.argsort(np.linalg.norm(vectors, axis=1))[:300]
    noisy = channel.apply(words, channel.draw(np.random.default_rng(0), 300))
    moved = np.linalg.norm(vectors[noisy] - vectors[words], axis=1)
    assert stats.kstest(moved, stats.gamma(2, scale=1 / 10).cdf).pvalue > ALPHA
    # and the exponent of a pair does not need all pairs
    t = channel.exponents(words[:2], words[:2])
    D = distances(named(vectors[words[:2]]))
    logs = [np.log(np.exp(-10 * np.linalg.norm(vectors - vectors[w], axis=1)).sum())
            for w in words[:2]]  # fmt: skip
    assert t[0, 1] == pytest.approx(10 * D[0, 1] + logs[1] - logs[0], rel=1e-4)


def inverse(channel, word, uniforms):
    """The inverse of the cumulative probabilities, summed exactly."""
    masses = np.exp(channel.log_proba(np.array([word]))[0])
    total = math.fsum(masses)
    upto = [math.fsum(masses[: i + 1]) / total for i in range(len(masses))]
    return np.searchsorted(upto, uniforms, side="right").clip(0, len(masses) - 1)


RARE = named(np.r_[0.0, np.linspace(17, 18, 999)][:, None])
TAIL = 1 - np.linspace(1e-7, 1e-5, 40)


def test_small_masses_are_not_lost():
    channel = Exponential("half").prepare(RARE, 2.0, 0.0)
    words = channel.apply(np.zeros(40, int), (TAIL,))
    np.testing.assert_array_equal(words, inverse(channel, 0, TAIL))
    assert len(set(words.tolist())) > 20


def test_sums_of_float32_are_caught():
    class Float32(ExponentialChannel):
        def apply(self, words, draws, memory=None, memo=None):
            masses = np.exp(ExponentialChannel.log_proba(self, words))
            upto = masses.astype(np.float32).cumsum(axis=1)
            below = upto <= (draws[0] * upto[:, -1])[:, None]
            return below.sum(axis=1).clip(0, len(upto[0]) - 1)

    channel = Float32(Exponential("half"), RARE, 2.0, 0.0)
    released = channel.apply(np.zeros(40, int), (TAIL,))
    true = Exponential("half").prepare(RARE, 2.0, 0.0)
    assert (released != inverse(true, 0, TAIL)).mean() > 0.5


def test_the_ends_of_the_uniforms():
    # masses of 0 first and last
    table = named([[-5000.0], [0.0], [1.0], [5000.0]])
    channel = Exponential("half").prepare(table, 2.0, 0.0)
    ends = np.array([0.0, 2.0**-53, 1 - 2.0**-53, np.nextafter(1, 0)])
    words = channel.apply(np.ones(4, int), (ends,))
    assert words.tolist() == [1, 1, 2, 2]
    words = channel.apply(np.arange(4), (ends,))
    assert words.tolist() == [0, 1, 2, 3]
    assert channel.apply(np.empty(0, int), (np.empty(0),)).shape == (0,)


# -- randomized response ---------------------------------------------------------------


@pytest.mark.parametrize("n_words", [1, 2, 30])
@pytest.mark.parametrize("epsilon", [0.1, 4.0, 1000.0])
def test_randomized_response(n_words, epsilon):
    channel = RandomizedResponse().prepare(named(np.eye(n_words)), epsilon, 0.3)
    ids = np.arange(n_words)
    claimed = channel.exponents(ids, ids)
    np.testing.assert_array_equal(claimed, epsilon * (1 - np.eye(n_words)))
    stays = -math.log1p((n_words - 1) * math.exp(-epsilon))
    np.testing.assert_allclose(channel.log_proba(ids), stays - claimed, rtol=1e-12)
    noisy = channel.apply(ids, channel.draw(np.random.default_rng(0), n_words))
    assert ((noisy >= 0) & (noisy < n_words)).all()


# -- releases --------------------------------------------------------------------------

TABLE = random_table(40, 3, 7, equal=2)


def perturber(mechanism, **parameters):
    settings = {"epsilon": 2.0, "lam": 0.0, "document_length": 4, "random_state": 5}
    made = DPWordPerturber(TABLE, mechanism=mechanism, **{**settings, **parameters})
    return made.fit([])


def test_bags_by_the_cheapest_matching():
    fitted = perturber(Exponential())
    guarantee = fitted.guarantee()
    channel = fitted.mechanism_
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 40, (2, 4))
    P, t = all_of(channel)
    cheapest = min(
        sum(t[a, b] for a, b in zip(x, order, strict=True))
        for order in itertools.permutations(y)
    )
    names = [[f"w{i}" for i in bag] for bag in (x, y)]
    assert guarantee.exponent(*names) == pytest.approx(cheapest, rel=1e-12)
    # in a bag the normalisers telescope: the matching is that of the distances
    logs = channel.log_normalizers
    D = distances(TABLE)
    shortest = min(D[x, list(order)].sum() for order in itertools.permutations(y))
    telescoped = channel.rate * shortest + logs[y].sum() - logs[x].sum()
    assert cheapest == pytest.approx(telescoped, rel=1e-9)
    assert "Exponential()" in " ".join(guarantee.details().split())
    assert guarantee.exponent("w1", "w2") == pytest.approx(losses(P)[1, 2], rel=1e-9)


# -- what is said ----------------------------------------------------------------------


def says(text, pattern):
    """The number in a text after a pattern."""
    match = re.search(pattern + r"(\d[\d.]*\d|\d)", text)
    assert match, f"{pattern!r} is not in {text!r}"
    return float(match[1])


@pytest.mark.no_cover
@pytest.mark.parametrize("calibration", ["half", "exact", "balanced", "tight"])
@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_the_printed_guarantee(calibration, lam):
    epsilon = 12.0 if calibration == "tight" else 0.7
    fitted = perturber(Exponential(calibration), epsilon=epsilon, lam=lam)
    channel = fitted.mechanism_
    P, claimed = all_of(channel)
    D = distances(TABLE, lam)
    for text in (fitted.guarantee().details(), fitted.guarantee()._repr_html_()):
        text = " ".join(html.unescape(text).split())
        named_metric = "Mahalanobis (λ = 0.5)" if lam else "Euclidean"
        assert f"the {named_metric} distance of their vectors" in text
        assert f'calibration "{calibration}"' in text
        rate = says(text, r"exp\(−")
        assert rate == pytest.approx(channel.rate, rel=1e-3)
        star = says(text, r"ε\* = ")
        worst = says(text, "the exponent is at most ")
        # rounded up, and attained
        lost = per_distance(claimed, D)
        assert lost * (1 - 1e-9) <= star <= lost * 1.002
        assert claimed.max() * (1 - 1e-9) <= worst <= claimed.max() * 1.002
        kappa = re.search(r"κ = ([\d.e-]*\d)", text)[1]
        assert float(kappa) == pytest.approx(
            lost / channel.rate - 1, rel=2e-3, abs=1e-6
        )
        assert ("μ(z)" in text) == (calibration in ("balanced", "tight"))
        never = channel.never_released
        assert ("never released" in text) == (len(never) > 0) == (not P.all())
        if len(never):
            assert f"{len(never)} of the 40 words are never released: 'w" in text
    assert len(channel.never_released) == 0 or calibration == "balanced"
    assert channel.worst_exponent == pytest.approx(claimed.max(), rel=1e-12)


def most_words_kept(D, epsilon):
    """The largest mean of Pr[w | w] that any mechanism can have, by linear programming.

    Over all laws with P[w, z] ≤ e^(ε d(w, w')) P[w', z].
    """
    n = len(D)
    rows = []
    for w, other, z in itertools.product(range(n), repeat=3):
        row = np.zeros((n, n))
        row[w, z] += 1
        row[other, z] -= math.exp(epsilon * D[w, other])
        rows.append(row.ravel())
    sums = np.repeat(np.eye(n), n, axis=1)
    solution = linprog(-np.eye(n).ravel(), np.array(rows), np.zeros(len(rows)), sums,
                    np.ones(n))  # fmt: skip
    assert solution.success
    return -solution.fun / n


@pytest.mark.parametrize("cap", [None, 1.5])
@pytest.mark.parametrize("equal", [0, 2])
def test_nothing_keeps_more_words_than_tight(cap, equal):
    vectors = np.random.default_rng(3).normal(size=(7, 3))
    vectors[:equal] = vectors[0]
    table, epsilon = named(vectors), 1.5
    best = most_words_kept(distances(table, cap=cap), epsilon)
    for calibration in ("tight", "balanced"):
        channel = Exponential(calibration, cap).prepare(table, epsilon, 0.0)
        P, _ = all_of(channel)
        assert np.diag(P).mean() == pytest.approx(best, rel=1e-6)
        said = " ".join(channel.law().said())
        assert "no mechanism with this ε and this d keeps more" in said
        share = re.search(r"stays as it is with probability ([\d.]+),", said)
        assert float(share[1]) == pytest.approx(best, rel=1e-3)
    other = Exponential("exact", cap).prepare(table, epsilon, 0.0)
    assert np.diag(all_of(other)[0]).mean() < best * (1 - 1e-3)
    assert "keeps more" not in " ".join(other.law().said())


def test_where_weights_are_cut_off_nothing_is_said_to_be_best():
    channel = Exponential("balanced").prepare(TABLE, 0.7, 0.0)
    assert "keeps more" not in " ".join(channel.law().said())
    with pytest.raises(InvalidParameterError, match='"tight" where only some of the'):
        Exponential("tight").prepare_among(TABLE, 12.0, 0.0, [1, 2, 3])
    among = Exponential("balanced").prepare_among(TABLE, 12.0, 0.0, [1, 2, 3])
    assert "keeps more" not in " ".join(among.law().said())


@pytest.mark.parametrize("n_words", [1, 3])
def test_without_two_different_words_no_loss_is_told(n_words):
    for calibration in ("half", "exact"):
        table = named(np.ones((n_words, 2)))
        (law,) = Exponential(calibration).prepare(table, 1.0, 0.0).law().said()
        assert law.endswith(f'(calibration "{calibration}").')


@pytest.mark.parametrize("calibration", ["half", "exact", "balanced"])
def test_a_public_list_of_outputs(calibration):
    """By name, as by number; proven and exact over all words that may be written."""
    outputs = ["w3", "w8", "w20", "w31"]
    ids = np.sort(TABLE.find(outputs))
    mechanism = Exponential(calibration, outputs=outputs)
    channel = mechanism.prepare(TABLE, 2.0, 0.5)
    P, claimed = all_of(channel)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
    others = np.setdiff1d(np.arange(len(TABLE)), ids)
    assert (P[:, others] == 0).all()
    np.testing.assert_array_equal(np.intersect1d(channel.outputs, ids), channel.outputs)
    D = distances(TABLE, 0.5)
    exact = (np.log(P[:, channel.outputs])[:, None]
             - np.log(P[:, channel.outputs])[None]).max(axis=2)  # fmt: skip
    assert (exact <= claimed + 1e-9).all()
    assert (exact <= 2.0 * D + 1e-9).all()
    by_number = Exponential(calibration).prepare_among(TABLE, 2.0, 0.5, ids)
    np.testing.assert_array_equal(all_of(by_number)[0], P)
    fitted = perturber(mechanism, epsilon=2.0, lam=0.5)
    drawn = fitted.perturb_words(["w0"], 20_000)[0]
    counts = np.array([(drawn == word).sum() for word in TABLE.words])
    assert_counts(counts, P[0])
    # other ε are prepared with the same outputs
    again = fitted.guarantee().parts[0].at_epsilon(2.0).channel
    np.testing.assert_array_equal(all_of(again)[0], P)
    if calibration == "half":  # the search takes long for "balanced"
        assert fitted.guarantee().epsilon_for("w0", "w1", factor=2.0) > 0


def test_outputs_key_the_noise_and_nothing_else_does():
    def keyed(**options):
        return Exponential(**options).prepare(TABLE, 2.0, 0.0).fingerprint

    assert keyed() == keyed(outputs=None)
    assert len({keyed(), keyed(outputs=["w1"]), keyed(outputs=["w1", "w2"])}) == 3
    assert "outputs" not in repr(Exponential())


@pytest.mark.parametrize("outputs", ["w1", [], 3, ["stranger"], [1]])
def test_bad_outputs(outputs):
    with pytest.raises(InvalidParameterError, match=r"outputs must be|words must be"):
        Exponential(outputs=outputs).prepare(TABLE, 2.0, 0.0)


def test_outputs_are_given_once():
    with pytest.raises(InvalidParameterError, match="outputs of the mechanism must"):
        Exponential(outputs=["w1"]).prepare_among(TABLE, 2.0, 0.0, [1, 2])


def test_rates_keep_the_outputs_of_a_channel():
    outputs = [3, 8, 20]
    channel = Exponential().prepare_among(TABLE, 2.0, 0.0, outputs)
    words = np.arange(len(TABLE))
    other = channel.law().at_rate(0.8)
    half = Exponential("half").prepare_among(TABLE, 1.6, 0.0, outputs)
    for name in ("log_proba", "exponents"):
        given = (words,) if name == "log_proba" else (words, words)
        np.testing.assert_allclose(
            getattr(other, name)(*given), getattr(half, name)(*given), atol=1e-12
        )
    draws = other.draw(np.random.default_rng(0), len(words))
    assert set(other.apply(words, draws).tolist()) <= set(outputs)
    np.testing.assert_array_equal(other.outputs, outputs)


def test_tight_among_vectors_that_are_nearly_equal():
    table = named([[0.0], [1e-14], [3.0]])
    with pytest.raises(InvalidParameterError, match="vectors are nearly equal"):
        Exponential("tight").prepare(table, 2.0, 0.0)
    assert Exponential("balanced").prepare(table, 2.0, 0.0).attained <= 2


def test_a_large_table_is_shown_without_a_look_at_all_pairs():
    table = random_table(3001, 2, 0)
    channel = Exponential("half", 2.0).prepare(table, 1.0, 0.0)
    law, worst = channel.law().said()
    assert "no two words lose more than 1 per unit of d" in law
    assert "ε*" not in law
    assert says(worst, "is at most ") == 2.0
    channel.worst_exponent  # noqa: B018 - asked for, it is told
    law, worst = channel.law().said()
    assert says(law, r"ε\* = ") < 1
    assert says(worst, "is at most ") < 2
    # no cap: the words lie within a ball
    far = Exponential("half").prepare(table, 1.0, 0.0)
    assert (
        says(far.law().said()[1], "is at most ") >= distances(table.restrict(300)).max()
    )


# -- mistakes, each one published or easily made ---------------------------------------

# one word alone, eleven together: their normalisers differ as much as they can
LONELY = named(np.r_[0.0, 1 + np.arange(11) / 1000][:, None])


class WholeRate(InvertedChannel):
    """Takes a = ε, as if the normalisers told nothing."""

    def rate(self, D):
        return self.epsilon

    def log_proba(self, words):
        D = distances(self.embedding)
        return np.log(law(D, self.rate(D))[words])

    def exponents(self, x, y):
        return self.epsilon * distances(self.embedding)[np.ix_(x, y)]


class WrongSign(WholeRate):
    """Solves a (1 − κ) = ε."""

    def rate(self, D):
        def excess(rate):
            return 2 * rate - per_distance(losses(law(D, rate)), D) - self.epsilon

        return brentq(excess, self.epsilon, 20 * self.epsilon)


@pytest.mark.parametrize("kind", [WholeRate, WrongSign])
def test_rates_too_large_are_caught(kind):
    class Wrong(Exponential):
        def prepare(self, embedding, epsilon, lam):
            return kind(self, embedding, epsilon, lam)

    wrong = kind(Exponential("half"), LONELY, 1.0, 0.0)
    P, claimed = all_of(wrong)
    assert (losses(P) - claimed).max() > 0.5
    right = Exponential().prepare(LONELY, 1.0, 0.0)
    P, claimed = all_of(right)
    assert (losses(P) <= claimed + 1e-12).all()
    assert per_distance(claimed, distances(LONELY)) == pytest.approx(1, rel=1e-8)
    for mechanism, violated in ((Wrong("half"), True), (Exponential(), False)):
        fitted = DPWordPerturber(
            LONELY, epsilon=1.0, lam=0.0, mechanism=mechanism, document_length=1,
            random_state=0,
        ).fit([])  # fmt: skip
        audit = audit_word_privacy(
            fitted, [("w0", "w5")], confidence=1 - 1e-6, random_state=0
        )
        assert audit.violated.tolist() == [violated]


def tem(D, epsilon, cap, bottom):
    """TEM as it is written: near words by their score, all others through one."""
    V = len(D)
    P = np.exp(-epsilon / 2 * D)
    for w in range(V):
        far = cap < D[w]
        if far.any():
            n_near = V - far.sum()
            score = -cap + 2 * math.log(bottom(V, n_near)) / epsilon
            P[w, far] = math.exp(epsilon / 2 * score) / far.sum()
    return P / P.sum(axis=1, keepdims=True)


def loss_beyond(P, epsilon, D):
    """The largest ln-ratio above ε d."""
    return (losses(P) - epsilon * D).max()


@pytest.mark.parametrize(("epsilon", "cap"), [(3.0, 2.0), (3.0, None), (4.0, None)])
def test_tem_is_max_distance_and_its_published_mistake_is_caught(epsilon, cap):
    """At a distance that is given, and at its own, where ε d itself is broken."""
    rng = np.random.default_rng(4)
    # a crowd, and words that have nobody near
    table = named(np.r_[rng.normal(size=(40, 3)) * 0.1, rng.uniform(-9, 9, (20, 3))])
    D = distances(table)
    at = cap or tem_distance(60, epsilon)
    capped = np.minimum(D, at)
    true = tem(D, epsilon, at, lambda n, near: n - near)
    P, _ = all_of(Exponential("half", at).prepare(table, epsilon, 0.0))
    np.testing.assert_allclose(P, true, rtol=1e-6)
    assert loss_beyond(true, epsilon, capped) <= 1e-9
    # mldp-text 0.1.2 scores all others together by ln(V / |near|)
    wrong = tem(D, epsilon, at, lambda n, near: n / near)
    assert loss_beyond(wrong, epsilon, capped if cap else D) > 0.5


def test_the_distance_of_tem():
    n_words, epsilon, beta = 60, 2.5, 0.05
    rng = np.random.default_rng(1)
    table = named(rng.uniform(-30, 30, (n_words, 2)))
    cap = tem_distance(n_words, epsilon, beta)
    assert cap == pytest.approx(0.8 * math.log(0.95 * 59 / 0.05))
    P, claimed = all_of(Exponential("half", cap).prepare(table, epsilon, 0.0))
    far = distances(table) > cap
    # beta is what may be released from beyond, and nearly is in a table so sparse
    assert 0.5 * beta < (P * far).sum(axis=1).max() <= beta
    # whatever ε is
    assert claimed.max() <= 2 * math.log(0.95 * 59 / 0.05) + 1e-9
    assert tem_distance(n_words, 2 * epsilon, beta) == pytest.approx(cap / 2)


@refusals(
    ({"n_words": 1}, "n_words must be an integer >= 2, got 1"),
    ({"epsilon": 0}, "epsilon must be a finite number > 0, got 0"),
    ({"beta": 0.0}, "beta must be"),
    ({"beta": 0.75}, "beta must be"),
)
def test_parameters_of_tem_are_checked(given):
    tem_distance(**{"n_words": 4, "epsilon": 1.0, **given})


def unnamed_rows_fall_back(P):
    """The benchmark's SanText: where the drawn row has no word, the true one."""
    named_ = np.arange(len(P)) % 3 > 0
    return np.where(named_, P, 0) + np.diag(P[:, ~named_].sum(axis=1))


def far_words_fall_back(P):
    """pyPANTERA's TEM: where a word beyond the distance is drawn, the true one."""
    far = distances(TABLE) > 1.0
    return np.where(far, 0, P) + np.diag(np.where(far, P, 0).sum(axis=1))


def the_least_similar(P):
    """pyPANTERA's CusText: the eight candidates sorted the wrong way round."""
    far = distances(TABLE).argsort(axis=1)[:, -8:]
    wrong = np.zeros_like(P)
    np.put_along_axis(wrong, far, np.take_along_axis(P, far, axis=1), axis=1)
    return wrong / wrong.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    "mistake", [unnamed_rows_fall_back, far_words_fall_back, the_least_similar]
)
def test_published_mistakes_break_the_claim(mistake):
    P, _ = all_of(Exponential("half", 1.0).prepare(TABLE, 2.0, 0.0))
    D = distances(TABLE, cap=1.0)
    assert loss_beyond(P, 2.0, D) <= 1e-9
    wrong = mistake(P)
    np.testing.assert_allclose(wrong.sum(axis=1), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log(wrong)[:, None] - np.log(wrong)[None]
    assert (
        np.nanmax(ratios.max(axis=2, where=wrong[:, None] > 0, initial=0) - 2 * D) > 1
    )


# -- refusals --------------------------------------------------------------------------


@refusals(
    (Exponential("tem"), "calibration must be one of 'half', 'exact', 'balanced'"),
    (Exponential(max_distance=0), "max_distance must be a finite number > 0"),
    (Exponential(max_distance=math.inf), "max_distance must be a finite number"),
)
def test_options_are_checked(mechanism):
    DPWordPerturber(TABLE, mechanism=mechanism).fit([])


@pytest.mark.parametrize("calibration", ["half", "exact"])
def test_a_singular_covariance_is_refused_before_anything_is_drawn(calibration):
    table = named(np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0]]))
    with pytest.raises(InvalidParameterError, match="lam must be < 1 where the covar"):
        Exponential(calibration).prepare(table, 1.0, 1.0)
