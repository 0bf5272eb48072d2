"""Lower bounds on Word Mover's Distance, from one query to many documents at a time.

Rounding. Costs are scaled to at most 2 and never above the true ones (`LoweredTable`).
Potentials are given numbers of size at most 2, or minima of costs from which one to
three of them have been taken off, each difference below 8 and rounded once. So a pair
of potentials exceeds a feasible one by at most (2 + 2 + 4)·2⁻²⁴, which is less than
`POTENTIAL_SLACK`; the bounds have taken it off already.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from skdptext.transport._bags import WordBags, entries
from skdptext.transport._exact import DAMPING
from skdptext.utils import Threads, blocks

ONE = Threads()

_UNIT = 2.0**-24  # float32 rounds by at most this, relatively
_TINY = 2.0**-110  # more than what underflows in a squared distance

_ZERO = np.float32(0.0)
_LEAST = np.float32(1e-30)
_FAR = np.float32(1e30)  # takes a word out of every minimum, and is finite
_MAX_POTENTIAL = np.float32(2.0)  # no useful one is larger; the slack then holds
# For the rounding of potentials, as above, and of the float64 sums.
POTENTIAL_SLACK = 12 * _UNIT

# Pairs of words of two bags: fewer are solved as fast as they are bounded better.
_SHORT = 1024
# Sinkhorn's smoothing as a share of the mean cost, and its steps. A lower temperature
# makes the bound tighter and needs more steps to settle.
_TEMPERATURE = 0.015
_N_STEPS = 12


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
        points = self._scaled(words)
        norms = self._lowered_norms(points)
        points *= np.float32(-2.0)
        squares = np.empty((len(points), self._words_t.shape[1]), np.float32)

        def fill(part: slice) -> None:
            some = np.matmul(points[part], self._words_t, out=squares[part])
            some += norms[part, None]
            some += self._words_norms
            np.maximum(some, _ZERO, out=some)
            np.sqrt(some, out=some)

        threads.each(fill, blocks(len(points), -(-len(points) // threads.n)))
        return squares


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


def shared_bounds(
    costs: np.ndarray, query: np.ndarray, alpha: np.ndarray, by_bag: sp.csr_array
) -> np.ndarray:
    """Bounds of all bags by given potentials of the query's words.

    Parameters
    ----------
    costs : ndarray of shape (n, n_table_words), float32
        As in `relaxed_bounds`.
    query : ndarray of shape (n,), float64
    alpha : ndarray of shape (n,), float32
        Any numbers between -2 and 2; good are those of the likeliest bags.
    by_bag : csr_array of shape (n_bags, n_table_words)

    Returns
    -------
    bounds : ndarray of shape (n_bags,)
    """
    beta = (costs - alpha[:, None]).min(axis=0).astype(np.float64)
    return by_bag @ beta + float(query @ alpha) - POTENTIAL_SLACK


def dual_bounds(
    costs: np.ndarray,
    query: np.ndarray,
    place: np.ndarray,
    bags: WordBags,
    numbers: np.ndarray,
    limit: float = -np.inf,
    mean_cost: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Dual ascent on the residual problems of a query and some bags.

    Weak duality: α_i + β_j ≤ C_ij for all pairs makes a·α + b·β at most the cost. First
    β = damping·(least of each column), α = rowmin(C − β), β = colmin(C − α). Where that
    is within the limit, a few of Sinkhorn's steps find better potentials, and the same
    two minima make them feasible; not for short bags, which are solved as fast.

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
    limit : float, default=-inf
        Bounds above it need not be better.
    mean_cost : float, default=0.0
        Sets the temperature of Sinkhorn's steps; 0: none are taken.

    Returns
    -------
    bounds : ndarray of shape (S,)
    alpha : ndarray of shape (S, n)
        Potentials of the query's words, before Sinkhorn's steps.
    """
    starts, sizes = bags.starts[numbers], bags.sizes[numbers]
    places = np.arange(sizes.max())
    filled = places < sizes[:, None]
    at = np.where(filled, starts[:, None] + places, 0)
    words, b = bags.ids[at], np.where(filled, bags.weights[at], 0.0)
    # what is left of both without the mass that they share
    a = np.tile(query, (len(numbers), 1))
    own = np.where(filled, place[words], -1)
    i, j = (own >= 0).nonzero()
    own = own[i, j]
    left = a[i, own] - b[i, j]
    a[i, own], b[i, j] = np.maximum(left, 0.0), np.maximum(-left, 0.0)

    short = words.size * len(query) < _SHORT * len(numbers)
    # (S, words of a bag, n); short bags lie side by side in memory, which is faster
    C = costs.T[:, words.T].T if short else costs[words]
    # words without mass are out of all minima: they constrain no potential
    C += np.where(a > 0.0, _ZERO, _FAR)[:, None, :]
    C[b == 0.0] = _FAR
    beta = np.minimum(DAMPING * C.min(axis=2), _MAX_POTENTIAL)
    alpha = (C - beta[:, :, None]).min(axis=1)
    alpha = np.where(a > 0.0, np.minimum(alpha, _MAX_POTENTIAL), _ZERO)
    C -= alpha[:, None, :]
    beta = np.minimum(C.min(axis=2), _MAX_POTENTIAL)
    bounds = (a * alpha).sum(axis=1) + (b * beta).sum(axis=1) - POTENTIAL_SLACK
    go = np.flatnonzero(bounds <= limit)
    if len(go) and not short and mean_cost > 0.0:
        C = C[go] - beta[go, :, None]
        bounds[go] += np.fmax(_softened(C, a[go], b[go], mean_cost), 0.0)
    return bounds, alpha


def _softened(
    C: np.ndarray, a: np.ndarray, b: np.ndarray, mean_cost: float
) -> np.ndarray:
    """Values of potentials that Sinkhorn's steps find, made feasible; C is lost."""
    temperature = np.float32(_TEMPERATURE * mean_cost)
    a32, b32 = (part.astype(np.float32)[:, :, None] for part in (a, b))
    with np.errstate(all="ignore"):  # any numbers give feasible potentials, or NaN
        kernel = np.exp(C / -temperature)
        back = kernel.transpose(0, 2, 1)
        u: np.ndarray = np.ones_like(a32)
        for _ in range(_N_STEPS):
            v = b32 / (kernel @ u + _LEAST)
            u = a32 / (back @ v + _LEAST)
        soft = temperature * np.log(np.clip(v, _LEAST, _FAR))
    alpha = (C - np.clip(soft, -_MAX_POTENTIAL, _MAX_POTENTIAL)).min(axis=1)
    alpha = np.where(a > 0.0, np.clip(alpha, -_MAX_POTENTIAL, _MAX_POTENTIAL), _ZERO)
    C -= alpha[:, None, :]
    beta = np.minimum(C.min(axis=2), _MAX_POTENTIAL)
    return (a * alpha).sum(axis=1) + (b * beta).sum(axis=1)
