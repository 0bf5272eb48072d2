"""The `embedding` parameter of estimators and metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np

from skdptext.embeddings._embedding import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer, shown


def one_hot_embedding(words: int | Iterable[str]) -> WordEmbedding:
    """The embedding in which all words are equally far apart (√2).

    Its vectors are the unit matrix, so it needs n_words² floats.

    Parameters
    ----------
    words : int or iterable of str
        The number of words, which are called ``x0``, ``x1``, …; or the words.

    Returns
    -------
    embedding : WordEmbedding
        A new embedding, which shares nothing mutable.
    """
    if isinstance(words, Iterable):
        words = list(words)
    else:
        words = [f"x{i}" for i in range(check_integer("words", words, low=1))]
    return WordEmbedding(words, np.eye(len(words), dtype=np.float32))


def check_embedding(
    embedding: Any, *, one_hot_words: int | Iterable[str] | None = None
) -> WordEmbedding:
    """Resolve an estimator's `embedding` parameter, a WordEmbedding or "one-hot".

    `one_hot_words` are the columns of the count matrix, or how many there are, for
    "one-hot"; None: the input is not a count matrix, so "one-hot" has no words.
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
        f'embedding must be a WordEmbedding or "one-hot", got {shown(embedding)}. '
        f"{_advice(embedding)}"
    )


def _advice(embedding: Any) -> str:
    """How to make a WordEmbedding of what was given."""
    if isinstance(embedding, str | PathLike):
        return "Read a file by WordEmbedding.load(path)."
    if isinstance(embedding, Mapping):
        return (
            "Make one of a mapping from words to vectors by "
            "WordEmbedding(list(mapping), list(mapping.values()))."
        )
    if hasattr(embedding, "key_to_index") or hasattr(embedding, "wv"):
        return "Convert a gensim model by WordEmbedding.from_gensim(model)."
    return "See WordEmbedding.load and skdptext.datasets.load_docstring_embedding."


def column_names(X: Any) -> list[str] | None:
    """Names of the columns of a data frame, if all of them are str."""
    names = list(getattr(X, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def check_columns(X: Any, embedding: WordEmbedding) -> None:
    """Refuse what says that its columns are not the words of this embedding.

    A data frame does if it names a column after another column's word; names that are
    not words are ignored. A release does by the fingerprint that it carries.
    """
    fingerprint = getattr(X, "embedding_fingerprint", None)
    if fingerprint is not None and fingerprint != embedding.fingerprint:
        raise InvalidParameterError(
            "X must hold bags of the same embedding, in the same order of words, got a "
            "release by another one. Give one embedding to both."
        )
    names = column_names(X)
    rows = embedding.find(names or ())
    for column, (name, row) in enumerate(zip(names or (), rows, strict=True)):
        if row != column and name in embedding:
            raise InvalidParameterError(
                "X must have the words of the embedding as columns, in its order: "
                f"column {column} is named {name!r}, which is word {row} of the "
                "embedding."
            )
