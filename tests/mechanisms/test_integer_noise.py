"""Noise in whole numbers: its law, seeded mistakes, and what it promises."""

import math

import numpy as np
import pytest
from scipy import stats

from skdptext.base import NoiseStreams
from skdptext.mechanisms import (
    SumLoss,
    discrete_gaussian,
    discrete_laplace,
    gaussian_delta,
    gaussian_sigma,
    laplace_scale,
)
from tests.expected import refused
from tests.laws import ALPHA, assert_counts, catches, hockey_stick

N = 60_000
GRID = 2**30


def stream():
    return NoiseStreams(None, b"").open(b"")


def laplace_law(scale, x):
    """Pr[x], in closed form."""
    q = math.exp(-1 / scale)
    return (1 - q) / (1 + q) * q ** np.abs(x)


def gaussian_law(sigma, x):
    far = np.arange(-40 * sigma - 10, 40 * sigma + 11)
    total = np.exp(-(far**2) / (2 * sigma**2)).sum()
    return np.exp(-(x**2) / (2 * sigma**2)) / total


LAWS = {
    "laplace": (discrete_laplace, laplace_law),
    "gaussian": (discrete_gaussian, gaussian_law),
}


def assert_laws(draw, law, scales):
    """All probabilities of a scale at once, by chi-square; false alarm 1e-6 each."""
    for scale in scales:
        far = 12 * scale + 6
        x = np.arange(-far, far + 1)
        p = law(scale, x)
        sample = draw(stream(), scale, N)
        counts = np.bincount(np.clip(sample, -far, far) + far, minlength=len(x))
        p[[0, -1]] += (1 - p.sum()) / 2
        assert_counts(counts, p)


@pytest.mark.no_cover
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("scale", [1, 2, 3, 10, 57])
def test_law(name, scale):
    assert_laws(*LAWS[name], [scale])


@pytest.mark.no_cover
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("scale", [2**20 + 1, 2**30, 2**34 + 12345, 2**50])
def test_law_of_large_scales(name, scale):
    # In units of the scale, whole numbers are as fine as real ones.
    continuous = {"laplace": stats.laplace, "gaussian": stats.norm}[name]
    sample = LAWS[name][0](stream(), scale, N)
    assert sample.dtype == np.int64
    assert stats.kstest(sample / scale, continuous.cdf).pvalue > ALPHA
    # the last digits are as likely as each other
    assert_counts(np.bincount(sample & 15, minlength=16), np.full(16, 1 / 16))


@pytest.mark.parametrize("name", LAWS)
def test_draws_are_independent(name):
    pairs = LAWS[name][0](stream(), 1, 2 * N).reshape(-1, 2).clip(-2, 2) + 2
    counts = np.bincount(pairs[:, 0] * 5 + pairs[:, 1], minlength=25).reshape(5, 5)
    assert stats.chi2_contingency(counts).pvalue > ALPHA


def rounded(sample):
    return np.rint(sample).astype(np.int64)


