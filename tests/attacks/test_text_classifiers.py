"""Classifiers of texts: what they read, and what they refuse, alike."""

from __future__ import annotations

import numpy as np
import pytest

from skdptext import WordEmbedding
from skdptext.attacks import FastTextClassifier, KoppelAuthorClassifier
from tests.expected import refusals

WORDS = [f"w{i}" for i in range(38)] + ["__label__1", "</s>"]  # two of them odd
TABLE = WordEmbedding(WORDS, np.random.default_rng(1).normal(size=(40, 6)))


def koppel(embedding=None):
    return KoppelAuthorClassifier(embedding, n_rounds=20, random_state=0)


def fasttext(embedding=None):
    return FastTextClassifier(embedding, dim=8, n_epochs=10, random_state=0)


KINDS = pytest.mark.parametrize("make", [koppel, fasttext])


@KINDS
def test_texts_tokens_and_bags_are_one(make):
    """Whatever kind was learned from, each is read."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    favoured = np.arange(40) // 13 == y[:, None]
    bags = np.array([rng.multinomial(25, w / w.sum()) for w in 1 + 3 * favoured])
    texts = [" ".join(np.repeat(WORDS, bag)) for bag in bags]
    tokens = [text.split() for text in texts]
    on_bags = make(TABLE).fit(bags, y)
    assert on_bags.score(bags, y) > 0.8
    expected = on_bags.predict_proba(bags)
    for documents in (texts, tokens, iter(texts)):
        np.testing.assert_allclose(on_bags.predict_proba(documents), expected)
    on_tokens, on_texts = (
        make().fit(documents, y).predict_proba(texts)
        for documents in (tokens, iter(texts))
    )
    np.testing.assert_array_equal(on_tokens, on_texts)
    if make is koppel:  # fastText's vectors begin by the numbers of its words
        np.testing.assert_allclose(on_texts, expected)


@KINDS
@refusals(
    ("one text", [0], "got a single str"),
    (None, [0], "got None"),
    (["a", "b"], [0], r"one label per document \(2\), got shape \(1,\)"),
    (["a", "b"], [0, 0], r"at least 2 classes, got 1 class\."),
    (["", " "], [0, 1], "at least one word"),
    ([["a", 3]], [0], "got an int as token 1 of document 0"),
    ([None, "a"], [0, 1], "as document 0"),
    (np.eye(2), [0, 1], "embedding must be given for bags-of-words"),
)
def test_bad_documents(make, texts, labels):
    make().fit(texts, labels)
