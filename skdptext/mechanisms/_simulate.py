"""Noisy versions of words, drawn as a release draws them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skdptext.mechanisms._channel import WordChannel, checked_draws, checked_words
from skdptext.utils import blocks, working_memory_bytes

__all__ = ["draw_words"]

# Words drawn at a time; the same whatever memory there is, so that a seed tells all.
_PIECE = 256


def draw_words(
    channel: WordChannel, ids: np.ndarray, n_draws: int, rng: np.random.Generator
) -> Iterator[tuple[slice, np.ndarray]]:
    """Independent noisy versions of words, a few hundred at a time.

    Parameters
    ----------
    channel : WordChannel
    ids : ndarray of int, shape (n,)
    n_draws : int
        Per word.
    rng : numpy.random.Generator

    Yields
    ------
    rows : slice
        Of `ids`.
    noisy : ndarray of int, shape (n_rows, n_draws)
    """
    n_words = len(channel.embedding)
    with channel.session(1, working_memory_bytes() // 2) as apply:
        for rows in blocks(len(ids), max(1, _PIECE // n_draws)):
            words = np.repeat(ids[rows], n_draws)
            noisy = np.empty(len(words), dtype=np.int64)
            for some in blocks(len(words), _PIECE):
                n = some.stop - some.start
                found = apply(words[some], checked_draws(channel, rng, n))
                noisy[some] = checked_words(channel, found, n, n_words)
            yield rows, noisy.reshape(-1, n_draws)
