"""Steps before the noise: document vectors, and selection of topic words."""

from skdptext.documents import MeanVectorEncoder
from skdptext.preprocessing._topic_words import TopicWordSelector

__all__ = [
    "MeanVectorEncoder",
    "TopicWordSelector",
]
