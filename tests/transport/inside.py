"""What the tests of this folder take from inside `skdptext.transport`, and why.

Its door shows neighbours, votes and distances, and they are tested there. It does not
show which of three ways found them (with numba, without, with exact distances by
Python), what a bound rules out before, or what happens where POT, numba or a kept
compilation fails: no input brings that about.
"""

# Modules, in which a fault takes the place of a part.
from skdptext.transport import _compiled_bounds as bound_loops
from skdptext.transport import _compiled_cascade as cascade_module
from skdptext.transport import _compiled_exact as exact_loops
from skdptext.transport import _compiled_search as search_loops
from skdptext.transport import _exact as exact_module
from skdptext.transport import _kernels as kernels_module
from skdptext.transport import _plain as plain_module
from skdptext.transport import _search as search_module
from skdptext.transport import _solver as solver_module

# Bounds: a search is right with useless ones, and only slow.
from skdptext.transport._bags import as_matrix
from skdptext.transport._bounds import LoweredTable, dual_bounds, relaxed_bounds

# The loops as Python runs them, which coverage and a debugger see, and as compiled.
from skdptext.transport._compiled_bounds import padded_width
from skdptext.transport._compiled_cascade import CompiledCascade, load_search
from skdptext.transport._compiled_search import make_search
from skdptext.transport._exact import pair_problem
from skdptext.transport._index import table_columns
from skdptext.transport._kernels import Kernels, load_kernels, sources_digest

# POT's solver by its address.
from skdptext.transport._solver import (
    AskedDistance,
    ask_python,
    run_solver,
    solver_address,
)

__all__ = [
    "AskedDistance",
    "CompiledCascade",
    "Kernels",
    "LoweredTable",
    "as_matrix",
    "ask_python",
    "bound_loops",
    "cascade_module",
    "dual_bounds",
    "exact_loops",
    "exact_module",
    "kernels_module",
    "load_kernels",
    "load_search",
    "make_search",
    "padded_width",
    "pair_problem",
    "plain_module",
    "relaxed_bounds",
    "run_solver",
    "search_loops",
    "search_module",
    "solver_address",
    "solver_module",
    "sources_digest",
    "table_columns",
]
