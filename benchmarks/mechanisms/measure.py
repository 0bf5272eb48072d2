"""What is measured of one mechanism at one ε: its words, its promise, its use."""

from __future__ import annotations

import time

import numpy as np
from corpora import Corpus, corpus, embedding, prior
from field import channel, nearest_and_random, perturber
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline

from skdptext.audit import audit_word_privacy
from skdptext.metrics import plausible_deniability

MESSAGE, DELTA = 16, 1e-6
N_FAR = 5000
N_AUDIT = 20_000


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
    stays = law.expected_unchanged(1)
    pairs = [(names[i], names[j]) for i, j in zip(at[:5], near[:5], strict=True)]
    audit = audit_word_privacy(fitted, pairs, n_draws=N_AUDIT, random_state=0)
    exact = {
        kind: [
            _nats(guarantee, names[i], names[j], MESSAGE)
            for i, j in zip(at[:25], to[:25], strict=True)
        ]
        for kind, to in (("nearest", near), ("random", far))
    }
    found: dict[str, object] = {
        "method": law.method,
        "success": law.vulnerability().value,
        "success10": law.vulnerability(10).value,
        "log_loss": law.log_loss().value,
        "kept": float(stays @ prior(table)),
        "kept_evenly": float(stays.mean()),
        "distinct": float(np.mean(drawn.n_distinct)),
        "far": far_share(law.proba, table),
        "audit_bound": float(np.max(audit.lower_bound)),
        "audit_claim": float(audit.claimed[int(np.argmax(audit.lower_bound))]),
        "audit_violated": bool(np.any(audit.violated)),
    }
    for kind, values in exact.items():
        pure, approximate, message, approximate_message = np.median(values, axis=0)
        found |= {
            f"{kind}": float(pure),
            f"{kind}_delta": float(approximate),
            f"{kind}_message": float(message),
            f"{kind}_message_delta": float(approximate_message),
        }
    return found


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


def use(name: str, of: str, epsilon: float) -> dict[str, object]:
    """What classifiers make of a release of one corpus."""
    found = corpus(of)
    fitted = perturber(
        name, found.embedding, epsilon,
        document_length=found.length, resize="sample",
        random_state=np.random.default_rng(4),
    ).fit([])  # fmt: skip
    start = time.process_time()
    train = fitted.transform(found.train)
    test = fitted.transform(found.test)
    spent = time.process_time() - start
    tokens = found.length * (len(found.train) + len(found.test))
    result: dict[str, object] = {"tokens_per_s": tokens / spent}
    clean_train = clean(found)[0]
    for kind, (ours, theirs) in found.labels.items():
        for trained_on, bags in (("noisy", train), ("clean", clean_train)):
            result[f"{kind}_{trained_on}"] = accuracy(bags, ours, test, theirs)
    return result


def ceiling(of: str) -> dict[str, object]:
    """The same without noise, and for the largest class alone."""
    found = corpus(of)
    train, test = clean(found)
    return {
        kind: accuracy(train, ours, test, theirs)
        for kind, (ours, theirs) in found.labels.items()
    }


def clean(found: Corpus):
    """Bags in clear, drawn to the same length."""
    fitted = perturber(
        "Randomized response", found.embedding, 700.0,
        document_length=found.length, resize="sample",
        random_state=np.random.default_rng(5),
    ).fit([])  # fmt: skip
    return fitted.transform(found.train), fitted.transform(found.test)


def accuracy(train, ours, test, theirs) -> list[float]:
    """Balanced accuracy with a 95 % bootstrap interval over the test documents."""
    model = make_pipeline(
        TfidfTransformer(sublinear_tf=True),
        LogisticRegression(C=5.0, class_weight="balanced", max_iter=300),
    )
    guesses = model.fit(train, ours).predict(test)
    kinds, truth = np.unique(theirs, return_inverse=True)
    right = guesses == theirs
    rng = np.random.default_rng(6)
    drawn = rng.integers(len(truth), size=(500, len(truth)))
    scores = []
    for rows in drawn:
        of = np.bincount(truth[rows], minlength=len(kinds))
        hits = np.bincount(truth[rows], weights=right[rows], minlength=len(kinds))
        scores.append((hits[of > 0] / of[of > 0]).mean())
    low, high = np.quantile(scores, [0.025, 0.975])
    return [float(balanced_accuracy_score(theirs, guesses)), float(low), float(high)]
