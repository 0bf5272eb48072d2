"""Data sets: a corpus without download, fetchers with checksums, and generators."""

from skdptext.datasets._docstring_embedding import load_docstring_embedding
from skdptext.datasets._docstrings import load_docstrings
from skdptext.datasets._public_sets import fetch_disaster_tweets, fetch_sms_spam
from skdptext.datasets._samples_generator import make_documents, make_embedding

__all__ = [
    "fetch_disaster_tweets",
    "fetch_sms_spam",
    "load_docstring_embedding",
    "load_docstrings",
    "make_documents",
    "make_embedding",
]
