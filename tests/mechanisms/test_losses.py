"""Privacy losses as distributions: never below the exact δ(t), and hardly above it."""

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq
from scipy.special import betainc

from skdptext.mechanisms import LossDistribution
from tests.laws import assert_bound, catches, hockey_stick, losses


def products(law, n):
    """The law of n independent outputs."""
    return functools.reduce(np.kron, [law] * n)


# Gauss-Legendre on pieces of [0, 1]
_AT, _WEIGHT = np.polynomial.legendre.leggauss(16)
PLACES = ((np.arange(100)[:, None] + (1 + _AT) / 2) / 100).ravel()
WEIGHTS = np.tile(_WEIGHT / 2 / 100, 100)


def noise_delta(distance, dim, t):
    """δ(t) of the noise by quadrature: Pr[L > t] − e^t Pr[L < −t], by symmetry."""
    half = (dim - 1) / 2

    def tails(s):  # Pr[L > s] and Pr[L < s]
        first = (distance - s) / 2  # up to this length all directions lose more
        last = math.sqrt(dim + 12 * math.sqrt(dim) + 40)
        r = first + (last * PLACES) ** 2
        weights = 2 * last**2 * PLACES * WEIGHTS * stats.gamma.pdf(r, dim)
        c = np.clip((s * s + 2 * s * r - distance**2) / (2 * r * distance), -1, 1)
        above = weights @ betainc(half, half, (1 - c) / 2)
        below = weights @ betainc(half, half, (1 + c) / 2)
        return stats.gamma.cdf(first, dim) + above, below

    return tails(t)[0] - math.exp(t) * tails(-t)[1]


def least_exponent(delta_at, delta, top):
    """The least t with δ(t) <= delta, of a δ that falls continuously."""
    if delta_at(0.0) <= delta:
        return 0.0
    if delta_at(top) > delta:
        return top
    return brentq(lambda t: delta_at(t) - delta, 0.0, top, xtol=1e-12 * top)


def shifted(loss, steps):
    """All losses moved by so many halves of a step."""
    masses = np.zeros(2 * len(loss.masses))
    masses[::2] = loss.masses
    lowest = 2 * loss.lowest + steps
    return LossDistribution(loss.step / 2, lowest, masses, loss.infinite)


# -- noise ---------------------------------------------------------------------------

DIMENSIONS = (1, 2, 3, 10, 50, 300, 768)
DISTANCES = (0.01, 0.1, 1.0, 3.0, 10.0, 30.0, 60.0, 300.0)


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_noise_in_56_settings(dim):
    """Never below quadrature, or Laplace noise's closed form; above by 0.7% at most."""
    for distance in DISTANCES:
        loss = LossDistribution.of_noise(distance, dim)

        def exact(t, distance=distance):
            if dim == 1:
                return max(0.0, -math.expm1((t - distance) / 2))
            return noise_delta(distance, dim, t)

        ts = np.append(np.linspace(0, distance, 5)[:-1], loss.exponent(1e-3))
        # numbers this small are differences of larger ones
        assert_bound(loss.delta, exact, ts, tolerance=1e-13)
        for delta in (1e-9, 1e-6, 1e-3, 0.1, 0.7) if dim == 1 else (1e-8, 1e-6, 1e-3):
            # against the least exponent, without a search for it: δ(t) falls
            t = loss.exponent(delta)
            assert t >= distance or exact(t * (1 + 1e-9)) <= delta
            less = (t - 1e-12) / 1.007 if delta < 0.1 else t - 3e-3 * distance
            assert less <= 0 or exact(less) >= delta
        # losses that are too small by one part in 100 are caught
        lower = shifted(loss, -round(0.01 * distance / loss.step))
        assert catches(assert_bound, lower.delta, exact, ts, 1e-13)


@pytest.mark.parametrize("dim", [1, 2, 3, 50, 300])
def test_farther_words_lose_more(dim):
    """Distances may be rounded up."""
    made = [LossDistribution.of_noise(d, dim) for d in (1.0, 1.1, 1.5, 4.0, 4.2)]
    for near, far in itertools.pairwise(made):
        for t in np.linspace(-3, 3, 9):
            assert far.delta(t) >= near.delta(t) * (1 - 1e-9) - 2e-9


