"""From and to gensim."""

from __future__ import annotations

from typing import Any

import numpy as np

from skdptext.embeddings._subwords import SubwordVectors, check_subwords
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import import_gensim

# The words are a list, or a WordIndex where a reader has checked them.
Parts = tuple[Any, np.ndarray, SubwordVectors | None]


def parts_of(model: Any) -> Parts:
    """Words, vectors and subword vectors of a gensim model or its vectors."""
    import_gensim("WordEmbedding.from_gensim")
    from gensim.models.fasttext import FastTextKeyedVectors
    from gensim.models.keyedvectors import KeyedVectors

    vectors = getattr(model, "wv", model)  # Word2Vec, FastText, Doc2Vec
    if not isinstance(vectors, KeyedVectors):
        raise InvalidParameterError(
            "model must be a gensim KeyedVectors or a model with word vectors in "
            f"`wv`, got {type(model).__name__}."
        )
    subwords = None
    if isinstance(vectors, FastTextKeyedVectors) and vectors.bucket:
        subwords = check_subwords(
            vectors.vectors_ngrams,
            vectors.min_n,
            vectors.max_n,
            vectors.vectors.shape[1],
        )
    return vectors.index_to_key, vectors.vectors, subwords


def keyed_vectors(words: tuple[str, ...], vectors: np.ndarray) -> Any:
    """gensim KeyedVectors around `vectors`, which are not copied."""
    import_gensim("WordEmbedding.to_gensim")
    from gensim.models.keyedvectors import KeyedVectors

    keyed = KeyedVectors(vector_size=vectors.shape[1])
    keyed.vectors = vectors
    keyed.index_to_key = list(words)
    keyed.key_to_index = {word: i for i, word in enumerate(words)}
    keyed.next_index = len(words)
    return keyed
