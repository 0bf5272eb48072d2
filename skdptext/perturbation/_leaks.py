"""Warnings: what a release reveals outside the guarantee, and unsuitable settings."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import OutOfVocabularyWarning, PrivacyLeakWarning
from skdptext.utils import REPEATABLE, warn_of_repeats, warn_once

# Above this share of unknown words the embedding is probably the wrong one.
_MANY_UNKNOWN = 0.5


def warn_of_leaks(perturber: Any, has_ids: bool) -> None:
    """Say what a perturber releases outside its guarantee, and what voids it."""
    if perturber.document_length is None:
        warn_once(
            "document_length is None: the number of words of each document is "
            "released as it is, and documents of different length are not protected "
            "from being told apart. Set document_length to make every release of one "
            "size.",
            PrivacyLeakWarning,
        )
    # words drawn from a document are not in its order
    drawn = perturber.document_length is not None and perturber.resize != "truncate"
    if perturber.output != "bow" and not drawn and perturber.order is None:
        warn_once(
            'output is not "bow": the order of the words is released, which tells '
            "which document it was. With 99 % of the words changed, at least 99 "
            "of 100 documents were found by their order, and 18 as bags. Use "
            'output="bow", or say order="keep" if that is meant.',
            PrivacyLeakWarning,
        )
    if perturber.oov == "keep":
        warn_once(
            'oov="keep": words unknown to the embedding (often names) are released in '
            "the clear.",
            PrivacyLeakWarning,
        )
    if isinstance(perturber.embedding, str):
        warn_once(
            'embedding="one-hot" takes the vocabulary from the documents given to fit, '
            "which releases it. If it is public, say so: "
            "embedding=one_hot_embedding(words), of skdptext.embeddings.",
            PrivacyLeakWarning,
        )
    warn_of_repeats(perturber.random_state, has_ids)


_ONE_HOT = (
    "The vocabulary was taken from the columns of the documents given to fit: which "
    "words there are is released, and outside this promise."
)


def caveats(embedding: object, random_state: object) -> list[str]:
    """Sentences on what voids the guarantee."""
    sentences = []
    if isinstance(embedding, str):
        sentences.append(_ONE_HOT)
    if isinstance(random_state, Integral):
        sentences.append(REPEATABLE)
    return sentences


def warn_of_unknown_words(
    n_unknown: int, n_tokens: int, embedding: WordEmbedding
) -> None:
    """Ask whether the embedding suits the text if it lacks most of its words."""
    if n_unknown > _MANY_UNKNOWN * n_tokens:
        warn_once(
            f"{n_unknown} of {n_tokens} words are unknown to the embedding: is it for "
            "this language and kind of text?",
            OutOfVocabularyWarning,
            ("embedding", embedding.fingerprint),  # the next one is another question
            stacklevel=3,
        )
