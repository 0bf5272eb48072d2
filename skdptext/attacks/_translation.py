"""What each released word stands for, learned from other pairs of texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from skdptext.attacks._similarity import (
    FEWEST_PAIRS,
    bags_of,
    numbered,
    tf_idf_cosines,
)

_FOLDS = 5
# Words of a text that are aligned; places that a word may have moved by, and how fast
# the odds of that fall.
_PLACES, _MOVED, _DECAY = 500, 3, 0.5
_ROUNDS = 4
# Lengths that differ by more are not aligned; shares of a word that are kept.
_RATIO, _KEPT = 1.25, 0.02


class Translation:
    """Releases in the words of the originals, by tables learned from the other folds.

    IBM's second alignment model, with a prior around the diagonal: a word that is
    inserted or dropped moves the others by one place. None of the tables that
    translate a release has seen it.
    """

    def __init__(
        self, clear: Sequence[Sequence[str]], noisy: Sequence[Sequence[str]], seed: int
    ) -> None:
        self.words, (self._clear, self._noisy) = numbered(clear, noisy)
        n = len(clear)
        self._fold = np.random.default_rng([seed, 2]).permutation(np.arange(n) % _FOLDS)
        self._tables = self._learn()

    @staticmethod
    def applies(clear: Sequence[Sequence[str]], noisy: Sequence[Sequence[str]]) -> bool:
        """Whether most lengths agree, and there are pairs to learn from."""
        sizes = [(len(a), len(b)) for a, b in zip(clear, noisy, strict=True)]
        alike = [a and 1 / _RATIO <= b / a <= _RATIO for a, b in sizes]
        return len(sizes) >= FEWEST_PAIRS and sum(map(bool, alike)) >= len(sizes) / 2

    def _learn(self) -> list[sp.csr_array]:
        """For each fold, what a released word stands for, in all others."""
        text, place, z, w, prior = self._aligned()
        size = len(self.words)
        pairs, number = np.unique(z * size + w, return_inverse=True)
        of_pair_z, of_pair_w = np.divmod(pairs, size)
        starts = np.flatnonzero(np.diff(place, prepend=-1))
        widths = np.diff(np.append(starts, len(place)))
        tables = []
        for fold in range(_FOLDS):
            seen = prior * (self._fold[text] != fold)
            odds = np.ones(len(pairs))
            for _ in range(_ROUNDS):
                share = seen * odds[number]
                total = np.add.reduceat(share, starts) if len(starts) else share
                share /= np.repeat(np.where(total > 0, total, 1), widths)
                counts = np.bincount(number, share, len(pairs))
                of_w = np.bincount(of_pair_w, counts, size)
                odds = counts / np.maximum(of_w[of_pair_w], 1e-12)
            of_z = np.bincount(of_pair_z, counts, size)
            share = counts / np.maximum(of_z[of_pair_z], 1e-12)
            kept = share >= _KEPT
            tables.append(
                _with_unknown(of_pair_z[kept], of_pair_w[kept], share[kept], size)
            )
        return tables

    def _aligned(self) -> tuple[np.ndarray, ...]:
        """Each released word beside the words around its place in the original.

        Their text, the number of the released word among all, both words, and the odds.
        """
        parts, before = [], 0
        for i, (z, w) in enumerate(zip(self._noisy, self._clear, strict=True)):
            z, w = z[:_PLACES], w[:_PLACES]
            if not (len(z) and len(w) and 1 / _RATIO <= len(z) / len(w) <= _RATIO):
                continue
            # the end of the shorter text may be that of the longer one, or before it
            centre = np.minimum(np.arange(len(z)), len(w) - 1)
            moves = np.arange(-_MOVED, _MOVED + 1)
            to = centre[:, None] + moves
            inside = (to >= 0) & (to < len(w))
            rows, columns = np.nonzero(inside)
            odds = np.exp(-_DECAY * np.abs(moves))[columns]
            at = np.full(len(rows), i), before + rows, z[rows], w[to[inside]], odds
            parts.append(at)
            before += len(z)
        if not parts:
            empty = np.array([], dtype=int)
            return (*[empty] * 4, np.array([]))
        return tuple(map(np.concatenate, zip(*parts, strict=True)))

    def texts(self) -> list[list[str]]:
        """Each release, word by word, in what its words most likely stand for."""
        best = []
        for table in self._tables:
            likeliest = np.arange(len(self.words))
            order = np.argsort(table.data, kind="stable")
            rows = np.repeat(likeliest, np.diff(table.indptr))
            likeliest[rows[order]] = table.indices[order]
            best.append(likeliest)
        return [
            [self.words[w] for w in best[fold][z]]
            for fold, z in zip(self._fold, self._noisy, strict=True)
        ]

    def similarity(self) -> np.ndarray:
        """tf-idf between the originals and what the releases stand for."""
        size = len(self.words)
        noisy, clear = (bags_of(texts, size) for texts in (self._noisy, self._clear))
        translated = sp.vstack(
            [noisy[self._fold == k] @ table for k, table in enumerate(self._tables)],
            format="csr",
        )
        order = np.argsort(self._fold, kind="stable")
        translated = translated[np.argsort(order)]
        # shares of words have no logarithm to be weighted by
        return tf_idf_cosines(translated, clear, sublinear=False)


def _with_unknown(
    z: np.ndarray, w: np.ndarray, share: np.ndarray, size: int
) -> sp.csr_array:
    """A table, in which words of no pair stand for themselves."""
    unknown = np.setdiff1d(np.arange(size), z)
    values = np.concatenate([share, np.ones(len(unknown))])
    places = np.concatenate([z, unknown]), np.concatenate([w, unknown])
    return sp.csr_array((values, places), shape=(size, size))
