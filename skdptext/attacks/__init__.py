"""Adversaries, to measure what a release hides from them."""

from skdptext.attacks._background import (
    person_rows as person_rows,
    person_similarities as person_similarities,
    texts_by_person as texts_by_person,
)
from skdptext.attacks._columns import ColumnFinding as ColumnFinding
from skdptext.attacks._columns import column_findings as column_findings
from skdptext.attacks._documents import found_at_most as found_at_most
from skdptext.attacks._documents import in_another_order as in_another_order
from skdptext.attacks._documents import linkage_rows as linkage_rows
from skdptext.attacks._documents import same_person_rows as same_person_rows
from skdptext.attacks._documents import similar_documents as similar_documents
from skdptext.attacks._folds import make_folds as make_folds
from skdptext.attacks._folds import near_copies as near_copies
from skdptext.attacks._koppel import KoppelAuthorClassifier
from skdptext.attacks._labels import label_scores as label_scores
from skdptext.attacks._linkage import Linkages as Linkages
from skdptext.attacks._linkage import linkage_attack
from skdptext.attacks._membership import (
    MOST_COMPARED as MOST_COMPARED,
    by_author as by_author,
    copied as copied,
    membership_rows as membership_rows,
    membership_scores as membership_scores,
)
from skdptext.attacks._pairs import ReleasedTexts as ReleasedTexts
from skdptext.attacks._reconstruction import WordReconstructionAttack
from skdptext.attacks._similarity import (
    as_texts as as_texts,
    holds_words as holds_words,
    learned_similarity as learned_similarity,
    split_words as split_words,
    text_similarities as text_similarities,
    words_of as words_of,
)
from skdptext.attacks._table import Score as Score
from skdptext.attacks._table import lead as lead
from skdptext.attacks._table import ScoreTable as ScoreTable
from skdptext.attacks._words_left import common_words as common_words
from skdptext.attacks._words_left import copies as copies
from skdptext.attacks._words_left import known_words as known_words
from skdptext.attacks._words_left import word_scores as word_scores

__all__ = [
    "KoppelAuthorClassifier",
    "WordReconstructionAttack",
    "linkage_attack",
]
