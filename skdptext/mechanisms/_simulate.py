"""Noisy versions of words: drawn as in a release, or as a full distribution."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skdptext.mechanisms._channel import (
    WordChannel,
    check_draws,
    check_log_proba,
    check_words,
)
from skdptext.search import SharedNoise
from skdptext.utils import blocks, working_memory_bytes

# Words drawn at a time. Independent of the memory, so that the seed fixes the result.
_PIECE = 256


def draw_words(
    channel: WordChannel, ids: np.ndarray, n_draws: int, rng: np.random.Generator
) -> Iterator[tuple[slice, np.ndarray]]:
    """Independent noisy versions of words, a few hundred at a time.

    Yields slices of `ids`, and the noisy words of these, of shape (n_rows, n_draws).
    """
    with channel.session(working_memory_bytes() // 2) as apply:
        for rows in blocks(len(ids), max(1, _PIECE // n_draws)):
            words = np.repeat(ids[rows], n_draws)
            noisy = np.empty(len(words), dtype=np.int64)
            for block in blocks(len(words), _PIECE):
                n = block.stop - block.start
                places = apply(words[block], check_draws(channel, rng, n))
                noisy[block] = check_words(channel, places, n)
            yield rows, noisy.reshape(-1, n_draws)


def shared_noise(
    channel: WordChannel, rng: np.random.Generator, n_draws: int
) -> SharedNoise | None:
    """Noise of ε = 1 that all words and all ε share, if the channel's law allows it."""
    law = channel.law()
    if law.noise is None or not law.scales:
        return None
    table = channel.embedding
    noise = law.noise(channel.draw(rng, n_draws)) * channel.epsilon
    return SharedNoise(noise, table.vectors, table.half_norms)


def probabilities(
    channel: WordChannel, ids: np.ndarray
) -> Iterator[tuple[slice, np.ndarray]]:
    """Pr[z | w] of each word, for a channel with `log_proba`, some words at a time.

    Yields slices of `ids`, and rows over all words, to be overwritten.
    """
    at_once = working_memory_bytes() // (64 * len(channel.embedding))
    for rows in blocks(len(ids), int(np.clip(at_once, 1, 512))):
        law = np.exp(check_log_proba(channel, ids[rows]))
        yield rows, np.minimum(law, 1, out=law)  # rounding


def kept_as_they_are(
    channel: WordChannel, ids: np.ndarray
) -> Iterator[tuple[slice, np.ndarray]]:
    """Slices of `ids` and Pr[w | w] of these words, for a channel with `log_proba`.

    Without rows of probabilities, where the channel knows a shorter way.
    """
    unchanged = channel.law().unchanged
    if unchanged is not None:
        yield slice(len(ids)), unchanged(ids)
        return
    for rows, law in probabilities(channel, ids):
        yield rows, law[np.arange(len(law)), ids[rows]]
