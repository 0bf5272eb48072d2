"""What the tests of this folder take from inside `skdptext.transport`, and why.

Its door shows neighbours and distances, and they are tested there. It does not show
what a bound rules out before, or what happens where POT fails: no input brings that
about.
"""

import numpy as np
import scipy.sparse as sp

from skdptext import WordEmbedding

# Modules, in which a fault takes the place of a part.
from skdptext.transport import _bounds as bounds_module
from skdptext.transport import _exact as exact_module
from skdptext.transport import _search as search_module
from skdptext.transport import as_word_bags

# Bounds: a search is right with useless ones, and only slow.
from skdptext.transport._bags import as_matrix
from skdptext.transport._bounds import (
    LoweredTable,
    dual_bounds,
    relaxed_bounds,
    shared_bounds,
)


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


__all__ = [
    "LoweredTable",
    "as_matrix",
    "bounds_module",
    "crowded",
    "dual_bounds",
    "exact_module",
    "random_bags",
    "random_rows",
    "relaxed_bounds",
    "search_module",
    "shared_bounds",
]