# Samplers with the mistakes that are easy to make, by the law that they miss.
MISTAKES = {
    "laplace": {
        "a rate for a scale": lambda rng, b, n: rounded(rng.laplace(0, 1 / b, n)),
        "continuous, rounded": lambda rng, b, n: rounded(rng.laplace(0, b, n)),
        "twice the scale": lambda rng, b, n: discrete_laplace(rng, 2 * b, n),
        "one side": lambda rng, b, n: np.abs(discrete_laplace(rng, b, n)),
        "0 of both signs": lambda rng, b, n: (
            (rng.geometric(-np.expm1(-1 / b), n) - 1) * rng.choice([-1, 1], n)
        ),
        "one number for all": lambda rng, b, n: discrete_laplace(rng, b, 1).repeat(n),
    },
    "gaussian": {
        "continuous, rounded": lambda rng, s, n: rounded(rng.normal(0, s, n)),
        "sigma squared for sigma": lambda rng, s, n: discrete_gaussian(rng, s**2, n),
        "half of sigma": lambda rng, s, n: discrete_gaussian(rng, max(1, s // 2), n),
        "Laplace for Gaussian": discrete_laplace,
    },
}


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("name", "mistake"), [(name, each) for name in LAWS for each in MISTAKES[name]]
)
def test_the_law_test_finds(name, mistake):
    assert catches(assert_laws, MISTAKES[name][mistake], LAWS[name][1], (1, 2, 10))


# -- what it promises ----------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("sigma", [2, 5, 30])
def test_delta_of_discrete_gaussian_noise_is_bounded(sigma, epsilon):
    """Exact, by a sum over all whole numbers, for a difference of 1 grid of 3 steps."""
    grid = 3
    x = np.arange(-60 * sigma, 60 * sigma + 1)
    exact = hockey_stick(gaussian_law(sigma, x), gaussian_law(sigma, x - grid), epsilon)
    bound = SumLoss.of_gaussian(sigma, 1, grid).delta(epsilon)
    assert exact <= bound
    # and it is close where the steps are fine
    fine = SumLoss.of_gaussian(sigma * 2**20, 1, grid * 2**20).delta(epsilon)
    assert fine <= bound * 1.000001
    assert gaussian_delta(epsilon, grid / sigma) <= fine


@pytest.mark.parametrize("difference", [(3, 0), (2, 2), (1, 2)])
def test_delta_of_two_cells(difference):
    """Exact in the plane, for differences of norm at most 3 in any direction."""
    sigma, grid = 4, 3
    x = np.arange(-60, 61)
    p, q = (gaussian_law(sigma, x - d) for d in difference)
    base = gaussian_law(sigma, x)
    with_person, without = np.outer(p, q), np.outer(base, base)
    loss = SumLoss.of_gaussian(sigma, 2, grid)
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        assert hockey_stick(with_person, without, epsilon) <= loss.delta(epsilon)


def test_delta_of_continuous_noise():
    for mu in (0.01, 0.2, 1.0, 5.0):
        for epsilon in (-0.5, 0.0, 0.1, 1.0, 4.0):
            x = np.linspace(-40, 40, 400_001)
            exact = hockey_stick(stats.norm.pdf(x), stats.norm.pdf(x - mu), epsilon)
            assert gaussian_delta(epsilon, mu) == pytest.approx(
                exact * (x[1] - x[0]), abs=1e-7
            )
    assert gaussian_delta(1.0, 0.0) == 0.0
    assert gaussian_delta(-1.0, 0.0) == pytest.approx(1 - math.exp(-1))
    assert gaussian_delta(1.0, math.inf) == 1.0


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 10.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-2])
def test_calibration_is_the_smallest(epsilon, delta):
    sigma = gaussian_sigma(epsilon, delta, 40, GRID)
    loss = SumLoss.of_gaussian(sigma, 40, GRID)
    assert loss.delta(epsilon) <= delta
    assert loss.epsilon(delta) <= epsilon
    smaller = SumLoss.of_gaussian(math.floor(sigma * 0.9999), 40, GRID)
    assert smaller.delta(epsilon) > delta


def test_published_calibration():
    # Balle and Wang's analytic sigma at ε = 1 and δ = 1e-6, as their own code gives it
    assert gaussian_sigma(1.0, 1e-6, 1, GRID) / GRID == pytest.approx(4.2247, abs=1e-4)


def test_laplace_scale_is_exact():
    assert laplace_scale(1.0, GRID) == GRID
    assert laplace_scale(0.5, GRID) == 2 * GRID
    for epsilon in (0.1, 1 / 3, 2.7, 1e-4, 1e9):
        scale = laplace_scale(epsilon, GRID)
        over, under = epsilon.as_integer_ratio()
        assert GRID * under <= scale * over  # 1/scale of the grid is at most ε
        assert scale == 1 or GRID * under > (scale - 1) * over


@pytest.mark.parametrize("scale", [1, 3])
def test_loss_of_laplace_noise(scale):
    x = np.arange(-200, 201)
    loss = SumLoss.of_laplace(scale, 2)
    p, q = laplace_law(scale, x), laplace_law(scale, x - 2)
    assert np.log(p / q).max() == pytest.approx(loss.pure)
    for epsilon in (0.0, 0.2, loss.pure):
        assert hockey_stick(p, q, epsilon) <= loss.delta(epsilon) + 1e-12
    assert loss.delta(loss.pure) == 0
    assert loss.epsilon(0.0) == loss.pure


def test_losses_add_up():
    gaussian = SumLoss.of_gaussian(gaussian_sigma(1.0, 1e-6, 9, GRID), 9, GRID)
    two = gaussian + gaussian
    assert two == gaussian.times(2)
    # less than the sum of the ε at the sum of the δ, and as one noise of less variance
    assert gaussian.epsilon(1e-6) < two.epsilon(2e-6) < 2 * gaussian.epsilon(1e-6)
    assert two.delta(1.0) == pytest.approx(
        gaussian_delta(1.0, math.sqrt(two.square)), rel=1e-6
    )
    both = gaussian + SumLoss.of_laplace(GRID, GRID)
    assert both.epsilon(1e-6) <= (1 + gaussian.epsilon(1e-6)) * (1 + 1e-9)
    assert both.delta(0.0) < 0.6
    assert both.epsilon(0.0) == math.inf
    larger = gaussian.larger(2.0)
    assert larger.square == 4 * gaussian.square
    assert SumLoss().epsilon(0.0) == 0.0


def test_noise_that_64_bits_do_not_hold_is_refused():
    for draw in (discrete_laplace, discrete_gaussian):
        for scale in (0, -1, 2**50 + 1):
            with pytest.raises(ValueError, match="the scale must be in"):
                draw(stream(), scale, 1)
    with refused("epsilon must be large enough"):
        laplace_scale(1e-9, GRID)
    with refused("epsilon must be large enough"):
        gaussian_sigma(1e-9, 1e-12, 4, GRID)
