"""The `embedding` parameter of estimators and metrics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from skdptext.embeddings._embedding import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer

__all__ = ["check_embedding", "one_hot_embedding"]


def one_hot_embedding(words: int | Iterable[str]) -> WordEmbedding:
    """Table in which every word is equally far (√2) from every other.

    Its vectors are the unit matrix, so it needs n_words² floats.

    Parameters
    ----------
    words : int or iterable of str
        Number of words, then called ``x0``, ``x1``, …; or the words.

    Returns
    -------
    embedding : WordEmbedding
    """
    if isinstance(words, Iterable):
        words = list(words)
    else:
        words = [f"x{i}" for i in range(check_integer("words", words, low=1))]
    return WordEmbedding(words, np.eye(len(words), dtype=np.float32))


def check_embedding(
    embedding: Any, *, one_hot_words: int | Iterable[str] | None = None
) -> WordEmbedding:
    """Resolve an estimator's `embedding` parameter.

    Parameters
    ----------
    embedding : WordEmbedding or "one-hot"
    one_hot_words : int or iterable of str, default=None
        Columns of the count matrix, for ``"one-hot"``; None: the input is no count
        matrix, so ``"one-hot"`` has no words to stand for.

    Returns
    -------
    embedding : WordEmbedding
    """
    if isinstance(embedding, WordEmbedding):
        return embedding
    if isinstance(embedding, str) and embedding == "one-hot":
        if one_hot_words is None:
            raise InvalidParameterError(
                'embedding="one-hot" needs a count matrix as input, whose columns are '
                "the words; for text or tokens, give a WordEmbedding."
            )
        return one_hot_embedding(one_hot_words)
    raise InvalidParameterError(
        f'embedding must be a WordEmbedding or "one-hot", got {embedding!r:.80}. '
        "See WordEmbedding.load and skdptext.datasets.load_docstring_embedding."
    )
