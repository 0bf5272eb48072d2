"""The estimator that releases documents with private words."""

from skdptext.perturbation._likelihood import Candidates as Candidates
from skdptext.perturbation._noise_run import (
    NoiseRun as NoiseRun,
    NoiseRun as Release,  # noqa: F401, its name until 1.0
)
from skdptext.perturbation._perturber import DPWordPerturber

# The names above of the form `x as x` are for the rooms beside, and have no page.
__all__ = ["DPWordPerturber"]
