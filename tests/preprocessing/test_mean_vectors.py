"""MeanVectorEncoder against its definition written out, and each document by itself."""

from __future__ import annotations

import math

import numpy as np
import pytest

from skdptext import WordEmbedding
from skdptext.preprocessing import MeanVectorEncoder
from tests.expected import refusals, refused

WORDS = ["cat", "dog", "tea", "milk", "Paris"]
TABLE = WordEmbedding(
    WORDS,
    [[3.0, 0.0, 1.0], [2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 2.0, 0.0], [0, 1, 5]],
)
TEXTS = ["cat and dog", "dog dog Cat", "tea and milk", "milk and tea tea", "and"]


def written_out(texts, public, table, k):
    """The definition, one document and one word at a time; signs are arbitrary."""
    split = [[w for w in text.lower().split() if w in WORDS] for text in public]

    def unit(text):
        total = np.zeros(table.dim)
        for word in text.lower().split():
            if table.find([word])[0] >= 0:
                df = sum(word in document for document in split)
                idf = 1 + math.log((1 + len(public)) / (1 + df))
                total += idf * table.vectors[table.find([word])[0]].astype(float)
        length = math.sqrt(sum(total**2))
        return total / length if length else None

    known = np.array([row for row in map(unit, public) if row is not None])
    mean = known.mean(axis=0)
    values, axes = np.linalg.eigh(np.cov(known.T, bias=True))
    axes = axes[:, ::-1][:, :k] / np.sqrt(values[::-1][:k])
    placed = []
    for row in map(unit, texts):
        place = np.zeros(k) if row is None else (row - mean) @ axes
        placed.append(place / (np.linalg.norm(place) or 1))
    return np.array(placed)


def test_it_does_what_is_written():
    new = ["cat", "Paris tea", "milk dog", "zebra", ""]
    encoder = MeanVectorEncoder(TABLE, n_components=2)
    placed = encoder.fit_transform(TEXTS)
    exact = written_out(TEXTS + new, TEXTS, TABLE, 2)
    signs = np.sign((placed * exact[:5]).sum(axis=0))
    np.testing.assert_allclose(placed, exact[:5] * signs, atol=1e-9)
    np.testing.assert_allclose(encoder.transform(new), exact[5:] * signs, atol=1e-9)
    assert not encoder.transform(["zebra", "", "and"]).any()
    tops = np.abs(encoder.components_).argmax(axis=1)
    assert (encoder.components_[np.arange(2), tops] > 0).all()
    assert (np.diff(encoder.explained_variance_) <= 0).all()


def test_words_are_counted_alike_in_texts_tokens_and_matrices():
    counts = np.zeros((5, 5), int)
    counts[[0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 0, 1, 2, 3, 2, 3]] = 1, 1, 1, 2, 1, 1, 2, 1
    placed = MeanVectorEncoder(TABLE, 2).fit_transform(TEXTS)
    for X in ([text.split() for text in TEXTS], iter(TEXTS), counts):
        again = MeanVectorEncoder(TABLE, 2).fit_transform(X)
        np.testing.assert_array_equal(again, placed)


@pytest.mark.no_cover
@pytest.mark.parametrize("together", [1, 7, 4096])
def test_each_document_is_placed_by_itself_to_the_last_bit(monkeypatch, together):
    rng = np.random.default_rng(1)
    table = WordEmbedding([f"w{i}" for i in range(300)], rng.normal(size=(300, 60)))
    words = rng.zipf(1.3, size=(150, 12)) % 300
    texts = [" ".join(f"w{i}" for i in row) for row in words]
    encoder = MeanVectorEncoder(table).fit(texts)
    placed = encoder.transform(texts)
    monkeypatch.setattr("skdptext.documents._mean_vectors._TOGETHER", together)
    np.testing.assert_array_equal(encoder.transform(texts), placed)
    np.testing.assert_array_equal(encoder.transform(texts[::-1])[::-1], placed)
    for part in (slice(0, 1), slice(3, 8), slice(40, 120)):
        np.testing.assert_array_equal(encoder.transform(texts[part]), placed[part])


def test_a_refused_fit_leaves_the_encoder_as_it_was():
    encoder = MeanVectorEncoder(TABLE, 1).fit(TEXTS)
    before = encoder.transform(TEXTS)
    with refused("documents that differ"):
        encoder.fit(["same", "same"])
    with refused("as document 1"):
        encoder.transform(["a", 3])
    np.testing.assert_array_equal(encoder.transform(TEXTS), before)


@refusals(
    ([], "at least one document"),
    (["", "secret"], "documents that differ"),
    (["secret cat", "secret cat"], "documents that differ"),
    ([[1.0, -1.0, 0, 0, 0]], "non-negative"),
    ([[1.0, 1.0]], "it has 2 columns, the embedding has 5 words"),
    never="secret",
)
def test_bad_input(X):
    MeanVectorEncoder(TABLE).fit(X)
