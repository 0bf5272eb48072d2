"""Bags to search, and what every search of them needs."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from skdptext.transport._bags import WordBags, as_matrix
from skdptext.transport._bounds import LoweredTable

__all__ = ["EXACT_SLACK", "IndexedBags", "n_likely", "table_columns"]

# Rounding of an exact distance, in units of the largest norm, with room to spare.
EXACT_SLACK = 1e-12


class IndexedBags:
    """Bags to search, with what the bounds need of them.

    Parameters
    ----------
    bags : WordBags
        Non-empty bags of mass 1.
    n_words : int
        Number of words that ids may refer to.
    vectors : ndarray of shape (n_words, dim) or None
        None: every word is √2 from every other.
    """

    def __init__(
        self, bags: WordBags, n_words: int, vectors: np.ndarray | None
    ) -> None:
        self.bags = bags
        self.n_words = n_words
        self.vectors = vectors
        if vectors is not None:
            self.words, columns = np.unique(bags.ids, return_inverse=True)
            self.table = LoweredTable(vectors, self.words)
            # the same bags, over the words that occur
            self.local = WordBags(bags.starts, columns, bags.weights)

    @cached_property
    def matrices(self) -> tuple[sp.csr_array, sp.csc_array]:
        """The bags by row and by column, over the words that occur."""
        by_bag = as_matrix(self.local, len(self.words))
        return by_bag, by_bag.tocsc()


def table_columns(table: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Places of words in a sorted table, -1 for those that are not in it."""
    at = np.minimum(np.searchsorted(table, words), len(table) - 1)
    return np.where(table[at] == words, at, -1)


def n_likely(k: int) -> int:
    """Bags to bound better before the first are solved."""
    return max(4 * k, 24)
