"""How likely a release of words is for each of several documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from skdptext.base._few_draws import released_profiles_of
from skdptext.base._transitions import profiles_of, transitions_of
from skdptext.documents import EncodedDocuments, read_release
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import WordMechanism
from skdptext.utils import check_bags, check_rng, is_count_matrix, working_memory_bytes

# As many words stand for the whole vocabulary, where a document has none.
_STAND_FOR_ALL = 300


class Candidates:
    """Documents in the clear, one of which each release of words is of.

    `written` are their known words; `sample_length` is what they are redrawn to, if
    they are, and else `ordered` says whether releases have their order. `ids` are all
    words in them, `shares` p_d(w), and `lengths` those of what is released of each.
    """

    def __init__(
        self,
        mechanism: WordMechanism,
        written: EncodedDocuments,
        sample_length: int | None,
        ordered: bool,
    ) -> None:
        self.ordered = ordered and sample_length is None
        self._embedding = mechanism.embedding
        self._offsets = written.offsets
        bags = written.bags(len(mechanism.embedding))
        self.lengths = np.diff(written.offsets)
        empty = np.flatnonzero(self.lengths == 0)
        if len(empty) and not self.ordered:
            # Redrawing takes these from the whole vocabulary; words spread evenly over
            # it stand for a large one.
            n_words = bags.shape[1]
            bags = bags.tolil()
            some = np.linspace(0, n_words - 1, min(n_words, _STAND_FOR_ALL))
            bags[np.ix_(empty, some.astype(np.intp))] = 1.0
        if sample_length is not None:
            self.lengths = np.full(len(self.lengths), sample_length)
        self.shares = sp.csr_array(bags)
        totals = np.asarray(self.shares.sum(axis=1)).ravel()
        self.shares.data /= np.repeat(totals, np.diff(self.shares.indptr))
        self.ids = np.unique(self.shares.indices)
        self._at = self.ids.searchsorted(written.codes)

    def read(self, releases: Any) -> Any:
        """Releases in order as `EncodedDocuments`; else their bags."""
        n_words = len(self._embedding)
        if is_count_matrix(releases):
            if self.ordered:
                raise InvalidParameterError(
                    "releases must be texts or token lists where their order is used, "
                    "got a count matrix."
                )
            return check_bags(releases, n_words=n_words, counts=True)
        read = read_release(releases, self._embedding)
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


class WordLikelihood:
    """ln Pr[release | document] of the words of a mechanism.

    `written` are the known words of documents in the clear, one of which each release
    is of; `sample_length` is what they are redrawn to, if they are, and else `ordered`
    says whether releases have their order. Further options are those of
    `transitions_of`. What is drawn is kept for the next call. ``n_draws=None``: each
    call looks at the words of its releases only, and estimates from few draws, where
    the mechanism does not state its probabilities.
    """

    def __init__(
        self,
        mechanism: WordMechanism,
        written: EncodedDocuments,
        sample_length: int | None,
        ordered: bool,
        n_draws: int | None = 100,
        **options: Any,
    ) -> None:
        candidates = Candidates(mechanism, written, sample_length, ordered)
        self._candidates = candidates
        self.n_documents, self.ordered = len(written), candidates.ordered
        self._mechanism, self._random_state = mechanism, options.get("random_state")
        self._few = n_draws is None
        if self._few or not len(candidates.ids):
            return  # nothing is drawn of documents without words
        options["n_draws"] = n_draws
        if not self.ordered:
            profiles = profiles_of(mechanism, candidates.shares, **options)
            self._log_profiles = np.log(profiles)
            return
        check_memory(len(candidates.ids), len(mechanism.embedding))
        # the prior of `profiles_of`, so that one simulation serves both
        prior = np.asarray(candidates.shares.mean(axis=0)).ravel()[candidates.ids]
        words = mechanism.embedding.word_array[candidates.ids].tolist()
        self._transitions = transitions_of(mechanism, prior, words=words, **options)

    def __call__(self, releases: Any) -> np.ndarray:
        """Array of shape (n_releases, n_documents); −inf where the length is wrong."""
        read = self._candidates.read(releases)
        if self._few and len(self._candidates.ids):
            return self._of_few_draws(read)
        if isinstance(read, EncodedDocuments):
            return self._candidates.of_order(
                read, lambda z: self._transitions.log_proba(z)
            )
        if not self.n_documents:
            return np.empty((read.shape[0], 0))
        return self._candidates.of_bags(read, self._log_profiles)

    def _of_few_draws(self, read: Any) -> np.ndarray:
        """The same for the words of these releases, up to a factor for each release."""
        candidates, ids = self._candidates, self._candidates.ids
        in_order = isinstance(read, EncodedDocuments)
        released = np.unique(read.codes if in_order else read.indices)
        profiles = candidates.shares[:, ids]
        if in_order:  # of each word by itself
            check_memory(len(ids), len(released))
            profiles = sp.eye_array(len(ids), format="csr")
        logs = np.log(
            released_profiles_of(
                self._mechanism, ids, profiles, released, check_rng(self._random_state)
            )
        )
        if in_order:
            return candidates.of_order(
                read, lambda z: logs[:, released.searchsorted(z)].T
            )
        return candidates.of_bags(read[:, released], logs)


def check_memory(n_words: int, n_released: int) -> None:
    """Refuse a table of too many words."""
    needed = 4 * n_words * n_released
    if needed > working_memory_bytes():
        raise InvalidParameterError(
            f"documents must be few enough: 4 bytes for each of their {n_words} "
            f"words and each of the {n_released} that may come out must fit into "
            f"working_memory, {working_memory_bytes()} bytes, got {needed} bytes."
        )
