"""Folds of documents in which near-copies stay together."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from skdptext.attacks._similarity import as_words, bags_of, numbered
from skdptext.utils import blocks, quiet

# Documents compared at a time.
_AT_ONCE = 256
# How near copies are, and of how many different words a text has to be.
_COPIED, _FEWEST_WORDS = 0.5, 10
Split = tuple[np.ndarray, np.ndarray]


def near_copies(documents: Any) -> np.ndarray:
    """Numbers of documents, equal for those that share most of their different words.

    Who has learned from one copy recognises the other, whoever wrote it: both belong in
    one fold. Two are copies if they are half way from what is usual among these
    documents to having the same words (Jaccard similarity), as long texts in one
    language share many. `documents`: texts, lists of words, or bags.
    """
    if hasattr(documents, "shape"):
        bags = sp.csr_array(documents).astype(bool)
    else:
        words, (texts,) = numbered(as_words("documents", documents))
        bags = bags_of(texts, len(words)).astype(bool)
    bags = bags.astype(np.float32)
    transposed = bags.T.tocsr()
    sizes = np.asarray(bags.sum(axis=1)).ravel()
    links = []
    for part in blocks(len(sizes), _AT_ONCE):
        # Jaccard similarity: words in both over words in either
        both = (bags[part] @ transposed).toarray()
        alike = both / np.maximum(np.add.outer(sizes[part], sizes) - both, 1)
        np.fill_diagonal(alike[:, part], 0)
        usual = np.median(alike, axis=1, keepdims=True)
        rows, columns = np.nonzero(alike - usual >= _COPIED * (1 - usual))
        enough = sizes[rows + part.start] >= _FEWEST_WORDS
        links.append((rows[enough] + part.start, columns[enough]))
    pairs = tuple(map(np.concatenate, zip(*links, strict=True)))
    shape = len(sizes), len(sizes)
    linked = sp.csr_array((np.ones(len(pairs[0])), pairs), shape=shape)
    return connected_components(linked, directed=False)[1]


def make_folds(
    labels: np.ndarray, groups: np.ndarray, n_splits: int, random_state: int
) -> list[Split]:
    """Shuffled folds that share out labels, with equal groups in one of them.

    Where no groups are equal, too few differ, or one holds all that tells labels apart,
    folds that only share out labels.
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    options = {"shuffle": True, "random_state": random_state}
    kinds = [StratifiedKFold(n_splits, **options)]
    if n_splits <= len(np.unique(groups)) < len(labels):
        kinds.insert(0, StratifiedGroupKFold(n_splits, **options))
    with quiet(UserWarning):
        for folds in kinds:  # the warning is of labels of few documents
            splits = list(folds.split(np.zeros(len(labels)), labels, groups))
            if all(
                len(np.unique(labels[known])) > 1 and len(held)
                for known, held in splits
            ):
                break
    return splits
