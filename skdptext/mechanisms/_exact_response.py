"""Randomized response without rounding, over a few public groups."""

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np

from skdptext.mechanisms._losses import LossDistribution

# Near and above this ε, a change is rarer than one in 2^62. One in 2^62 is drawn then:
# e^43 is more than 2^62, so the ratio that is drawn does not exceed the promised one.
_LARGEST = 43.0


@dataclass(frozen=True)
class ExactResponse:
    """Randomized response over `n_groups` groups, with exact probabilities.

    N whole numbers are equally likely. Some of them keep a group, and equally many lead
    to each other group; the ratio of the two counts is never above e^ε. Up to ε = 42
    the probabilities match the formula to one part in 2^50. Beyond, a group changes
    slightly more often than the formula says.

    Parameters
    ----------
    n_groups : int >= 2
        How many groups there are, K.
    epsilon : float > 0
        Privacy parameter ε between any two groups.

    See Also
    --------
    skdptext.DPDocumentReplacer : Applies it to groups of documents.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext.mechanisms import ExactResponse
    >>> np.exp(ExactResponse(3, np.log(2)).log_proba(np.array([1])))
    array([[0.25, 0.5 , 0.25]])
    """

    n_groups: int
    epsilon: float

    @cached_property
    def shares(self) -> tuple[int, int, int]:
        """Counts of numbers that keep a group, lead to one other, or to any other."""
        others = self.n_groups - 1
        if self.epsilon > _LARGEST:
            return 2**62, 1, others
        with localcontext() as context:
            context.prec = 60
            ratio = Decimal(self.epsilon).exp()
            # The total is about 2^62, because draws are integers of 64 bits.
            each = max(1, int(2**62 / (ratio + others)))
            # This count is rounded down, and the factor outweighs an error in the last
            # digit of the ratio: the odds of staying must never exceed e^ε.
            stays = int(each * ratio * (1 - Decimal(10) ** -55))
            return max(stays, each), each, each * others

    @property
    def proba(self) -> tuple[float, float]:
        """Probabilities of keeping a group and of answering with one other group."""
        stays, each, moved = self.shares
        return stays / (stays + moved), each / (stays + moved)

    @property
    def fingerprint(self) -> bytes:
        """Digest of everything that an answer depends on, apart from the group."""
        form = f"{self.n_groups} {float(self.epsilon).hex()}".encode()
        return blake2b(form, digest_size=32, person=b"skdptext-respond").digest()

    def draw(self, rng: Any, n: int) -> np.ndarray:
        """Draw a whole number for each group, all numbers equally likely."""
        stays, _, moved = self.shares
        drawn: np.ndarray = rng.integers(stays + moved, size=n)
        return drawn

    def apply(self, groups: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Replace each group by its answer."""
        _, each, moved = self.shares
        # Numbers below `moved` lead to one of the K − 1 other groups. Skipping the own
        # group by adding 1 keeps all of them equally likely.
        others = draws // each
        return np.where(draws < moved, others + (others >= groups), groups)

    def log_proba(self, groups: np.ndarray) -> np.ndarray:
        """Compute ln Pr[z | g] for each group and every z, shape (n, n_groups)."""
        stays, each, moved = self.shares
        same = np.equal.outer(groups, np.arange(self.n_groups))
        total = math.log(stays + moved)
        return np.where(same, math.log(stays) - total, math.log(each) - total)

    def losses(self, g: int, h: int) -> LossDistribution:
        """Compute the privacy loss between two groups."""
        stays, each, _ = self.shares
        keeps, leads = self.proba
        loss = math.log(stays) - math.log(each) if g != h else 0.0
        # The answer is g, h, or one of the groups that both give equally often.
        masses = keeps, leads, leads * (self.n_groups - 2)
        return LossDistribution.of(np.array([loss, -loss, 0.0]), np.array(masses))
