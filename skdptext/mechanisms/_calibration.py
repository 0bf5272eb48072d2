"""What proves a given ε: the rate of an exponential mechanism."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.distance import cdist

from skdptext.embeddings import WordEmbedding
from skdptext.mechanisms._metric import MahalanobisMetric, embedding_spectrum
from skdptext.utils import Memo, blocks, progress, working_memory_bytes

# Below this share of ‖φ‖², squared distances are computed from differences: there the
# product's would have lost more than three of their sixteen digits.
_NEAR = 2.2e-3
# Bound on rounding in a difference of two ln C, in nats; added before a division.
_ROUNDING = 2.0**-40
# Relative margin by which the rate is aimed below ε: more than rounding changes.
_MARGIN = 2.0**-33
# Words that the search for a rate starts with, and rows that each failure adds.
_FIRST_WORDS = 256
_MORE_ROWS = 32


class Fit(NamedTuple):
    """A rate, and what follows from it for all words."""

    rate: float  # a
    attained: float  # the largest privacy loss per unit of distance, over all pairs
    log_normalizers: np.ndarray  # ln C_w, (n_words,), read-only


class WordDistances:
    """Distances between all words, in float64, in blocks.

    Equal vectors are exactly 0 apart, and have exactly the same normaliser.

    Parameters
    ----------
    embedding : WordEmbedding
    lam : float in [0, 1]
        Selects the metric.
    max_distance : float > 0 or None
        Larger distances count as this one.
    """

    def __init__(
        self, embedding: WordEmbedding, lam: float, max_distance: float | None
    ) -> None:
        self._max_distance = max_distance
        vectors = embedding.vectors
        # the first word with the same vector; + 0.0 makes −0 a 0
        rows = np.ascontiguousarray(vectors + 0.0)
        raw = rows.view(np.dtype((np.void, rows[0].nbytes))).ravel()
        _, first, same = np.unique(raw, return_index=True, return_inverse=True)
        self.first = first[same]
        points = vectors.astype(np.float64)
        if lam > 0:
            spectrum = embedding_spectrum(embedding)
            points = MahalanobisMetric(lam, spectrum).whiten(points)
        # Distances do not change when all points move. Around the mean the squares are
        # smallest, and so is what their difference loses to rounding.
        points -= points.mean(axis=0)
        points = points[self.first]
        squares = np.einsum("ij,ij->i", points, points)
        # ‖x − y‖² = ‖x‖² + ‖y‖² − 2xᵀy as one product, of which this is the right side
        self._right = np.column_stack([points, np.ones(len(points)), squares])
        self._points = self._right[:, :-2]

    def __len__(self) -> int:
        return len(self._points)

    def outwards(self) -> np.ndarray:
        """All words, those nearest to the mean of the vectors first."""
        return np.argsort(self._right[:, -1], kind="stable")

    def between(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Distances of the words x to the words y, shape (len(x), len(y))."""
        return self._capped(cdist(self._points[x], self._points[y]))

    def rows(self, words: np.ndarray, start: int = 0) -> np.ndarray:
        """Distances of words to all words from `start` on, by one product."""
        x, y = self._points[words], self._points[start:]
        squares = self._right[words, -1:]
        left = np.column_stack([-2 * x, squares, np.ones(len(x))])
        distances = left @ self._right[start:].T
        # For close words the product is a small difference of large numbers. We compute
        # these few pairs anew, from the differences of their vectors.
        near = np.flatnonzero(distances <= _NEAR * squares)
        i, j = np.divmod(near, distances.shape[1])
        for block in blocks(len(i), max(1, 2**20 // x.shape[1])):
            gaps = x[i[block]] - y[j[block]]
            distances[i[block], j[block]] = np.einsum("ij,ij->i", gaps, gaps)
        return self._capped(np.sqrt(distances, out=distances))

    def _capped(self, distances: np.ndarray) -> np.ndarray:
        if self._max_distance is not None:
            np.minimum(distances, self._max_distance, out=distances)
        return distances

    def log_normalizers_of(self, words: np.ndarray, rate: float) -> np.ndarray:
        """ln C_w of some words, row by row."""
        distinct, numbers = np.unique(self.first[words], return_inverse=True)
        logs = np.empty(len(distinct))
        for rows in blocks(len(distinct), self._n_rows):
            logs[rows] = log_sums(self.rows(distinct[rows]), rate)
        return logs[numbers]

    def log_normalizers(self, rate: float) -> np.ndarray:
        """ln C_w of every word, in one pass over all pairs."""
        sums = np.zeros(len(self))
        for rows in self._passing():
            masses = self.rows(np.arange(rows.start, rows.stop), rows.start)
            np.exp(np.multiply(masses, -rate, out=masses), out=masses)
            sums[rows] += masses.sum(axis=1)
            # Distances are symmetric. We compute each block of pairs once, and add its
            # columns as the rows that they are on the other side of the diagonal.
            sums[rows.stop :] += masses[:, rows.stop - rows.start :].sum(axis=0)
        logs: np.ndarray = np.log(sums)[self.first]
        logs.flags.writeable = False
        return logs

    def attained(self, rate: float, logs: np.ndarray) -> tuple[float, np.ndarray]:
        """The largest loss per unit of distance, and the words of the worst pairs."""
        best, mates = np.zeros(len(self)), np.zeros(len(self), dtype=np.intp)
        for rows in self._passing():
            words = np.arange(rows.start, rows.stop)
            losses = _excess(
                self.rows(words, rows.start), logs[rows], logs[rows.start :]
            )
            at = losses.argmax(axis=1)
            best[rows] = np.minimum(losses[np.arange(len(at)), at], rate)
            mates[rows] = at + rows.start
        worst = np.argsort(-best, kind="stable")[:_MORE_ROWS]
        return rate + float(best.max()), np.concatenate([worst, mates[worst]])

    def evaluated(self, rate: float) -> Fit:
        """A rate, with the privacy loss that it attains."""
        logs = self.log_normalizers(rate)
        return Fit(rate, self.attained(rate, logs)[0], logs)

    @property
    def _n_rows(self) -> int:
        n_rows = working_memory_bytes() // (40 * len(self))
        return int(np.clip(n_rows, 1, 256))

    def _passing(self) -> Iterable[slice]:
        """Blocks of the words, for one pass over pairs of them."""
        return progress(list(blocks(len(self), self._n_rows)), "pairs of words")


def log_sums(distances: np.ndarray, rate: float) -> np.ndarray:
    """ln Σ e^(−a d) of each row; each has a word that is 0 apart."""
    masses = np.exp(-rate * distances)
    sums: np.ndarray = np.log(masses.sum(axis=1))
    return sums


def _excess(distances: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """|ln C_w − ln C_w'| / d(w, w'), rounded up; overwrites `distances`.

    0 for words 0 apart. By the triangle inequality it is at most a, but for rounding.
    """
    # Equal words have equal distributions: their loss is 0, whatever rounding says.
    distances[distances == 0] = np.inf
    excess = np.abs(np.subtract.outer(ours, theirs))
    excess += _ROUNDING
    excess /= distances
    return excess


# Keyed by content, as spectra are.
_fits: Memo[Fit] = Memo(32)


def calibrated_fit(
    table: WordDistances, key: tuple[object, ...], epsilon: float
) -> Fit:
    """The largest rate found that proves ε, once per process for a key."""
    return _fits.get((*key, epsilon), lambda: _find_fit(table, epsilon))


def _find_fit(table: WordDistances, epsilon: float) -> Fit:
    """A rate that proves ε: chosen on some words, accepted only if it holds for all.

    ε/2 always holds. A rate that some of the words rule out cannot hold for all, so
    the candidate comes down from above as the words that broke it are added.
    """
    n_words = int(np.clip(working_memory_bytes() // (64 * len(table)), 1, _FIRST_WORDS))
    # Pairs of a word in a crowd and a word alone tend to lose most: a half of the first
    # words are the innermost and the outermost, the others are drawn. The embedding is
    # public, and so is this choice: it decides how fast a rate is found, and never
    # which one is accepted.
    order, quarter = table.outwards(), n_words // 4
    drawn = np.random.default_rng(0).permutation(len(table))[: n_words - 2 * quarter]
    some = np.unique([*order[:quarter], *order[::-1][:quarter], *drawn])
    rows = table.rows(some)
    aim = highest = epsilon * (1 - _MARGIN)

    def attained(rate: float) -> float:
        parts = blocks(len(rows), 32)
        logs = np.concatenate([log_sums(rows[part], rate) for part in parts])
        excess = _excess(rows[:, some], logs, logs)
        return rate + min(float(excess.max()), rate)

    while True:
        rate = _largest(attained, epsilon / 2, highest, aim)
        logs = table.log_normalizers(rate)
        reached, worst = table.attained(rate, logs)
        if reached <= epsilon:
            return Fit(rate, reached, logs)
        new = np.setdiff1d(worst, some)
        if not len(new):  # rounding alone is in the way
            aim -= 2 * (reached - epsilon)
        some = np.concatenate([some, new])
        rows = np.concatenate([rows, table.rows(new)])
        highest = rate


def _largest(
    attained: Callable[[float], float], low: float, high: float, aim: float
) -> float:
    """The largest rate with attained(rate) = aim that a grid of nine finds; else low.

    The attained loss need not grow with the rate.
    """
    # We go down from above and stop at the first rate that holds, since the largest
    # rate changes the fewest words at the same ε.
    above = high
    for rate in np.linspace(high, low, 9)[:-1].tolist():
        if attained(rate) <= aim:
            break
        above = rate
    else:
        rate = low
        if attained(low) > aim:
            return low
    if rate == above:
        return rate
    return float(brentq(lambda a: attained(a) - aim, rate, above, xtol=1e-13 * aim))
