"""The estimator that releases documents with private words."""

from skdptext.perturbation._likelihood import Candidates as Candidates
from skdptext.perturbation._perturber import DPWordPerturber
from skdptext.perturbation._release import Release as Release

# The names above of the form `x as x` are for the rooms beside, and have no page.
__all__ = ["DPWordPerturber"]
