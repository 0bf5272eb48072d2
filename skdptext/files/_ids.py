"""Ids that must be unique, by 16 bytes each."""

from __future__ import annotations

import numpy as np


def n_repeated(digests: bytes | bytearray) -> int:
    """How many of some digests of 16 bytes, one after the other, repeat another.

    Digests under a secret key agree by chance with probability 10⁻²¹, for two of a
    billion ids.
    """
    numbers = np.frombuffer(digests, dtype="<u8").reshape(-1, 2)
    numbers = numbers[np.lexsort(numbers.T)]  # equal ones are neighbours
    return int((numbers[1:] == numbers[:-1]).all(axis=1).sum())
