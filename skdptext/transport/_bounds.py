"""Lower bounds on Word Mover's Distance, from one query to many documents at a time.

Rounding. Costs are scaled to at most 2 and never above the true ones (`LoweredTable`).
The potentials computed last are minima of differences of size at most 4, each rounded
once, and the others are given numbers: so a pair of potentials exceeds a feasible one
by less than `POTENTIAL_SLACK`, which the bounds have taken off already.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from skdptext.transport._bags import WordBags, entries
from skdptext.transport._loops import DAMPING, POTENTIAL_SLACK
from skdptext.utils import Threads, blocks

ONE = Threads()

_UNIT = 2.0**-24  # float32 rounds by at most this, relatively
_TINY = 2.0**-110  # more than what underflows in a squared distance

_FAR = np.float32(1e30)  # takes a word out of every minimum, and is finite
_MAX_POTENTIAL = np.float32(2.0)  # no useful one is larger; the slack then holds


class LoweredTable:
    """Distances to a table of words, in float32 and never above the true ones.

    The table holds some words of an embedding: those that occur in the bags.

    ‖x−y‖² is computed as ‖x‖² + ‖y‖² − 2⟨x, y⟩. In any order of summation the float32
    product of m terms errs by at most m·u/(1−m·u)·‖x‖‖y‖ ≤ m·u/(1−m·u)·(‖x‖²+‖y‖²)/2,
    u = 2⁻²⁴. The two additions, the two stored norms and the square root err by less
    than 16·u·(‖x‖²+‖y‖²) together. Taking that share off the norms beforehand makes
    the result a lower bound, at no cost.

    Parameters
    ----------
    vectors : ndarray of shape (n_words, dim), float32
    words : ndarray of int
        Rows to measure distances to.
    """

    def __init__(self, vectors: np.ndarray, words: np.ndarray) -> None:
        dim = vectors.shape[1]
        largest = max(float(vectors.max()), -float(vectors.min()))
        # A power of two, so that scaling is exact; then all norms are at most 1.
        exponent = int(np.frexp(largest * np.sqrt(dim))[1]) if largest else 0
        self.exponent = exponent
        gamma = dim * _UNIT / (1.0 - dim * _UNIT)
        self._norm_factor = 1.0 - gamma - 16 * _UNIT
        self._vectors = vectors
        self._words_t = np.ascontiguousarray(self._scaled(words).T)
        self._words_norms = self._lowered_norms(self._words_t.T)

    def _scaled(self, words: np.ndarray) -> np.ndarray:
        rows = self._vectors[words]
        if abs(self.exponent) < 100:
            rows *= np.float32(2.0**-self.exponent)
            return rows
        return np.ldexp(rows, -self.exponent)  # no float32 holds the factor

    def _lowered_norms(self, points: np.ndarray) -> np.ndarray:
        norms = np.einsum("ij,ij->i", points, points, dtype=np.float64)
        return (self._norm_factor * norms - _TINY).astype(np.float32)

    def distances(self, words: np.ndarray, threads: Threads = ONE) -> np.ndarray:
        """Distances from `words` to the table's words, times 2^-exponent."""
        squares, norms, table_norms = self.products(words, threads)
        squares += norms[:, None]
        squares += table_norms
        np.maximum(squares, np.float32(0.0), out=squares)
        return np.sqrt(squares, out=squares)

    def products(
        self, words: np.ndarray, threads: Threads = ONE
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The terms of `distances`, for compiled code to add up.

        Returns
        -------
        products : ndarray of shape (len(words), n_table_words)
            -2⟨x, y⟩.
        norms, table_norms : ndarrays
            Lowered squared norms of `words` and of the table's words.
        """
        points = self._scaled(words)
        norms = self._lowered_norms(points)
        points *= np.float32(-2.0)
        out = np.empty((len(points), self._words_t.shape[1]), np.float32)

        def multiply(part: slice) -> None:
            np.matmul(points[part], self._words_t, out=out[part])

        threads.each(multiply, blocks(len(points), -(-len(points) // threads.n)))
        return out, norms, self._words_norms


def relaxed_bounds(
    costs: np.ndarray,
    query: np.ndarray,
    own: np.ndarray,
    by_bag: sp.csr_array,
    by_word: sp.csc_array,
) -> np.ndarray:
    """Each word of a bag goes to the nearest word of the query; one bound per bag.

    A word that both hold stays, up to the mass it has in the query; any mass beyond
    that goes to the nearest other word.

    Parameters
    ----------
    costs : ndarray of shape (n, n_table_words), float32
        Lowered distances of the query's words to the table's.
    query : ndarray of shape (n,), float64
        Masses of the query's words.
    own : ndarray of shape (n,), int
        Columns of the query's words in the table, -1 for those that are not in it.
    by_bag, by_word : csr_array and csc_array of shape (n_bags, n_table_words)
        The bags, none empty, stored by row and by column.

    Returns
    -------
    bounds : ndarray of shape (n_bags,)
    """
    # Σ_w b(w) min_i C(i, w), the relaxed distance of Kusner et al. (2015) in one
    # direction, by one sparse product for all bags; shared words stay, at no cost.
    nearest = costs.min(axis=0).astype(np.float64)
    places = np.flatnonzero(own >= 0)
    columns = own[places]
    nearest[columns] = 0.0
    sums = by_bag @ nearest
    # for a word of the query itself: the nearest other; 0 for its only word
    others = costs[:, columns]
    others[places, np.arange(len(columns))] = np.inf
    least = others.min(axis=0).astype(np.float64)
    least[np.isinf(least)] = 0.0
    # what bags hold of the query's words beyond the query's mass, and has to leave
    starts = by_word.indptr[columns]
    counts = by_word.indptr[columns + 1] - starts
    at = entries(starts, counts)
    over = by_word.data.take(at)
    over -= np.repeat(query[places], counts)
    np.maximum(over, 0.0, out=over)
    over *= np.repeat(least, counts)
    sums += np.bincount(by_word.indices.take(at), over, minlength=len(sums))
    # the additions round, and residuals no larger than rounding count as nothing
    return np.maximum(sums * (1.0 - 1e-12) - 1e-14, 0.0)


def dual_bounds(
    costs: np.ndarray,
    query: np.ndarray,
    place: np.ndarray,
    bags: WordBags,
    numbers: np.ndarray,
) -> np.ndarray:
    """Damped dual ascent on the residual problems of a query and some bags.

    β = damping·(least of each column), α = rowmin(C − β), β = colmin(C − α). Any pair
    with α + β ≤ C bounds the cost by a·α + b·β.

    Parameters
    ----------
    costs : ndarray of shape (n_table_words, n), float32
        Lowered distances of the table's words to the query's.
    query : ndarray of shape (n,), float64
        Masses of the query's words.
    place : ndarray of shape (n_table_words,), int
        Place of a table's word within the query, -1 where it is not in it.
    bags : WordBags
        Non-empty, over words of the table.
    numbers : ndarray of shape (S,)
        Numbers of the bags to bound, at least one.

    Returns
    -------
    bounds : ndarray of shape (S,)
    """
    starts, sizes = bags.starts[numbers], bags.sizes[numbers]
    at, first = entries(starts, sizes), np.cumsum(sizes) - sizes
    words, b = bags.ids.take(at), bags.weights.take(at)
    owner = np.repeat(np.arange(len(numbers)), sizes)
    # what is left of both without the mass that they share
    a = np.tile(query, (len(numbers), 1))
    shared = np.flatnonzero(place.take(words) >= 0)
    own = owner[shared], place.take(words[shared])
    left = a[own] - b[shared]
    a[own], b[shared] = np.maximum(left, 0.0), np.maximum(-left, 0.0)

    # words without mass are out of all minima: they constrain no potential
    gone = np.where(a > 0.0, np.float32(0.0), _FAR)
    local = costs.take(words, axis=0)
    local += gone.take(owner, axis=0)
    local[b == 0.0] = _FAR
    # Weak duality: α_i + β_j ≤ C_ij for all pairs makes a·α + b·β at most the cost.
    beta = DAMPING * local.min(axis=1)
    alpha = np.minimum.reduceat(local - beta[:, None], first, axis=0)
    alpha = np.minimum(alpha, _MAX_POTENTIAL) - gone
    local -= alpha.take(owner, axis=0)
    beta = np.minimum(local.min(axis=1), _MAX_POTENTIAL)
    sums = (a * alpha).sum(axis=1) + np.add.reduceat(b * beta, first)
    return sums - POTENTIAL_SLACK
