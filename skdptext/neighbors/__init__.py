"""Nearest neighbours by Word Mover's Distance."""

from skdptext.neighbors._classification import WMDKNNClassifier
from skdptext.neighbors._regression import WMDKNNRegressor
from skdptext.neighbors._unsupervised import WMDNeighbors, WMDNeighborsTransformer
from skdptext.transport import compile_search as compile_search

__all__ = [
    "WMDKNNClassifier",
    "WMDKNNRegressor",
    "WMDNeighbors",
    "WMDNeighborsTransformer",
]
