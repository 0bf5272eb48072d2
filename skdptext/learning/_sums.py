"""Exact sums over people, in whole numbers: what noise is added to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from skdptext.exceptions import InvalidParameterError
from skdptext.learning._readout import NoisyTable

# Steps of the grid for a contribution of norm 1. Its square, and the sums over 2^33
# people, fit into 64 bits.
GRID = 2**30


def whole_vectors(vectors: np.ndarray, constant: float, shares: np.ndarray) -> Any:
    """Rows (√(1−c²) z, c) of norm at most 1, times 1/share of the grid, as integers.

    `vectors` are rows z, scaled to unit length here; 0 stays 0. `shares` says among how
    many documents of their author each is, so that the norms of all of an author's rows
    add up to at most `GRID`. Every entry is cut towards 0, which makes no norm larger,
    and the norm is checked in whole numbers: what floating point got wrong is cut, too.
    """
    rows = np.empty((len(vectors), vectors.shape[1] + 1))
    rows[:, :-1] = unit_rows(vectors) * np.sqrt(1 - constant**2)
    rows[:, -1] = constant
    whole = np.trunc(rows * (GRID / shares)[:, None]).astype(np.int64)
    allowed = GRID**2 // shares.astype(np.int64) ** 2
    while len(over := np.flatnonzero((whole**2).sum(axis=1) > allowed)):
        whole[over] -= np.sign(whole[over])
    return whole


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Rows of unit length, or 0; each by itself, however many there are."""
    vectors = np.ascontiguousarray(vectors, dtype=np.float64)
    if not np.isfinite(vectors).all():
        raise InvalidParameterError(
            "encoder must give every document a vector of finite numbers, got others."
        )
    largest = np.abs(vectors).max(axis=1, initial=0.0)[:, None]
    scaled = vectors / np.where(largest > 0, largest, 1.0)
    squares = np.zeros(len(scaled))
    # column by column: a sum along rows may be taken in another order in other blocks
    for column in scaled.T:
        squares += column * column
    return scaled / np.sqrt(np.where(squares > 0, squares, 1.0))[:, None]


@dataclass(frozen=True)
class Noise:
    """Columns of noisy sums, and the noise on them, in steps of the grid."""

    n_groups: int  # the first columns
    n_vector_cells: int  # the others: directions, and the constant at the end
    constant: float
    laplace_scale: int
    gaussian_sigma: int

    def table(self, noisy_sums: np.ndarray) -> NoisyTable:
        """Noisy sums in units of a person and of unit vectors."""
        k, c = self.n_groups, self.constant
        length = math.sqrt(1 - c**2)
        sigma = self.gaussian_sigma / GRID
        there = self.n_vector_cells > 0
        return NoisyTable(
            groups=noisy_sums[:, :k] if k else None,
            groups_scale=self.laplace_scale / GRID,
            vectors=noisy_sums[:, k:-1] / length if there else None,
            counts=noisy_sums[:, -1] / c if there else None,
            vectors_sigma=sigma / length,
            counts_sigma=sigma / c,
        )


def add_rows(
    table: np.ndarray, classes: np.ndarray, columns: slice, rows: np.ndarray
) -> None:
    """Add integer rows to the rows of their classes, exactly."""
    for number in np.unique(classes):
        table[number, columns] += rows[classes == number].sum(axis=0)
