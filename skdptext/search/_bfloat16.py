"""Exact nearest words: a bfloat16 product with a proven bound rules most words out."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from skdptext.search._nearest import best_of_pairs, nearest_words, twice_error_bound
from skdptext.utils import blocks, working_memory_bytes

__all__ = ["Arithmetic", "BFloat16Search"]

# Words of one tile: its scores for a block of points stay in the cache.
TILE = 2048
# Words whose largest score is kept, and which are rescored together.
GROUP = 16
# The groups of a tile are a multiple of this, to fill vector registers.
_LANES = 32
# A point with more groups than this in doubt goes to the float32 search.
_MAX_GROUPS = 16
_HALF_COLUMNS = 2  # bfloat16 numbers that hold ½‖φ‖² together
_ROUND_BF16 = 2.0**-8  # largest relative error of rounding to bfloat16
_ROUND_SUM = 2.0**-22  # of one float32 addition, four times what rounding allows
_SMALLEST = 2.0**-124  # four times what flushing a subnormal to zero can cost
_MARGIN = 1 + 2.0**-8  # rounding of the bound itself
_CHECKED = 64  # points on which an arithmetic is tested before it is used


class Arithmetic(Protocol):
    """Arrays of some library, on some device, and their bfloat16 product."""

    xp: Any  # numpy, torch: sqrt, isfinite, argmax, cumsum, … by the same names
    max_rows: int  # points at a time
    chunk_bytes: int  # gathered vectors at a time, if memory allows
    bound_bytes: int  # bounds of groups at a time, likewise

    def put(self, array: np.ndarray) -> Any:
        """The array on the device."""

    def get(self, array: Any) -> np.ndarray:
        """An array of the device as NumPy's."""

    def bfloat16(self, array: Any) -> Any:
        """Rounded to bfloat16, contiguous."""

    def float32(self, array: Any) -> Any:
        """As float32."""

    def group_maxima(self, points: Any, tile: Any, n_groups: int) -> Any:
        """Largest entry of points @ tile.T among the columns g, g + n_groups, …"""

    def concatenate(self, arrays: list[Any], axis: int = 1) -> Any:
        """Side by side, or of axis 0 one below the other."""

    def argmax(self, array: Any) -> Any:
        """Column of the largest entry of each row; of a NaN, if there is one."""

    def nonzero(self, mask: Any) -> tuple[Any, Any]:
        """Rows and columns of the true entries, row by row."""

    def filled(self, shape: tuple[int, ...], value: float) -> Any:
        """A float32 array."""

    def products(self, vectors: Any, rows: Any, points: Any) -> Any:
        """Of point i with vectors[rows[i]], shape (n_points, rows.shape[1])."""


class _Room(NamedTuple):
    """Bytes of temporary arrays, which bound how many rows are taken at a time."""

    vectors: int  # of words that are rescored
    bounds: int  # of groups


