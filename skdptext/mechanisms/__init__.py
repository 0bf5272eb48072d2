"""Mechanisms: randomised maps of words that say what they promise."""

from skdptext.mechanisms._channel import (
    WordChannel,
    WordMechanism,
    as_channel,
    checked_draws,
    checked_words,
    law_fingerprint,
)
from skdptext.mechanisms._covariance import (
    Spectrum,
    embedding_spectrum,
    scaled_covariance,
)
from skdptext.mechanisms._exponential import (
    Exponential,
    ExponentialChannel,
    RandomizedResponse,
    RandomizedResponseChannel,
)
from skdptext.mechanisms._mahalanobis import MahalanobisChannel, MahalanobisNoise
from skdptext.mechanisms._metric import MahalanobisMetric
from skdptext.mechanisms._simulate import draw_words, probabilities

__all__ = [
    "Exponential",
    "ExponentialChannel",
    "MahalanobisChannel",
    "MahalanobisMetric",
    "MahalanobisNoise",
    "RandomizedResponse",
    "RandomizedResponseChannel",
    "Spectrum",
    "WordChannel",
    "WordMechanism",
    "as_channel",
    "checked_draws",
    "checked_words",
    "draw_words",
    "embedding_spectrum",
    "law_fingerprint",
    "probabilities",
    "scaled_covariance",
]
