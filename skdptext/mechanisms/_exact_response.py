"""Randomized response without rounding: the choice between a few public groups."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np

from skdptext.mechanisms._losses import LossDistribution

# Above this ε, and a little below, a change is rarer than one in 2^62, which is what is
# drawn then: e^43 is more than 2^62, so that the ratio drawn is no larger than claimed.
_LARGEST = 43.0


@dataclass(frozen=True)
class ExactResponse:
    """Randomized response over `n_groups` numbers, with probabilities that are exact.

    Of N equally likely whole numbers some keep a group, and equally many lead to each
    other group; the ratio of the two is never above e^ε. Up to ε = 42 the probabilities
    are those of the formula to one part in 2^50; beyond, a group changes a little more
    often.

    Parameters
    ----------
    n_groups : int >= 2
        How many groups there are, K.
    epsilon : float > 0
        Privacy parameter ε between any two groups.

    See Also
    --------
    skdptext.DPDocumentReplacer : Its groups are those of documents.

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
        """Of the numbers: how many keep a group, lead to one other, or to any other."""
        others = self.n_groups - 1
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

    @property
    def proba(self) -> tuple[float, float]:
        """Probability to keep a group, and to answer with one other."""
        stays, each, moved = self.shares
        return stays / (stays + moved), each / (stays + moved)

    @property
    def fingerprint(self) -> bytes:
        """Digest of what an answer depends on besides the group."""
        form = f"{self.n_groups} {float(self.epsilon).hex()}".encode()
        return blake2b(form, digest_size=32, person=b"skdptext-respond").digest()

    def draw(self, rng: Any, n: int) -> np.ndarray:
        """A whole number for each group, all of them equally likely."""
        stays, _, moved = self.shares
        drawn: np.ndarray = rng.integers(stays + moved, size=n)
        return drawn

    def apply(self, groups: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """The groups, or others."""
        _, each, moved = self.shares
        others = draws // each
        return np.where(draws < moved, others + (others >= groups), groups)

    def log_proba(self, groups: np.ndarray) -> np.ndarray:
        """ln Pr[z | g] for each of the groups and every z, shape (n, n_groups)."""
        stays, each, moved = self.shares
        same = np.equal.outer(groups, np.arange(self.n_groups))
        total = math.log(stays + moved)
        return np.where(same, math.log(stays) - total, math.log(each) - total)

    def losses(self, g: int, h: int) -> LossDistribution:
        """The privacy loss between two groups."""
        stays, each, _ = self.shares
        keeps, leads = self.proba
        loss = math.log(stays) - math.log(each) if g != h else 0.0
        # its own group, the other one, and all that say nothing of either
        masses = keeps, leads, leads * (self.n_groups - 2)
        return LossDistribution.of(np.array([loss, -loss, 0.0]), np.array(masses))
