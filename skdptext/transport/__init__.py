"""Arithmetic of moving words: exact costs and lower bounds, on plain arrays.

`metrics` and `neighbors` stand on this room; it knows no estimators.
"""

from skdptext.transport._bags import (
    WordBags,
    as_matrix,
    as_word_bags,
    name_rows,
    take_bags,
)
from skdptext.transport._block import BagBlock
from skdptext.transport._bounds import (
    LoweredTable,
    dual_bounds,
    match_residuals,
    relaxed_bounds,
    residual_relaxed_bounds,
    sinkhorn_bounds,
)
from skdptext.transport._bottleneck import bottleneck_distance
from skdptext.transport._carried import (
    COSTS_AT_ONCE,
    carried_bounds,
    query_potentials,
)
from skdptext.transport._compiled import fill_costs, padded_width, relax_query
from skdptext.transport._compiled_duals import (
    extend_potentials,
    sample_query,
    tighten_query,
)
from skdptext.transport._compiled_exact import looped_distance
from skdptext.transport._exact import (
    one_hot_distances,
    pair_distance,
    pair_problem,
    residual,
    transport_cost,
    word_costs,
)
from skdptext.transport._kernels import (
    COMPILED,
    WORTH_COMPILING,
    Kernels,
    compile_helpers,
    kernels_for,
    load_if_worth,
    load_kernels,
    sources_digest,
    trial,
)
from skdptext.transport._matching import matching_cost
from skdptext.transport._solver import AskedDistance, ask_python, solver_address

__all__ = [
    "COMPILED",
    "COSTS_AT_ONCE",
    "WORTH_COMPILING",
    "AskedDistance",
    "BagBlock",
    "Kernels",
    "LoweredTable",
    "WordBags",
    "as_matrix",
    "as_word_bags",
    "bottleneck_distance",
    "ask_python",
    "carried_bounds",
    "compile_helpers",
    "dual_bounds",
    "extend_potentials",
    "fill_costs",
    "kernels_for",
    "load_if_worth",
    "load_kernels",
    "looped_distance",
    "match_residuals",
    "matching_cost",
    "name_rows",
    "one_hot_distances",
    "padded_width",
    "pair_distance",
    "pair_problem",
    "query_potentials",
    "relax_query",
    "relaxed_bounds",
    "residual",
    "residual_relaxed_bounds",
    "sample_query",
    "sinkhorn_bounds",
    "solver_address",
    "sources_digest",
    "take_bags",
    "tighten_query",
    "transport_cost",
    "trial",
    "word_costs",
]
