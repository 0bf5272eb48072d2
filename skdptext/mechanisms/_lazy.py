"""Draws from an exponential mechanism without full rows of probabilities."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from skdptext.mechanisms._rate import Fit, WordDistances
from skdptext.search import k_nearest_words
from skdptext.utils import blocks, keyed_generators

__all__ = ["KEY_WORDS", "LazySampler"]

# 64-bit numbers in the key of a word's randomness.
KEY_WORDS = 4
# Words whose neighbours are searched for at a time.
_TOGETHER = 256


class _Top(NamedTuple):
    """What is known about a word before anything is drawn."""

    places: np.ndarray  # of the nearest outputs, ascending
    scores: np.ndarray  # of these outputs: ln μ − a d
    bound: float  # no other output has a larger score


class LazySampler:
    """The Gumbel-max trick, with most of the Gumbel noise never drawn.

    Parameters
    ----------
    table : WordDistances
    law : Fit
        Rate and weights.

    Notes
    -----
    The word with the largest score plus Gumbel noise wins. Noise is first drawn for the
    nearest √V words; let M be the best sum so far, and B a bound on the scores of all
    other words. Another word can win only if its noise is above M − B. The number of
    such words is binomial, and they are a uniformly random subset of the others. So
    noise above M − B is drawn for this many only [1]_. The law is exactly that of the
    exponential mechanism.

    The search works on vectors in float32, which moves distances by less than
    2⁻²² max‖φ‖; B allows for it, and scores are computed from differences in float64.

    References
    ----------
    .. [1] S. Mussmann, D. Levy, S. Ermon (2017). Fast amortized inference and learning
       in log-linear models with randomly perturbed nearest neighbor search. UAI 2017.
    """

    def __init__(self, table: WordDistances, law: Fit) -> None:
        self._table = table
        self._rate = law.rate
        with np.errstate(divide="ignore"):  # words that are never released
            weights = np.ones(len(table)) if law.weights is None else law.weights
            self._log_weights = np.log(weights)
        self._targets = table.targets.astype(np.float32)
        self._slack = 2.0**-22 * float(np.sqrt(np.square(table.targets).sum(1).max()))
        self._k = min(len(table), math.isqrt(len(table)) + 1)

    def __call__(
        self, words: np.ndarray, keys: np.ndarray, kept: dict[int, _Top], memory: int
    ) -> np.ndarray:
        """Places of the noisy words among the outputs.

        Parameters
        ----------
        words : ndarray of int, shape (n,)
        keys : ndarray of uint64, shape (n, KEY_WORDS)
        kept : dict
            What earlier calls found for words; this one adds to it while there is room.
        memory : int
            Bytes for `kept`.
        """
        distinct, numbers = np.unique(words, return_inverse=True)
        order = np.argsort(numbers, kind="stable")
        ends = np.bincount(numbers, minlength=len(distinct)).cumsum().tolist()
        streams = keyed_generators([key.astype("<u8").tobytes() for key in keys])
        found = np.empty(len(words), dtype=np.intp)
        room = memory // (16 * self._k + 512)
        for some in blocks(len(distinct), _TOGETHER):
            here = distinct[some].tolist()
            new = [word for word in here if word not in kept]
            tops = dict(zip(new, self._tops(np.array(new, np.intp)), strict=True))
            for number, word in enumerate(here, some.start):
                top = kept[word] if word in kept else tops[word]
                start = ends[number - 1] if number else 0
                for i in order[start : ends[number]].tolist():
                    found[i] = self._one(word, top, streams[i])
            kept.update(list(tops.items())[: max(0, room - len(kept))])
        return found

    def _tops(self, words: np.ndarray) -> list[_Top]:
        if not len(words):
            return []
        nearest, distances = k_nearest_words(
            self._table.points(words), self._targets, self._k
        )
        nearest = np.sort(nearest, axis=1)
        others = np.maximum(distances[:, -1] - self._slack, 0)
        if self._table.max_distance is not None:
            np.minimum(others, self._table.max_distance, out=others)
        bounds = self._log_weights.max() - self._rate * others
        return [
            _Top(places, self._scores(word, places), bound)
            for word, places, bound in zip(
                words.tolist(), nearest, bounds.tolist(), strict=True
            )
        ]

    def _scores(self, word: int, places: np.ndarray) -> np.ndarray:
        outputs = self._table.outputs[places]
        distances = self._table.between(np.array([word]), outputs)[0]
        return self._log_weights[places] - self._rate * distances

    def _one(self, word: int, top: _Top, rng: np.random.Generator) -> int:
        # −ln of an exponential variable is a Gumbel variable
        sums = top.scores - np.log(rng.standard_exponential(self._k))
        winner = int(sums.argmax())
        best, place = float(sums[winner]), int(top.places[winner])
        n_others = len(self._table) - self._k
        # noise above best − bound: exponential variables below this
        limit = math.exp(min(top.bound - best, 700.0))
        n = int(rng.binomial(n_others, -math.expm1(-limit))) if n_others else 0
        if not n:
            return place
        others = rng.choice(n_others, n, replace=False)
        # numbers of the others become places: they skip the nearest ones
        skipped = top.places - np.arange(self._k)
        others += np.searchsorted(skipped, others, side="right")
        below = -np.log1p(rng.random(n) * math.expm1(-limit))
        with np.errstate(divide="ignore"):  # a uniform of 0, once in 2⁵³
            sums = self._scores(word, others) - np.log(below)
        winner = int(sums.argmax())
        return int(others[winner]) if sums[winner] > best else place