class BFloat16Search:
    r"""Nearest words, found through a bfloat16 product and decided exactly.

    The words are those of `nearest_words`, always. The product only rules out words
    that cannot be nearest; the others are rescored in float32, and what that cannot
    decide in float64.

    Parameters
    ----------
    vectors : ndarray of shape (n_words, dim), float32
    half_norms : ndarray of shape (n_words,), float64
        `half_squared_norms(vectors)`.
    arithmetic : Arithmetic
    tile, group : int
        Words of a tile and of a group.

    Notes
    -----
    *The product.* Let μ be the mean vector and c = φ − μ. The nearest word to p
    maximises s = p·c − h, with h = ½‖φ‖², as p·μ is the same for all words. Let a and
    b be p and c rounded to bfloat16, and b', b'' two bfloat16 numbers with b' + b'' ≈
    −h. The device computes ŝ = (a, 1, 1)·(b, b', b''), sums in float32, and rounds the
    result to bfloat16.

    *The bound.* Before the last rounding, |ŝ − s| ≤ E, where

    E = ‖p − a‖‖b‖ + ‖p‖‖c − b‖ + |h + b' + b''| + γ(‖a‖‖b‖ + |b'| + |b''|) + ω.

    Proof. p·c − a·b = (p − a)·b + p·(c − b), and Cauchy-Schwarz bounds either term:
    these are the *actual* rounding errors, about two fifths of what the format allows,
    2⁻⁸ of the norms each. Products of two bfloat16 numbers fit float32. A sum of K of
    them errs by at most γ = 2⁻²²(K + 8) times the sum of their magnitudes, which is
    ≤ ‖a‖‖b‖ + |b'| + |b''|: rounding to nearest, in any order, needs 2⁻²⁴ K, and tensor
    cores, which align b addends and cut them off at 24 bits, 2⁻²³(K + 2K/b), b ≥ 4
    (Fasi et al. 2021). Numbers below 2⁻¹²⁶ may be flushed to zero: a factor costs at
    most 2⁻¹²⁶ times the other one, a product or a sum 2⁻¹²⁶; all K of them less than
    ω = 2⁻¹²⁴ K(1 + ‖a‖ + ‖b‖). ∎

    *The rule.* The last rounding is to nearest: it moves x by at most u|x| and u times
    the result, u = 2⁻⁸, and keeps the order. For any word, ŝ − u|ŝ| − E is thus a
    lower bound of its s; t, the bound of the word with the largest ŝ − E, one of the
    best s. A word that reaches it has s ≥ t, so the sum was ≥ t − E, and rounded it is
    ŝ ≥ t − E − u(|t| + E). All other words are ruled out. The comparison is made for
    groups of words, with the largest ŝ and the largest parts of E of the group. Words
    are sorted by ‖c‖, which makes the words of a group alike.

    *Ties.* E is taken wider by a factor 1 + 2⁻⁸, more than float64 scores can err: a
    word ruled out is not best in float64 either. So both searches return the word of
    best float64 score, the first of equal ones.

    *Trust.* That sums are kept in float32 is a property of the device. It is tested on
    some points when the embedding is prepared (`keeps_bound`).

    References
    ----------
    M. Fasi, N. Higham, M. Mikaitis, S. Pranesh, "Numerical behavior of NVIDIA tensor
    cores", PeerJ Computer Science 7:e330 (2021).
    """

    #: Multiplies E; below 1 only in tests, which show that the bound matters.
    _widen = 1.0

    def __init__(
        self,
        vectors: np.ndarray,
        half_norms: np.ndarray,
        arithmetic: Arithmetic,
        *,
        tile: int = TILE,
        group: int = GROUP,
    ) -> None:
        self.vectors = vectors
        self.half_norms = half_norms
        self.arithmetic = arithmetic
        with np.errstate(over="ignore"):
            self._half32 = half_norms.astype(np.float32)
        self._group = group
        self._tile = tile
        self._prepare()

    # -- the embedding ---------------------------------------------------------

    def _prepare(self) -> None:
        """Sort, round and measure the words; put them on the device."""
        put = self.arithmetic.put
        n_words, dim = self.vectors.shape
        mean = self.vectors.mean(axis=0, dtype=np.float64)
        norms = np.empty(n_words)
        for rows in blocks(n_words, 4096):
            norms[rows] = np.linalg.norm(self.vectors[rows] - mean, axis=1)
        order = np.argsort(-norms, kind="stable")
        self._dim = dim + _HALF_COLUMNS
        self._tiles: list[tuple[Any, int]] = []
        members, measures = [], []
        for part in blocks(n_words, self._tile):
            words = order[part]
            n_groups = -(-len(words) // self._group)
            n_groups += -n_groups % min(_LANES, self._tile // self._group)
            tile, sizes = self._pack(words, mean, n_groups * self._group)
            self._tiles.append((tile, n_groups))
            # Column g + k·n_groups is word k of group g; -1 stands for none.
            padded = np.full(n_groups * self._group, -1)
            padded[: len(words)] = words
            members.append(padded.reshape(self._group, n_groups).T)
            sizes = np.pad(sizes, ((0, 0), (0, len(padded) - len(words))))
            measures.append(sizes.reshape(-1, self._group, n_groups).max(axis=1))
        groups = np.concatenate(members)
        self._words = put(np.maximum(groups, 0))
        halves = np.where(groups >= 0, self._half32[groups], np.float32(np.inf))
        self._halves = put(halves)
        size = np.concatenate(measures, axis=1) * self._widen
        # Numbers beyond bfloat16: nothing could be ruled out.
        self._usable = bool((size < 1e38).all())
        last = np.full((1, size.shape[1]), self._widen)
        with np.errstate(over="ignore"):
            self._sizes = put(np.concatenate([size, last]).astype(np.float32))
        self._on_device = put(self.vectors)

    def _pack(
        self, words: np.ndarray, mean: np.ndarray, width: int
    ) -> tuple[Any, np.ndarray]:
        """A tile in bfloat16 and, per word, the terms of E."""
        ops = self.arithmetic

        def rounded(x: np.ndarray) -> np.ndarray:
            on_device = ops.bfloat16(ops.put(x.astype(np.float32)))
            return ops.get(ops.float32(on_device)).astype(np.float64)

        centred = self.vectors[words] - mean
        # Places without a word score -inf.
        packed = np.zeros((width, self._dim), dtype=np.float32)
        packed[len(words) :, -1] = -np.inf
        half = self.half_norms[words]
        with np.errstate(over="ignore", invalid="ignore"):
            # Beyond float32 it is inf or NaN, and so is E: all points go to float64.
            b = rounded(centred)
            first = rounded(-half)
            second = rounded(-half - first)
            packed[: len(words)] = np.column_stack([b, first, second])
            norm = np.linalg.norm(b, axis=1)
            gamma, omega = self._gamma, self._omega
            sizes = [
                norm,
                np.linalg.norm(centred - b, axis=1),
                np.abs(half + first + second)
                + gamma * (np.abs(first) + np.abs(second))
                + omega * (1 + norm),
            ]
        tile = ops.bfloat16(ops.put(packed))
        return tile, np.nan_to_num(np.array(sizes) * _MARGIN, nan=np.inf)

    @property
    def _gamma(self) -> float:
        return _ROUND_SUM * (self._dim + 8)

    @property
    def _omega(self) -> float:
        return _SMALLEST * self._dim

    # -- the search ------------------------------------------------------------

    def __call__(self, points: np.ndarray, memory: int | None = None) -> np.ndarray:
        """Index of the nearest word to each point.

        Parameters
        ----------
        points : ndarray of shape (n_points, dim)
        memory : int, default=None
            Bytes for scores; None: a quarter of scikit-learn's ``working_memory``.

        Returns
        -------
        ids : ndarray of shape (n_points,), int32
        """
        if not self._usable:
            return nearest_words(points, self.vectors, self.half_norms)
        ids = np.empty(len(points), dtype=np.int32)
        left = []
        with np.errstate(over="ignore", invalid="ignore"):
            n_rows, room = self._plan(memory)
            for rows in blocks(len(points), n_rows):
                ids[rows], open_ = self._search(points[rows], room)
                left.append(open_ + rows.start)
        rest = np.concatenate(left or [np.empty(0, int)])
        if len(rest):
            ids[rest] = nearest_words(points[rest], self.vectors, self.half_norms)
        return ids

    def _plan(self, memory: int | None) -> tuple[int, _Room]:
        """Points at a time, and bytes: their scores, maxima and bounds keep to memory.

        A row has a tile of scores, the maxima twice, and the point in three precisions.
        """
        ops = self.arithmetic
        per_row = 4 * self._tile + 4 * self._sizes.shape[1] + 16 * self._dim
        budget = working_memory_bytes() // 4 if memory is None else memory
        vectors = min(ops.chunk_bytes, budget // 8)
        room = _Room(vectors, min(ops.bound_bytes, budget // 32))
        # three arrays of bounds; what is found among them may take four times as much
        budget -= room.vectors + 7 * room.bounds
        return int(np.clip(budget // per_row, 16, ops.max_rows)), room

    def _maxima(self, points: np.ndarray) -> tuple[Any, Any, Any]:
        """Float32 points, largest ŝ of each group, and the terms of its E."""
        ops, xp = self.arithmetic, self.arithmetic.xp
        p = ops.put(points.astype(np.float32))
        ones = ops.filled((len(points), _HALF_COLUMNS), 1.0)
        a = ops.bfloat16(ops.concatenate([p, ones]))
        maxima = [ops.group_maxima(a, tile, n) for tile, n in self._tiles]
        best = ops.concatenate(maxima)
        error = p - ops.float32(a)[:, : p.shape[1]]
        # The squares of numbers below 2⁻⁶³ vanish; the casts to float32 cost 2⁻²⁴ ‖p‖.
        floor = 2.0**-60 * self._dim
        norm = xp.sqrt((p * p).sum(1)) + floor
        rounding = xp.sqrt((error * error).sum(1)) + floor + 2.0**-23 * norm
        on_b = rounding + 2 * self._gamma * norm + self._omega
        one = ops.filled((len(points), 1), 1.0)
        parts = ops.concatenate(
            [on_b[:, None], norm[:, None], one, 2 * self._omega * norm[:, None]]
        )
        return p, best, parts * _MARGIN

    def _work_arrays(self, n_rows: int) -> list[Any]:
        """For `best`, `bound` and `low`: allocating them anew would cost more."""
        shape = n_rows, self._sizes.shape[1]
        return [self.arithmetic.filled(shape, 0.0) for _ in range(3)]

    def _bounded(self, maxima: Any, parts: Any, best: Any, bound: Any) -> None:
        """Fill in the largest ŝ of each group in float32, and its E."""
        best[:] = maxima
        # The margin covers even TF32, which the user may have enabled.
        self.arithmetic.xp.matmul(parts, self._sizes, out=bound)

    def _search(self, points: np.ndarray, room: _Room) -> tuple[np.ndarray, np.ndarray]:
        """Words of a block, and the rows that are left to the float32 search."""
        ops = self.arithmetic
        p, maxima, parts = self._maxima(points)
        # A few rows at a time: their bounds stay in the processor's cache.
        size = max(1, room.bounds // (4 * maxima.shape[1]))
        arrays = self._work_arrays(min(size, len(points)))
        found = []
        for rows in blocks(len(points), size):
            best, bound, low = (part[: rows.stop - rows.start] for part in arrays)
            self._bounded(maxima[rows], parts[rows], best, bound)
            row, *rest = self._survivors(best, bound, low)
            found.append((row + rows.start, *rest))
        row, group, counts, known = (
            ops.concatenate(list(part), 0) for part in zip(*found, strict=True)
        )
        scores = self._rescore(p, row, group, room.vectors)
        flat, words = self._by_row(counts, row, group, scores)
        winner, top, gap = self._top_two(flat)
        slack = twice_error_bound(points, self.half_norms)
        known, top, gap = ops.get(known), ops.get(top), ops.get(gap)
        known &= np.isfinite(top)
        at = np.arange(len(points))
        ids = ops.get(words[ops.put(at), winner])
        doubtful = np.flatnonzero(known & ~(gap > slack))
        if len(doubtful):
            chosen = ops.put(doubtful)
            near, among = ops.get(flat[chosen]), ops.get(words[chosen])
            floor = (top - slack)[doubtful, None]
            some, column = np.nonzero(~(near < floor))
            ids[doubtful] = best_of_pairs(
                points[doubtful],
                self.vectors,
                self.half_norms,
                some,
                among[some, column],
            )[0]
        return ids, np.flatnonzero(~known)

    def _survivors(self, best: Any, bound: Any, low: Any) -> tuple[Any, Any, Any, Any]:
        """Groups that may hold the nearest word, as rows and columns, row by row.

        Also their number per row, and the rows of which all such groups are listed.
        Overwrites `bound` and `low`.
        """
        ops, xp = self.arithmetic, self.arithmetic.xp
        xp.subtract(best, bound, out=low)
        at = ops.argmax(low)  # of a NaN, if there is one; then none is kept
        rows = ops.put(np.arange(len(best)))
        unit = _ROUND_BF16 * _MARGIN
        t = low[rows, at] - unit * abs(best[rows, at])
        bound *= 1 + unit
        bound += best
        row, group = ops.nonzero(bound >= (t - unit * abs(t))[:, None])
        counts = xp.bincount(row, minlength=len(best))
        known = xp.isfinite(t) & (counts <= _MAX_GROUPS)
        listed = known[row]
        return row[listed], group[listed], counts * known, known

    def _rescore(self, p: Any, row: Any, group: Any, n_bytes: int) -> Any:
        """Float32 scores of the words of the groups, shape (n, group)."""
        ops = self.arithmetic
        scores = ops.filled((len(row), self._group), 0.0)
        size = max(1, n_bytes // (4 * self._group * p.shape[1]))
        for part in blocks(len(row), size):
            words = self._words[group[part]]
            scores[part] = ops.products(self._on_device, words, p[row[part]])
            scores[part] -= self._halves[group[part]]
        return scores

    def _by_row(
        self, counts: Any, row: Any, group: Any, scores: Any
    ) -> tuple[Any, Any]:
        """Scores and words of each point side by side, padded with -inf."""
        ops = self.arithmetic
        n, width = len(counts), max(1, int(counts.max()))
        first = ops.xp.cumsum(counts, 0) - counts
        place = ops.put(np.arange(len(row))) - first[row]
        flat = ops.filled((n, width, self._group), -np.inf)
        flat[row, place] = scores
        words = ops.put(np.zeros((n, width, self._group), dtype=np.int64))
        words[row, place] = self._words[group]
        return flat.reshape(n, -1), words.reshape(n, -1)

    def _top_two(self, flat: Any) -> tuple[Any, Any, Any]:
        """Place of the best score of each row, the score, and its lead."""
        ops, xp = self.arithmetic, self.arithmetic.xp
        winner = ops.argmax(flat)
        rows = ops.put(np.arange(len(flat)))
        top = flat[rows, winner]
        flat[rows, winner] = -np.inf
        gap = top - xp.amax(flat, 1)
        flat[rows, winner] = top
        return winner, top, gap

    # -- trust -----------------------------------------------------------------

    def keeps_bound(self) -> bool:
        """Whether the device's sums are as exact as the bound takes them to be."""
        rng = np.random.default_rng(0)
        n = min(_CHECKED, len(self.vectors))
        some = self.vectors[rng.integers(0, len(self.vectors), n)].astype(np.float64)
        spread = np.abs(some).max()
        points = some + spread * rng.normal(size=some.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            _, maxima, parts = self._maxima(points)
            best, bound, _ = self._work_arrays(n)
            self._bounded(maxima, parts, best, bound)
            best, bound = (self.arithmetic.get(x).astype(float) for x in (best, bound))
            exact = self._exact_maxima(points)
            off = np.abs(best - exact) > bound + _ROUND_BF16 * np.abs(best)
        return not (off & np.isfinite(best) & np.isfinite(bound)).any()

    def _exact_maxima(self, points: np.ndarray) -> np.ndarray:
        """Largest s of each group, in float64."""
        mean = self.vectors.mean(axis=0, dtype=np.float64)
        words = self.arithmetic.get(self._words)
        empty = np.isposinf(self.arithmetic.get(self._halves))
        out = np.empty((len(points), len(words)))
        for part in blocks(len(words), 256):
            centred = self.vectors[words[part].ravel()] - mean
            scores = points @ centred.T - self.half_norms[words[part].ravel()]
            scores = scores.reshape(len(points), -1, words.shape[1])
            scores[:, empty[part]] = -np.inf
            out[:, part] = scores.max(axis=2)
        return out
