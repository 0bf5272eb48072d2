"""An int8 product in NumPy, with the fault that processors may have."""

from __future__ import annotations

import numpy as np

from skdptext import DPWordPerturber


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


def same_by_torch(embedding, length, n_words, n_drawn, n_jobs):
    """A perturber by PyTorch, fitted, whose releases were those by NumPy."""
    tokens = [embedding.words[i : i + length] for i in range(0, n_words, length)]
    options = {"epsilon": 20.0, "random_state": 4, "n_jobs": n_jobs}
    plain, fast = (
        DPWordPerturber(embedding, engine=engine, **options).fit([])
        for engine in ("numpy", "torch")
    )
    assert (plain.transform(tokens) != fast.transform(tokens)).nnz == 0
    draws = [p.perturb_words(embedding.words[:n_drawn], 4) for p in (plain, fast)]
    np.testing.assert_array_equal(*draws)
    return fast
