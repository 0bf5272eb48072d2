"""Distances between documents, and measures of what a perturber does to words."""

from skdptext.metrics._channel import (
    Estimate,
    WordTransitions,
    released_profiles,
    word_channel,  # noqa: F401, until 1.0
    word_transitions,
)
from skdptext.metrics._deniability import (
    PlausibleDeniability,
    plausible_deniability,
)
from skdptext.metrics._density import DensityStatistics, density_statistics
from skdptext.metrics._likelihood import ReleaseLikelihood, fitted_releaser
from skdptext.metrics._wmd import (
    pairwise_word_movers_distances,
    word_movers_distance,
)
from skdptext.metrics._words import (
    find_perturber,
    has_perturber,
    words_changed_scorer,
    words_unchanged,
    words_unchanged_scorer,
)

__all__ = [
    "DensityStatistics",
    "Estimate",
    "PlausibleDeniability",
    "ReleaseLikelihood",
    "WordTransitions",
    "density_statistics",
    "find_perturber",
    "fitted_releaser",
    "has_perturber",
    "pairwise_word_movers_distances",
    "plausible_deniability",
    "released_profiles",
    "word_movers_distance",
    "word_transitions",
    "words_changed_scorer",
    "words_unchanged",
    "words_unchanged_scorer",
]
