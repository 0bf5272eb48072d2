"""An int8 product in NumPy, with the fault that processors may have."""

from __future__ import annotations

import numpy as np


class EmulatedProduct:
    """`Int8Product` of NumPy arrays.

    `saturating`: sums of pairs saturate int16, as on processors without VNNI, which
    multiply an unsigned factor with a signed one.
    """

    def __init__(self, saturating=False):
        self.saturating = saturating

    def tile(self, words):
        return np.array(words)

    def group_maxima(self, points, tiles, group):
        for tile in tiles:
            scores = self.product(points.astype(np.int32), tile.astype(np.int32))
            yield scores.reshape(len(points), group, -1).max(axis=1)

    def product(self, points, words):
        if not self.saturating:
            return points @ words.T
        pairs = (points[:, None] + 128) * words
        if pairs.shape[2] % 2:
            pairs = np.pad(pairs, ((0, 0), (0, 0), (0, 1)))
        pairs = pairs[:, :, ::2] + pairs[:, :, 1::2]
        cut = np.clip(pairs, -(2**15), 2**15 - 1).sum(axis=2)
        return cut - 128 * words.sum(axis=1)
