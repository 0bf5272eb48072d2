"""Nearest neighbours by Word Mover's Distance."""

from skdptext.neighbors._classification import WMDKNNClassifier
from skdptext.transport import compile_search

__all__ = ["WMDKNNClassifier", "compile_search"]
