"""What is measured of one mechanism at one ε: its words, its promise, its use."""

from __future__ import annotations

import time
from functools import cache

import numpy as np
from experiments import kept
from experiments.mechanisms.corpora import corpus, embedding, prior
from experiments.mechanisms.field import (
    REPLACED,
    channel,
    guessed,
    matched,
    nearest_and_random,
    perturber,
)
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skdptext.privacy import PrivacyGuarantee
from skdptext.replacement import DPDocumentReplacer

N_RELEASES = 5
N_GROUPS, REPLACED_EPSILON = 8, 4.0  # of the replaced documents
MESSAGE, DELTA = 16, 1e-6  # words, all changed


@kept
def words(name: str, table: str) -> dict[str, object]:
    """Its words and its promise, under one embedding."""
    epsilon = matched(name, table)
    if epsilon is None:
        return {}
    law = channel(name, table, epsilon)
    promise = (
        perturber(name, table, epsilon, resize="sample").fit([]).guarantee(n_words=1)
    )
    names = embedding(table).words
    at, near, far = nearest_and_random(table)

    def nats(to: np.ndarray, promise: PrivacyGuarantee, delta: float = 0.0) -> object:
        pairs = zip(at[:25], to[:25], strict=True)
        found = [promise.exponent(names[i], names[j], delta=delta) for i, j in pairs]
        median = float(np.median(found))
        return median if median < np.inf else "∞"

    return {
        "ε": epsilon,
        "best guess, %": 100 * guessed(law, table),
        "kept, %": 100 * float(np.diagonal(law) @ prior(table)),
        "nearest, nats": nats(near, promise),
        "random, nats": nats(far, promise),
        "message with δ, nats": nats(near, promise.compose(MESSAGE), DELTA),
    }


# -- what others make of a release -----------------------------------------------------


@cache
def fitted(name: str, of: str, epsilon: float):
    """What releases the documents of a corpus."""
    private = corpus(of)
    if name == REPLACED:
        public = private.train[::2]
        source = DPDocumentReplacer(public, n_groups=N_GROUPS, epsilon=epsilon).fit([])
        return source.set_params(
            grouper=FrozenEstimator(source.grouper_), n_groups=None
        ).fit([])
    return perturber(
        name, private.embedding, epsilon, document_length=private.length,
        resize="sample",
    ).fit([])  # fmt: skip


def released(name: str, of: str, epsilon: float, release: int, part: str):
    """One of the releases of a half, and which of its documents they are of."""
    documents = getattr(corpus(of), part)
    rows = np.arange(len(documents))
    if name == REPLACED and part == "train":
        rows = rows[1::2]  # the others are public
    source = clone(fitted(name, of, epsilon))
    source.set_params(random_state=np.random.default_rng([4, release, part == "test"]))
    noisy = source.fit([]).transform([documents[i] for i in rows])
    return (counter(of).transform(noisy) if name == REPLACED else noisy), rows


@cache
def counter(of: str) -> CountVectorizer:
    """Counts the words of texts; the vocabulary is that of the training half."""
    return CountVectorizer(dtype=np.float64).fit(corpus(of).train)


@kept
def use(name: str, of: str, release: int) -> dict[str, np.ndarray]:
    """Which labels of the test half a classifier gets right; nothing if ε is none."""
    private = corpus(of)
    epsilon = REPLACED_EPSILON
    if name != REPLACED:
        epsilon = matched(name, private.embedding)
    if epsilon is None:
        return {}
    start = time.process_time()
    train, rows = released(name, of, epsilon, release, "train")
    test, _ = released(name, of, epsilon, release, "test")
    spent = time.process_time() - start
    tokens = private.length * (len(rows) + len(private.test))
    return {"tokens/s": np.array(tokens / spent)} | {
        kind: linear().fit(train, ours[rows]).predict(test) == theirs
        for kind, (ours, theirs) in private.labels.items()
    }


@kept
def in_clear(of: str) -> dict[str, np.ndarray]:
    """The same without noise, of bags that are drawn to the same length."""
    unchanged, most = "Randomized response", 700.0
    train, test = (
        released(unchanged, of, most, 0, part)[0] for part in ("train", "test")
    )
    return {
        kind: linear().fit(train, ours).predict(test) == theirs
        for kind, (ours, theirs) in corpus(of).labels.items()
    }


def linear():
    return make_pipeline(
        TfidfTransformer(sublinear_tf=True),
        LogisticRegression(C=5.0, class_weight="balanced", max_iter=300),
    )
