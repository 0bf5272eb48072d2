"""Preparing documents before any noise: words, parts, lengths, and topics."""

from skdptext.documents import MeanVectorEncoder, TopicEncoder
from skdptext.preprocessing._topic_words import TopicWordSelector

__all__ = [
    "MeanVectorEncoder",
    "TopicEncoder",
    "TopicWordSelector",
]
