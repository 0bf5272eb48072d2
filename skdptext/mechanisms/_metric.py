"""Metrics on vectors that can shape the noise, and the covariance that shapes them."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import Memo, blocks


class Spectrum(NamedTuple):
    """Scaled covariance Σ with its eigendecomposition Σ = U diag(s) Uᵀ."""

    covariance: np.ndarray  # Σ, (m, m), trace m
    eigenvalues: np.ndarray  # s, (m,), ascending, >= 0
    eigenvectors: np.ndarray  # U, (m, m), one per column

    @property
    def is_singular(self) -> bool:
        """Whether the smallest eigenvalue is zero to within rounding."""
        smallest, largest = self.eigenvalues[0], self.eigenvalues[-1]
        return bool(smallest <= largest * len(self.eigenvalues) * np.finfo(float).eps)


def scaled_covariance(vectors: np.ndarray) -> np.ndarray:
    """Sample covariance of the rows over the mean column variance, so its trace is m.

    In float64; Xu, Aggarwal, Feyisetan, Teissier (2020), section 3. It is an
    InvalidParameterError if there are fewer than two different vectors.
    """
    n_words, dim = vectors.shape
    if n_words < 2:
        raise InvalidParameterError(
            "embedding must have at least 2 words, as its covariance is learned, got "
            f"{n_words} (n_features = {n_words})."
        )
    mean = vectors.mean(axis=0, dtype=np.float64)
    covariance = np.zeros((dim, dim))
    for rows in blocks(n_words, 4096):
        centred = vectors[rows] - mean
        covariance += centred.T @ centred
    trace = np.trace(covariance)  # the divisor n_words - 1 cancels
    if not trace > 0:
        raise InvalidParameterError(
            "embedding must have at least 2 different vectors, as its covariance is "
            f"learned, got {n_words} equal ones."
        )
    covariance *= dim / trace
    return covariance


# Keyed by content, so that all copies of an embedding share one.
_spectra: Memo[Spectrum] = Memo(8)


def embedding_spectrum(embedding: WordEmbedding) -> Spectrum:
    """The read-only spectrum of an embedding, computed once per process and shared."""
    return _spectra.get(embedding.fingerprint, lambda: _spectrum(embedding.vectors))


def _spectrum(vectors: np.ndarray) -> Spectrum:
    covariance = scaled_covariance(vectors)
    eigenvalues, eigenvectors = np.linalg.eigh(covariance)
    spectrum = Spectrum(covariance, np.maximum(eigenvalues, 0), eigenvectors)
    for array in spectrum:
        array.flags.writeable = False
    return spectrum


class MahalanobisMetric:
    r"""The regularized Mahalanobis metric :math:`‖x - y‖_{RM}`.

    .. math::

        ‖v‖_{RM} = \sqrt{v^\top M^{-1} v}, \qquad M = λΣ + (1 - λ) I .

    Parameters
    ----------
    lam : float in [0, 1]
        0 gives the Euclidean metric.
    spectrum : Spectrum
        Spectrum of Σ: the embedding's (`embedding_spectrum`), or of any other
        matrix that does not depend on private documents.

    Raises
    ------
    InvalidParameterError
        If Σ is singular and ``lam=1``.

    See Also
    --------
    MahalanobisNoise : Noise of this shape.

    References
    ----------
    Xu, Aggarwal, Feyisetan, Teissier (2020), section 3.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import MahalanobisNoise
    >>> embedding = WordEmbedding(["near", "far"], [[0.0], [2.0]])
    >>> metric = MahalanobisNoise().prepare(embedding, 3.0, 0.0).metric
    >>> float(metric.distances(embedding.vectors, embedding.vectors)[0, 1])
    2.0
    """

    def __init__(self, lam: float, spectrum: Spectrum) -> None:
        if lam == 1 and spectrum.is_singular:
            raise InvalidParameterError(
                "lam must be < 1 where the covariance of the embedding is singular "
                f"(smallest eigenvalue {spectrum.eigenvalues[0]:.1e}), as it is with "
                "no more words than dimensions or with dependent columns, got lam=1. "
                "Try lam=0.9."
            )
        self.lam = lam
        self.spectrum = spectrum
        #: Length of a vector.
        self.dim = len(spectrum.eigenvalues)

    @property
    def name(self) -> str:
        """ "euclidean" or "mahalanobis"."""
        return "euclidean" if self.lam == 0 else "mahalanobis"

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

    def whiten(self, vectors: Any) -> np.ndarray:
        """Map vectors so that Euclidean distances are those of this metric.

        Parameters
        ----------
        vectors : ndarray of shape (n, dim)
            Points in the space of the embedding.

        Returns
        -------
        whitened : ndarray of shape (n, dim)
            Their images.
        """
        vectors = np.asarray(vectors, dtype=np.float64)
        if self.lam == 0:
            return vectors
        return (vectors @ self.spectrum.eigenvectors) / np.sqrt(self.eigenvalues)

    def distances(self, x: Any, y: Any) -> np.ndarray:
        """Distance of each row of `x` to each row of `y`.

        Equal rows are exactly 0 apart: they are whitened once.

        Parameters
        ----------
        x, y : ndarray of shape (n, dim)
            Vectors.

        Returns
        -------
        distances : ndarray of shape (len(x), len(y))
            Distances of the words.
        """
        if self.lam == 0:
            return cdist(x, y)
        both = np.concatenate([x, y])
        rows, numbers = np.unique(both, axis=0, return_inverse=True)
        points = self.whiten(rows)[numbers.ravel()]
        return cdist(points[: len(x)], points[len(x) :])

    def at(self, lam: float) -> MahalanobisMetric:
        """The metric of another λ over the same Σ.

        Parameters
        ----------
        lam : float
            Another λ.

        Returns
        -------
        metric : MahalanobisMetric
            That of the same embedding for this λ.
        """
        return MahalanobisMetric(lam, self.spectrum)