@pytest.mark.parametrize("dim", [1, 2, 300, 10**6])
@pytest.mark.parametrize("distance", [0, 1e-300, 1e-12, 1e-6, 1.0, 1e6, 1e12, 1e300])
def test_extreme_noise(dim, distance):
    loss = LossDistribution.of_noise(distance, dim)
    for n in (1, 1000):
        for delta in (1e-12, 1e-6, 0.5):
            t = loss.times(n).exponent(delta)
            assert 0 <= t <= n * distance * 1.001 + 1e-300


# -- known laws ----------------------------------------------------------------------


def laws(n_outputs, rng, never=0.2):
    """Two laws, each with outputs that it never has."""
    pair = rng.dirichlet(np.full(n_outputs, 0.7), size=2)
    pair[rng.random(pair.shape) < never] = 0
    pair[:, 0] += 1e-3
    return pair / pair.sum(axis=1, keepdims=True)


def of(p, q):
    with np.errstate(divide="ignore"):
        return LossDistribution.of_log_proba(np.log(p), np.log(q))


@pytest.mark.parametrize("seed", range(12))
def test_known_laws_by_enumeration(seed):
    rng = np.random.default_rng(seed)
    p, q = laws(5, rng, never=0.0 if seed % 2 else 0.2)
    a, b = laws(4, rng, never=0.1)
    three = of(p, q).times(3)
    for loss, x, y in (
        (of(p, q), p, q),
        (three, products(p, 3), products(q, 3)),
        (
            LossDistribution.total([three, of(a, b)]),
            np.kron(products(p, 3), a),
            np.kron(products(q, 3), b),
        ),
    ):
        ts = np.linspace(-4, 8, 40)
        exact = [hockey_stick(x, y, t) for t in ts]
        deltas = [loss.delta(t) for t in ts]
        assert np.all(np.array(deltas) >= np.array(exact) - 1e-13)
        assert np.allclose(deltas, exact, atol=1e-3)


@pytest.mark.parametrize("steps", [-2, -1, 1])
def test_losses_too_small_by_half_a_step_are_caught(steps):
    p, q = laws(6, np.random.default_rng(3), never=0.0)
    ts = np.log(p / q)  # where δ(t) has its corners
    ts = np.append(ts - 1e-9, np.linspace(0, ts.max(), 50))
    moved = shifted(of(p, q), steps).delta
    assert catches(assert_bound, moved, functools.partial(hockey_stick, p, q), ts) == (
        steps < 0
    )


def binomial(epsilon, n):
    """Losses and probabilities of n answers by randomized response."""
    n_kept = np.arange(n + 1)
    return epsilon * (2 * n_kept - n), stats.binom.pmf(
        n_kept, n, 1 / (1 + np.exp(-epsilon))
    )


