"""The estimator that releases documents with private words."""

from skdptext.perturbation._likelihood import WordLikelihood as WordLikelihood
from skdptext.perturbation._noise_run import NoiseRun as NoiseRun
from skdptext.perturbation._perturber import DPWordPerturber
from skdptext.perturbation._transitions import (
    Estimate as Estimate,
    WordTransitions as WordTransitions,
    expected_distinct as expected_distinct,
    profiles_of as profiles_of,
    transitions_of as transitions_of,
)

# The names above of the form `x as x` are for the rooms beside, and have no page.
__all__ = ["DPWordPerturber"]
