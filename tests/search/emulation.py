"""A device with bfloat16 products, in NumPy, with the faults that devices may have."""

from __future__ import annotations

import numpy as np


def round_bfloat16(array):
    """To the nearest bfloat16 number, of two equally near ones the even one."""
    array = np.ascontiguousarray(array, dtype=np.float32)
    bits = array.view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.where(np.isfinite(array), rounded.view(np.float32), array)


def flush(array):
    """Subnormal numbers to zero, as AVX512_BF16 does."""
    return np.where(np.abs(array) < 2.0**-126, np.float32(0), array)


def truncate(array):
    """Float64 to the float32 nearest to it towards zero."""
    near = array.astype(np.float32)
    over = np.abs(near.astype(np.float64)) > np.abs(array)
    return np.where(over, np.nextafter(near, np.float32(0)), near)


class EmulatedArithmetic:
    """`Arithmetic` of NumPy arrays.

    `sums` says how products are summed: "float32", in the order of the BLAS library;
    "truncated", by fours and towards zero, as tensor cores do; "flushed", without
    subnormal numbers; "bfloat16", which breaks the bound.
    """

    xp = np
    max_rows = 64
    chunk_bytes = 2**12
    bound_bytes = 2**12

    def __init__(self, sums="float32"):
        self.sums = sums

    def put(self, array):
        return array

    def get(self, array):
        return np.array(array)

    def bfloat16(self, array):
        rounded = round_bfloat16(array)
        return flush(rounded) if self.sums == "flushed" else rounded

    def float32(self, array):
        return array

    def group_maxima(self, points, tile, n_groups):
        with np.errstate(all="ignore"):
            scores = round_bfloat16(self.product(points, tile))
            if self.sums == "flushed":
                scores = flush(scores)
        return scores.reshape(len(points), -1, n_groups).max(axis=1)

    def product(self, points, tile):
        if self.sums in ("float32", "flushed"):
            return points @ tile.T
        total = np.zeros((len(points), len(tile)), dtype=np.float32)
        width = 1 if self.sums == "bfloat16" else 4
        for k in range(0, points.shape[1], width):
            a, b = points[:, k : k + width], tile[:, k : k + width]
            exact = total + a.astype(np.float64) @ b.T.astype(np.float64)
            total = truncate(exact) if width == 4 else round_bfloat16(exact)
        return total

    def concatenate(self, arrays, axis=1):
        return np.concatenate(arrays, axis=axis)

    def argmax(self, array):
        return array.argmax(axis=1)

    def nonzero(self, mask):
        return np.nonzero(mask)

    def filled(self, shape, value):
        return np.full(shape, value, dtype=np.float32)

    def products(self, vectors, rows, points):
        return np.einsum("ijk,ik->ij", vectors[rows], points)
