"""The estimator that releases documents with private words."""

from skdptext.perturbation._leaks import REPEATABLE, warn_of_repeats
from skdptext.perturbation._perturber import DPWordPerturber
from skdptext.perturbation._release import Release

__all__ = ["REPEATABLE", "DPWordPerturber", "Release", "warn_of_repeats"]
