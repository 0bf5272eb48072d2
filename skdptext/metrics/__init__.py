"""Distances between documents, and scores of what a release changes and reveals."""

from skdptext.metrics._deniability import (
    PlausibleDeniability as PlausibleDeniability,
    plausible_deniability,
)
from skdptext.metrics._density import (
    DensityStatistics as DensityStatistics,
    density_statistics,
)
from skdptext.metrics._identified import (
    found_among as found_among,
    identified_scorer,
    privacy_utility_scoring,
)
from skdptext.metrics._labels import label_scores as label_scores
from skdptext.metrics._wmd import pairwise_word_movers_distances, word_movers_distance
from skdptext.metrics._words import (
    find_perturber as find_perturber,
    words_changed_scorer,
    words_unchanged as words_unchanged,
)

__all__ = [
    "density_statistics",
    "identified_scorer",
    "pairwise_word_movers_distances",
    "plausible_deniability",
    "privacy_utility_scoring",
    "word_movers_distance",
    "words_changed_scorer",
]
