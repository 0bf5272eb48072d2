"""Attacks that measure what a release reveals."""

from skdptext.attacks._koppel import KoppelAuthorClassifier
from skdptext.attacks._labels import label_attack
from skdptext.attacks._linkage import linkage_attack
from skdptext.attacks._membership import membership_attack
from skdptext.attacks._reconstruction import WordReconstructionAttack
from skdptext.attacks._scores import (
    QUESTIONS as QUESTIONS,
    Score as Score,
    Scores as Scores,
    at_least as at_least,
    percent as percent,
    read_off as read_off,
)
from skdptext.attacks._words import (
    copied,
    documents_of as documents_of,
    has_words as has_words,
    known_words as known_words,
    of_other_rows as of_other_rows,
    paired as paired,
    texts_of as texts_of,
    words_of as words_of,
)

# Names imported as `x as x` are for other subpackages and have no page of their own.
__all__ = [
    "KoppelAuthorClassifier",
    "WordReconstructionAttack",
    "copied",
    "label_attack",
    "linkage_attack",
    "membership_attack",
]
