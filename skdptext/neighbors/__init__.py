"""Nearest neighbours by Word Mover's Distance."""

from skdptext.neighbors._classification import WMDKNNClassifier
from skdptext.neighbors._regression import WMDKNNRegressor
from skdptext.neighbors._unsupervised import WMDNeighbors, WMDNeighborsTransformer

__all__ = [
    "WMDKNNClassifier",
    "WMDKNNRegressor",
    "WMDNeighbors",
    "WMDNeighborsTransformer",
]
