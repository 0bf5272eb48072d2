"""Documents that are near-copies of others."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

# Documents compared at a time, and the share of documents that have a frequent word.
_AT_ONCE, _FREQUENT = 256, 0.05


def _different_words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def first_of_near_copies(texts: Sequence[str], share: float) -> np.ndarray:
    """Which texts to keep, so that no two of them have most of their words in common.

    Two texts are near-copies if at least this share of the different words that either
    has are words of both: the Jaccard similarity of their sets of words. Of two, the
    earlier is kept; every other text is a near-copy of a kept one before it.
    """
    vectorizer = CountVectorizer(analyzer=_different_words, dtype=np.float32)
    words = vectorizer.fit_transform(texts)
    size = np.diff(words.indptr)
    often = np.bincount(words.indices, minlength=words.shape[1])
    # the few frequent words make most of a sparse product, and are fast as a dense one
    frequent = often > _FREQUENT * len(texts)
    dense = words[:, frequent].toarray()
    sparse = words[:, ~frequent & (often > 1)].tocsr()
    transposed = sparse.T.tocsr()
    is_first = np.ones(len(texts), dtype=bool)
    for start in range(0, len(texts), _AT_ONCE):
        stop = min(start + _AT_ONCE, len(texts))
        both = dense[start:stop] @ dense[:stop].T
        both += (sparse[start:stop] @ transposed[:, :stop]).toarray()
        # |A and B| >= share * |A or B|, whose size is |A| + |B| - |A and B|
        near = both >= share * (np.add.outer(size[start:stop], size[:stop]) - both)
        for i in range(start, stop):
            is_first[i] = not (near[i - start, :i] & is_first[:i]).any()
    return is_first
