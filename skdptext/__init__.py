"""Differentially private text for scikit-learn."""

from skdptext._version import __version__
from skdptext.embeddings import WordEmbedding
from skdptext.neighbors import WMDKNNClassifier
from skdptext.perturbation import DPWordPerturber
from skdptext.replacement import DPDocumentReplacer

__all__ = [
    "DPDocumentReplacer",
    "DPWordPerturber",
    "WMDKNNClassifier",
    "WordEmbedding",
    "__version__",
]
