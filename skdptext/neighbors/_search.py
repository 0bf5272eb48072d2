"""Find exact nearest bags by Word Mover's Distance while solving few distances.

Rounding. Costs are scaled to at most 2 and never exceed the true costs. Potentials are
numbers up to 2, or minima of costs minus up to three potentials, with each difference
below 8 and rounded once. So a pair of potentials exceeds a feasible one by at most
(2 + 2 + 4)·2⁻²⁴, which is less than `_SLACK`. All bounds subtract this slack.
"""

from bisect import insort
from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed, effective_n_jobs

from skdptext.embeddings import WordEmbedding
from skdptext.neighbors._distance import (
    DAMPING,
    Array,
    Bag,
    bag_of,
    cancel,
    one_hot_distances,
    word_movers,
)
from skdptext.utils import blocks, limit_blas_threads, runs, working_memory_bytes

# Number of short queries whose bounds are computed together. Their work arrays then
# stay in the processor's cache. A product is shared by four times as many.
_TOGETHER = 128
# From so many pairs of words of a query and a mean bag on, a query is searched alone,
# and Sinkhorn's steps save more time than they take.
_LONG = 512
# Number of costs bounded at once. The work arrays then stay in the processor's cache.
_AT_ONCE = 2**17
# Number of bags beyond k that get the best bound before the first ones are solved.
_SPARE = 8
# Sinkhorn's smoothing as a share of the mean cost, and its number of steps. A lower
# temperature makes the bound tighter but needs more steps to converge.
_TEMPERATURE, _STEPS = 0.015, 12

_UNIT = 2.0**-24  # float32 rounds by at most this, relatively
_SLACK = 12 * _UNIT  # covers the rounding of potentials, as explained above
_EXACT_SLACK = 1e-11  # covers the rounding of a distance, in units of the largest norm
_MOST = np.float32(2.0)  # larger potentials are useless, and would void the slack
_FAR = np.float32(1e30)  # a finite cost that removes a word from every minimum
_LEAST, _ZERO = np.float32(1e-30), np.float32(0.0)

Pairs = list[tuple[float, int]]  # distances and numbers of bags


