"""Mechanisms: randomised maps of words that state what they guarantee."""

from skdptext.mechanisms._exact_response import (
    ExactResponse as ExactResponse,
)
from skdptext.mechanisms._exponential import (
    Exponential,
    RandomizedResponse,
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
from skdptext.mechanisms._mahalanobis import MahalanobisNoise
from skdptext.mechanisms._mechanism import (
    Draws as Draws,
    NoiseMechanism as NoiseMechanism,
    TableMechanism as TableMechanism,
    WordMechanism as WordMechanism,
    check_draws as check_draws,
    check_exponents as check_exponents,
    check_words as check_words,
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
    probabilities as probabilities,
)

# The names above of the form `x as x` are for the rooms beside, and have no page.
__all__ = [
    "Exponential",
    "MahalanobisNoise",
    "RandomizedResponse",
]
