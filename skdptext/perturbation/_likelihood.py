"""How likely a release of words is for each of several documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from skdptext.documents import EncodedDocuments, read_release
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import WordChannel, draw_words, probabilities
from skdptext.utils import check_bags, is_count_matrix, working_memory_bytes

# Stands in for known probabilities that are too small for float32.
_LEAST = 1e-35


class Candidates:
    """Documents in clear, one of which each release of words is of.

    `written` are their known words; `sample_length` is what they are redrawn to, if
    they are, and else `ordered` says whether releases have their order. `ids` are all
    words in them, `shares` p_d(w), and `lengths` those of what is released of each.
    """

    def __init__(
        self,
        channel: WordChannel,
        written: EncodedDocuments,
        sample_length: int | None,
        ordered: bool,
    ) -> None:
        self.ordered = ordered and sample_length is None
        self._released = channel.released
        self._offsets = written.offsets
        bags = written.bags(len(channel.embedding))
        self.lengths = np.diff(written.offsets)
        empty = np.flatnonzero(self.lengths == 0)
        if len(empty) and not self.ordered:
            # redrawing takes these from the whole vocabulary
            bags = bags.tolil()
            bags[empty] = 1.0
        if sample_length is not None:
            self.lengths = np.full(len(self.lengths), sample_length)
        self.shares = sp.csr_array(bags)
        totals = np.asarray(self.shares.sum(axis=1)).ravel()
        self.shares.data /= np.repeat(totals, np.diff(self.shares.indptr))
        self.ids = np.unique(self.shares.indices)
        self._at = self.ids.searchsorted(written.codes)

    def read(self, releases: Any) -> Any:
        """Releases in order as `EncodedDocuments`; else their bags."""
        n_words = len(self._released)
        if is_count_matrix(releases):
            return check_bags(releases, n_words=n_words, counts=True)
        read = read_release(releases, self._released)
        return read if self.ordered else read.bags(n_words)

    def of_order(
        self, releases: EncodedDocuments, logs_of: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """Σ_j ln Pr[z_j | w_j], shape (n_releases, n_documents).

        `logs_of`: from released words to ln Pr[z | w], a row for each, for all `ids`.
        """
        totals = np.full((len(releases), len(self.lengths)), -np.inf)
        starts = self._offsets[:-1]
        seen: dict[bytes, int] = {}  # short releases are often the same
        for i in range(len(releases)):
            released = releases[i]
            first = seen.setdefault(released.tobytes(), i)
            if first < i:
                totals[i] = totals[first]
                continue
            same = np.flatnonzero(self.lengths == len(released))
            places = np.arange(len(released))
            if not len(same) or not len(places):
                totals[i, same] = 0.0
                continue
            written = self._at[starts[same][:, None] + places]
            logs = logs_of(released)[places, written]
            totals[i, same] = logs.sum(axis=1, dtype=np.float64)
        return totals

    def of_bags(self, bags: Any, log_profiles: np.ndarray) -> np.ndarray:
        """Σ_j ln Σ_w p_d(w) Pr[z_j | w], from the logarithms of the sums for each z."""
        logs = np.asarray(sp.csr_array(bags) @ log_profiles.T)
        sizes = np.asarray(bags.sum(axis=1)).ravel()
        logs[np.not_equal.outer(sizes, self.lengths)] = -np.inf
        return logs


def log_likelihood(
    channel: WordChannel,
    candidates: Candidates,
    releases: Any,
    n_draws: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """ln Pr[release | document], shape (n_releases, n_documents)."""
    read, ids = candidates.read(releases), candidates.ids
    if not isinstance(read, EncodedDocuments):
        columns = np.unique(read.indices)
        mixed = np.zeros((len(candidates.lengths), len(columns)))
        shares = sp.csc_array(candidates.shares)
        for rows, law in _laws(channel, ids, columns, n_draws, rng):
            mixed += shares[:, ids[rows]] @ law
        logs = np.log(np.maximum(mixed, _LEAST))
        return candidates.of_bags(read[:, columns], logs)
    columns = np.unique(read.codes)
    needed = 4 * len(ids) * len(columns)
    if needed > working_memory_bytes():
        raise InvalidParameterError(
            f"documents must be few enough: 4 bytes for each of their {len(ids)} words "
            f"and each of the {len(columns)} that were released must fit into "
            f"working_memory, {working_memory_bytes()} bytes, got {needed} bytes."
        )
    by_released = np.empty((len(columns), len(ids)), dtype=np.float32)
    for rows, law in _laws(channel, ids, columns, n_draws, rng):
        by_released[:, rows] = np.log(law).T
    return candidates.of_order(read, lambda z: by_released[columns.searchsorted(z)])


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
