"""Noise on directions: its law on circles and spheres, and its claim."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.mechanisms import Directional
from tests.expected import refused
from tests.laws import (
    assert_bound,
    assert_counts,
    assert_ks,
    assert_not_refuted,
    catches,
    losses,
)


def prepared(distribution, vectors, kappa):
    vectors = np.asarray(vectors, dtype=float)
    table = WordEmbedding([f"w{i}" for i in range(len(vectors))], vectors)
    return Directional(distribution).prepare(table, kappa, 0.3)


def density(distribution, kappa):
    """Of a noisy direction at an angle from its own, up to a constant."""
    if distribution == "vmf":
        return lambda angle: np.exp(kappa * (np.cos(angle) - 1))
    return lambda angle: np.exp(-kappa * angle)


def frame(dim):
    """A word in a direction that is no axis, and others."""
    vectors = np.random.default_rng(0).normal(size=(3, dim))
    return vectors * [[0.01], [1.0], [50.0]]


def cdf_of_angles(distribution, kappa, dim):
    grid = np.linspace(0, np.pi, 200_001)
    values = density(distribution, kappa)(grid) * np.sin(grid) ** (dim - 2)
    upto = integrate.cumulative_trapezoid(values, grid, initial=0)
    return lambda angle: np.interp(angle, grid, upto / upto[-1])


BOTH = pytest.mark.parametrize("distribution", ["vmf", "purkayastha"])


@BOTH
@pytest.mark.parametrize(
    ("kappa", "dim"), [(0.1, 2), (3.0, 2), (1.0, 3), (50.0, 50), (400.0, 300), (1, 300)]
)
def test_angles_follow_their_law(distribution, kappa, dim):
    channel = prepared(distribution, frame(dim), kappa)
    (points,) = channel.draw(np.random.default_rng(1), 10_000)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, rtol=1e-12)
    angles = np.arccos(np.clip(points[:, 0], -1, 1))
    assert_ks(angles, cdf_of_angles(distribution, kappa, dim))
    # around the word every direction is as likely: another coordinate, and the signs
    around = points[:, 1] / np.sqrt(1 - points[:, 0] ** 2)
    if dim == 2:
        assert stats.binomtest(int((around > 0).sum()), 10_000).pvalue > 1e-6
    else:
        assert_ks(around**2, stats.beta(0.5, (dim - 2) / 2).cdf)


@pytest.mark.parametrize(("kappa", "dim"), [(2.0, 3), (60.0, 20)])
def test_vmf_is_that_of_scipy(kappa, dim):
    (points,) = prepared("vmf", frame(dim), kappa).draw(
        np.random.default_rng(1), 20_000
    )
    theirs = stats.vonmises_fisher(np.eye(dim)[0], kappa).rvs(
        20_000, random_state=np.random.default_rng(2)
    )
    assert stats.ks_2samp(points[:, 0], theirs[:, 0]).pvalue > 1e-6


def test_a_missing_factor_is_caught():
    """Angles of density e^(−κ θ), as on a circle: the sine of the sphere forgotten."""
    angles = np.random.default_rng(0).exponential(1 / 50, 20_000)
    assert catches(assert_ks, angles, cdf_of_angles("purkayastha", 50.0, 50))


@BOTH
def test_words_on_a_circle(distribution):
    """The whole law, by the lengths of arcs."""
    kappa, at = 2.5, np.array([0.3, 1.0, 1.2, 3.5, 5.0, 6.1])
    lengths = np.array([1, 0.01, 30, 2, 2, 1e-3])
    vectors = lengths[:, None] * np.column_stack([np.cos(at), np.sin(at)])
    channel = prepared(distribution, vectors, kappa)
    grid = np.linspace(0, 2 * np.pi, 200_000, endpoint=False)
    gaps = np.abs((grid - at[:, None] + np.pi) % (2 * np.pi) - np.pi)
    nearest = gaps.argmin(axis=0)
    P = np.array(
        [
            np.bincount(nearest, weights=density(distribution, kappa)(of), minlength=6)
            for of in gaps
        ]
    )
    P /= P.sum(axis=1, keepdims=True)
    ids = np.arange(6)
    claimed = channel.exponents(ids, ids)
    assert (losses(P) <= claimed + 1e-4).all()
    chords = 2 * np.sin(np.abs(np.subtract.outer(at, at)) / 2)
    angles = np.abs((np.subtract.outer(at, at) + np.pi) % (2 * np.pi) - np.pi)
    expected = chords if distribution == "vmf" else angles
    np.testing.assert_allclose(claimed, kappa * expected, atol=1e-5)
    rng = np.random.default_rng(0)
    for word in ids:
        words = np.full(40_000, word)
        noisy = channel.apply(words, channel.draw(rng, len(words)))
        assert_counts(np.bincount(noisy, minlength=6), P[word])


@BOTH
def test_words_on_a_turned_octahedron(distribution):
    """Six words, each in the middle of a face of a cube: one law for all."""
    turn = stats.ortho_group(3, seed=4).rvs()
    kappa = 2.0
    channel = prepared(distribution, np.r_[np.eye(3), -np.eye(3)] @ turn, kappa)
    theta = (np.arange(800) + 0.5) / 800 * np.pi
    phi = (np.arange(800) + 0.5) / 800 * np.pi / 2  # of a quarter
    x = np.sin(theta)[:, None] * np.maximum(np.cos(phi), np.sin(phi))
    masses = density(distribution, kappa)(theta) * np.sin(theta)
    polar = np.abs(np.cos(theta))[:, None] > x
    stays = (masses[:, None] * polar)[theta < np.pi / 2].sum()
    flips = (masses[:, None] * polar)[theta > np.pi / 2].sum()
    total = masses.sum() * len(phi)
    rng = np.random.default_rng(0)
    for word in range(6):
        P = np.full(6, (1 - (stays + flips) / total) / 4)
        P[word], P[(word + 3) % 6] = stays / total, flips / total
        words = np.full(20_000, word)
        noisy = channel.apply(words, channel.draw(rng, len(words)))
        assert_counts(np.bincount(noisy, minlength=6), P)


@BOTH
def test_one_dimension_has_two_directions(distribution):
    channel = prepared(distribution, [[2.0], [-0.1], [7.0]], 0.4)
    t = 0.4 * (2 if distribution == "vmf" else np.pi)
    ids = np.arange(3)
    np.testing.assert_allclose(
        channel.exponents(ids, ids), t * np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    )
    words = np.full(50_000, 2)
    noisy = channel.apply(words, channel.draw(np.random.default_rng(0), len(words)))
    stays = 1 / (1 + np.exp(-t))
    assert_counts(np.bincount(noisy, minlength=3), np.array([stays, 1 - stays, 0]))


def test_words_without_noise_stay():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(200, 30)) * rng.uniform(1e-6, 1e6, (200, 1))
    vectors[:2] = [np.eye(30)[0], -np.eye(30)[0]]  # the first axis itself
    channel = prepared("vmf", vectors, 1.0)
    still = np.repeat(np.eye(30)[:1], 200, axis=0)
    assert channel.apply(np.arange(200), (still,)).tolist() == list(range(200))


def test_zero_vectors_have_no_direction():
    with refused(r"no zero vectors.*got 1, the first at word id 1"):
        prepared("vmf", [[1.0, 0.0], [0.0, 0.0]], 1.0)


# -- with a small δ ------------------------------------------------------------------


def drawn_losses(channel, distribution, n, rng):
    """Of the first word against the second, from the noisy directions themselves."""
    units = channel.embedding.vectors[:2].astype(float)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    (points,) = channel.draw(rng, n)
    # the axes of the draws: the first word's direction, and the second's part beside it
    along = units[0] @ units[1]
    other = np.zeros(units.shape[1])
    other[:2] = along, np.sqrt(1 - along**2)
    cosines = points[:, 0], points @ other
    if distribution == "vmf":
        return channel.epsilon * (cosines[0] - cosines[1])
    ours, theirs = (np.arccos(np.clip(c, -1, 1)) for c in cosines)
    return channel.epsilon * (theirs - ours)


def apart(dim, angle, distribution, kappa):
    """Two words of different lengths, so far apart."""
    vectors = np.zeros((2, dim))
    vectors[0, -1], vectors[1, -1], vectors[1, 0] = 3, np.cos(angle), np.sin(angle)
    return prepared(distribution, vectors, kappa)


def loss_of(channel):
    (loss,) = channel.losses(np.array([0]), np.array([1]))
    return loss


SIMULATED = [(2, 3.0, 1.2), (3, 5.0, 3.0), (20, 25.0, 0.4), (300, 400.0, 1.3)]


@BOTH
@pytest.mark.parametrize(("dim", "kappa", "angle"), SIMULATED)
def test_losses_with_delta_are_not_refuted_by_draws(distribution, dim, kappa, angle):
    channel = apart(dim, angle, distribution, kappa)
    n = 10_000_000 // (dim + 100)
    losses = drawn_losses(channel, distribution, n, np.random.default_rng(0))
    loss, n_tests = loss_of(channel), 14 * len(SIMULATED)
    ts = [*np.quantile(losses, [0.1, 0.5, 0.9, 0.99, 0.999]), loss.exponent(1e-3)]
    assert_not_refuted(loss, losses, ts, n_tests)
    # and hardly above them
    t = loss.exponent(0.01)
    assert np.maximum(-np.expm1(0.95 * t - losses), 0).mean() > 0.01
    nearer = loss_of(apart(dim, 0.9 * angle, distribution, kappa))
    assert catches(assert_not_refuted, nearer, losses, ts, n_tests)


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize(("dim", "kappa", "angle"), SIMULATED[1:3])
def test_losses_with_delta_against_ten_million_draws(distribution, dim, kappa, angle):
    channel, rng = apart(dim, angle, distribution, kappa), np.random.default_rng(1)
    losses = np.concatenate(
        [drawn_losses(channel, distribution, 20_000, rng) for _ in range(500)]
    )
    loss = loss_of(channel)
    ts = [loss.exponent(delta) for delta in (1e-6, 1e-5, 1e-3, 0.1)]
    assert_not_refuted(loss, losses, ts, 8 * len(SIMULATED))


@BOTH
@pytest.mark.parametrize("kappa", [0.2, 2.5, 30.0])
@pytest.mark.parametrize("angle", [1e-4, 0.5, 2.0, np.pi])
def test_losses_on_a_circle(distribution, kappa, angle):
    """δ(t) by sums over fine arcs."""
    at = (np.arange(400_000) + 0.5) / 400_000 * 2 * np.pi
    laws = []
    for word in (0, angle):
        gaps = np.abs((at - word + np.pi) % (2 * np.pi) - np.pi)
        laws.append(density(distribution, kappa)(gaps))
        laws[-1] /= laws[-1].sum()
    channel = apart(2, angle, distribution, kappa)
    pure = channel.exponents(np.array([0]), np.array([1]))[0, 0]

    def exact(t):
        return np.maximum(laws[0] - np.exp(t) * laws[1], 0).sum()

    loss = loss_of(channel)
    assert_bound(loss.delta, exact, np.linspace(-pure, pure, 9), tolerance=1e-9)
    for delta in (1e-6, 1e-3, 0.1):
        t = loss.exponent(delta)
        assert t <= pure * (1 + 1e-3)
        assert t == 0 or exact(t - 0.03 * pure) > delta * 0.9


@BOTH
def test_guarantees_with_delta_fall_from_the_pure_exponent(distribution):
    vectors = np.random.default_rng(3).normal(size=(12, 60))
    table = WordEmbedding([f"w{i}" for i in range(12)], vectors)
    fitted = DPWordPerturber(
        table, mechanism=Directional(distribution), epsilon=90.0, document_length=4
    ).fit([])
    x, y = ["w1", "w1", "w2", "w3"], ["w4", "w5", "w6", "w3"]
    guarantee = fitted.guarantee()
    deltas = [0.0, 1e-12, 1e-6, 1e-3, 0.1, 0.9]
    exponents = [guarantee.exponent(x, y, delta=delta) for delta in deltas]
    assert exponents[0] == guarantee.exponent(x, y)
    assert exponents == sorted(exponents, reverse=True)
    assert exponents[2] < 0.8 * exponents[0]
    assert guarantee.exponent(x, x, delta=1e-6) == 0
    # words of one direction, and in one dimension
    line = prepared(distribution, [[2.0], [-0.1], [7.0]], 0.4)
    t = line.exponents(np.array([0]), np.array([1]))[0, 0]
    opposite, same = line.losses(np.array([0, 0]), np.array([1, 2]))
    assert same.exponent(1e-6) == 0
    assert opposite.exponent(0) == pytest.approx(t, rel=1e-3)


@pytest.mark.parametrize("distribution", ["vmf", "purkayastha"])
@pytest.mark.parametrize("dim", [1, 2, 50])
@pytest.mark.parametrize("epsilon", [1e20, 1e35, 1e100, 1.7e308])
def test_an_enormous_epsilon_leaves_directions_as_they_are(distribution, dim, epsilon):
    vectors = np.random.default_rng(0).normal(size=(2, dim))
    table = WordEmbedding(["a", "b"], vectors if dim > 1 else [[1.0], [-1.0]])
    channel = Directional(distribution).prepare(table, epsilon, 0.0)
    draws = channel.draw(np.random.default_rng(0), 100)
    assert np.isfinite(draws[0]).all()
    assert (channel.apply(np.zeros(100, dtype=int), draws) == 0).all()
