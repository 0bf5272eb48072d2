"""Distances from one bag to a block of bags that share the vectors of their words."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from skdptext.transport._bags import Bag, WordBags
from skdptext.transport._exact import problem_from, rounded, transport_cost


class BagBlock:
    """Bags to measure distances to.

    Parameters
    ----------
    bags : WordBags
        Non-empty.
    vectors : ndarray of shape (n_words, dim)
        Vectors of all words. Those of the block's words are kept, as float64.
    """

    def __init__(self, bags: WordBags, vectors: np.ndarray) -> None:
        self.bags = bags
        words, self._columns = np.unique(bags.ids, return_inverse=True)
        self._vectors = vectors
        self._points = vectors[words].astype(np.float64)

    def distances(self, x: Bag, first: int = 0) -> np.ndarray:
        """`pair_distance` to the bags from number `first` on."""
        rows = self._vectors[x[0]].astype(np.float64)
        costs = cdist(rows, self._points)
        out = np.zeros(len(self.bags) - first)
        for i in range(first, len(self.bags)):
            out[i - first] = self._solve(i, x, costs)
        return rounded(out)

    def _solve(self, i: int, x: Bag, costs: np.ndarray) -> float:
        at = self._columns[self.bags.starts[i] : self.bags.starts[i + 1]]
        a, b, between = problem_from(
            x, self.bags.row(i), lambda rows, to: costs[rows[:, None], at[to]]
        )
        return transport_cost(a, b, between) if len(a) else 0.0
