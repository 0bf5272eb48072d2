"""Adversaries, to measure what a release hides from them."""

from skdptext.attacks._koppel import KoppelAuthorClassifier
from skdptext.attacks._reconstruction import WordReconstructionAttack

__all__ = ["KoppelAuthorClassifier", "WordReconstructionAttack"]