class BagIndex:
    """Index to search for the nearest bags; ties go to the first bag.

    Parameters
    ----------
    bags : csr_array of shape (n_bags, n_words)
        Non-empty rows of mass 1, as `as_bags` gives them.
    embedding : WordEmbedding or None
        None means that every word is √2 from every other.
    """

    def __init__(self, bags: sp.csr_array, embedding: WordEmbedding | None) -> None:
        self.bags, self.embedding = bags, embedding
        self.sizes = np.diff(bags.indptr)
        self.words, columns = np.unique(bags.indices, return_inverse=True)
        shape = bags.shape[0], len(self.words)
        # The same bags, with columns for the words that occur only.
        self.local = sp.csr_array((bags.data, columns, bags.indptr), shape=shape)
        if embedding is None:
            return
        self.vectors = vectors = embedding.vectors
        # Scaling by a power of two is exact. All norms are then at most 1.
        dim, largest = vectors.shape[1], max(vectors.max(), -vectors.min())
        self.exponent = int(np.frexp(np.float64(largest) * np.sqrt(dim))[1])
        points, norms = self._scaled(self.words)
        self._factors = np.column_stack((points, norms, np.ones_like(norms)))

    def __reduce__(self) -> Any:
        # The index is rebuilt when loaded, because it holds a scaled copy of vectors.
        return BagIndex, (self.bags, self.embedding)

    def search(
        self,
        queries: sp.csr_array,
        k: int | None = None,
        radius: float = np.inf,
        *,
        exclude: Array | None = None,
        n_jobs: int | None = None,
    ) -> list[Pairs]:
        """Find the `k` nearest bags to each query, or all bags, within a radius.

        Parameters
        ----------
        queries : csr_array of shape (n_queries, n_words)
            Non-empty rows of mass 1.
        exclude : ndarray of shape (n_queries,), default=None
            The bag that each query is itself, which is left out.

        Returns
        -------
        found : list of lists of pairs
            For each query, pairs of distance and number of a bag, in ascending order.
        """
        n = queries.shape[0]
        skip = np.full(n, -1) if exclude is None else exclude
        # Queries of similar size are searched together, the longest first. Threads then
        # finish at about the same time.
        order = np.diff(queries.indptr).argsort(kind="stable")[::-1]
        queries, skip = queries[order], skip[order]

        def search(part: slice) -> list[Pairs]:
            asked = queries[part]
            if self.embedding is None:
                return [
                    self._scan(bag_of(asked, i), itself, k, radius)
                    for i, itself in enumerate(skip[part])
                ]
            words, places = np.unique(asked.indices, return_inverse=True)
            costs, starts, found = self.costs(words), asked.indptr, list[Pairs]()
            while (at := len(found)) < asked.shape[0]:
                long = (starts[at + 1] - starts[at]) * self.sizes.mean() >= _LONG
                some = slice(at, min(at + (1 if long else together), asked.shape[0]))
                held = places[starts[at] : starts[some.stop]]
                group = _Group(self, asked[some], costs, held)
                found += group.find(k, radius, skip[part][some])
            return found

        # Half of the memory is for costs of words. The other half is for the bounds of
        # all bags and the costs and positions of words of each query.
        n_bags, n_words = self.local.shape
        workers = effective_n_jobs(n_jobs)
        room = working_memory_bytes() // workers
        together = max(1, min(_TOGETHER, room // (64 * n_bags + 16 * n_words)))
        most = max(1, min(4 * together, -(-n // workers)))
        parts = runs(queries.indptr, room // (8 * n_words), most)
        # The threads of a matrix product wait for the next one and would slow ours
        # down.
        with limit_blas_threads(1):
            done = Parallel(n_jobs, require="sharedmem")(map(delayed(search), parts))
        found = [each for part in done for each in part]
        return [found[i] for i in order.argsort()]

    def _scan(self, query: Bag, skip: int, k: int | None, radius: float) -> Pairs:
        """Find the nearest bags by one-hot distances, which have a closed form."""
        distances = one_hot_distances(query, self.bags)
        if skip >= 0:
            distances[skip] = np.inf
        order = distances.argsort(kind="stable")[:k]
        order = order[distances[order] <= radius]
        return list(zip(distances[order].tolist(), order.tolist(), strict=True))

    def costs(self, words: Array) -> Array:
        """Bound distances to the words that occur from below, times 2^-exponent.

        ‖x−y‖² is computed as the product of (−2x, 1, ‖x‖²) and (y, ‖y‖², 1). In any
        order of summation the float32 product of m terms errs by at most
        m·u/(1−m·u)·2(‖x‖²+‖y‖²), u = 2⁻²⁴; the two stored norms and the root by less
        than 16·u·(‖x‖²+‖y‖²) together. Reducing the norms by this share beforehand
        makes the result a lower bound at no cost.
        """
        points, norms = self._scaled(words)
        factors = np.column_stack((-2 * points, np.ones_like(norms), norms))
        squares = factors @ self._factors.T
        np.maximum(squares, 0.0, out=squares)
        return np.sqrt(squares, out=squares)

    def scaled(self, distance: float) -> float:
        """Scale a distance to the largest bound at which a bag may still be as near."""
        return distance * 2.0**-self.exponent + _EXACT_SLACK

    def _scaled(self, words: Array) -> tuple[Array, Array]:
        """Scale vectors of words to norms of at most 1, and lower squared norms."""
        points = np.ldexp(self.vectors[words], -self.exponent)
        norms = np.einsum("ij,ij->i", points, points, dtype=np.float64)
        n_terms = points.shape[1] + 2
        share = 1.0 - (2 * n_terms + 16) * _UNIT / (1 - n_terms * _UNIT)
        # The last term covers underflow in a square.
        return points, (share * norms - 2.0**-110).astype(np.float32)


class _Group:
    """Queries that are searched together: a long one, or some short ones.

    Relaxed bounds of all bags pick the few likeliest bags. Their potentials for the
    words of the query give another bound of all bags. The best few are bounded again
    and solved, which gives a limit. Then the bags that no bound rules out are solved in
    ascending order of their bounds.
    """

    def __init__(
        self, index: BagIndex, queries: sp.csr_array, costs: Array, places: Array
    ) -> None:
        """`places` are the rows of `costs` for the words of the queries."""
        self._index = index
        n, n_words = queries.shape[0], len(index.words)
        self._alone = n == 1
        self._costs = costs[places] if self._alone else costs
        self._sizes = np.diff(queries.indptr)
        filled = np.arange(self._sizes.max()) < self._sizes[:, None]
        # The words of each query, padded to the longest query.
        self._rows = np.zeros(filled.shape, dtype=np.intp)
        self._words, self._masses = np.zeros_like(self._rows), np.zeros(filled.shape)
        self._rows[filled], self._masses[filled] = places, queries.data
        self._words[filled] = queries.indices
        # The position of each word of the bags within each query, or −1.
        of, place = filled.nonzero()
        column = index.words.searchsorted(queries.indices)
        known = index.words.take(column, mode="clip") == queries.indices
        self._place = np.full((n, n_words), -1, dtype=np.int32)
        self._place[of[known], column[known]] = place[known]

        self._left = np.empty((n, index.bags.shape[0]))
        # Initial potentials of the words of bags, see `_dual`.
        self._start = np.empty((n, n_words), dtype=np.float32)
        for i in range(n):
            own = self._own(i)
            nearest = own.min(axis=0)
            # This is the relaxed distance of Kusner et al. (2015) in one direction.
            self._left[i] = index.local @ nearest - _SLACK
            self._start[i] = np.float32(DAMPING) * nearest
        if self._alone:
            self._temperature = np.float32(_TEMPERATURE) * own.mean()
            self._by_word = np.ascontiguousarray(own.T)

    def _own(self, i: int) -> Array:
        """Get the costs of the words of a query."""
        if self._alone:
            return self._costs
        return self._costs[self._rows[i, : self._sizes[i]]]

    def find(self, k: int | None, radius: float, skip: Array) -> list[Pairs]:
        """Find distances and numbers of the nearest bags of each query."""
        left, n = self._left, len(self._left)
        self._k, self._radius = k, radius
        self._limits = np.full(n, self._index.scaled(radius))
        self._solved: list[Pairs] = [[] for _ in range(n)]
        itself = np.flatnonzero(skip >= 0)
        left[itself, skip[itself]] = np.inf
        if k is not None:
            # With more bags, the nearest are further down in the order of relaxed
            # bounds. If they are missed, the first limit is loose, but still correct.
            n_bags = left.shape[1] - bool(len(itself))
            few = min(max(4 * k, 24, isqrt(n_bags // 2)), n_bags)
            likely = left.argpartition(few - 1, axis=1)[:, :few]
            of = np.arange(n).repeat(few)
            bounds, asked = self._bounds(of, likely.ravel())
            left[of, likely.ravel()] = np.maximum(left[of, likely.ravel()], bounds)
            bounds = bounds.reshape(n, few)
            best = bounds.argsort(axis=1, kind="stable")[:, : k + _SPARE]
            # Upper quartiles of the potentials leave half as many bags as their mean
            # does. The mean over the best bags then rules out a quarter of those.
            asked = asked.reshape(n, few, -1)
            of_best = np.take_along_axis(asked, best[:, :, None], axis=1)
            self._share(np.sort(asked, axis=1)[:, 3 * few // 4], of_best.mean(axis=1))
            top = np.take_along_axis(likely, best, axis=1)
            bounds = np.take_along_axis(bounds, best, axis=1)
            self._solve(np.arange(n).repeat(top.shape[1]), top.ravel(), bounds.ravel())
        of, bags = (left <= self._limits[:, None]).nonzero()
        order = left[of, bags].argsort(kind="stable")
        of, bags = of[order], bags[order]
        # Few bags are solved at a time, because limits fall and rule out the others.
        step = 1 + int(4 * _AT_ONCE / self._rows.shape[1] / self._index.sizes.mean())
        for part in blocks(len(of), step):
            near = left[of[part], bags[part]] <= self._limits[of[part]]
            if near.any():
                self._solve(of[part][near], bags[part][near])
        return self._solved

    def _share(self, *asked: Array) -> None:
        """Bound all bags by given potentials of the queries' words, at most 2."""
        for i, size in enumerate(self._sizes):
            own = self._own(i)
            for potentials in asked:
                ask = potentials[i, :size]
                lowest = (own - ask[:, None]).min(axis=0)
                shared = self._index.local @ np.minimum(lowest, _MOST)
                shared += self._masses[i, :size] @ ask - _SLACK
                np.maximum(self._left[i], shared, out=self._left[i])

    def _solve(self, of: Array, bags: Array, bounds: Array | None = None) -> None:
        """Bound pairs of a query and a bag, and solve those that may be near."""
        if bounds is None or self._alone:  # Sinkhorn's steps improve known bounds
            bounds, _ = self._bounds(of, bags, self._limits if self._alone else None)
        self._left[of, bags] = np.inf
        order, index = bounds.argsort(kind="stable"), self._index
        # Masses are padded to the longest bag, which may be much longer than others.
        width = self._rows.shape[1] + index.sizes[bags].max(initial=0)
        for part in blocks(len(order), 1 + int(_AT_ONCE // width)):
            at = order[part]
            at = at[bounds[at] <= self._limits[of[at]]]
            words, a, b = self._residuals(of[at], bags[at])
            asked = _as_bags(self._words[of[at]], a)
            held = _as_bags(index.words[words], b)
            ordered = (each[at].tolist() for each in (bounds, of, bags))
            limits = self._limits.tolist()
            for bound, i, bag, x, y in zip(*ordered, asked, held, strict=True):
                if bound > limits[i]:
                    continue
                distance = word_movers(x, y, index.vectors, True)
                solved = self._solved[i]
                if distance <= self._radius:
                    insort(solved, (distance, bag))
                if self._k is not None and len(solved) >= self._k:
                    del solved[self._k :]
                    limits[i] = index.scaled(solved[-1][0])
            self._limits[:] = limits

    def _bounds(
        self, of: Array, bags: Array, limits: Array | None = None
    ) -> tuple[Array, Array]:
        """Compute bounds of pairs (query, bag), and potentials of the query's words.

        Sinkhorn's steps improve bounds that are within the `limits` of the queries.
        """
        sizes, width = self._index.sizes[bags], self._rows.shape[1]
        bounds, asked = np.empty(len(of)), np.empty((len(of), width), np.float32)
        # Bags of similar size are processed together, because they are padded.
        order = sizes.argsort(kind="stable")[::-1]
        while len(order):
            n = max(1, _AT_ONCE // (width * int(sizes[order[0]])))
            some, order = order[:n], order[n:]
            bounds[some], asked[some] = self._dual(of[some], bags[some], limits)
        return bounds, asked

    def _residuals(self, of: Array, bags: Array) -> tuple[Array, Array, Array]:
        """Get padded words of bags, and the masses that pairs do not share.

        The masses of the words of the queries come first, then those of the bags.
        """
        local = self._index.local
        starts, sizes = local.indptr[bags], self._index.sizes[bags]
        columns = np.arange(sizes.max(initial=0))
        filled = columns < sizes[:, None]
        at = np.where(filled, starts[:, None] + columns, 0)
        words, b = local.indices[at], np.where(filled, local.data[at], 0.0)
        a = self._masses[of]
        own = np.where(filled, self._place[of[:, None], words], -1)
        p, j = (own >= 0).nonzero()
        i = own[p, j]
        a[p, i], b[p, j] = cancel(a[p, i], b[p, j])
        return words, a, b

    def _dual(
        self, of: Array, bags: Array, limits: Array | None
    ) -> tuple[Array, Array]:
        """Bound pairs by dual ascent, after removing the mass that they share.

        Weak duality: α_i + β_j ≤ C_ij for all pairs of words with mass makes a·α + b·β
        at most the cost. First β = damping·(least cost of each word), which all bags
        share, then α = min(C − β), then β = min(C − α).
        """
        words, a, b = self._residuals(of, bags)
        # Costs of shape (pairs, words of a bag, words of a query), less the initial β.
        # Words without mass constrain no potential.
        start = np.where(b > 0.0, self._start[of[:, None], words], -_FAR)
        if self._alone:
            C = self._by_word.take(words, axis=0)
        else:  # pairs are contiguous in memory, which is faster for short bags
            rows = self._rows[of] * self._costs.shape[1]
            C = self._costs.take(rows.T[:, None] + words.T).T
        C -= start[:, :, None]
        value, alpha, more = _ascend(C, a, b, start)
        bounds = value - _SLACK
        if limits is not None:
            go = np.flatnonzero(bounds <= limits[of])
            C, a, b = C[go] - more[go, :, None], a[go], b[go]
            soft = _sinkhorn(C, a, b, self._temperature)
            C -= soft[:, :, None]
            bounds[go] += np.fmax(_ascend(C, a, b, soft)[0], 0.0)
        return bounds, alpha


def _as_bags(words: Array, masses: Array) -> list[Bag]:
    """Get the words that have mass in each row, and their masses."""
    filled = masses > 0.0
    words, masses, ends = words[filled], masses[filled], filled.sum(axis=1).cumsum()
    return [(words[i:j], masses[i:j]) for i, j in pairwise([0, *ends.tolist()])]


def _ascend(C: Array, a: Array, b: Array, beta: Array) -> tuple[Array, Array, Array]:
    """Compute the dual value of the best α for β and the best β for α; α; gains of β.

    `C` holds costs less β, and afterwards less α. The result is feasible for any β.
    """
    alpha = np.where(a > 0.0, np.minimum(C.min(axis=1), _MOST), _ZERO)
    C -= np.where(a > 0.0, alpha, -_FAR)[:, None]
    more = np.minimum(C.min(axis=2), _MOST)
    value = (a * alpha).sum(axis=1) + (b * np.minimum(beta + more, _MOST)).sum(axis=1)
    return value, alpha, more


def _sinkhorn(C: Array, a: Array, b: Array, temperature: np.float32) -> Array:
    """Compute potentials of the words of bags by a few steps of Sinkhorn."""
    a32, b32 = (part.astype(np.float32)[:, :, None] for part in (a, b))
    with np.errstate(all="ignore"):  # the caller ignores bounds that are NaN
        kernel = np.exp(C / -temperature)
        back = kernel.transpose(0, 2, 1)
        u: Array = np.ones_like(a32)
        for _ in range(_STEPS):
            v = b32 / (kernel @ u + _LEAST)
            u = a32 / (back @ v + _LEAST)
        soft = temperature * np.log(np.clip(v[:, :, 0], _LEAST, _FAR))
    return np.clip(soft, -_MOST, _MOST)
