"""Releases that answer with a public document: randomized response over groups."""

from skdptext.replacement._groups import (
    PublicGroups as PublicGroups,
    centres_grouper as centres_grouper,
    check_grouper as check_grouper,
    grouper_key as grouper_key,
    has_fitted_steps as has_fitted_steps,
    in_blocks as in_blocks,
    is_classifier as is_classifier,
)
from skdptext.replacement._persons import PersonAnswers as PersonAnswers
from skdptext.replacement._public import (
    PublicDocuments as PublicDocuments,
    document_bytes as document_bytes,
)
from skdptext.replacement._replacer import DPDocumentReplacer
from skdptext.replacement._shares import (
    TopicShares as TopicShares,
    topic_shares,
)

__all__ = [
    "DPDocumentReplacer",
    "topic_shares",
]
