"""What the tests of this folder take from inside `skdptext.transport`, and why.

Its door shows neighbours, votes and distances, and they are tested there. It does not
show how they were found (with numba, without, with exact distances by Python), what a
bound rules out before, or what happens where POT, numba or a kept compilation fails: no
input brings that about.
"""

import numpy as np
import scipy.sparse as sp

from skdptext import WordEmbedding

# Modules, in which a fault takes the place of a part.
from skdptext.transport import _cascade as cascade_module
from skdptext.transport import _exact as exact_module
from skdptext.transport import _index as index_module
from skdptext.transport import _kernels as kernels_module
from skdptext.transport import _loops as loops_module
from skdptext.transport import _search as search_module
from skdptext.transport import _solver as solver_module
from skdptext.transport import as_word_bags

# Bounds: a search is right with useless ones, and only slow.
from skdptext.transport._bags import as_matrix
from skdptext.transport._bounds import LoweredTable, dual_bounds, relaxed_bounds
from skdptext.transport._index import (
    CompiledBounds,
    IndexedBags,
    PlainBounds,
    table_columns,
)

# The loops as Python runs them, which coverage and a debugger see, and as compiled.
from skdptext.transport._kernels import (
    BoundLoops,
    Kernels,
    bounds_for,
    load_bounds,
    load_kernels,
)

# POT's solver by its address.
from skdptext.transport._loops import run_solver
from skdptext.transport._solver import solver_address


def random_rows(rng, n, n_words, most):
    """Counts of `n` documents of 1 to `most` different words."""
    rows = np.zeros((n, n_words))
    for row in rows:
        size = rng.integers(1, most + 1)
        row[rng.choice(n_words, size, replace=False)] = rng.integers(1, 4, size)
    return rows


def random_bags(rng, n, n_words, most):
    """The same as bags."""
    return as_word_bags(sp.csr_array(random_rows(rng, n, n_words, most)))


def crowded(seed, n_bags, n_words, n_labels, scale=1.0):
    """Bags of words on a line of few places, many of them the same: ties everywhere."""
    rng = np.random.default_rng(seed)
    places = rng.integers(-3, 4, size=(n_words, 1)) * scale
    embedding = WordEmbedding([f"w{i}" for i in range(n_words)], places)
    X = rng.poisson(1.5 / n_words, size=(n_bags, n_words)).astype(float)
    X[np.arange(n_bags), rng.integers(0, n_words, n_bags)] += 1
    return X, embedding, rng.integers(0, n_labels, n_bags)


PLAIN_KERNELS = Kernels(
    loops_module.looped_costs, loops_module.looped_block, loops_module.looped_pairs
)
PLAIN_LOOPS = BoundLoops(
    loops_module.relax_queries, loops_module.sample_bags, loops_module.tighten_bags
)


__all__ = [
    "PLAIN_KERNELS",
    "PLAIN_LOOPS",
    "BoundLoops",
    "CompiledBounds",
    "IndexedBags",
    "Kernels",
    "LoweredTable",
    "PlainBounds",
    "as_matrix",
    "bounds_for",
    "cascade_module",
    "crowded",
    "dual_bounds",
    "exact_module",
    "index_module",
    "kernels_module",
    "load_bounds",
    "load_kernels",
    "loops_module",
    "random_bags",
    "random_rows",
    "relaxed_bounds",
    "run_solver",
    "search_module",
    "solver_address",
    "solver_module",
    "table_columns",
]
