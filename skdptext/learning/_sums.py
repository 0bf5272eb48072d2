"""Exact sums over people, in whole numbers: what noise is added to."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp

# Steps of the grid for a contribution of norm 1. Its square, and the sums over 2^33
# people, fit into 64 bits.
GRID = 2**30


def whole_groups(groups: np.ndarray, n_groups: int) -> np.ndarray:
    """Rows with `GRID` in the column of their group, which have the L1 norm `GRID`."""
    rows = np.zeros((len(groups), n_groups), dtype=np.int64)
    rows[np.arange(len(groups)), groups] = GRID
    return rows


def whole_vectors(
    vectors: np.ndarray, constant: float, shares: np.ndarray | None = None
) -> np.ndarray:
    """Rows (√(1−c²) z, c) of norm at most 1, times 1/share of the grid, as integers.

    `vectors` are rows z, scaled to unit length here; 0 stays 0. Every entry is cut
    towards 0, which makes no norm larger, and the norm is checked in whole numbers:
    what floating point got wrong is cut, too.
    """
    rows = np.empty((len(vectors), vectors.shape[1] + 1))
    rows[:, :-1] = unit_rows(vectors) * np.sqrt(1 - constant**2)
    rows[:, -1] = constant
    whole = np.trunc(rows * GRID).astype(np.int64)
    while len(over := np.flatnonzero((whole**2).sum(axis=1) > GRID**2)):
        whole[over] -= np.sign(whole[over])
    return whole if shares is None else divided(whole, shares)


def divided(rows: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Integer rows divided by a number of documents each, and cut towards 0."""
    return np.sign(rows) * (np.abs(rows) // np.maximum(shares, 1).astype(int)[:, None])


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Rows of unit length, or 0; each by itself, however many there are."""
    vectors = np.ascontiguousarray(vectors, dtype=np.float64)
    largest = np.abs(vectors).max(axis=1, initial=0.0)[:, None]
    scaled = vectors / np.where(largest > 0, largest, 1.0)
    squares = np.zeros(len(scaled))
    # column by column: a sum along rows may be taken in another order in other blocks
    for column in scaled.T:
        squares += column * column
    return scaled / np.sqrt(np.where(squares > 0, squares, 1.0))[:, None]


def add_documents(
    table: np.ndarray, rows: np.ndarray, counts: np.ndarray, shares: np.ndarray
) -> None:
    """Add integer rows, each divided by its share, as often as they have each class.

    `counts` is of shape (n_rows, n_classes), and all sums are exact.
    """
    table += sp.csr_array(counts.T.astype(np.int64)) @ divided(rows, shares)


class Copies:
    r"""Equal texts, which count once together where nobody says who wrote them.

    Else a document that an over-sampler or a bootstrap copies k times would count k
    times. A text t with k records, n_c of them of class c, contributes

    .. math::

        u_t = \frac{1}{k} \sum_c n_c \, \varphi(t) \otimes e_c

    in whole numbers, with a = `GRID` · φ(t) in each coordinate and w_k = ⌊|a| / k⌋
    in the place of |a| / k.

    *All records of a text* change a coordinate by k w_k ≤ \|a\| in all, and so the sums
    by at most ‖a‖ ≤ `GRID`.

    *One record of class c more* changes a coordinate, with w = w_k and w' = w_{k+1}
    ≤ w, by n_j (w − w') in any other class j, and by (n_c + 1) w' − n_c w in its own,
    of size at most max(w', n_c (w − w')). For k ≥ 1 these add up to at most
    w' + k (w − w') = k w − (k − 1) w' ≤ \|a\|; for k = 0 the change is \|a\|. So the
    L1 norm of the change is at most that of a, and, as the Euclidean norm over classes
    is at most the L1 norm over them, its Euclidean norm is at most that of a.

    A text that takes the class of its first record would not do: with that record goes
    its class, and another appears, which is a change of twice the norm.
    """

    def __init__(self, n: int, n_classes: int) -> None:
        self._counts = np.zeros((n, n_classes), dtype=np.int32)
        self._place: dict[bytes, int] = {}

    def see(
        self, documents: Sequence[Any], numbers: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Each different document of a block: its row, its classes before, and now."""
        digests = [blake2b(repr(d).encode(), digest_size=16) for d in documents]
        place = self._place
        at = np.array([place.setdefault(d.digest(), len(place)) for d in digests], int)
        different, first = np.unique(at, return_index=True)
        before = self._counts[different]
        np.add.at(self._counts, (at, numbers), 1)
        return first, before, self._counts[different]

    def __len__(self) -> int:
        return len(self._place)
