"""Documents of any kind as distinct words and their counts in each document."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp
from sklearn.base import BaseEstimator

from skdptext.attacks._similarity import bags_of, numbered
from skdptext.documents import read_documents
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import (
    DocLinked,
    check_bags,
    check_kind,
    is_count_matrix,
)


class TextEstimator(DocLinked, BaseEstimator):
    """An estimator of texts, token lists or bags, which draws at random."""

    random_state: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.non_deterministic = self.random_state is None
        return tags


def words_and_bags(
    X: Any, embedding: WordEmbedding | None
) -> tuple[list[str], sp.csr_array]:
    """Distinct words, and their counts in each document.

    Texts are split at blanks. The words of a count matrix are those of the embedding.
    """
    rule = "embedding must be None or a WordEmbedding"
    check_kind(embedding, WordEmbedding | None, rule)
    if is_count_matrix(X, name="X"):
        if embedding is None:
            raise InvalidParameterError(
                "embedding must be given for bags-of-words, whose words it names, "
                "got None."
            )
        return list(embedding.words), check_bags(X, n_words=len(embedding))
    texts = [d.split() if isinstance(d, str) else d for d in read_documents(X)]
    words, (coded,) = numbered(texts)
    return words, bags_of(coded, len(words))
