"""Exact nearest words to many points."""

from skdptext.search._engine import (
    ENGINES,
    Search,
    embedding_search,
    require_engine,
)
from skdptext.search._nearest import (
    half_squared_norms,
    k_nearest_words,
    nearest_words,
)
from skdptext.search._shared_noise import SharedNoise

__all__ = [
    "ENGINES",
    "Search",
    "SharedNoise",
    "embedding_search",
    "half_squared_norms",
    "k_nearest_words",
    "nearest_words",
    "require_engine",
]
