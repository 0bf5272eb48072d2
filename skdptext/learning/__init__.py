"""Learning from private text: one noisy sum over people, a model and a corpus."""

from skdptext.learning._classifier import DPTextClassifier

__all__ = ["DPTextClassifier"]
