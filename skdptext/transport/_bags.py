"""Bags of words with mass 1, as three flat arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

Bag = tuple[np.ndarray, np.ndarray]  # ids of words, ascending, and their weights


@dataclass(frozen=True, eq=False)
class WordBags:
    """Bags in compressed rows: words of bag i are ``ids[starts[i]:starts[i + 1]]``.

    The ids of a bag ascend, its weights are positive float64 and sum to 1; an empty
    bag has neither.
    """

    starts: np.ndarray
    ids: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.starts) - 1

    def row(self, i: int) -> Bag:
        """Ids and weights of bag `i`, as views."""
        part = slice(self.starts[i], self.starts[i + 1])
        return self.ids[part], self.weights[part]

    @property
    def sizes(self) -> np.ndarray:
        """Number of distinct words of each bag."""
        return np.diff(self.starts)

    @property
    def empty_rows(self) -> np.ndarray:
        """Bags that hold no word."""
        return np.flatnonzero(self.sizes == 0)


def as_word_bags(matrix: sp.csr_array) -> WordBags:
    """Give each row of a canonical CSR matrix, whose indices it may keep, mass 1.

    Each weight is one correctly rounded quotient, so that bags in proportion (twice
    the same text) become equal to the last bit.
    """
    starts = matrix.indptr.astype(np.intp, copy=False)
    data = np.asarray(matrix.data, dtype=np.float64)
    sizes = np.diff(starts)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    filled = np.flatnonzero(sizes)
    if len(filled):
        with np.errstate(over="ignore"):
            totals = np.add.reduceat(data, starts[filled])
        if not np.isfinite(totals).all() or totals.min() < 1e-290:
            # the sum overflows or is subnormal: bring the largest weight to 1 first
            largest = np.ones(len(sizes))
            largest[filled] = np.maximum.reduceat(data, starts[filled])
            data = data / largest[rows]
            totals = np.add.reduceat(data, starts[filled])
        by_row = np.ones(len(sizes))
        by_row[filled] = totals
        data = data / by_row[rows]
    ids, weights = matrix.indices.astype(np.intp, copy=False), data
    if len(weights) and weights.min() <= 0.0:  # a quotient may underflow
        positive = weights > 0.0
        starts = np.concatenate([[0], np.cumsum(positive)])[starts]
        ids, weights = ids[positive], weights[positive]
    return WordBags(starts, ids, weights)


def entries(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Positions of runs laid end to end: `sizes` of them from each of `starts` on."""
    at = np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
    at += np.arange(len(at), dtype=at.dtype)
    return at


def take_bags(bags: WordBags, rows: np.ndarray) -> WordBags:
    """Some of the bags, in the order given, or where a mask is true."""
    sizes = bags.sizes[rows]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    source = entries(bags.starts[:-1][rows], sizes)
    return WordBags(starts, bags.ids[source], bags.weights[source])


def slice_bags(bags: WordBags, part: slice) -> WordBags:
    """The bags of a slice without a step, as views of the same arrays."""
    starts = bags.starts[part.start : part.stop + 1]
    held = slice(starts[0], starts[-1])
    return WordBags(starts - starts[0], bags.ids[held], bags.weights[held])


def name_rows(rows: np.ndarray, most: int = 10) -> str:
    """Row numbers for an error message: ``[3, 17, 29, ...]``."""
    listed = ", ".join(str(int(row)) for row in rows[:most])
    return f"[{listed}{', ...' if len(rows) > most else ''}]"


def as_matrix(bags: WordBags, n_words: int) -> sp.csr_array:
    """The bags as rows of a matrix, which shares their arrays."""
    return sp.csr_array(
        (bags.weights, bags.ids, bags.starts), shape=(len(bags), n_words)
    )
