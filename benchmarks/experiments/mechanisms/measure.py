"""What is measured of one mechanism at one ε: its words, its promise, its use."""

from __future__ import annotations

import time
from functools import cache

import numpy as np
from experiments.mechanisms.corpora import corpus, embedding, prior
from experiments.mechanisms.field import (
    REPLACED,
    channel,
    guessed,
    nearest_and_random,
    perturber,
)
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skdptext.metrics import plausible_deniability
from skdptext.replacement import DPDocumentReplacer

N_RELEASES = 5
N_GROUPS = 8  # of the replaced documents
MESSAGE, DELTA = 16, 1e-6
N_FAR = 5000


def words(name: str, table: str, epsilon: float) -> dict[str, object]:
    """Its words and its promise, under one embedding."""
    law = channel(name, table, epsilon)
    fitted = perturber(name, table, epsilon, resize="sample").fit([])
    guarantee = fitted.guarantee(n_words=1)
    names = embedding(table).words
    at, near, far = nearest_and_random(table)
    some = np.random.default_rng(2).permutation(len(names))[:100]
    drawn = plausible_deniability(
        fitted, [names[i] for i in some], n_draws=100, random_state=0
    )
    stays = np.diagonal(law)
    exact = {
        kind: [
            _nats(guarantee, names[i], names[j], MESSAGE)
            for i, j in zip(at[:25], to[:25], strict=True)
        ]
        for kind, to in (("nearest", near), ("random", far))
    }
    facts: dict[str, object] = {
        "success": guessed(law, table),
        "success10": guessed(law, table, 10),
        "kept": float(stays @ prior(table)),
        "kept_evenly": float(stays.mean()),
        "distinct": float(np.mean(drawn.n_distinct)),
        "far": far_share(law, table),
    }
    for kind, values in exact.items():
        pure, approximate, message, approximate_message = np.median(values, axis=0)
        facts |= {
            f"{kind}": float(pure),
            f"{kind}_delta": float(approximate),
            f"{kind}_message": float(message),
            f"{kind}_message_delta": float(approximate_message),
        }
    return facts


def _nats(guarantee, x: str, y: str, n: int) -> tuple[float, ...]:
    """Exponents of a word and of a message, pure and with a small δ."""
    one = [guarantee.exponent(x, y, delta=delta) for delta in (0.0, DELTA)]
    ordered = [
        guarantee.compose(n).exponent(x, y, delta=delta) for delta in (0.0, DELTA)
    ]
    return (*one, *ordered)


def far_share(proba: np.ndarray, table: str) -> float:
    """Share of released words that are not among the 100 nearest of the written one."""
    rng = np.random.default_rng(3)
    p = prior(table)
    at = np.sort(rng.choice(len(p), N_FAR, p=p))
    vectors = embedding(table).vectors.astype(np.float64)
    squares = (vectors**2).sum(axis=1)
    share = 0.0
    for word, count in zip(*np.unique(at, return_counts=True), strict=True):
        gaps = squares - 2 * vectors @ vectors[word]
        beyond = gaps > np.partition(gaps, 100)[100]
        share += count * float(proba[word][beyond].sum())
    return share / N_FAR


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
    return (counts(of, noisy) if name == REPLACED else noisy), rows


def counts(of: str, texts: list[str]):
    """Counts of the words of texts; the vocabulary is that of the training half."""
    return vocabulary(of).transform(texts)


@cache
def vocabulary(of: str) -> CountVectorizer:
    return CountVectorizer(dtype=np.float64).fit(corpus(of).train)


def use(name: str, of: str, epsilon: float, release: int) -> dict[str, object]:
    """Which labels of the test half a classifier gets right, as a text of 0 and 1."""
    private = corpus(of)
    start = time.process_time()
    train, rows = released(name, of, epsilon, release, "train")
    test, _ = released(name, of, epsilon, release, "test")
    spent = time.process_time() - start
    tokens = private.length * (len(rows) + len(private.test))
    result: dict[str, object] = {"tokens_per_s": tokens / spent}
    for kind, (ours, theirs) in private.labels.items():
        guesses = linear().fit(train, ours[rows]).predict(test)
        result[kind] = as_text(guesses == theirs)
    return result


def ceiling(of: str) -> dict[str, str]:
    """The same without noise."""
    train, test = clean(of, "train"), clean(of, "test")
    return {
        kind: as_text(linear().fit(train, ours).predict(test) == theirs)
        for kind, (ours, theirs) in corpus(of).labels.items()
    }


@cache
def clean(of: str, part: str):
    """Bags in clear, drawn to the same length."""
    unchanged, most = "Randomized response", 700.0
    return released(unchanged, of, most, 0, part)[0]


def linear():
    return make_pipeline(
        TfidfTransformer(sublinear_tf=True),
        LogisticRegression(C=5.0, class_weight="balanced", max_iter=300),
    )


def as_text(right: np.ndarray) -> str:
    return "".join("01"[int(x)] for x in right)
