"""The human scale: how far typical words of an embedding are apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skdptext.embeddings import WordEmbedding
from skdptext.mechanisms import LossDistribution, MahalanobisMetric
from skdptext.search import k_nearest_words
from skdptext.utils import blocks

# To show a guarantee must not take seconds: a sample of words, and the words among
# which their neighbours are sought: the first of the embedding, mostly frequent ones.
_SAMPLE = 500
_AMONG = 50_000
# Of scores at a time: releases of files state their guarantee within 100 MB
_SEARCH_BYTES = 2**23


Losses = tuple[LossDistribution, LossDistribution]


class Scale(NamedTuple):
    """Medians over the words of an embedding: distances in a metric, or exponents."""

    nearest: float  # of a word to its nearest other word
    random: float  # of two words
    pairs: np.ndarray  # columns of the words at these medians, shape (2, 2)


class Stated(NamedTuple):
    """What is printed of a mechanism and takes time to find."""

    said: tuple[str, ...]  # sentences of the mechanism
    nearest: float  # as in `Scale`
    random: float
    losses: Losses  # of the pairs at these medians


def measured(
    embedding: WordEmbedding,
    metric: MahalanobisMetric | None,
    word_exponents: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Scale:
    """Medians from a fixed sample; of exponents where there is no metric."""
    vectors = embedding.vectors[:_AMONG]
    points = vectors
    if metric is not None:
        centre = vectors.mean(axis=0, dtype=np.float64)
        points = np.empty(vectors.shape, dtype=np.float32)
        for rows in blocks(len(vectors), 512):
            points[rows] = metric.whiten(vectors[rows] - centre)
    rng = np.random.default_rng(0)
    sample = rng.permutation(len(vectors))[:_SAMPLE]
    # of a single word there is no other
    near = sample
    if len(vectors) > 1:
        near = k_nearest_words(
            points[sample], points, 1, exclude=sample, memory=_SEARCH_BYTES
        )[0][:, 0]
    others = (sample + rng.integers(1, max(2, len(vectors)), len(sample))) % len(
        vectors
    )

    def median(ids: np.ndarray) -> tuple[float, tuple[int, int]]:
        if metric is not None:
            gaps = vectors[sample].astype(np.float64) - vectors[ids]
            apart = np.linalg.norm(metric.whiten(gaps), axis=1)
        else:
            pairs = [
                np.diag(word_exponents(sample[block], ids[block]))
                for block in blocks(len(sample), 50)
            ]
            apart = np.concatenate(pairs)
        at = np.argsort(apart, kind="stable")[len(apart) // 2]
        return float(np.median(apart)), (sample[at], ids[at])

    nearest, random = median(near), median(others)
    return Scale(nearest[0], random[0], np.array([nearest[1], random[1]]))
