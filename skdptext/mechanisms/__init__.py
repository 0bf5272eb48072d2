"""Mechanisms: randomised maps of words that state what they guarantee."""

from skdptext.mechanisms._channel import (
    Law as Law,
    WordChannel as WordChannel,
    WordMechanism as WordMechanism,
    as_channel as as_channel,
    check_draws as check_draws,
    check_exponents as check_exponents,
    check_law as check_law,
    check_log_proba as check_log_proba,
    check_words as check_words,
    law_fingerprint as law_fingerprint,
)
from skdptext.mechanisms._exact_response import (
    ExactResponse as ExactResponse,
)
from skdptext.mechanisms._exponential import (
    Exponential,
    ExponentialChannel as ExponentialChannel,
    RandomizedResponse,
    RandomizedResponseChannel as RandomizedResponseChannel,
)
from skdptext.mechanisms._finite import (
    FiniteChannel as FiniteChannel,
    InvertedChannel as InvertedChannel,
)
from skdptext.mechanisms._integer_noise import (
    SumLoss as SumLoss,
    discrete_gaussian as discrete_gaussian,
    discrete_laplace as discrete_laplace,
    gaussian_delta as gaussian_delta,
    gaussian_sigma as gaussian_sigma,
    laplace_scale as laplace_scale,
)
from skdptext.mechanisms._losses import LossDistribution as LossDistribution
from skdptext.mechanisms._mahalanobis import (
    MahalanobisChannel as MahalanobisChannel,
    MahalanobisNoise,
)
from skdptext.mechanisms._metric import (
    MahalanobisMetric as MahalanobisMetric,
    Spectrum as Spectrum,
    embedding_spectrum as embedding_spectrum,
    scaled_covariance as scaled_covariance,
)
from skdptext.mechanisms._names import (
    MECHANISMS as MECHANISMS,
    resolve_mechanism as resolve_mechanism,
)
from skdptext.mechanisms._simulate import (
    draw_words as draw_words,
    kept_as_they_are as kept_as_they_are,
    probabilities as probabilities,
    shared_noise as shared_noise,
)
from skdptext.mechanisms._tem import tem_distance as tem_distance
from skdptext.mechanisms._word_losses import (
    word_losses as word_losses,
)

# The names above of the form `x as x` are for the rooms beside, and have no page.
__all__ = [
    "Exponential",
    "MahalanobisNoise",
    "RandomizedResponse",
]