@pytest.mark.parametrize(
    ("epsilon", "n"), [(0.01, 10_000), (0.1, 1000), (0.37, 100), (2.0, 64), (8.0, 16)]
)
def test_many_answers_by_the_binomial_law(epsilon, n):
    at, masses = binomial(epsilon, n)

    def exact(t):
        return masses @ np.maximum(-np.expm1(np.minimum(t - at, 0)), 0)

    one = LossDistribution.of_exponents(epsilon, epsilon)
    for loss in (one.times(n), LossDistribution.total([one.times(n // 2)] * 2)):
        for delta in (1e-10, 1e-6, 1e-2):
            best = least_exponent(exact, delta, n * epsilon)
            assert best * (1 - 1e-9) <= loss.exponent(delta) <= 1.01 * best + 1e-3


@settings(max_examples=50)
@given(
    seed=st.integers(0, 2**31), never=st.sampled_from([0.0, 0.2]), n=st.integers(1, 3)
)
def test_no_law_within_two_exponents_loses_more(seed, never, n):
    p, q = laws(5, np.random.default_rng(seed), never)
    (_, forth), (back, _) = losses(np.array([p, q]))
    loss = LossDistribution.of_exponents(forth, back).times(n)
    x, y = products(p, n), products(q, n)
    for t in np.linspace(-3, 6, 19):
        assert loss.delta(t) >= hockey_stick(x, y, t) - 1e-12


@pytest.mark.parametrize("forth", [0.3, 2.0, math.inf])
@pytest.mark.parametrize("back", [0.3, 2.0, math.inf])
def test_two_exponents_have_a_law_that_attains_them(forth, back):
    p = math.expm1(-back) / math.expm1(-forth - back)
    q = p * math.exp(-forth)
    loss = LossDistribution.of_exponents(forth, back)
    for t in (-1.0, 0.0, 0.2, 1.0, 3.0):
        exact = hockey_stick(np.array([p, 1 - p]), np.array([q, 1 - q]), t)
        assert exact - 1e-13 <= loss.delta(t) <= exact + 1e-6


# -- sums, mixtures and exponents ----------------------------------------------------


def test_mixture_by_enumeration():
    rng = np.random.default_rng(0)
    pairs, weights = [laws(4, rng) for _ in range(3)], np.array([0.5, 0.3, 0.2])
    loss = LossDistribution.mixture([of(*pair) for pair in pairs], weights)
    seen = [
        np.concatenate(weights[:, None] * [pair[i] for pair in pairs]) for i in (0, 1)
    ]
    for t in np.linspace(-3, 6, 30):
        exact = hockey_stick(*seen, t)
        assert exact - 1e-13 <= loss.delta(t) <= exact + 1e-5
        # and which pair it was may be forgotten
        hidden = [np.tensordot(weights, [pair[i] for pair in pairs], 1) for i in (0, 1)]
        assert hockey_stick(*hidden, t) <= loss.delta(t) + 1e-13


@given(seed=st.integers(0, 2**31))
def test_the_rarest_losses_count(seed):
    """Tails that are cut become infinite or are raised, also those below 1e-30."""
    rng = np.random.default_rng(seed)
    at, masses = rng.uniform(-5, 5, 6), 10 ** rng.uniform(-36, -27, 6)
    loss = LossDistribution.of(at, masses).plus(LossDistribution.total([]))
    for t in (*np.sort(at)[:-1], -9.0):
        lost = masses @ np.maximum(-np.expm1(np.minimum(t - at, 0)), 0)
        assert loss.delta(t) >= lost * (1 - 1e-12)


def test_infinite_losses():
    certain = LossDistribution.of_exponents(math.inf, math.inf)
    none = LossDistribution.total([])
    assert certain.delta(50.0) == 1.0
    assert certain.exponent(0.999) == math.inf
    assert none.exponent(0.0) == 0.0
    assert none.delta(-1.0) == pytest.approx(1 - math.exp(-1))
    dust = LossDistribution.of(np.zeros(1), np.array([1e-31]), 1.0)
    both = LossDistribution.mixture([certain, certain], [0.5, 0.5])
    for sure in (certain.plus(none), none.plus(certain), certain.times(3), dust, both):
        assert sure.infinite == 1
        assert sure.exponent(0.5) == math.inf
    rare = LossDistribution.mixture([certain, none], [0.01, 0.99])
    assert rare.exponent(0.009) == math.inf
    assert rare.exponent(0.011) == 0.0
    assert rare.times(2).infinite == pytest.approx(1 - 0.99**2)


def test_losses_of_any_size_add_up():
    sizes = [0.0, 1e-300, 1e-12, 1.0, 2.0**40, 1e12, 1e300]
    parts = [LossDistribution.of_exponents(size, size) for size in sizes]
    for (one, size), (two, other) in itertools.product(
        zip(parts, sizes, strict=True), repeat=2
    ):
        least = max(size, other) * (1 - 1e-9) - 1e-12
        assert least <= one.plus(two).exponent(0.0) <= (size + other) * 1.001 + 1e-12
        mixed = LossDistribution.mixture([one, two], [0.5, 0.5]).exponent(0.0)
        assert least <= mixed <= max(size, other) * 1.001 + 1e-12


@settings(max_examples=40)
@given(
    deltas=st.lists(st.floats(0, 1, exclude_max=True), min_size=2, max_size=5),
    distance=st.floats(1e-6, 1e6),
    dim=st.sampled_from([1, 2, 300]),
    n=st.sampled_from([1, 2, 7]),
)
def test_exponents_never_grow_with_delta(deltas, distance, dim, n):
    loss = LossDistribution.of_noise(float(f"{distance:.0e}"), dim).times(n)
    exponents = [loss.exponent(delta) for delta in sorted(deltas)]
    assert exponents == sorted(exponents, reverse=True)
    for delta, t in zip(sorted(deltas), exponents, strict=True):
        assert t == math.inf or loss.delta(t) <= delta
