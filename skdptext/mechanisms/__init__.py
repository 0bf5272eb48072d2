"""Mechanisms replace words at random and state what this guarantees."""

from skdptext.mechanisms._exact_response import ExactResponse as ExactResponse
from skdptext.mechanisms._exponential import Exponential, RandomizedResponse
from skdptext.mechanisms._integer_noise import (
    SumLoss as SumLoss,
    discrete_gaussian as discrete_gaussian,
    discrete_laplace as discrete_laplace,
    gaussian_delta as gaussian_delta,
    gaussian_sigma as gaussian_sigma,
    laplace_scale as laplace_scale,
)
from skdptext.mechanisms._losses import LossDistribution as LossDistribution
from skdptext.mechanisms._mechanism import (
    Draws as Draws,
    TableMechanism as TableMechanism,
    WordMechanism as WordMechanism,
    check_exponents as check_exponents,
    probabilities as probabilities,
)
from skdptext.mechanisms._noise import (
    MahalanobisMetric as MahalanobisMetric,
    MahalanobisNoise,
    NoiseMechanism as NoiseMechanism,
    Spectrum as Spectrum,
    embedding_spectrum as embedding_spectrum,
)

#: Mechanisms by name, for grids, settings files and the command line.
MECHANISMS: dict[str, type[WordMechanism]] = {
    "exponential": Exponential,
    "mahalanobis-noise": MahalanobisNoise,
    "randomized-response": RandomizedResponse,
}

# Names imported as `x as x` are for other subpackages and have no page of their own.
__all__ = [
    "Exponential",
    "MahalanobisNoise",
    "RandomizedResponse",
]
