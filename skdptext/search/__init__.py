"""Exact nearest word to many points."""

from skdptext.search._nearest import half_squared_norms, nearest_words

__all__ = ["half_squared_norms", "nearest_words"]
