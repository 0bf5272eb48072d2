"""scikit-learn's neighbors estimators with exact Word Mover's Distance."""

from skdptext.neighbors._distance import (
    as_bags as as_bags,
    bag_of as bag_of,
    one_hot_distances as one_hot_distances,
    solver as solver,
    word_movers as word_movers,
)
from skdptext.neighbors._estimators import (
    WMDKNNClassifier,
    WMDKNNRegressor,
    WMDNeighbors,
    WMDNeighborsTransformer,
)

__all__ = [
    "WMDKNNClassifier",
    "WMDKNNRegressor",
    "WMDNeighbors",
    "WMDNeighborsTransformer",
]

# Names imported as `x as x` are for other subpackages and have no page of their own.
