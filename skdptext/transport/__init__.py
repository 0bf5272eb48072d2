"""Word Mover's Distance, computed exactly, and the search for the nearest bags.

This subpackage works on plain arrays and knows no estimators.
"""

from skdptext.transport._bags import (
    WordBags,
    as_word_bags,
    name_rows,
    slice_bags,
    take_bags,
)
from skdptext.transport._block import BagBlock
from skdptext.transport._bottleneck import bottleneck_distance
from skdptext.transport._exact import one_hot_distances, pair_distance
from skdptext.transport._matching import matching_cost, matching_plan
from skdptext.transport._search import BagIndex

__all__ = [
    "BagBlock",
    "BagIndex",
    "WordBags",
    "as_word_bags",
    "bottleneck_distance",
    "matching_cost",
    "matching_plan",
    "name_rows",
    "one_hot_distances",
    "pair_distance",
    "slice_bags",
    "take_bags",
]
