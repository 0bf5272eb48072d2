"""Neighbours of words, by rank."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from skdptext.embeddings import WordEmbedding
from skdptext.search import k_nearest_words
from skdptext.utils import blocks, working_memory_bytes

__all__ = ["Ranks"]


class Ranks:
    """The words of an embedding, ranked by their distance to any of them.

    Rank 0 is the word itself; words equally far are in the order of the embedding.

    Parameters
    ----------
    embedding : WordEmbedding
    """

    def __init__(self, embedding: WordEmbedding) -> None:
        self._embedding = embedding  # which may pickle as its address
        self._memo: np.ndarray | None = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_memo": None}  # as large as the square of the vocabulary

    def neighbours(
        self, pivots: np.ndarray, ranks: np.ndarray, memory: int
    ) -> np.ndarray:
        """The neighbour of given rank of each pivot, using about `memory` bytes."""
        neighbours = np.array(pivots)
        moved = np.flatnonzero(ranks)
        of = np.unique(pivots[moved], return_inverse=True)[1]
        depths = np.zeros(len(moved), dtype=np.intp)
        np.maximum.at(depths, of, ranks[moved])
        # keep together the words of a pivot, and pivots that are searched equally far
        moved = moved[np.lexsort((of, -depths[of]))]
        at_once = memory // (32 * max(1, depths.max(initial=0)))
        for block in blocks(len(moved), int(np.clip(at_once, 64, 1024))):
            at = moved[block]
            distinct, of = np.unique(pivots[at], return_inverse=True)
            near = self._nearest(distinct, ranks[at].max(), memory)
            neighbours[at] = near[of, ranks[at] - 1]
        return neighbours

    def _nearest(self, pivots: np.ndarray, depth: int, memory: int) -> np.ndarray:
        """The other words nearest to each pivot, nearest first, (n_pivots, depth)."""
        vectors = self._embedding.vectors
        return k_nearest_words(
            vectors[pivots], vectors, depth, exclude=pivots, memory=memory
        )[0]

    def around_all(self) -> Iterator[tuple[slice, np.ndarray]]:
        """All words by rank, from 0 on, around some pivots at a time.

        Kept for the next call where they fit into a quarter of ``working_memory``.
        """
        n_words, memory = len(self._embedding), working_memory_bytes()
        dtype = np.min_scalar_type(n_words - 1)
        keeps = n_words**2 * dtype.itemsize <= memory // 4
        pivots = list(blocks(n_words, int(np.clip(memory // (64 * n_words), 1, 256))))
        if keeps and self._memo is None:
            everything = np.empty((n_words, n_words), dtype)
            for part in pivots:
                everything[part] = self._around(part)
            self._memo = everything
        for part in pivots:
            yield part, self._around(part) if self._memo is None else self._memo[part]

    def _around(self, block: slice) -> np.ndarray:
        pivots = np.arange(block.start, block.stop)
        others = self._nearest(pivots, len(self._embedding) - 1, working_memory_bytes())
        return np.column_stack([pivots, others])
