"""Exact nearest words: an int8 product with a proven bound rules most words out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from skdptext.search._nearest import best_of_pairs, nearest_words, twice_error_bound
from skdptext.utils import blocks, working_memory_bytes

_LARGEST = 127  # of the integers, so that -x is one too
# Points at a time, and words of a tile: their scores stay in the processor's cache.
_ROWS = 512
_TILE = 2048
# Words whose largest score is kept, and which are rescored together.
_GROUP = 16
# A point with more groups than this in doubt goes to the float32 search.
_MAX_GROUPS = 32
# Bytes of bounds, and of vectors that are rescored, at a time.
_BOUND_BYTES = 2**18
_CHUNK_BYTES = 2**19


class Int8Product(Protocol):
    """Products of int8 matrices with sums in int32, by some library."""

    def tile(self, words: np.ndarray) -> Any:
        """Some words, shape (n, dim), as `group_maxima` takes them."""

    def group_maxima(
        self, points: np.ndarray, tiles: list[Any], group: int
    ) -> Iterator[np.ndarray]:
        """Largest entries of points @ tile.T, for one tile after another.

        A tile of n words has n / group maxima for each point: of the columns g,
        g + n / group, … An array may be overwritten when the next one is asked for.
        """


class _Rounded(NamedTuple):
    """Points as integers times a scale each, and what that leaves out."""

    integers: np.ndarray  # int8, shape (n_points, dim)
    scale: np.ndarray
    length: np.ndarray  # of the point, in units of its scale
    error: np.ndarray  # of the point minus its integers, likewise


class Int8Search:
    r"""Nearest words, found through an int8 product and decided exactly.

    The words are those of `nearest_words`, always. The product only rules out words
    that cannot be nearest; the others are rescored in float32, and what that cannot
    decide in float64. `group` divides `tile`, both numbers of words.

    *The product.* Let μ be the mean vector and c = φ − μ. The nearest word to p
    maximises s = p·c − h, with h = ½‖φ‖², as p·μ is the same for all words. Write
    p = α(a + e) and c = β(b + f) with integers a and b between −127 and 127; 127 α is
    the largest magnitude in p, and 127 β the largest in the words of a group. The
    product computes a·b in int32, without error; the largest of a group is kept.

    *The bound.* p·c − αβ a·b = αβ (e·b + (a + e)·f), and therefore, by Cauchy-Schwarz,

    |p·c − αβ a·b| ≤ αβ (‖e‖‖b‖ + ‖a + e‖‖f‖).

    The norms are those of the actual rounding errors, not of the worst case; of each
    kind, a group keeps the largest among its words. With the largest and the smallest h
    of a group they bound its best score from below and from above. Words are sorted by
    h, so that those of a group are close.

    *The rule.* The group of the highest lower bound is scored in float32. Its best word
    rules out every group whose upper bound is lower by 4δ, where δ bounds the error of
    a float32 score (see `nearest_words`). The groups that remain are scored too. Among
    all these words the decision is that of `nearest_words`: one that leads by 2δ is the
    nearest, others are decided by float64 scores, and of equal ones the first is taken.

    *Rounding.* One of the 4δ is for that word's score, three are for the upper bounds,
    which are computed in float32. Seven roundings each move one by at most 2⁻²⁴ of
    αβ ‖a‖‖b‖ + h, give or take the errors of a and b. As ‖c‖ ≤ 2 max‖φ‖, this is less
    than 20 times 2⁻²⁴ (‖p‖ max‖φ‖ + ½ max‖φ‖²), and 3δ is at least 27 times as much.
    """

    #: Multiplies the error bound; below 1 only in tests, which show that it matters.
    _widen = 1.0

    def __init__(
        self,
        vectors: np.ndarray,
        half_norms: np.ndarray,
        product: Int8Product,
        *,
        tile: int = _TILE,
        group: int = _GROUP,
    ) -> None:
        self.vectors = vectors
        self.half_norms = half_norms
        self._product = product
        with np.errstate(over="ignore"):
            self._half32 = half_norms.astype(np.float32)
        self._group = group
        self._tile = min(tile, -(-len(vectors) // group) * group)
        self._mean = vectors.mean(axis=0, dtype=np.float64)
        self._prepare()

    # -- the embedding ---------------------------------------------------------

    def _prepare(self) -> None:
        """Sort, round and measure the words."""
        order = np.argsort(self.half_norms, kind="stable")
        # The last word fills the last group.
        order = np.pad(order, (0, -len(order) % self._group), mode="edge")
        self._words = order.reshape(-1, self._group).astype(np.int32)
        self._tiles = []
        measures = []
        for part in blocks(len(self._words), self._tile // self._group):
            centred = self.vectors[self._words[part]] - self._mean
            scale = _positive(np.abs(centred).max(axis=(1, 2)) / _LARGEST)
            centred /= scale[:, None, None]
            integers = np.rint(centred)
            # Column g + k·n_groups is word k of group g.
            packed = integers.astype(np.int8).swapaxes(0, 1)
            self._tiles.append(self._product.tile(packed.reshape(-1, packed.shape[2])))
            lengths = np.linalg.norm(integers, axis=2).max(axis=1)
            errors = np.linalg.norm(centred - integers, axis=2).max(axis=1)
            measures.append((scale, scale * lengths, scale * errors))
        scale, lengths, errors = np.concatenate(measures, axis=1)
        self._unit = float(scale.max())
        self._scales = (scale / self._unit).astype(np.float32)
        lengths /= self._unit
        errors /= self._unit
        terms = self._widen * lengths, self._widen * errors
        with np.errstate(over="ignore"):
            half = self.half_norms[self._words] / self._unit / self._unit
            low, high = half.min(axis=1), half.max(axis=1)
            self._below = -np.array([*terms, high]).astype(np.float32)
            self._above = np.array([*terms, -low]).astype(np.float32)
        # Beyond float32 or int32 nothing could be ruled out.
        self._usable = bool(np.isfinite(self._below).all())
        self._usable &= self.vectors.shape[1] * _LARGEST**2 < 2**31

    # -- the search ------------------------------------------------------------

    def __call__(self, points: np.ndarray, memory: int | None = None) -> np.ndarray:
        """Index of the nearest word to each point, int32.

        `memory`: bytes for scores; a quarter of scikit-learn's ``working_memory``.
        """
        points = np.asarray(points, dtype=np.float64)
        ids = np.empty(len(points), dtype=np.int32)
        left = np.full(len(points), not self._usable)
        if self._usable:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                for rows in blocks(len(points), self._rows_within(memory)):
                    ids[rows], left[rows] = self._search(points[rows])
        if left.any():
            ids[left] = nearest_words(
                points[left], self.vectors, self.half_norms, memory=memory
            )
        return ids

    def _rows_within(self, memory: int | None) -> int:
        """Points at a time, which with their scores and maxima keep to the memory."""
        budget = working_memory_bytes() // 4 if memory is None else memory
        per_row = 4 * self._tile + 4 * len(self._words) + 40 * self.vectors.shape[1]
        return int(np.clip(budget // per_row, 16, _ROWS))

    def _search(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Words of a block, and which rows are left to the float32 search."""
        rounded = _round(points)
        maxima = self._maxima(rounded.integers)
        parts = self._parts(rounded)
        points32 = points.astype(np.float32)
        error = twice_error_bound(points, self.half_norms)
        left = ~(np.isfinite(error) & _within_float32(parts))
        # What is below a float32 score by this is ruled out.
        shift = 2 * error + points @ self._mean
        first = np.empty(len(points), dtype=np.intp)
        scores = np.empty((len(points), self._group), dtype=np.float32)
        candidates = []
        n_pairs = max(1, _CHUNK_BYTES // (4 * self._group * points.shape[1]))
        n_rows = int(np.clip(_BOUND_BYTES // (4 * maxima.shape[1]), 1, n_pairs))
        bounds = np.empty((n_rows, maxima.shape[1]), dtype=np.float32)
        for rows in blocks(len(points), n_rows):
            bound = bounds[: rows.stop - rows.start]
            self._bound(maxima[rows], parts[rows], self._below, bound)
            first[rows] = top = bound.argmax(axis=1)
            scores[rows] = self._rescore(points32[rows], top)
            floor = (scores[rows].max(axis=1) - shift[rows]) / self._unit
            floor /= rounded.scale[rows]
            left[rows] |= ~np.isfinite(floor)
            floor[left[rows]] = np.inf  # others decide these
            self._bound(maxima[rows], parts[rows], self._above, bound)
            bound[np.arange(len(top)), top] = -np.inf
            row, group = np.divmod(
                np.flatnonzero(bound >= floor.astype(np.float32)[:, None]),
                bound.shape[1],
            )
            crowded = np.bincount(row, minlength=len(top)) > _MAX_GROUPS
            left[rows] |= crowded
            few = ~crowded[row]
            candidates.append((row[few] + rows.start, group[few]))
        row, group = (np.concatenate(part) for part in zip(*candidates, strict=True))
        more = np.empty((len(row), self._group), dtype=np.float32)
        for part in blocks(len(row), n_pairs):
            more[part] = self._rescore(points32[row[part]], group[part])
        row = np.concatenate([np.arange(len(points)), row])
        group = np.concatenate([first, group])
        scores = np.concatenate([scores, more])
        return self._decide(points, error, row, self._words[group], scores), left

    def _maxima(self, integers: np.ndarray) -> np.ndarray:
        """Largest β a·b of each group, in units of the largest β, float32."""
        maxima = np.empty((len(integers), len(self._words)), dtype=np.float32)
        start = 0
        for tile in self._product.group_maxima(integers, self._tiles, self._group):
            columns = slice(start, start + tile.shape[1])
            maxima[:, columns] = tile
            maxima[:, columns] *= self._scales[columns]
            start = columns.stop
        return maxima

    def _parts(self, rounded: _Rounded) -> np.ndarray:
        """What the terms of the bounds of all groups are multiplied with."""
        parts = rounded.error, rounded.length, self._unit / rounded.scale
        return np.column_stack(parts).astype(np.float32)

    @staticmethod
    def _bound(
        maxima: np.ndarray, parts: np.ndarray, terms: np.ndarray, out: np.ndarray
    ) -> None:
        """Fill in a bound of the best score of each group, from below or above."""
        np.matmul(parts, terms, out=out)
        out += maxima

    def _rescore(self, points: np.ndarray, group: np.ndarray) -> np.ndarray:
        """Float32 scores of the words of one group for each point."""
        words = self._words[group]
        near = self.vectors.take(words, axis=0)
        scores = np.matmul(near, points[:, :, None])[:, :, 0]
        scores -= self._half32[words]
        return scores

    def _decide(
        self,
        points: np.ndarray,
        error: np.ndarray,
        row: np.ndarray,
        words: np.ndarray,
        scores: np.ndarray,
    ) -> np.ndarray:
        """The nearest word of each row, among those listed with their scores."""
        best = np.full(len(points), -np.inf)
        np.maximum.at(best, row, scores.max(axis=1))
        line, place = np.nonzero(scores >= (best - error)[row, None])
        row, words = row[line], words[line, place]
        alone = (np.bincount(row, minlength=len(points)) == 1)[row]
        ids, _ = best_of_pairs(
            points, self.vectors, self.half_norms, row[~alone], words[~alone]
        )
        ids[row[alone]] = words[alone]
        return ids


def _round(points: np.ndarray) -> _Rounded:
    scale = _positive(np.abs(points).max(axis=1) / _LARGEST)
    exact = points / scale[:, None]
    nearest = np.rint(exact)
    integers = nearest.astype(np.int8)
    length = np.sqrt(np.einsum("ij,ij->i", exact, exact))
    exact -= nearest
    error = np.sqrt(np.einsum("ij,ij->i", exact, exact))
    return _Rounded(integers, scale, length, error)


def _positive(scale: np.ndarray) -> np.ndarray:
    """Where all numbers are zero, any scale does; the smallest disturbs no other."""
    return np.maximum(scale, np.finfo(float).tiny)


def _within_float32(parts: np.ndarray) -> np.ndarray:
    """Of which points the bounds neither overflow nor underflow."""
    return (parts.max(axis=1) < 2.0**60) & (parts[:, 2] > 2.0**-60)


def is_exact(product: Int8Product, dim: int) -> bool:
    """Whether a product of such a length is exact on sums that saturate int16."""
    signs = np.random.default_rng(0).integers(0, 2, (600, dim), dtype=np.int8)
    largest = _LARGEST * (2 * signs - 1)
    points, words = largest[:88], largest[88:]
    expected = points.astype(float) @ words.T.astype(float)
    (computed,) = product.group_maxima(points, [product.tile(words)], 1)
    return np.array_equal(computed, expected)
