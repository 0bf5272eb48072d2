"""Distances between documents, and measures of what a perturber does."""

from skdptext.metrics._wmd import (
    pairwise_word_movers_distances,
    word_movers_distance,
)
from skdptext.metrics._words import (
    find_perturber,
    words_changed_scorer,
    words_unchanged,
    words_unchanged_scorer,
)

__all__ = [
    "find_perturber",
    "pairwise_word_movers_distances",
    "word_movers_distance",
    "words_changed_scorer",
    "words_unchanged",
    "words_unchanged_scorer",
]
