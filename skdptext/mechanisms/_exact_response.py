"""Randomized response without rounding: the choice between a few public groups."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np

from skdptext.mechanisms._channel import Draws, Law
from skdptext.mechanisms._exponential import RandomizedResponseChannel
from skdptext.utils import memo_property

# Above this ε, and a little below, a change is rarer than one in 2^62, which is what is
# drawn then: e^43 is more than 2^62, so that the ratio drawn is no larger than claimed.
_LARGEST = 43.0


class ExactResponseChannel(RandomizedResponseChannel):
    """`RandomizedResponse` with probabilities that are exact.

    Of N equally likely whole numbers some keep a word, and equally many lead to each
    other word; the ratio of the two is never above e^ε. Up to ε = 42 the probabilities
    are those of the formula to one part in 2^50; beyond, a word changes a little more
    often.

    See Also
    --------
    skdptext.DPDocumentReplacer : Its words are the groups of documents.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext.embeddings import one_hot_embedding
    >>> from skdptext.mechanisms import ExactResponseChannel, RandomizedResponse
    >>> groups = one_hot_embedding(["sports", "politics", "science"])
    >>> channel = ExactResponseChannel(RandomizedResponse(), groups, np.log(2), 0.0)
    >>> np.exp(channel.log_proba(np.array([1])))
    array([[0.25, 0.5 , 0.25]])
    """

    def law(self) -> Law:
        """The same, drawn without rounding."""
        return replace(super().law(), numerical_delta=0.0)

    @memo_property
    def shares(self) -> tuple[int, int, int]:
        """Of the numbers: how many keep a word, lead to one other, or to any other."""
        others = len(self.embedding) - 1
        if self.epsilon > _LARGEST:
            return 2**62, 1, others
        with localcontext() as context:
            context.prec = 60
            ratio = Decimal(self.epsilon).exp()
            # so that all numbers together, about 2^62, are integers of 64 bits
            each = max(1, int(2**62 / (ratio + others)))
            # rounded down, whatever the last digit of the ratio, which is above 1
            stays = int(each * ratio * (1 - Decimal(10) ** -55))
            return max(stays, each), each, each * others

    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        """A whole number for each word, all of them equally likely."""
        stays, _, moved = self.shares
        return (rng.integers(stays + moved, size=n),)

    def apply(self, words: np.ndarray, draws: Draws) -> np.ndarray:
        """The words, or others."""
        _, each, moved = self.shares
        others = draws[0] // each
        return np.where(draws[0] < moved, others + (others >= words), words)

    def log_proba(self, words: np.ndarray) -> np.ndarray:
        """ln Pr[z | w] for each of the words and every z, shape (n, n_words)."""
        stays, each, moved = self.shares
        same = np.equal.outer(words, np.arange(len(self.embedding)))
        total = math.log(stays + moved)
        return np.where(same, math.log(stays) - total, math.log(each) - total)
