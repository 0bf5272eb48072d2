"""Nearest neighbours by Word Mover's Distance."""

from skdptext.neighbors._classification import WMDKNNClassifier

__all__ = ["WMDKNNClassifier"]
