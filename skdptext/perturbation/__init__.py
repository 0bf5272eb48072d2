"""Estimators that release documents with private words."""

from skdptext.perturbation._base import BaseWordPerturber
from skdptext.perturbation._word import DPWordPerturber

__all__ = ["BaseWordPerturber", "DPWordPerturber"]
