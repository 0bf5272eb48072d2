"""Classifiers that are cross-validated on one view of documents, and asked of others.

The frame of `skdptext.inspection.obfuscation_report` and `release_report`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import Parallel, delayed

from skdptext.attacks._similarity import as_words, bags_of, numbered
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import (
    EmptyDocumentWarning,
    OutOfVocabularyWarning,
    PrivacyLeakWarning,
)
from skdptext.metrics import released_profiles
from skdptext.naive_bayes import ChannelNaiveBayes
from skdptext.utils import blocks, progress, quiet, working_memory_bytes

# Simulated draws per word of the law of noise on vectors.
N_DRAWS = 20
# Documents compared at a time.
_AT_ONCE = 256
# How near copies are, and of how many different words a text has to be.
_COPIED, _FEWEST_WORDS = 0.5, 10
# Expected counts are in this unit, so that the 1 that plain naive Bayes adds to the
# frequency of each word, lest one be 0, does not count.
_UNIT = 1e-20
Split = tuple[np.ndarray, np.ndarray]
Asked = tuple[tuple[str, str], Any]  # what an answer belongs to, and documents


class Trial(NamedTuple):
    """A classifier, what it is fitted on, and what it is asked, in one order.

    It is fitted once per split, and answers for all that is asked.
    """

    model: Any
    labels: np.ndarray  # of the documents
    known: Any
    asked: Sequence[Asked]
    more: tuple[Any, np.ndarray] | None = None  # known besides, with their labels


def run_trials(
    trials: Sequence[Trial], splits: Sequence[Split], n_jobs: int | None, what: str
) -> dict[tuple[str, str], np.ndarray]:
    """Share of right answers on each document, by what the answers belong to.

    NaN for documents that are never held out.
    """
    each = [(t, s) for t in range(len(trials)) for s in range(len(splits))]
    answers = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_attack)(trials[t], *splits[s]) for t, s in each
    )
    n = len(trials[0].labels)
    hits: defaultdict[tuple[str, str], np.ndarray] = defaultdict(
        lambda: np.zeros((2, n))
    )
    for (t, s), right in zip(progress(each, what), answers, strict=True):
        for (place, _), marks in zip(trials[t].asked, right, strict=True):
            # not bincount: rows may be counted from the end
            np.add.at(hits[place][0], splits[s][1], marks)
            np.add.at(hits[place][1], splits[s][1], 1)
    with np.errstate(invalid="ignore"):
        return {place: hit / tries for place, (hit, tries) in hits.items()}


def _attack(trial: Trial, known: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Which held-out documents are named rightly, of all that is asked."""
    learned, truth = trial.labels[known], trial.labels[held]
    texts = take(trial.known, known)
    if trial.more is not None:
        texts = joined(texts, trial.more[0])
        learned = np.concatenate([learned, trial.more[1]])
    # a report mentions documents without words once
    with quiet(EmptyDocumentWarning, ConvergenceWarning):
        if len(np.unique(learned)) == 1:  # a single label leaves nothing to learn
            return np.tile(truth == learned[0], (len(trial.asked), 1))
        model = clone(trial.model).fit(texts, learned)
        return np.stack([model.predict(take(x, held)) == truth for _, x in trial.asked])


def take(documents: Any, rows: np.ndarray) -> Any:
    """Rows of bags, or of a list of texts."""
    if hasattr(documents, "shape"):
        return documents[rows]
    return [documents[i] for i in rows]


def joined(first: Any, second: Any) -> Any:
    """Two parts of documents, one after the other."""
    if sp.issparse(first):
        return sp.vstack([first, second], format="csr")
    if hasattr(first, "shape"):
        return np.concatenate([first, second])
    return list(first) + list(second)


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


def as_released(
    perturber: Any, documents: Any, random_state: int
) -> tuple[np.ndarray, WordEmbedding] | None:
    """Expected counts of released words, of whole documents: their words after noise.

    With them the released words, which name the columns.

    One simulation of the noise for all of them: `bayes_of_released` that learns from
    any part of these knows the distribution of the noise. None where they do not fit
    into ``working_memory``, or unknown words are kept.
    """
    if perturber.oov == "keep":
        return None
    with quiet(PrivacyLeakWarning, OutOfVocabularyWarning, EmptyDocumentWarning):
        fitted = clone(perturber).set_params(random_state=None, document_length=None)
        bags = sp.csr_array(fitted.fit(documents).prepare(documents))
        released = fitted.embedding_
        shape = bags.shape[0], len(released)
        if 16 * shape[0] * shape[1] > working_memory_bytes():
            return None
        vectors = np.zeros(shape, dtype=np.float32)
        sizes = np.asarray(bags.sum(axis=1)).ravel()
        held = sizes > 0
        if held.any():
            options = {"n_draws": N_DRAWS, "random_state": random_state}
            vectors[held] = released_profiles(fitted, bags[held], **options)
        return vectors * (sizes[:, None] / _UNIT).astype(np.float32), released


def bayes_of_released() -> ChannelNaiveBayes:
    """Naive Bayes that learns from `as_released`."""
    return ChannelNaiveBayes(alpha=ChannelNaiveBayes().alpha / _UNIT)
