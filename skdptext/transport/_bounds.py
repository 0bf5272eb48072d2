"""Lower bounds of the Word Mover's Distance, many documents at a time.

Every function here takes and returns arrays, dense or sparse, so that compiled versions
can stand in for them one by one.

Layout. S pairs of a query, of at most n words, and a document, of at most L. Costs are
float32 of shape (n, L, S): the pair runs fastest, so that every minimum is an
elementwise minimum of long contiguous rows. Masses are those left after shared mass is
taken away: `a` of shape (n, S), `b` of shape (L, S), float64, zero where nothing is
left and in the padding. A potential is -inf where there is no mass, which takes that
word out of every minimum.

Rounding. Costs are scaled to at most 2 and never above the true ones (`LoweredTable`).
The potentials computed last are minima of differences of size at most 4, each rounded
once, and the others are given numbers: so a pair of potentials exceeds a feasible one
by less than `POTENTIAL_SLACK`, which the bounds have taken off already.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from skdptext.transport._bags import WordBags, entries

__all__ = [
    "LoweredTable",
    "dual_bounds",
    "match_residuals",
    "relaxed_bounds",
    "residual_relaxed_bounds",
    "sinkhorn_bounds",
]

_UNIT = 2.0**-24  # float32 rounds by at most this, relatively
_TINY = 2.0**-110  # more than what underflows in a squared distance

# One difference of size 4, with room for the float64 sums.
POTENTIAL_SLACK = 8 * _UNIT


class LoweredTable:
    """Distances to the words of a table, float32 and never above the true ones.

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
        self._kept = 1.0 - gamma - 16 * _UNIT
        self._vectors = vectors
        self._words_t = np.ascontiguousarray(self._scaled(words).T)
        self._words_norms = self._lowered_norms(self._words_t.T)

    def _scaled(self, words: np.ndarray) -> np.ndarray:
        rows = self._vectors[words]
        if abs(self.exponent) < 100:
            rows *= np.float32(2.0**-self.exponent)
            return rows
        return np.ldexp(rows, -self.exponent)  # the factor itself is no float32

    def _lowered_norms(self, points: np.ndarray) -> np.ndarray:
        norms = np.einsum("ij,ij->i", points, points, dtype=np.float64)
        return (self._kept * norms - _TINY).astype(np.float32)

    def distances(self, words: np.ndarray) -> np.ndarray:
        """Distances from `words` to the table's words, times 2^-exponent."""
        squares, norms, table_norms = self.products(words)
        squares += norms[:, None]
        squares += table_norms
        np.maximum(squares, np.float32(0.0), out=squares)
        return np.sqrt(squares, out=squares)

    def products(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What `distances` adds up, for compiled code to add.

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
        return points @ self._words_t, norms, self._words_norms


def relaxed_bounds(
    costs: np.ndarray,
    query: np.ndarray,
    own: np.ndarray,
    by_bag: sp.csr_array,
    by_word: sp.csc_array,
) -> np.ndarray:
    """Each word of a bag goes to the nearest word of the query; one bound per bag.

    A word of both goes nowhere, up to the mass it has in the query; what is over goes
    to the nearest other word.

    Parameters
    ----------
    costs : ndarray of shape (n, n_table_words), float32
        Lowered distances of the query's words to the table's.
    query : ndarray of shape (n,), float64
        Masses of the query's words.
    own : ndarray of shape (n,), int
        Columns of the query's words in the table, -1 of those that are not in it.
    by_bag, by_word : csr_array and csc_array of shape (n_bags, n_table_words)
        The bags, none empty, in either order.

    Returns
    -------
    bounds : ndarray of shape (n_bags,)
    """
    nearest = costs.min(axis=0).astype(np.float64)
    places = np.flatnonzero(own >= 0)
    columns = own[places]
    nearest[columns] = 0.0
    sums = by_bag @ nearest
    # of a query's own words, the nearest other; 0 for its only word
    others = costs[:, columns]
    others[places, np.arange(len(columns))] = np.inf
    least = others.min(axis=0).astype(np.float64)
    least[np.isinf(least)] = 0.0
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


def match_residuals(
    queries: WordBags,
    query: np.ndarray,
    positions: np.ndarray,
    bags: WordBags,
    bag: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Words of S pairs of a query and a bag, and the mass that each leaves the other.

    Parameters
    ----------
    queries, bags : WordBags
        Non-empty.
    query, bag : ndarrays of shape (S,)
        The pairs.
    positions : ndarray of shape (n_queries, n_table_words), int
        Place of a table's word within each query, -1 where it is not in it.

    Returns
    -------
    query_ids : ndarray of shape (n, S)
        Words of the queries; padding repeats one, and has no mass.
    bag_ids : ndarray of shape (L, S)
    a, b : ndarrays of shapes (n, S) and (L, S), float64
    """
    query_ids, a, _ = _columns(queries, query)
    bag_ids, b, used = _columns(bags, bag)
    place = positions.take(bag_ids + query * positions.shape[1])
    slot, pair = np.nonzero((place >= 0) & used)
    row = place[slot, pair]
    left = a[row, pair] - b[slot, pair]
    a[row, pair] = np.maximum(left, 0.0)
    b[slot, pair] = np.maximum(-left, 0.0)
    return query_ids, bag_ids, a, b


def _columns(
    bags: WordBags, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bags as columns of equal length: ids, weights, and what is not padding."""
    starts = bags.starts[rows]
    sizes = bags.starts[rows + 1] - starts
    slots = np.arange(sizes.max())[:, None]
    used = slots < sizes
    at = starts + np.minimum(slots, sizes - 1)
    weights = bags.weights.take(at)
    weights *= used
    return bags.ids.take(at), weights, used


def _without(masses: np.ndarray) -> np.ndarray:
    """Start of the potentials: 0, and -inf where there is no mass."""
    return np.where(masses > 0, np.float32(0.0), np.float32(-np.inf))


def _times(masses: np.ndarray, potentials: np.ndarray) -> np.ndarray:
    """Sum of mass times potential over the words, in float64."""
    return (masses * np.where(masses > 0, potentials, np.float32(0.0))).sum(axis=0)


def _reduce_rows(costs: np.ndarray, b_start: np.ndarray, out: np.ndarray) -> np.ndarray:
    np.subtract(costs, b_start, out=out)
    return out.min(axis=1)


def _reduce_columns(
    costs: np.ndarray, a_start: np.ndarray, out: np.ndarray
) -> np.ndarray:
    np.subtract(costs, a_start[:, None, :], out=out)
    return out.min(axis=0)


def _finite(potentials: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Potentials, -inf where there is no mass; 0 for documents without any."""
    potentials[np.isinf(potentials)] = 0.0
    potentials += start
    return potentials


def residual_relaxed_bounds(
    costs: np.ndarray, a: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The better of the two one-sided relaxations of the residual problem.

    Returns
    -------
    bounds : ndarray of shape (S,)
    row_least : ndarray of shape (n, S)
        Cheapest way out of each word of the query; -inf where no mass is left.
    column_least : ndarray of shape (L, S)
    """
    work = np.empty_like(costs)
    a_start, b_start = _without(a), _without(b)
    rows = _finite(_reduce_rows(costs, b_start, work), a_start)
    columns = _finite(_reduce_columns(costs, a_start, work), b_start)
    bounds = np.maximum(_times(a, rows), _times(b, columns))
    return bounds - POTENTIAL_SLACK, rows, columns


def dual_bounds(
    costs: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    row_least: np.ndarray,
    column_least: np.ndarray,
    damping: float = 0.75,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Damped dual ascent in two orders; the better of the two for each document.

    β = damping·(least of each column), α = rowmin(C − β), β = colmin(C − α); then with
    the parts exchanged. Any pair with α + β ≤ C bounds the cost by a·α + b·β.

    Returns
    -------
    bounds : ndarray of shape (S,)
    alpha, beta : ndarrays of shapes (n, S) and (L, S)
        The potentials of the better order.
    """
    work = np.empty_like(costs)
    a_start, b_start = _without(a), _without(b)
    theta = np.float32(damping)
    alpha = _finite(_reduce_rows(costs, theta * column_least, work), a_start)
    beta = _finite(_reduce_columns(costs, alpha, work), b_start)
    first = _times(a, alpha) + _times(b, beta)
    beta2 = _finite(_reduce_columns(costs, theta * row_least, work), b_start)
    alpha2 = _finite(_reduce_rows(costs, beta2, work), a_start)
    second = _times(a, alpha2) + _times(b, beta2)
    better = second > first
    alpha = np.where(better, alpha2, alpha)
    beta = np.where(better, beta2, beta)
    return np.maximum(first, second) - POTENTIAL_SLACK, alpha, beta


def sinkhorn_bounds(
    costs: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    alpha: np.ndarray,
    beta: np.ndarray,
    n_steps: int = 8,
    temperature: float = 0.015,
) -> np.ndarray:
    """A few Sinkhorn steps from given potentials, then hard c-transforms.

    The c-transforms make the potentials feasible whatever the steps did, so the crude
    float32 exponentials cannot break the bound.

    Parameters
    ----------
    temperature : float, default=0.015
        Regularisation, in units of the mean cost.
    """
    a_start, b_start = _without(a), _without(b)
    if not costs.size:
        return np.zeros(costs.shape[2])
    epsilon = np.float32(max(temperature * float(costs.mean()), 1e-30))
    # Reduced costs are >= 0 and reach 0 in each row or column: nothing overflows.
    kernel = costs - alpha[:, None, :]
    kernel -= beta
    kernel /= -epsilon
    np.exp(kernel, out=kernel)
    kernel[~np.isfinite(kernel)] = 0.0  # words without mass
    a32, b32 = a.astype(np.float32), b.astype(np.float32)
    least = np.float32(1e-30)
    v = np.ones_like(b32)
    for _ in range(n_steps):
        u = a32 / np.maximum(np.einsum("ijs,js->is", kernel, v), least)
        v = b32 / np.maximum(np.einsum("ijs,is->js", kernel, u), least)
    v = np.clip(v, least, np.float32(1e30))
    # Clipped so that the slack holds: useful potentials are no larger.
    soft = np.clip(epsilon * np.log(v) + np.maximum(beta, -2), -2, 2)
    work = kernel
    new_alpha = _finite(_reduce_rows(costs, soft + b_start, work), a_start)
    new_beta = _finite(_reduce_columns(costs, new_alpha, work), b_start)
    return _times(a, new_alpha) + _times(b, new_beta) - POTENTIAL_SLACK
