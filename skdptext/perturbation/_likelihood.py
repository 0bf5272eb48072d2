"""How likely a release of words is for each of several documents."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from skdptext.documents import EncodedDocuments
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import WordChannel, draw_words, probabilities
from skdptext.utils import working_memory_bytes

__all__ = ["bag_likelihood", "text_likelihood"]

# Stands in for probabilities of a known law that are too small for float32.
_LEAST = 1e-35


def text_likelihood(
    channel: WordChannel,
    written: EncodedDocuments,
    released: EncodedDocuments,
    n_draws: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Σ_j ln Pr[z_j | w_j], shape (n_released, n_documents); −inf for other lengths."""
    ids, codes = np.unique(written.codes, return_inverse=True)
    columns, noisy = np.unique(released.codes, return_inverse=True)
    needed = 4 * len(ids) * len(columns)
    if needed > working_memory_bytes():
        raise InvalidParameterError(
            f"documents must be few enough: 4 bytes for each of their {len(ids)} words "
            f"and each of the {len(columns)} that were released must fit into "
            f"working_memory, {working_memory_bytes()} bytes, got {needed} bytes."
        )
    logs = np.empty((len(ids), len(columns)), dtype=np.float32)
    for rows, law in _laws(channel, ids, columns, n_draws, rng):
        logs[rows] = np.log(law)
    lengths = np.diff(written.offsets)
    found = np.full((len(released), len(written)), -np.inf)
    for i in range(len(released)):
        seen = noisy[released.offsets[i] : released.offsets[i + 1]]
        same = np.flatnonzero(lengths == len(seen))
        words = codes[written.offsets[:-1][same][:, None] + np.arange(len(seen))]
        found[i, same] = logs[words, seen].sum(axis=1, dtype=np.float64)
    return found


def bag_likelihood(
    channel: WordChannel,
    written: EncodedDocuments,
    released: sp.csr_array,
    sample_length: int | None,
    n_draws: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Σ_j ln Σ_w p_d(w) Pr[z_j | w], shape (n_released, n_documents)."""
    bags = written.bags(len(channel.embedding))
    lengths = np.diff(written.offsets)
    if sample_length is not None:
        if not lengths.all():  # resampling draws these from the whole vocabulary
            bags = bags.tolil()
            bags[np.flatnonzero(lengths == 0)] = 1.0
        lengths = np.full(len(lengths), sample_length)
    shares = sp.csc_array(normalize(sp.csr_array(bags), norm="l1"))
    ids = np.flatnonzero(np.diff(shares.indptr))
    columns = np.unique(released.indices)
    mixed = np.zeros((len(lengths), len(columns)))
    for rows, law in _laws(channel, ids, columns, n_draws, rng):
        mixed += shares[:, ids[rows]] @ law
    logs = np.log(np.maximum(mixed, _LEAST))
    found = sp.csr_array(released[:, columns]) @ logs.T
    sizes = np.asarray(released.sum(axis=1)).ravel()
    found[np.not_equal.outer(sizes, lengths)] = -np.inf
    return found


def _laws(
    channel: WordChannel,
    ids: np.ndarray,
    columns: np.ndarray,
    n_draws: int,
    rng: np.random.Generator,
) -> Iterator[tuple[slice, np.ndarray]]:
    """Pr[z | w] of some words, for some z; from draws where it is not known in full.

    A draw more is spread evenly, so that what was never drawn is possible.
    """
    if channel.law().log_proba is not None:
        for rows, law in probabilities(channel, ids):
            yield rows, np.maximum(law[:, columns], _LEAST)
        return
    evenly = 1 / len(channel.released)
    for rows, noisy in draw_words(channel, ids, n_draws, rng):
        at = np.searchsorted(columns, noisy).clip(max=max(len(columns) - 1, 0))
        law = np.full((len(noisy), len(columns)), evenly)
        if len(columns):
            word, draw = np.nonzero(columns[at] == noisy)
            np.add.at(law, (word, at[word, draw]), 1.0)
        yield rows, law / (n_draws + 1)
