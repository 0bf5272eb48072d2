"""Statistical tests of the law of the noise, each with a stated false-alarm rate."""

from __future__ import annotations

import numpy as np
from scipy import stats

ALPHA = 1e-6


def assert_ks(sample, cdf, alpha=ALPHA):
    """The sample follows the distribution; false alarm with probability alpha."""
    p = stats.kstest(sample, cdf).pvalue
    assert p > alpha, f"Kolmogorov-Smirnov p = {p:.2e} <= {alpha:.0e}"


def assert_uncorrelated(x, y, alpha=ALPHA):
    """No rank correlation between two samples."""
    p = stats.spearmanr(x, y).pvalue
    assert p > alpha, f"rank correlation p = {p:.2e} <= {alpha:.0e}"


def assert_noise_law(noise, epsilon, M, alpha=ALPHA):
    """Noise has density proportional to exp(-epsilon ‖z‖_RM), draws independent.

    The whitened noise must have lengths that follow Gamma(m, 1/epsilon) and uniform
    directions, and the two, and consecutive draws, must be independent. Directions
    are tested along the extreme axes of M and along random ones, where (1 + u·a)/2
    follows Beta((m-1)/2, (m-1)/2). The error rate alpha is shared by all the tests
    (Bonferroni).
    """
    m = noise.shape[1]
    values, axes = np.linalg.eigh(M)
    white = noise @ axes / np.sqrt(values)
    radii = np.linalg.norm(white, axis=1)
    units = white / radii[:, None]
    turn = stats.ortho_group.rvs(m, random_state=0)
    projections = np.hstack([units[:, [0, -1]], units @ turn[:, :2]])
    alpha = alpha / (2 + 3 * projections.shape[1])
    assert_ks(radii, stats.gamma(m, scale=1 / epsilon).cdf, alpha)
    assert_uncorrelated(radii[1:], radii[:-1], alpha)
    uniform = stats.beta((m - 1) / 2, (m - 1) / 2).cdf
    for t in projections.T:
        assert_ks((1 + t) / 2, uniform, alpha)
        assert_uncorrelated(radii, np.abs(t), alpha)
        assert_uncorrelated(t[1:], t[:-1], alpha)


def catches(check, *args, **kwargs):
    """Whether a statistical check raises."""
    try:
        check(*args, **kwargs)
    except AssertionError:
        return True
    return False
