"""Exact nearest words to many points."""

from skdptext.search._nearest import (
    k_nearest_words as k_nearest_words,
    nearest_words as nearest_words,
)

# Names of the form `x as x` are for the rooms beside, and have no page.
