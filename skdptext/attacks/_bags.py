"""Documents of any kind as distinct words and their counts in each document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import (
    as_labels,
    check_bags,
    check_document,
    is_count_matrix,
    kind_of,
)


def check_named_columns(embedding: Any) -> None:
    """Refuse anything that cannot name the columns of bags; None is for texts only."""
    if embedding is not None and not isinstance(embedding, WordEmbedding):
        raise InvalidParameterError(
            f"embedding must be None or a WordEmbedding, got {kind_of(embedding)}."
        )


def words_and_bags(
    X: Any, embedding: WordEmbedding | None
) -> tuple[list[str], sp.csr_array]:
    """Distinct words, and their counts in each document.

    Texts are split at blanks. The words of a count matrix are those of the embedding.
    """
    if is_count_matrix(X):
        if embedding is None:
            raise InvalidParameterError(
                "embedding must be given for bags-of-words, whose words it names, "
                "got None."
            )
        return list(embedding.words), check_bags(X, n_words=len(embedding))
    number: dict[str, int] = {}
    columns: list[int] = []
    ends = [0]
    for position, document in enumerate(X):
        for word in _split(document, position):
            columns.append(number.setdefault(word, len(number)))
        ends.append(len(columns))
    bags = sp.csr_array(
        (np.ones(len(columns)), columns, ends), shape=(len(ends) - 1, len(number))
    )
    bags.sum_duplicates()
    return list(number), bags


def _split(document: Any, position: int) -> Iterable[str]:
    """Words of a text, between blanks, or of a token list."""
    check_document(document, position)
    if isinstance(document, str):
        return document.split()
    for i, word in enumerate(document):
        if not isinstance(word, str):
            raise InvalidParameterError(
                f"every token must be a str, got {kind_of(word)} as token {i} of "
                f"document {position}."
            )
    return document


def check_targets(y: Any, n_documents: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Sorted classes, and the index of each document's class."""
    labels = as_labels("y", y)
    if labels.ndim != 1 or len(labels) != n_documents:
        raise InvalidParameterError(
            f"y must name one {kind} per document, got shape {labels.shape} for "
            f"{n_documents} documents."
        )
    classes, numbers = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise InvalidParameterError(
            f"y must hold at least 2 classes ({kind}s), got {len(classes)}."
        )
    return classes, numbers
