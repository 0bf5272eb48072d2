"""The estimator that releases documents with private words."""

from skdptext.perturbation._perturber import (
    DPWordPerturber,
    resolve_mechanism as resolve_mechanism,
)

__all__ = ["DPWordPerturber"]
