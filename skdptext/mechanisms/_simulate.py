"""Noisy versions of words, drawn as a release draws them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skdptext.mechanisms._channel import WordChannel
from skdptext.utils import blocks, working_memory_bytes

__all__ = ["draw_words"]


def draw_words(
    channel: WordChannel, ids: np.ndarray, n_draws: int, rng: np.random.Generator
) -> Iterator[tuple[slice, np.ndarray]]:
    """Independent noisy versions of words, in blocks of bounded memory.

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
    room = working_memory_bytes() // 2
    at_once = int(np.clip(room // channel.row_bytes, 1, 4096))
    with channel.session(1, room) as apply:
        for rows in blocks(len(ids), max(1, at_once // n_draws)):
            words = np.repeat(ids[rows], n_draws)
            parts = [
                apply(words[some], channel.draw(rng, some.stop - some.start))
                for some in blocks(len(words), at_once)
            ]
            yield rows, np.concatenate(parts).reshape(-1, n_draws)
