"""Originals and their releases, as every adversary reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skdptext.attacks._similarity import words_of
from skdptext.attacks._table import make_halves


class ReleasedTexts:
    """Texts and their releases.

    Parameters
    ----------
    original, released : list of str or of lists of str
    seed : int
        Of the halves, the folds and whatever adversaries draw.
    """

    def __init__(
        self, original: Sequence[Any], released: Sequence[Any], seed: int
    ) -> None:
        self.original, self.released, self.seed = original, released, seed
        self.clear, self.noisy = (
            [words_of(document) for document in documents]
            for documents in (original, released)
        )
        self.halves = make_halves(np.arange(len(original)), seed)

    def __len__(self) -> int:
        return len(self.original)
