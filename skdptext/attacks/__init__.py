"""Adversaries, to measure what a release hides from them."""

from skdptext.attacks._koppel import KoppelAuthorClassifier

__all__ = ["KoppelAuthorClassifier"]
