"""Test the distribution of the noise that a mechanism draws."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special, stats

from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import NoiseMechanism
from skdptext.utils import (
    as_array,
    check_integer,
    check_kind,
    check_real,
    check_rng,
    wrapped,
)


@dataclass
class NoiseLawAudit:
    """Result of `audit_noise_law`.

    Attributes
    ----------
    pvalues : dict of str to float
        The p-value of each test, by its name. 0 for ``"repeats"`` means that a noise
        vector occurred twice.
    alpha : float
        The false-alarm rate over all tests together, as given.
    """

    pvalues: dict[str, float]
    alpha: float

    @property
    def failed(self) -> list[str]:
        """Names of the tests that reject, the smallest p-value first."""
        threshold = self.alpha / len(self.pvalues)
        # Written as "not >", because a NaN p-value must not count in favor of the
        # claim.
        names = [name for name, p in self.pvalues.items() if not p > threshold]
        return sorted(names, key=lambda name: self.pvalues[name])

    @property
    def rejected(self) -> bool:
        """Whether the noise does not follow the stated distribution."""
        return bool(self.failed)

    def __str__(self) -> str:
        named = ", ".join(f"{n} (p = {self.pvalues[n]:.1e})" for n in self.failed)
        return wrapped(
            f"The noise does not follow the claimed distribution: {named}."
            if self.rejected
            else f"{len(self.pvalues)} tests of the noise found nothing wrong (alpha = "
            f"{self.alpha:g}, smallest p = {min(self.pvalues.values()):.2g}). "
            "This does not prove privacy."
        )


def audit_noise_law(
    source: Any,
    *,
    n_draws: int = 20_000,
    alpha: float = 0.01,
    random_state: Any = None,
) -> NoiseLawAudit:
    """Test that noise on vectors has the claimed distribution, in independent draws.

    Parameters
    ----------
    source : DPWordPerturber, prepared mechanism, or an object with `sample`
        A fitted perturber, or its ``mechanism_``, which adds noise to vectors. For
        another implementation, any object with ``sample(rng, n)`` (noise of shape
        (n, dim)), ``epsilon``, and ``whiten(vectors)``, which turns lengths in the
        claimed metric into Euclidean lengths.
    n_draws : int >= 100, default=20000
        Noise vectors to test.
    alpha : float in (0, 0.5], default=0.01
        Probability of rejecting correct noise, over all tests together (Bonferroni).
    random_state : None, int or numpy.random.Generator, default=None
        Seeds the noise drawn here and the random directions of the tests.

    Returns
    -------
    audit : NoiseLawAudit
        ``rejected``, ``failed`` and ``pvalues``.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule, or the mechanism does not add noise to vectors.
    sklearn.exceptions.NotFittedError
        If the perturber is not fitted.

    See Also
    --------
    audit_word_privacy : Tests any mechanism by its released words alone.

    Notes
    -----
    *Privacy.* Noise with another distribution may still be private, with a larger ε or
    another metric: a rejection means that *this* guarantee is unfounded. Finding no
    fault does not prove the distribution, nor that released words depend on the noisy
    vector alone: `audit_word_privacy` tests the released words.

    *Tests*, with m the dimension. Kolmogorov–Smirnov tests that whitened lengths follow
    Gamma(m, 1/ε). Directions must be uniform on the sphere: multiplied by the lengths
    of normal vectors, drawn here, they are standard normal vectors. Along the first and
    last whitened axis (for the library's mechanism the axes of the extreme eigenvalues)
    and a random one, they are tested by Kolmogorov–Smirnov. Along *every* whitened
    axis, the sum of their entries is tested as N(0, n_draws) and the sum of their
    squares as χ² with n_draws degrees of freedom, both exactly, with a correction for
    the m axes. The extreme singular values show whether any other direction has too
    little or too much noise; they are tested against the bound √n ± √m of Davidson and
    Szarek, which needs n_draws > m. Rank correlations test that length and direction,
    and consecutive draws, are independent. No vector may occur twice, because this has
    a negligible probability in continuous noise.

    References
    ----------
    Xu, Aggarwal, Feyisetan, Teissier (2020), algorithm 2: the distribution. Davidson,
    Szarek (2001), Local operator theory, random matrices and Banach spaces, theorem
    II.13.

    Examples
    --------
    The audit needs noise on vectors, such as that of the papers.

    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.audit import audit_noise_law
    >>> embedding = WordEmbedding(list("abc"), [[0.0, 1.0], [2.0, 0.0], [3.0, 5.0]])
    >>> perturber = DPWordPerturber(embedding, document_length=1).fit([])
    >>> audit_noise_law(perturber, random_state=0).rejected
    False
    """
    n_draws = check_integer("n_draws", n_draws, low=100)
    alpha = check_real("alpha", alpha, low=0, high=0.5, open_low=True)
    rng = check_rng(random_state)
    # A perturber that is not fitted raises here.
    mechanism = source.mechanism_at() if hasattr(source, "mechanism_at") else source
    if isinstance(mechanism, NoiseMechanism) and hasattr(mechanism, "epsilon"):
        noise = mechanism.noise(mechanism.draw(rng, n_draws))
        whiten = mechanism.metric.whiten
    else:
        rule = "source must add noise to vectors, or have sample, whiten and epsilon"
        check_kind(mechanism, ["sample", "whiten"], rule)
        noise, whiten = mechanism.sample(rng, n_draws), mechanism.whiten
    epsilon = check_real("epsilon", mechanism.epsilon, low=0, open_low=True)
    noise = as_array(noise, rule := f"noise must be {n_draws} rows of numbers")
    if noise.ndim != 2 or len(noise) != n_draws or noise.dtype.kind not in "fiu":
        raise InvalidParameterError(f"{rule}, got shape {noise.shape}.")
    white = np.asarray(whiten(noise), dtype=np.float64)
    if not np.isfinite(noise).all() or not np.isfinite(white).all():
        return NoiseLawAudit({"finite": 0.0}, alpha)
    pvalues = {"repeats": float(len(np.unique(noise, axis=0)) == n_draws)}
    return NoiseLawAudit(pvalues | _pvalues(white, epsilon, rng), alpha)


def _pvalues(
    white: np.ndarray, epsilon: float, rng: np.random.Generator
) -> dict[str, float]:
    """Compute p-values of the tests of length, direction and independence."""
    n, m = white.shape
    radii = np.linalg.norm(white, axis=1)
    units = white / np.where(radii > 0, radii, 1)[:, None]
    # Multiplied by chi-distributed lengths, uniform directions are exactly standard
    # normal vectors. The distribution of sums of u and u² themselves is only known
    # approximately, and the approximation is poor in the tails.
    normals = units * np.sqrt(rng.chisquare(m, n))[:, None]
    turn = rng.standard_normal(m)
    axes = {
        "first axis": normals[:, 0],
        "last axis": normals[:, -1],
        "random axis": normals @ (turn / np.linalg.norm(turn)),
    }
    pvalues = {
        "radius": stats.kstest(special.gammainc(m, epsilon * radii), "uniform").pvalue,
        "radius, next radius": _dependence(radii[1:], radii[:-1]),
    }
    for name, t in axes.items():
        pvalues[f"direction along {name}"] = stats.kstest(t, "norm").pvalue
        pvalues[f"radius, {name}"] = _dependence(radii, np.abs(t))
        pvalues[f"{name}, next"] = _dependence(t[1:], t[:-1])
    return pvalues | _spread(normals)


def _spread(normals: np.ndarray) -> dict[str, float]:
    """Compute p-values of means and spread of normal vectors in all directions."""
    n, m = normals.shape
    drift = np.abs(normals.sum(axis=0)) / np.sqrt(n)
    squares = np.einsum("ij,ij->j", normals, normals)
    spread = 2 * np.minimum(special.chdtr(n, squares), special.chdtrc(n, squares))
    # The p-values along the axes are corrected for the number of axes.
    pvalues = {
        "mean along every axis": min(1.0, m * 2 * special.ndtr(-drift.max())),
        "spread along every axis": min(1.0, m * spread.min()),
    }
    if n > m:
        # The extreme singular values of normal vectors exceed √n ± √m by s with a
        # probability of at most e^(−s²/2) on each side.
        extremes = np.linalg.eigvalsh(normals.T @ normals)[[0, -1]]
        least, most = np.sqrt(np.maximum(extremes, 0))
        excess = max(np.sqrt(n) - np.sqrt(m) - least, most - np.sqrt(n) - np.sqrt(m))
        pvalues["spread in all directions"] = min(
            1.0, 2 * np.exp(-(max(excess, 0.0) ** 2) / 2)
        )
    return pvalues


def _dependence(x: np.ndarray, y: np.ndarray) -> float:
    """Compute the p-value of the rank correlation; 0 if a sample is constant."""
    if (x == x[0]).all() or (y == y[0]).all():
        return 0.0
    return stats.spearmanr(x, y).pvalue
