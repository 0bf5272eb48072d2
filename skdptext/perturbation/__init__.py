"""The estimator that releases documents with private words."""

from skdptext.perturbation._perturber import DPWordPerturber
from skdptext.perturbation._release import Release

__all__ = ["DPWordPerturber", "Release"]
