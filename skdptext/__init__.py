"""Differentially private text for scikit-learn."""

from skdptext._version import __version__
from skdptext.embeddings import WordEmbedding

__all__ = ["WordEmbedding", "__version__"]
