"""Replace documents by public ones, by randomized response over groups."""

from skdptext.replacement._answers import PersonAnswers as PersonAnswers
from skdptext.replacement._replacer import DPDocumentReplacer
from skdptext.replacement._shares import TopicShares as TopicShares, topic_shares

__all__ = [
    "DPDocumentReplacer",
    "topic_shares",
]
