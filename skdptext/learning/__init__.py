"""Learning from private text: one noisy sum over people, a model and a corpus."""

from skdptext.learning._classifier import DPTextClassifier
from skdptext.learning._guarantee import LearningGuarantee

__all__ = ["DPTextClassifier", "LearningGuarantee"]
