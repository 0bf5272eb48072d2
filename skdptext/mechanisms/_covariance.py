"""The scaled covariance of an embedding and its eigendecomposition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import Memo, blocks

__all__ = ["Spectrum", "embedding_spectrum", "scaled_covariance"]


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

    Parameters
    ----------
    vectors : ndarray of shape (n_words, dim)

    Returns
    -------
    covariance : ndarray of shape (dim, dim), float64

    Raises
    ------
    InvalidParameterError
        If there are fewer than two different vectors.

    References
    ----------
    Xu, Aggarwal, Feyisetan, Teissier (2020), section 3.
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
    """`Spectrum` of an embedding, computed once per process and shared.

    Parameters
    ----------
    embedding : WordEmbedding

    Returns
    -------
    spectrum : Spectrum
        Its arrays are read-only.
    """
    return _spectra.get(embedding.fingerprint, lambda: _spectrum(embedding.vectors))


def _spectrum(vectors: np.ndarray) -> Spectrum:
    covariance = scaled_covariance(vectors)
    eigenvalues, eigenvectors = np.linalg.eigh(covariance)
    spectrum = Spectrum(covariance, np.maximum(eigenvalues, 0), eigenvectors)
    for array in spectrum:
        array.flags.writeable = False
    return spectrum
