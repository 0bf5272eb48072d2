"""Nearest words where words share the same noise: one sum per score, no product.

For word w, draw d and scale s the noisy vector is φ(w) + s·z_d, and its score against
word v is G_wv + s·A_dv with G = ΦΦᵀ − ½‖φ‖² and A = ZΦᵀ. G serves all draws and
scales, A all words and scales.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from skdptext.utils import blocks, working_memory_bytes

# Words of one tile. A tile of A for a hundred draws and its scores stay in the cache.
_TILE = 1024
# Words whose rows of G are held at a time.
_ROWS = 256
# Scores of several words that are worked on at once where tables are small: each pass
# then costs more than the numbers in it.
_TOGETHER = 2**16
_UNIT_ROUNDOFF = 2.0**-24  # of float32


class SharedNoise:
    """Noise vectors, of shape (n_draws, dim) and scale 1, that are added to many words.

    `half_norms` are `half_squared_norms(vectors)`.
    """

    def __init__(
        self, noise: np.ndarray, vectors: np.ndarray, half_norms: np.ndarray
    ) -> None:
        self.noise = np.asarray(noise, dtype=np.float64)
        self.vectors = vectors
        self.half_norms = half_norms
        self._half32 = half_norms.astype(np.float32)
        self._norms = np.sqrt(2 * half_norms)
        # Taken off A: it moves all scores of a draw alike, and costs float32 digits.
        self._centre = vectors.mean(axis=0, dtype=np.float64)
        self._tile = min(_TILE, len(vectors))
        self._n_tiles = -(-len(vectors) // self._tile)
        # A quarter of the budget each for A, G and the winners.
        share = working_memory_bytes() // 4
        width = self._n_tiles * self._tile * 4
        self._draws = int(np.clip(share // width, 1, len(self.noise)))
        self._max_rows = int(np.clip(share // width, 1, _ROWS))
        self._share = share
        self._held: tuple[int, np.ndarray] | None = None

    def nearest(
        self, ids: np.ndarray, scales: Sequence[float]
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Nearest word to φ(w) + s·z, for every word w, scale s and noise vector z.

        Yields slices of `ids`, and what `nearest_words` gives for the float64 points,
        ties included: of shape (n_scales, n_rows, n_draws), int32.

        A is computed in float64 and rounded, so that the float32 scores err by no more
        than δ = (m + 8)·2⁻²⁴·(‖φ_w‖ max‖φ‖ + ½ max‖φ‖²) from G (see `nearest_words`),
        plus 4·2⁻²⁴·(s·max|A| + max|G|) from the rounding of A, its scaling and the sum.
        A winner that leads by more than 2δ is certain; the others, a per cent or so,
        are decided by float64 scores among all words within 2δ of the best.
        """
        per_row = len(scales) * len(self.noise) * 4
        n_rows = int(np.clip(self._share // per_row, 1, self._max_rows))
        for rows in blocks(len(ids), n_rows):
            words = ids[rows]
            G = self._inner(words)
            out = np.empty((len(scales), len(words), len(self.noise)), dtype=np.int32)
            for draws in blocks(len(self.noise), self._draws):
                A = self._tiles(draws)
                for i, scale in enumerate(scales):
                    # Beyond float32 all is inf or NaN, and so decided in float64.
                    with np.errstate(over="ignore", invalid="ignore"):
                        nearest, floor = self._scan(A, G, words, scale)
                        for k, d in np.argwhere(~np.isneginf(floor)):
                            point = self.vectors[words[k]].astype(np.float64)
                            point += scale * self.noise[draws][d]
                            scores = (A[:, d] * np.float32(scale)).ravel() + G[k]
                            nearest[k, d] = self._decide(point, scores, floor[k, d])
                    out[i, :, draws] = nearest
            yield rows, out

    def critical_scales(self, ids: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Largest factor s of each noise vector that leaves each word unchanged.

        A word v is nearer to φ(w) + s·z than w is where s·zᵀ(φ_v − φ_w) exceeds
        ½‖φ_v − φ_w‖²: so w stays the nearest up to one s, and never comes back.

        Yields slices of `ids`, and 1/s of shape (n_rows, n_draws), float32: 0 where w
        stays at every scale, inf where it never does, since an earlier word has the
        same vector. The relative error is that of float32, some 10⁻⁵, and larger where
        the nearest word is closer than a thousandth of the embedding's width.
        """
        for rows in blocks(len(ids), self._max_rows):
            words = ids[rows]
            weights = self._inverse_half_squares(words)
            out = np.zeros((len(words), len(self.noise)), dtype=np.float32)
            for draws in blocks(len(self.noise), self._draws):
                A = self._tiles(draws)
                own = A[words // self._tile, :, words % self._tile]
                buffer = np.empty((self._together(A), *A.shape[1:]), dtype=np.float32)
                top = np.zeros((len(words), A.shape[1]), dtype=np.float32)
                for tile in range(self._n_tiles):
                    part = weights[:, tile * self._tile : (tile + 1) * self._tile]
                    for some in blocks(len(words), len(buffer)):
                        gaps = buffer[: some.stop - some.start]
                        np.subtract(A[tile], own[some, :, None], out=gaps)
                        np.multiply(gaps, part[some, None], out=gaps)
                        np.maximum(top[some], gaps.max(axis=2), out=top[some])
                out[:, draws] = top
            out[self._has_earlier_twin(words, weights)] = np.inf
            yield rows, out

    @staticmethod
    def _together(A: np.ndarray) -> int:
        """Words whose scores in a tile of A are worked on at once."""
        return max(1, _TOGETHER // A[0].size)

    def _tiles(self, draws: slice) -> np.ndarray:
        """A of some draws as (n_tiles, n_draws, tile); kept, as it is asked for again.

        The columns past the last word are 0; G is -inf there.
        """
        if self._held is None or self._held[0] != draws.start:
            self._held = None  # free the old one first
            noise = self.noise[draws]
            A = np.zeros((self._n_tiles, len(noise), self._tile), dtype=np.float32)
            for tile, words in enumerate(blocks(len(self.vectors), self._tile)):
                centred = self.vectors[words] - self._centre
                A[tile, :, : len(centred)] = noise @ centred.T
            self._held = draws.start, A
        return self._held[1]

    def _inner(self, words: np.ndarray) -> np.ndarray:
        """Rows of G, padded to whole tiles."""
        n_words = len(self.vectors)
        G = np.empty((len(words), self._n_tiles * self._tile), dtype=np.float32)
        np.matmul(self.vectors[words], self.vectors.T, out=G[:, :n_words])
        G[:, :n_words] -= self._half32
        G[:, n_words:] = -np.inf
        return G

    def _scan(
        self, A: np.ndarray, G: np.ndarray, words: np.ndarray, scale: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Winners by float32 scores; where one is uncertain, the score to reach.

        Where it is certain, that is -inf.

        A first pass keeps one number of each tile: its best score. That is cheap, and
        it tells the tile of the winner. But the lead over the second best is needed,
        too, and the second best may be in the same tile, so a second pass goes through
        the winner's tile alone: one in `n_tiles` of the work of the first.
        """
        n_tiles, n_draws, width = A.shape
        factor = np.float32(scale)
        tops = np.empty((n_tiles, len(words), n_draws), dtype=np.float32)
        buffer = np.empty((n_draws, width), dtype=np.float32)
        biggest = 0.0
        for tile in range(n_tiles):
            scaled = A[tile] * factor
            biggest = max(biggest, float(np.abs(scaled).max()))
            part = G[:, tile * width : (tile + 1) * width]
            for k in range(len(words)):
                np.add(scaled, part[k], out=buffer)
                buffer.max(axis=1, out=tops[tile, k])
        # The tile with the best score of each word and draw, and the best of all other
        # tiles: a lower bound on the second best score.
        won = tops.argmax(axis=0)
        here = won, *np.ogrid[: len(words), :n_draws]
        best = tops[here]
        tops[here] = -np.inf
        second = tops.max(axis=0)
        # The second pass: the scores of the winner's tile once more, by the same
        # arithmetic and so to the same bits, for the place of the best one in the tile,
        # and for the second best there.
        nearest = np.empty(best.shape, dtype=np.int32)
        rows = G.reshape(len(words), n_tiles, width)
        draw = np.arange(n_draws)
        for some in blocks(len(words), self._together(A)):
            again = A[won[some], draw]
            again *= factor
            again += rows[np.arange(some.start, some.stop)[:, None], won[some]]
            place = again.argmax(axis=2)
            np.put_along_axis(again, place[:, :, None], -np.inf, axis=2)
            np.maximum(second[some], again.max(axis=2), out=second[some])
            nearest[some] = place + won[some] * width
        # Two scores err by δ each. A lead of more than 2δ cannot be due to rounding;
        # else every word within 2δ of the best may be the nearest.
        slack = self._slack(words, biggest)[:, None]
        floor = np.where(best - second > slack, -np.inf, best - slack)
        # Not comparable: every word is a candidate.
        floor[~np.isfinite(best) | ~np.isfinite(slack)] = np.nan
        return nearest, floor

    def _decide(self, point: np.ndarray, scores: np.ndarray, floor: float) -> int:
        """Nearest word by float64 scores among those that may reach `floor`."""
        candidates = np.flatnonzero(~(scores[: len(self.vectors)] < floor))
        best, winner = -np.inf, 0
        for part in blocks(len(candidates), 4096):
            words = candidates[part]
            # Row by row alike, so that equal vectors get equal scores.
            exact = (self.vectors[words].astype(np.float64) * point).sum(axis=1)
            exact -= self.half_norms[words]
            first = int(exact.argmax())  # the lowest index of equal scores
            if exact[first] > best:
                best, winner = exact[first], int(words[first])
        return winner

    def _slack(self, words: np.ndarray, biggest: float) -> np.ndarray:
        """2δ of each word; the last term covers products that underflow float32."""
        n_terms = self.vectors.shape[1] + 8
        longest = float(self._norms.max())
        inner = self._norms[words] * longest + 0.5 * longest**2
        error = n_terms * _UNIT_ROUNDOFF * inner + n_terms * 2.0**-149
        return 2 * (error + 4 * _UNIT_ROUNDOFF * (biggest + inner))

    def _inverse_half_squares(self, words: np.ndarray) -> np.ndarray:
        """2/‖φ_v − φ_w‖² of some words w and all v; 0 where the vectors are equal."""
        G = self._inner(words)
        n_words = len(self.vectors)
        half = self._half32[words][:, None] - G[:, :n_words]
        # G cancels where v is near w: those pairs once more, from the difference.
        floor = 2.0**-8 * (self.half_norms[words] + self.half_norms.max())
        for some in blocks(len(words), max(1, _TOGETHER // n_words)):
            of, near = np.nonzero(half[some] < floor[some, None])
            of += some.start
            for part in blocks(len(near), 4096):
                delta = self.vectors[near[part]].astype(np.float64)
                delta -= self.vectors[words[of[part]]]
                half[of[part], near[part]] = 0.5 * np.einsum("ij,ij->i", delta, delta)
        with np.errstate(divide="ignore"):
            G[:, :n_words] = np.where(half > 0, 1 / half, 0)
        G[:, n_words:] = 0
        return G

    def _has_earlier_twin(self, words: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Whether a word before it has the same vector, and so wins every tie."""
        first = (weights[:, : len(self.vectors)] == 0).argmax(axis=1)
        return first < words
