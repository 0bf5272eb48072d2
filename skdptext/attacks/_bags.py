"""Documents of any kind as distinct words and their counts in each document."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from skdptext.documents import token_list
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import DocLinked, check_bags, check_document, is_count_matrix


class TextEstimator(DocLinked, BaseEstimator):
    """An estimator of texts, token lists or bags."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def words_and_bags(
    X: Any, embedding: WordEmbedding | None
) -> tuple[list[str], sp.csr_array]:
    """Distinct words, and their counts in each document.

    Texts are split at blanks. The words of a count matrix are those of the embedding.
    """
    if is_count_matrix(X, name="X"):
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
        check_document(document, position)
        is_text = isinstance(document, str)
        for word in document.split() if is_text else token_list(document, position):
            columns.append(number.setdefault(word, len(number)))
        ends.append(len(columns))
    bags = sp.csr_array(
        (np.ones(len(columns)), columns, ends), shape=(len(ends) - 1, len(number))
    )
    bags.sum_duplicates()
    return list(number), bags
