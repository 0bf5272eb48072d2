"""What these tests take from inside `skdptext.neighbors`, and why.

Its door shows neighbours and distances, and they are tested there. It does not show
what a bound rules out before, or what happens where POT fails: no input brings that
about.
"""

import numpy as np
import scipy.sparse as sp

from skdptext import WordEmbedding

# Modules, in which a fault takes the place of a part.
from skdptext.neighbors import _distance as distance_module  # noqa: F401
from skdptext.neighbors import _search as search_module
from skdptext.neighbors import as_bags


def embedded(vectors):
    """An embedding of words w0, w1, ..."""
    return WordEmbedding([f"w{i}" for i in range(len(vectors))], vectors)


def random_bags(rng, n, n_words, most):
    """Bags of 1 to `most` different words."""
    rows = np.zeros((n, n_words))
    for row in rows:
        size = rng.integers(1, most + 1)
        row[rng.choice(n_words, size, replace=False)] = rng.integers(1, 4, size)
    return as_bags(sp.csr_array(rows))


def crowded(seed, n_bags, n_words, scale):
    """Bags of words on a line of few places, many of them the same: ties everywhere."""
    rng = np.random.default_rng(seed)
    places = rng.integers(-3, 4, size=(n_words, 1)) * scale
    X = rng.poisson(1.5 / n_words, size=(n_bags, n_words)).astype(float)
    X[np.arange(n_bags), rng.integers(0, n_words, n_bags)] += 1
    return X, embedded(places)


def nearest_of(D, k, itself=False):
    """Distances and numbers of the k nearest in each row, the first of equal ones."""
    if itself:
        D = np.where(np.eye(len(D), dtype=bool), np.inf, D)
    rows = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, rows, axis=1), rows


class Counted:
    """A search that counts the problems it solves."""

    def __init__(self, monkeypatch):
        self.solved, solve = 0, search_module.word_movers

        def counted(*given):
            self.solved += 1
            return solve(*given)

        monkeypatch.setattr(search_module, "word_movers", counted)
