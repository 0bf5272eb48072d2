"""Noise mechanisms: what is added to a vector, and the metric that it guarantees."""

from skdptext.mechanisms._covariance import (
    Spectrum,
    embedding_spectrum,
    scaled_covariance,
)
from skdptext.mechanisms._mahalanobis import MahalanobisMechanism

__all__ = [
    "MahalanobisMechanism",
    "Spectrum",
    "embedding_spectrum",
    "scaled_covariance",
]
