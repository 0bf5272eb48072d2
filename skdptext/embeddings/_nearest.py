"""Find exact nearest words to many points, by blocked products and certified ties."""

import numpy as np

from skdptext.utils import blocks, working_memory_bytes

# A tile has 16 MB of scores. A smaller product spends more time on packing its factors.
_ROWS = 2048
_COLUMNS = 2048
# For few rows, such as those of a query, a tile has 2 MB of scores. Every tile costs a
# dozen calls of NumPy, but more scores than this do not fit into the cache.
_FEW_SCORES = 2**19
_UNIT_ROUNDOFF = 2.0**-24  # of float32
# Bytes of vectors rescored in float64 at a time. This bounds the memory of the worst
# case.
_PAIR_BYTES = 2**22


def half_squared_norms(vectors: np.ndarray) -> np.ndarray:
    """Compute ½‖φ‖² of every row in float64, without a float64 copy of all rows."""
    out = np.empty(len(vectors))
    for rows in blocks(len(vectors), 512):
        block = vectors[rows].astype(np.float64)
        out[rows] = 0.5 * np.einsum("ij,ij->i", block, block)
    return out


def nearest_words(
    points: np.ndarray,
    vectors: np.ndarray,
    half_norms: np.ndarray | None = None,
    *,
    memory: int | None = None,
) -> np.ndarray:
    """Find the row of `vectors` nearest to each point in Euclidean distance.

    The result equals that of float64 brute force; equal distances go to the lowest
    index. It does not depend on how the points are split into calls. `half_norms` are
    `half_squared_norms(vectors)`, if the caller has them. `memory` is the number of
    bytes for scores: at most 16 MB, which is the default, and at least 64 rows of a
    tile.

    The nearest word maximizes φᵀp − ½‖φ‖². The float32 product gives these scores to
    within δ = (m + 8)·2⁻²⁴·(‖p‖ max‖φ‖ + ½ max‖φ‖²): a dot product of m terms, summed
    in any order, errs by at most about m unit round-offs times ‖p‖‖φ‖
    (Cauchy-Schwarz). The casts and the norm add a few more. If the two best scores
    differ by more than 2δ, the winner is certain. For the other points, about 1%,
    float64 scores decide among all words within 2δ of the best.
    """
    if half_norms is None:
        half_norms = half_squared_norms(vectors)
    if not len(points):
        return np.empty(0, dtype=np.int32)
    with np.errstate(over="ignore", invalid="ignore"):
        half32 = half_norms.astype(np.float32)
        slack = _twice_error_bound(points, half_norms)
        ids = np.empty(len(points), dtype=np.int32)
        best = np.empty(len(points), dtype=np.float32)
        second = np.empty_like(best)
        n_rows = _ROWS
        if memory is not None:
            n_rows = int(np.clip(memory // (4 * _COLUMNS), 64, _ROWS))
        # Few rows allow wider tiles, up to the number of words.
        columns = max(_COLUMNS, min(_FEW_SCORES // len(points), len(vectors)))
        scores = np.empty(min(n_rows, len(points)) * columns, dtype=np.float32)
        for rows in blocks(len(points), n_rows):
            block = points[rows].astype(np.float32)
            ids[rows], best[rows], second[rows] = _top(block, vectors, half32, scores)
        # Comparisons with NaN are false. Points whose scores overflowed are therefore
        # uncertain, and decided in float64.
        uncertain = np.flatnonzero(~(best - second > slack))
        floor = best - slack
        del scores
        for part in blocks(len(uncertain), max(1, n_rows * _COLUMNS // len(vectors))):
            hard = uncertain[part]
            near = points[hard].astype(np.float32) @ vectors.T
            near -= half32
            for i, row in zip(hard, near, strict=True):
                words = np.flatnonzero(~(row < floor[i]))
                point = points[i].astype(np.float64)
                ids[i] = _first_of_the_nearest(point, vectors, half_norms, words)
    return ids


def k_nearest_words(
    points: np.ndarray,
    vectors: np.ndarray,
    k: int,
    *,
    exclude: np.ndarray | None = None,
    memory: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the k rows of `vectors` nearest to each point in Euclidean distance.

    The result equals that of float64 brute force on the differences; equal distances go
    to the lowest index. It does not depend on how the points are split into calls.

    `exclude` has a row to leave out for each point, such as the word itself if points
    are words. Returns ids and distances, of shape (n_points, k), the nearest first.

    As in `nearest_words`, float32 scores rule out words: those that are below the k-th
    best by more than 2δ plus the rounding error of float64. Exact distances decide
    among the others.

    Points are processed in blocks that stay within `memory` bytes (scikit-learn's
    ``working_memory``), except that a single point needs some 64 bytes per word.
    """
    memory = working_memory_bytes() if memory is None else memory
    ids = np.empty((len(points), k), dtype=np.intp)
    distances = np.empty((len(points), k))
    if not ids.size:
        return ids, distances
    half_norms = half_squared_norms(vectors)
    with np.errstate(over="ignore", invalid="ignore"):
        half32 = half_norms.astype(np.float32)
        slack = _twice_error_bound(points, half_norms)
        slack += _twice_float64_error(points, half_norms)
        n_rows = memory // (64 * len(vectors))
        for rows in blocks(len(points), int(np.clip(n_rows, 1, _ROWS))):
            block = points[rows]
            row = np.arange(len(block))
            scores = block.astype(np.float32) @ vectors.T
            scores -= half32
            if exclude is not None:
                scores[row, exclude[rows]] = -np.inf
            if k == 1:
                best = scores.max(axis=1)  # about twenty times as fast as partition
            else:
                best = np.partition(scores, -k, axis=1)[:, -k]
            floor = best - slack[rows]
            # Comparisons with NaN are false, so a NaN rules out no word.
            near = ~(scores < floor[:, None])
            if exclude is not None:
                near[row, exclude[rows]] = False
            of, word = np.divmod(np.flatnonzero(near), near.shape[1])
            gaps = _distances(block, vectors, of, word)
            # The sort is stable: of equal distances, the lowest index comes first.
            order = np.lexsort((gaps, of))
            first = np.searchsorted(of, row)
            pick = order[first[:, None] + np.arange(k)]
            ids[rows], distances[rows] = word[pick], gaps[pick]
    return ids, distances


def _twice_error_bound(points: np.ndarray, half_norms: np.ndarray) -> np.ndarray:
    """Bound 2δ per point: scores further apart are ordered as in exact arithmetic.

    The last term covers products that underflow float32. The bound is inf if some may
    overflow, because their scores are meaningless.
    """
    n_terms = points.shape[1] + 8
    biggest = float(half_norms.max())
    norms = _norms(points)
    size = norms * np.sqrt(2 * biggest) + biggest
    bound = 2 * (n_terms * _UNIT_ROUNDOFF * size + n_terms * 2.0**-149)
    return np.where(np.maximum(norms, size) < 2.0**127, bound, np.inf)


def _twice_float64_error(points: np.ndarray, half_norms: np.ndarray) -> np.ndarray:
    """Bound the float64 error of half the squared distances and of their roots."""
    reach = _norms(points) + np.sqrt(2 * half_norms.max())
    return 2 * (points.shape[1] + 8) * 2.0**-53 * reach**2


def _norms(points: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("ij,ij->i", points, points, dtype=np.float64))


def _distances(
    points: np.ndarray, vectors: np.ndarray, rows: np.ndarray, words: np.ndarray
) -> np.ndarray:
    """Compute the distance of each pair (row, word) from differences in float64."""
    squares = np.empty(len(rows))
    for part in blocks(len(rows), max(1, _PAIR_BYTES // (16 * points.shape[1]))):
        delta = vectors[words[part]].astype(np.float64)
        delta -= points[rows[part]]
        squares[part] = np.einsum("ij,ij->i", delta, delta)
    return np.sqrt(squares)


def _top(
    block: np.ndarray, vectors: np.ndarray, half32: np.ndarray, scores: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the word of the best score, that score and the second best, by tiles."""
    row = np.arange(len(block))
    # These are the best of the tiles so far. A tile is forgotten after it was compared,
    # and no full row of scores is ever in memory.
    ids = np.zeros(len(block), dtype=np.int32)
    best = np.full(len(block), -np.inf, dtype=np.float32)
    second = best.copy()
    for words in blocks(len(vectors), len(scores) // len(block)):
        n = words.stop - words.start
        # The tile must be contiguous: argmax copies arrays with gaps.
        tile = scores[: len(block) * n].reshape(-1, n)
        np.matmul(block, vectors[words].T, out=tile)
        tile -= half32[words]
        winner = tile.argmax(axis=1)
        top = tile[row, winner]
        # The best score is removed to find the runner-up. Their difference decides
        # whether float32 was precise enough.
        tile[row, winner] = -np.inf
        runner_up = tile.max(axis=1)
        # A NaN wins and makes the lead NaN, which marks the point as uncertain.
        better = ~(top <= best)
        second = np.maximum(np.where(better, best, top), np.maximum(second, runner_up))
        ids[better] = winner[better] + words.start
        best[better] = top[better]
    return ids, best, second


def _first_of_the_nearest(
    point: np.ndarray, vectors: np.ndarray, half_norms: np.ndarray, words: np.ndarray
) -> int:
    """Find the word of the best float64 score among some; ties go to the first."""
    scores = np.empty(len(words))
    for part in blocks(len(words), max(1, _PAIR_BYTES // (8 * len(point)))):
        # einsum treats all rows alike, so equal vectors get equal scores. A matrix
        # product may not.
        block = vectors[words[part]].astype(np.float64)
        scores[part] = np.einsum("ij,j->i", block, point)
    scores -= half_norms[words]
    return int(words[scores.argmax()])
