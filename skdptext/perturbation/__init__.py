"""The estimator that replaces the words of documents by noisy ones."""

from skdptext.perturbation._perturber import (
    DPWordPerturber,
    resolve_mechanism as resolve_mechanism,
)

__all__ = ["DPWordPerturber"]
