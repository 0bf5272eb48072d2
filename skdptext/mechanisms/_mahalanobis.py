"""Regularized Mahalanobis noise; the n-dimensional Laplace noise is its case λ = 0."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms._covariance import Spectrum
from skdptext.utils import check_real

__all__ = ["MahalanobisMechanism"]


class MahalanobisMechanism:
    r"""Adds noise of density proportional to :math:`e^{-ε‖z‖_{RM}}`.

    .. math::

        ‖z‖_{RM} = \sqrt{z^\top M^{-1} z}, \qquad M = λΣ + (1 - λ) I .

    Parameters
    ----------
    epsilon : float > 0
        Privacy parameter, per unit of distance.
    lam : float in [0, 1]
        0: spherical, the n-dimensional Laplace mechanism. 1: elliptical as Σ is.
    spectrum : Spectrum
        Of the scaled covariance Σ.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range, or Σ is singular and ``lam=1``.

    Notes
    -----
    *Privacy.* For two vectors x, x' and any set S of outputs,
    Pr[x + Z ∈ S] ≤ exp(ε‖x − x'‖_RM) Pr[x' + Z ∈ S].

    References
    ----------
    Xu, Aggarwal, Feyisetan, Teissier (2020), algorithms 1 and 2.
    """

    def __init__(self, epsilon: float, lam: float, spectrum: Spectrum) -> None:
        self.epsilon = check_real("epsilon", epsilon, low=0, open_low=True)
        self.lam = check_real("lam", lam, low=0, high=1)
        if self.lam == 1 and spectrum.is_singular:
            raise InvalidParameterError(
                "lam must be < 1 where the covariance of the embedding is singular "
                f"(smallest eigenvalue {spectrum.eigenvalues[0]:.1e}), as it is with "
                "no more words than dimensions or with dependent columns, got lam=1. "
                "Try lam=0.9."
            )
        self.spectrum = spectrum

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return len(self.spectrum.eigenvalues)

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """Eigenvalues of M, ascending."""
        return self.lam * self.spectrum.eigenvalues + (1 - self.lam)

    @cached_property
    def factor(self) -> np.ndarray:
        """The symmetric square root of M, shape (dim, dim)."""
        if self.lam == 0:
            return np.eye(self.dim)
        basis = self.spectrum.eigenvectors
        return (basis * np.sqrt(self.eigenvalues)) @ basis.T

    @property
    def normals_dtype(self) -> type[np.floating[Any]]:
        """Precision of the normal vectors that directions come from.

        A float32 normal is 0 once in ten million draws: in one dimension that is no
        direction at all, and in few it shows.
        """
        return np.float32 if self.dim >= 16 else np.float64

    def radii(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Draw `n` lengths ‖Z‖_RM, which follow Gamma(dim, 1/ε)."""
        return rng.gamma(self.dim, 1.0 / self.epsilon, n)

    def shape_noise(self, normals: np.ndarray, radii: np.ndarray) -> np.ndarray:
        """Noise with these lengths, in the directions of standard normal vectors.

        Parameters
        ----------
        normals : ndarray of shape (n, dim)
        radii : ndarray of shape (n,)

        Returns
        -------
        noise : ndarray of shape (n, dim), float64
            r · M^½ · g/‖g‖.
        """
        noise = normals.astype(np.float64)
        scale = radii / np.sqrt(np.einsum("ij,ij->i", noise, noise))
        if self.lam > 0:
            # Not renormalised after: the length is in the metric, not in Euclid's.
            noise = noise @ self.factor
        noise *= scale[:, None]
        return noise

    def sample(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Draw `n` noise vectors, shape (n, dim)."""
        radii = self.radii(rng, n)
        return self.shape_noise(
            rng.standard_normal((n, self.dim), dtype=self.normals_dtype), radii
        )

    def whiten(self, vectors: np.ndarray) -> np.ndarray:
        """Vectors whose Euclidean distances are the distances of the mechanism."""
        vectors = np.asarray(vectors, dtype=np.float64)
        if self.lam == 0:
            return vectors
        basis = self.spectrum.eigenvectors
        return (vectors @ basis) / np.sqrt(self.eigenvalues)

    def distance(self, x: Any, y: Any) -> Any:
        """‖x − y‖_RM along the last axis."""
        difference = np.asarray(x, dtype=np.float64) - np.asarray(y, dtype=np.float64)
        return np.linalg.norm(self.whiten(difference), axis=-1)
