"""Learn a model and a labeled corpus from private text by one noisy sum."""

from skdptext.learning._classifier import DPTextClassifier

__all__ = ["DPTextClassifier"]
