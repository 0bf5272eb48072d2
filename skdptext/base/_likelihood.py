"""Likelihood of a release of words given each of several documents."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from skdptext.base._transitions import profiles_of, transitions_of
from skdptext.documents import EncodedDocuments, read_release
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import WordMechanism
from skdptext.utils import is_count_matrix, read_bags

# Number of words that represent the whole vocabulary if a document has no words.
_STAND_FOR_ALL = 300


class WordLikelihood:
    """Compute ln Pr[release | document] for the words of a mechanism.

    `written` are the known words of the candidate documents. If they are redrawn,
    `sample_length` is their length; otherwise `ordered` says whether releases keep
    their order. Further options are those of `transitions_of`. Draws are kept for the
    next call.
    """

    def __init__(
        self,
        mechanism: WordMechanism,
        written: EncodedDocuments,
        sample_length: int | None,
        ordered: bool,
        **options: Any,
    ) -> None:
        self._ordered = ordered and sample_length is None
        self._embedding, self._written = mechanism.embedding, written
        bags = sp.csr_array(written.bags(len(mechanism.embedding)))
        self._lengths = np.diff(written.offsets)
        # Without any document or word, nothing needs to be drawn.
        self._logs = np.empty((0, bags.shape[1]))
        if self._ordered:
            frequency = np.asarray(bags.sum(axis=0)).ravel()
            self._ids = np.flatnonzero(frequency)
            if len(self._ids):
                names = mechanism.embedding.word_array[self._ids].tolist()
                prior = frequency[self._ids]
                logs = transitions_of(mechanism, prior, words=names, **options)
                self._logs = np.log(logs)
        elif len(written):
            # Empty documents are redrawn from the whole vocabulary. For a large
            # vocabulary, words that are spread evenly over it represent it.
            n_words = bags.shape[1]
            some = np.linspace(0, n_words - 1, min(n_words, _STAND_FOR_ALL))
            bags = bags.tolil()
            empty = np.flatnonzero(self._lengths == 0)
            bags[np.ix_(empty, some.astype(np.intp))] = 1.0
            self._logs = np.log(profiles_of(mechanism, sp.csr_array(bags), **options))
        if sample_length is not None:
            self._lengths = np.full(len(written), sample_length)

    def __call__(self, releases: Any) -> np.ndarray:
        """Compute an array (n_releases, n_documents); −inf if the length is wrong."""
        n_words = len(self._embedding)
        if not is_count_matrix(releases):
            read = read_release(releases, self._embedding)
            if self._ordered:
                return self._of_order(read)
            bags = read.bags(n_words)
        elif self._ordered:
            raise InvalidParameterError(
                "releases must be texts or token lists if their order is released, got "
                "a count matrix."
            )
        else:
            bags = read_bags(releases, n_words=n_words, counts=True)
        # Σ_j ln Σ_w p_d(w) Pr[z_j | w]
        logs = np.asarray(bags @ self._logs.T)
        sizes = np.asarray(bags.sum(axis=1)).ravel()
        logs[np.not_equal.outer(sizes, self._lengths)] = -np.inf
        return logs

    def _of_order(self, releases: EncodedDocuments) -> np.ndarray:
        """Compute Σ_j ln Pr[z_j | w_j]."""
        totals = np.full((len(releases), len(self._written)), -np.inf)
        for i in range(len(releases)):
            released = releases[i]
            same = np.flatnonzero(self._lengths == len(released))
            totals[i, same] = 0.0
            if len(same) and len(released):
                places = self._written.offsets[same][:, None] + np.arange(len(released))
                rows = self._ids.searchsorted(self._written.codes[places])
                totals[i, same] = self._logs[rows, released].sum(1, dtype=np.float64)
        return totals
