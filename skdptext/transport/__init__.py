"""Arithmetic of moving words: exact costs and lower bounds, on plain arrays.

`metrics` and `neighbors` stand on this room; it knows no estimators.
"""

from skdptext.transport._bags import WordBags, as_word_bags, name_rows, take_bags
from skdptext.transport._block import BagBlock
from skdptext.transport._bounds import (
    LoweredTable,
    dual_bounds,
    match_residuals,
    relaxed_bounds,
    residual_relaxed_bounds,
    sinkhorn_bounds,
)
from skdptext.transport._compiled import padded_width
from skdptext.transport._exact import (
    one_hot_distances,
    pair_distance,
    pair_problem,
    residual,
    transport_cost,
    word_costs,
)
from skdptext.transport._kernels import Kernels, load_kernels

__all__ = [
    "BagBlock",
    "Kernels",
    "LoweredTable",
    "WordBags",
    "as_word_bags",
    "dual_bounds",
    "load_kernels",
    "match_residuals",
    "name_rows",
    "one_hot_distances",
    "padded_width",
    "pair_distance",
    "pair_problem",
    "relaxed_bounds",
    "residual",
    "residual_relaxed_bounds",
    "sinkhorn_bounds",
    "take_bags",
    "transport_cost",
    "word_costs",
]
