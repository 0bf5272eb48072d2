"""Vectors of gensim's models, and fastText's of n-grams, which serve unknown words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skdptext.embeddings._checks import first_not_finite, freeze, writable_by_others
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import import_gensim

# Longest n-gram, longer than in any model.
_MAX_LENGTH = 1000


@dataclass(frozen=True, eq=False)
class SubwordVectors:
    """Hashed n-gram vectors of a fastText model (Bojanowski et al., 2017)."""

    buckets: np.ndarray  # a vector of each hash value; float32, read-only
    min_n: int  # shortest and longest n-gram, in characters, with word boundaries
    max_n: int

    def infer(self, word: str) -> np.ndarray | None:
        """Mean of the word's n-gram vectors; None for a word without n-grams."""
        import_gensim("an embedding with subword vectors")
        from gensim.models.fasttext import ft_ngram_hashes

        try:
            hashes = ft_ngram_hashes(word, self.min_n, self.max_n, len(self.buckets))
        except UnicodeEncodeError:  # half a surrogate pair: n-grams are of UTF-8
            return None
        if not hashes:
            return None
        return self.buckets[hashes].sum(axis=0) / np.float32(len(hashes))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.buckets, self.min_n, self.max_n)


def _restore(buckets: np.ndarray, min_n: int, max_n: int) -> SubwordVectors:
    """Frozen again: a pickled array comes back writeable, a mapped one mapped."""
    return SubwordVectors(freeze(buckets), min_n, max_n)


def check_subwords(buckets: Any, min_n: Any, max_n: Any, dim: int) -> SubwordVectors:
    """Subword vectors that fit an embedding of `dim` dimensions, or what is wrong."""
    buckets = np.asarray(buckets)
    if buckets.dtype.kind not in "fiub":
        raise InvalidParameterError(
            f"subword vectors must be real numbers, got dtype {buckets.dtype}."
        )
    buckets = np.ascontiguousarray(buckets, dtype=np.float32)
    if buckets.ndim != 2 or buckets.shape[0] == 0 or buckets.shape[1] != dim:
        raise InvalidParameterError(
            f"subword vectors must be of shape (n_buckets, {dim}), got {buckets.shape}."
        )
    row = first_not_finite(buckets)
    if row is not None:
        raise InvalidParameterError(
            f"subword vectors must be finite, got NaN or infinity in row {row}."
        )
    if not 0 <= int(min_n) <= int(max_n) <= _MAX_LENGTH:
        raise InvalidParameterError(
            f"subword lengths must satisfy 0 <= min_n <= max_n <= {_MAX_LENGTH}, got "
            f"{min_n}, {max_n}."
        )
    if writable_by_others(buckets):
        buckets = buckets.copy()
    return SubwordVectors(freeze(buckets), int(min_n), int(max_n))


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
