"""Warnings: what a release tells beside the guarantee, and what suits it badly."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

from skdptext.exceptions import OutOfVocabularyWarning, PrivacyLeakWarning

__all__ = [
    "warn_of_engine",
    "warn_of_guessable_seed",
    "warn_of_leaks",
    "warn_of_unknown_words",
]

# Seeds below it can be tried one after the other; those that people write, in minutes.
_GUESSABLE = 2**64

# Above this share of unknown words the table is probably the wrong one.
_MANY_UNKNOWN = 0.5


def warn_of_leaks(document_length: int | None, oov: str) -> None:
    """Say what is released beside the guarantee.

    The place of the warning is always this one, so that Python's default filters show
    it the first time only.
    """
    if document_length is None:
        warnings.warn(
            "document_length is None: the number of words of each document is "
            "released as it is, and documents of different length are not protected "
            "from being told apart. Set document_length to make every release of one "
            "size.",
            PrivacyLeakWarning,
            stacklevel=1,
        )
    if oov == "keep":
        warnings.warn(
            'oov="keep": words unknown to the embedding (often names) are released in '
            "clear.",
            PrivacyLeakWarning,
            stacklevel=1,
        )


def warn_of_guessable_seed(random_state: Any) -> None:
    """Say that a seed can be found by trial, without showing it."""
    if isinstance(random_state, Integral) and random_state < _GUESSABLE:
        warnings.warn(
            "random_state is an integer below 2^64, which can be guessed by trying: "
            "small ones in minutes. Who knows it can undo the noise. Draw it with "
            "secrets.randbits(128), and keep it secret.",
            PrivacyLeakWarning,
            stacklevel=1,
        )


def warn_of_unknown_words(n_unknown: int, n_tokens: int) -> None:
    """Ask whether the table fits the text, where it does not know most of it."""
    if n_unknown > _MANY_UNKNOWN * n_tokens:
        warnings.warn(
            f"{n_unknown} of {n_tokens} words are unknown to the embedding: is it for "
            "this language and kind of text?",
            OutOfVocabularyWarning,
            stacklevel=3,
        )


def warn_of_engine(engine: str, excuse: str | None) -> None:
    """Say that NumPy searches instead of the engine that was asked for, and why."""
    if excuse is not None:
        warnings.warn(
            f'engine="{engine}" falls back to NumPy, which finds the same words: '
            f"{excuse}.",
            RuntimeWarning,
            stacklevel=4,
        )
