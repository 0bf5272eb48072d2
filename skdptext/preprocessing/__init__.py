"""Before any noise: vectors and topics of documents, and words that tell topics."""

from skdptext.documents import MeanVectorEncoder
from skdptext.preprocessing._topic_words import TopicWordSelector

__all__ = [
    "MeanVectorEncoder",
    "TopicWordSelector",
]
