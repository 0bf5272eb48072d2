"""Statistical tests of the law of the noise, each with a stated false-alarm rate."""

from __future__ import annotations

import numpy as np
from scipy import stats

from skdptext.audit import audit_noise_law

ALPHA = 1e-6


def assert_ks(sample, cdf, alpha=ALPHA):
    """The sample follows the distribution; false alarm with probability alpha."""
    p = stats.kstest(sample, cdf).pvalue
    assert p > alpha, f"Kolmogorov-Smirnov p = {p:.2e} <= {alpha:.0e}"


def assert_counts(counts, p, alpha=ALPHA):
    """Counts follow the probabilities; false alarm with probability alpha.

    Chi-square, cells of less than five expected draws together.
    """
    expected = p * counts.sum()
    assert not counts[p == 0].any()
    order = np.argsort(-expected, kind="stable")
    counts, expected = counts[order], expected[order]
    n = max(1, int((expected >= 5).sum()))
    if 0 < expected[n:].sum() < 5 and n > 1:
        n -= 1
    cells = np.append(counts[:n], counts[n:].sum())
    means = np.append(expected[:n], expected[n:].sum())
    cells, means = cells[means > 0], means[means > 0]
    if len(cells) > 1:
        value = stats.chisquare(cells, means * cells.sum() / means.sum()).pvalue
        assert value > alpha, f"chi-square p = {value:.2e} <= {alpha:.0e}"


def losses(P):
    """max_z ln P[w, z] / P[w', z] of all pairs, exactly; inf where supports differ."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(P)
        gaps = np.where(np.isneginf(logs)[:, None], -np.inf, logs[:, None] - logs[None])
    return gaps.max(axis=2)


class Recorded:
    """Noise that was drawn already, as a mechanism that claims the metric of M."""

    def __init__(self, noise, epsilon, M):
        self.noise = noise
        self.epsilon = epsilon
        self.values, self.axes = np.linalg.eigh(M)

    def sample(self, rng, n):
        return self.noise[:n]

    def whiten(self, vectors):
        return vectors @ self.axes / np.sqrt(self.values)


def assert_noise_law(noise, epsilon, M, alpha=ALPHA):
    """Noise has density proportional to exp(-epsilon ‖z‖_RM), draws independent.

    The tests are those of the library's audit, at error rate alpha together; M, and
    the whitening by it, are the caller's own.
    """
    audit = audit_noise_law(
        Recorded(noise, epsilon, M), n_draws=len(noise), alpha=alpha, random_state=0
    )
    assert not audit.rejected, str(audit)


def catches(check, *args, **kwargs):
    """Whether a statistical check raises."""
    try:
        check(*args, **kwargs)
    except AssertionError:
        return True
    return False
