"""Word vectors by counting: what a truncated SVD leaves of the information in pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import randomized_svd

# As in skip-gram, rare contexts weigh more than their counts say.
_SMOOTHING = 0.75
# So that words are as far from their nearest as by skip-gram, on the built-in corpus,
# and an epsilon means about the same to both.
_SCALE = 1.7


def ppmi_vectors(
    sentences: Iterable[list[str]], dim: int, min_count: int, window: int
) -> tuple[list[str], np.ndarray]:
    """Words by falling frequency, and the vector of each.

    Two words within `window` of each other count for one over their distance. The
    positive part of their pointwise mutual information is cut down to its `dim`
    greatest singular values, half of which go to the words (Levy, Goldberg and Dagan
    2015). There are no more of these than words: what is left of `dim` is 0.
    """
    sentences = list(sentences)
    counts = Counter(chain.from_iterable(sentences))
    words = [word for word, count in counts.most_common() if count >= min_count]
    vectors = np.zeros((len(words), dim))
    if words:
        ppmi = _ppmi(_pairs(sentences, words, window))
        rank = min(dim, len(words))
        left, values, _ = randomized_svd(ppmi, rank, n_iter=7, random_state=0)
        vectors[:, :rank] = _SCALE * left * np.sqrt(values)
    return words, vectors


def _pairs(sentences: list[list[str]], words: list[str], window: int) -> sp.csr_array:
    """How often two words stand near each other, each pair in both orders."""
    index = {word: i for i, word in enumerate(words)}
    stream: list[int] = []
    for sentence in sentences:
        stream += [index[word] for word in sentence if word in index]
        stream += [-1] * window  # no pair reaches over it
    ids = np.array(stream)
    shape = len(words), len(words)
    pairs = sp.csr_array(shape)
    for gap in range(1, window + 1):
        first, second = ids[:-gap], ids[gap:]
        both = (first >= 0) & (second >= 0)
        weights = np.full(np.count_nonzero(both), 1 / gap)
        places = first[both], second[both]
        pairs += sp.coo_array((weights, places), shape=shape).tocsr()
    return pairs + pairs.T.tocsr()


def _ppmi(pairs: sp.csr_array) -> sp.csr_array:
    """log of p(w, c) / (p(w) p(c)) where it is positive, with smoothed p(c)."""
    of_word = pairs.sum(axis=1)
    of_context = of_word**_SMOOTHING
    cells = pairs.tocoo()
    # p(c | w) / p(c); the word and the context of a cell have been near another
    ratios = cells.data / of_word[cells.row] / of_context[cells.col] * of_context.sum()
    positive = ratios > 1
    places = cells.row[positive], cells.col[positive]
    return sp.coo_array((np.log(ratios[positive]), places), shape=cells.shape).tocsr()
