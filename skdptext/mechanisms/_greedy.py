"""Lists and classes of words, made by taking the nearest word that is left."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skdptext.embeddings import WordEmbedding
from skdptext.search import k_nearest_words
from skdptext.utils import Memo, half_squared_norms

# Precomputed neighbours of each word that a path tries before it searches.
_NEAR = 32

# Keyed by content, as spectra are.
_made: Memo[np.ndarray] = Memo(32)


def greedy_path(embedding: WordEmbedding, start: int) -> np.ndarray:
    """All words from `start` on, each followed by the nearest one not yet passed."""
    return _remembered(_path, embedding, start)


def greedy_classes(embedding: WordEmbedding, size: int) -> np.ndarray:
    """The class of each word: of the first without one and the nearest others without.

    Each class has `size` words; the last one may have fewer.
    """
    return _remembered(_classes, embedding, size)


def _remembered(
    make: Callable[[np.ndarray, int], np.ndarray], embedding: WordEmbedding, number: int
) -> np.ndarray:
    """A result computed from the vectors and a number, once per process."""

    def made() -> np.ndarray:
        array = make(embedding.vectors, number)
        array.flags.writeable = False
        return array

    return _made.get((make, embedding.fingerprint, number), made)


def _path(vectors: np.ndarray, start: int) -> np.ndarray:
    n_words = len(vectors)
    near, _ = k_nearest_words(
        vectors, vectors, min(_NEAR, n_words - 1), exclude=np.arange(n_words)
    )
    left, path = _Remaining(vectors), [start]
    left.take(start)
    while left.n:
        word = next((i for i in near[path[-1]].tolist() if i in left), None)
        if word is None:
            word = int(left.nearest(vectors[path[-1]], 1)[0])
        left.take(word)
        path.append(word)
    return np.array(path)


def _classes(vectors: np.ndarray, size: int) -> np.ndarray:
    left = _Remaining(vectors)
    labels = np.full(len(vectors), -1)
    n_classes = 0
    for first in range(len(vectors)):
        if labels[first] < 0:
            # the word itself comes before others with the same vector
            left.take(first)
            near = left.nearest(vectors[first], min(size - 1, left.n))
            labels[[first, *near]] = n_classes
            for word in near:
                left.take(word)
            n_classes += 1
    return labels


class _Remaining:
    """Words that are removed one by one, with a search among those that are left.

    The search is exact, so that it does not depend on threads or blocks. The vectors
    are copied.
    """

    def __init__(self, vectors: np.ndarray) -> None:
        self.n = len(vectors)
        self._vectors = vectors.copy()
        self._half_norms = half_squared_norms(vectors)
        self._words = np.arange(self.n)
        self._places = np.arange(self.n)

    def __contains__(self, word: int) -> bool:
        return bool(self._places[word] < self.n)

    def take(self, word: int) -> None:
        """Remove a word; the last one moves to its place."""
        self.n -= 1
        place, last = self._places[word], self.n
        for part in (self._vectors, self._half_norms):
            part[place] = part[last]
        self._words[[place, last]] = self._words[[last, place]]
        self._places[self._words[[place, last]]] = place, last

    def nearest(self, vector: np.ndarray, k: int) -> np.ndarray:
        """The k remaining words nearest to a vector, nearest first."""
        vectors, half_norms = self._vectors[: self.n], self._half_norms[: self.n]
        places, _ = k_nearest_words(vector[None], vectors, k, half_norms=half_norms)
        return self._words[places[0]]
