"""Attacks that measure what a release reveals."""

from skdptext.attacks._koppel import KoppelAuthorClassifier
from skdptext.attacks._labels import label_attack
from skdptext.attacks._linkage import linkage_attack
from skdptext.attacks._membership import membership_attack
from skdptext.attacks._reconstruction import WordReconstructionAttack
from skdptext.attacks._scores import QUESTIONS as QUESTIONS
from skdptext.attacks._scores import Score as Score
from skdptext.attacks._scores import Scores as Scores
from skdptext.attacks._scores import by_name as by_name
from skdptext.attacks._scores import percent as percent
from skdptext.attacks._scores import read_off as read_off
from skdptext.attacks._words import Documents as Documents
from skdptext.attacks._words import copied
from skdptext.attacks._words import known_words as known_words
from skdptext.attacks._words import of_other_rows as of_other_rows
from skdptext.attacks._words import paired as paired
from skdptext.attacks._words import read as read
from skdptext.attacks._words import words_of as words_of

# Names imported as `x as x` are for other subpackages and have no page of their own.
__all__ = [
    "KoppelAuthorClassifier",
    "WordReconstructionAttack",
    "copied",
    "label_attack",
    "linkage_attack",
    "membership_attack",
]
