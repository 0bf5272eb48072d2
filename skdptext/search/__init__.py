"""Exact nearest word to many points."""

from skdptext.search._nearest import half_squared_norms, nearest_words
from skdptext.search._shared_noise import SharedNoise

__all__ = ["SharedNoise", "half_squared_norms", "nearest_words"]
