"""Noisy versions of words: drawn as in a release, or as a full distribution."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skdptext.mechanisms._mechanism import (
    TableMechanism,
    WordMechanism,
    check_draws,
    check_words,
)
from skdptext.utils import blocks, working_memory_bytes

# Words drawn at a time. Independent of the memory, so that the seed fixes the result.
_PIECE = 256


def draw_words(
    mechanism: WordMechanism, ids: np.ndarray, n_draws: int, rng: np.random.Generator
) -> Iterator[tuple[slice, np.ndarray]]:
    """Independent noisy versions of words, a few hundred at a time.

    Yields slices of `ids`, and the noisy words of these, of shape (n_rows, n_draws).
    """
    for rows in blocks(len(ids), max(1, _PIECE // n_draws)):
        words = np.repeat(ids[rows], n_draws)
        noisy = np.empty(len(words), dtype=np.int64)
        for block in blocks(len(words), _PIECE):
            n = block.stop - block.start
            draws = check_draws(mechanism, rng, n)
            noisy[block] = check_words(
                mechanism, mechanism.apply(words[block], draws), n
            )
        yield rows, noisy.reshape(-1, n_draws)


def probabilities(
    mechanism: TableMechanism, ids: np.ndarray
) -> Iterator[tuple[slice, np.ndarray]]:
    """Pr[z | w] of each word, some words at a time.

    Yields slices of `ids`, and rows over all words, to be overwritten.
    """
    at_once = working_memory_bytes() // (64 * len(mechanism.embedding))
    for rows in blocks(len(ids), int(np.clip(at_once, 1, 512))):
        proba = np.exp(mechanism.checked_log_proba(ids[rows]))
        yield rows, np.minimum(proba, 1, out=proba)  # rounding
