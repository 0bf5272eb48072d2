"""Differentially private text for scikit-learn."""

from skdptext._version import __version__
from skdptext.embeddings import WordEmbedding
from skdptext.perturbation import DPWordPerturber

__all__ = ["DPWordPerturber", "WordEmbedding", "__version__"]
