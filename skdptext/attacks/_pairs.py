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
    original : list of str or of lists of str
    releases : list of lists of str or of lists of str
        One or several releases of all of them.
    seed : int
        Of the halves, the folds and whatever adversaries draw.
    """

    def __init__(
        self, original: Sequence[Any], releases: Sequence[Sequence[Any]], seed: int
    ) -> None:
        self.original, self.releases, self.seed = original, releases, seed
        self.released = releases[0]
        self.clear = [words_of(document) for document in original]
        self.read = [[words_of(text) for text in release] for release in releases]
        self.noisy = self.read[0]
        self.halves = make_halves(np.arange(len(self)), seed)

    def __len__(self) -> int:
        return len(self.original)

    @property
    def cut(self) -> list[list[str]]:
        """Originals, as many words of each as its release has."""
        pairs = zip(self.clear, self.noisy, strict=True)
        return [words[: len(released)] for words, released in pairs]
