"""The estimator that releases documents with private words."""

from skdptext.perturbation._perturber import DPWordPerturber

__all__ = ["DPWordPerturber"]
