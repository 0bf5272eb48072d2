"""Preparing documents as the papers do, before any noise: words, parts, lengths."""

from skdptext.preprocessing._preparing import DocumentPreparer
from skdptext.preprocessing._splitting import KnownAndSnippets, split_known_and_snippet
from skdptext.preprocessing._topic_words import TopicWordSelector

__all__ = [
    "DocumentPreparer",
    "KnownAndSnippets",
    "TopicWordSelector",
    "split_known_and_snippet",
]
