"""Tests of the law of the noise that a mechanism draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer, check_real, check_rng

__all__ = ["NoiseLawAudit", "audit_noise_law"]


class NoiseLawAudit:
    """Result of `audit_noise_law`.

    Attributes
    ----------
    pvalues : dict of str to float
        The p-value of each test, by its name. 0 for ``"repeats"`` says that a noise
        vector occurred twice.
    alpha : float
        As given: the false-alarm rate of all tests together.
    rejected : bool
        Whether any p-value is below ``alpha / len(pvalues)``.
    """

    def __init__(self, pvalues: dict[str, float], alpha: float) -> None:
        self.pvalues = pvalues
        self.alpha = alpha

    @property
    def failed(self) -> list[str]:
        """Names of the tests that reject, the smallest p-value first."""
        threshold = self.alpha / len(self.pvalues)
        # "not >": a p-value that is NaN is no evidence of a right law.
        names = [name for name, p in self.pvalues.items() if not p > threshold]
        return sorted(names, key=lambda name: self.pvalues[name])

    @property
    def rejected(self) -> bool:
        """Whether the noise does not follow the law."""
        return bool(self.failed)

    def __repr__(self) -> str:
        return (
            f"NoiseLawAudit(rejected={self.rejected}, failed={self.failed}, "
            f"alpha={self.alpha:g})"
        )

    def __str__(self) -> str:
        if not self.rejected:
            return (
                f"{len(self.pvalues)} tests of the noise found nothing wrong "
                f"(alpha = {self.alpha:g}, smallest p = "
                f"{min(self.pvalues.values()):.2g})."
            )
        found = ", ".join(
            f"{name} (p = {self.pvalues[name]:.1e})" for name in self.failed
        )
        return f"The noise does not follow the claimed law: {found}."


def audit_noise_law(
    mechanism: Any,
    *,
    n_draws: int = 20_000,
    alpha: float = 0.01,
    random_state: Any = None,
) -> NoiseLawAudit:
    """Test whether noise has density proportional to exp(−ε‖z‖_RM), draws independent.

    Parameters
    ----------
    mechanism : MahalanobisMechanism, or object alike
        Anything with ``sample(rng, n)`` (noise of shape (n, dim)), ``epsilon``, and
        ``whiten(vectors)``, after which Euclidean lengths are lengths in the metric
        of the claim. Of a fitted perturber: its ``mechanism_``.
    n_draws : int >= 100, default=20000
        Noise vectors to look at.
    alpha : float in (0, 0.5], default=0.01
        Probability of rejecting right noise, over all tests together (Bonferroni).
    random_state : None, int or numpy.random.Generator, default=None
        For the noise drawn here, and the random directions of the tests.

    Returns
    -------
    audit : NoiseLawAudit
        ``rejected``, ``failed`` and ``pvalues``.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule, or the noise has the wrong shape.

    See Also
    --------
    audit_word_privacy : Needs the released words only.

    Notes
    -----
    *Privacy.* Noise of another law may still be private, to a smaller ε, or to
    another metric: a rejection says that *this* guarantee is unfounded. That nothing
    is found does not prove the law. It says nothing about what happens after the
    noise, as a step that looks at the true word again.

    *Tests*, m the dimension. Whitened lengths follow Gamma(m, 1/ε); directions u are
    uniform on the sphere, so that (1 + u·a)/2 follows Beta((m−1)/2, (m−1)/2) for unit
    vectors a: the first and last whitened axis (for the library's mechanism those
    of the extreme eigenvalues) and random ones. Both by Kolmogorov–Smirnov. Rank
    correlations test that length and direction, and consecutive draws, are
    independent. No vector may occur twice, which continuous noise does with
    negligible probability.

    References
    ----------
    Xu, Aggarwal, Feyisetan, Teissier (2020), algorithm 2: the law.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.privacy import audit_noise_law
    >>> embedding = WordEmbedding(list("abc"), [[0.0, 1.0], [2.0, 0.0], [3.0, 5.0]])
    >>> perturber = DPWordPerturber(embedding, document_length=1).fit([])
    >>> audit_noise_law(perturber.mechanism_, random_state=0).rejected
    False
    """
    for name in ("sample", "whiten", "epsilon"):
        if not hasattr(mechanism, name):
            raise InvalidParameterError(
                f"mechanism must have {name}, got {mechanism!r:.80}."
                + (" Pass perturber.mechanism_." if _is_perturber(mechanism) else "")
            )
    n_draws = check_integer("n_draws", n_draws, low=100)
    alpha = check_real("alpha", alpha, low=0, high=0.5, open_low=True)
    epsilon = check_real("mechanism.epsilon", mechanism.epsilon, low=0, open_low=True)
    rng = check_rng(random_state)
    noise = np.asarray(mechanism.sample(rng, n_draws), dtype=np.float64)
    if noise.ndim != 2 or len(noise) != n_draws or not np.isfinite(noise).all():
        raise InvalidParameterError(
            f"mechanism.sample must return {n_draws} finite rows of noise, got an "
            f"array of shape {noise.shape}."
        )
    n_distinct = len(np.unique(noise, axis=0))
    pvalues = {"repeats": 1.0 if n_distinct == n_draws else 0.0}
    pvalues |= _pvalues(np.asarray(mechanism.whiten(noise)), epsilon, rng)
    return NoiseLawAudit(pvalues, alpha)


def _is_perturber(candidate: Any) -> bool:
    return hasattr(candidate, "perturb_words")


def _pvalues(
    white: np.ndarray, epsilon: float, rng: np.random.Generator
) -> dict[str, float]:
    """p-values of the tests of length, direction and independence."""
    m = white.shape[1]
    radii = np.linalg.norm(white, axis=1)
    units = white / np.where(radii > 0, radii, 1)[:, None]
    gamma = stats.gamma(m, scale=1 / epsilon).cdf
    pvalues = {
        "radius": stats.kstest(radii, gamma).pvalue,
        "radius, next radius": _dependence(radii[1:], radii[:-1]),
    }
    if m == 1:  # there are two directions, and no axis to choose
        up = units[:, 0] > 0
        pvalues["direction"] = stats.binomtest(int(up.sum()), len(up)).pvalue
        pvalues["radius, direction"] = _dependence(radii, up)
        pvalues["direction, next"] = _dependence(up[1:], up[:-1])
        return {name: float(p) for name, p in pvalues.items()}
    turn = np.linalg.qr(rng.standard_normal((m, 2)))[0]
    axes = {
        "first axis": units[:, 0],
        "last axis": units[:, -1],
        "random axis 1": units @ turn[:, 0],
        "random axis 2": units @ turn[:, 1],
    }
    uniform = stats.beta((m - 1) / 2, (m - 1) / 2).cdf
    for name, t in axes.items():
        # Clipped: rounding may leave the support, by one unit in the last place.
        share = np.clip((1 + t) / 2, 0, 1)
        pvalues[f"direction along {name}"] = stats.kstest(share, uniform).pvalue
        pvalues[f"radius, {name}"] = _dependence(radii, np.abs(t))
        pvalues[f"{name}, next"] = _dependence(t[1:], t[:-1])
    return {name: float(p) for name, p in pvalues.items()}


def _dependence(x: np.ndarray, y: np.ndarray) -> float:
    """p-value of the rank correlation; 0 where a sample is constant."""
    if np.ptp(x.astype(float)) == 0 or np.ptp(y.astype(float)) == 0:
        return 0.0
    return float(stats.spearmanr(x, y).pvalue)
