"""KoppelAuthorClassifier: what it reads, learns and refuses."""

from __future__ import annotations

import numpy as np

from skdptext import WordEmbedding
from skdptext.attacks import KoppelAuthorClassifier
from tests.expected import refusals

WORDS = [f"w{i}" for i in range(38)] + ["__label__1", "</s>"]  # two of them odd
TABLE = WordEmbedding(WORDS, np.random.default_rng(1).normal(size=(40, 6)))
# Documents on three topics, each of which favours a third of the words.
TOPICS = np.array(["water", "air", "fire"])
FAVOURED = np.arange(40) // 13 == np.arange(120)[:, None] % 3
RNG = np.random.default_rng(0)
BAGS = np.array([RNG.multinomial(25, w / w.sum()) for w in 1 + 3 * FAVOURED])
TEXTS = [" ".join(np.repeat(WORDS, bag)) for bag in BAGS]
Y = TOPICS[np.arange(120) % 3]


def koppel(*args, **params):
    options = {"n_rounds": 20, "random_state": 0}
    return KoppelAuthorClassifier(*args, **options | params)


def test_learns_and_a_seed_fixes_it():
    first, again, other = (
        koppel(random_state=seed).fit(TEXTS[:80], Y[:80]) for seed in (3, 3, 4)
    )
    assert first.classes_.tolist() == sorted(TOPICS)
    assert first.score(TEXTS[80:], Y[80:]) > 0.7  # by chance, a third
    proba = first.predict_proba(TEXTS)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(proba, again.predict_proba(TEXTS))
    assert (proba != other.predict_proba(TEXTS)).any()


def test_texts_tokens_and_bags_are_one():
    """Whatever kind was learned from, each is read."""
    tokens = [text.split() for text in TEXTS]
    on_bags = koppel(TABLE).fit(BAGS, Y)
    assert on_bags.score(BAGS, Y) > 0.8
    expected = on_bags.predict_proba(BAGS)
    for documents in (TEXTS, tokens, iter(TEXTS)):
        np.testing.assert_allclose(on_bags.predict_proba(documents), expected)
    on_tokens, on_texts = (
        koppel().fit(documents, Y).predict_proba(TEXTS)
        for documents in (tokens, iter(TEXTS))
    )
    np.testing.assert_array_equal(on_tokens, on_texts)
    np.testing.assert_allclose(on_texts, expected)


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
def test_bad_documents(texts, labels):
    koppel().fit(texts, labels)
