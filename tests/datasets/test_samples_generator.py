"""Synthetic embeddings and documents."""

import numpy as np
import pytest
from scipy.stats import chisquare

from skdptext import WordEmbedding
from skdptext.datasets import make_documents, make_embedding
from tests.expected import refusals


@pytest.mark.parametrize(("n", "dim", "n_clusters"), [(1, 1, 1), (60, 9, 7), (5, 3, 5)])
def test_embedding_is_of_the_size_asked_and_repeats(n, dim, n_clusters):
    first, again = (
        make_embedding(n, dim, n_clusters=n_clusters, random_state=3) for _ in range(2)
    )
    assert first.vectors.shape == (n, dim)
    assert first.words == tuple(f"w{i}" for i in range(n))
    assert again.fingerprint == first.fingerprint


def test_seeds_differ_and_a_generator_moves_on():
    first, second = (make_embedding(30, 4, random_state=seed) for seed in (0, 1))
    assert first.fingerprint != second.fingerprint
    rng = np.random.default_rng(0)
    drawn = [make_embedding(30, 4, random_state=rng).fingerprint for _ in range(2)]
    assert drawn[0] == first.fingerprint != drawn[1]
    fresh = [make_embedding(30, 4).fingerprint for _ in range(2)]
    assert fresh[0] != fresh[1]


def test_embedding_is_anisotropic_off_the_axes_and_of_the_scale_promised():
    embedding = make_embedding(2000, 10, n_clusters=500, random_state=0)
    covariance = np.cov(embedding.vectors, rowvar=False)
    values = np.linalg.eigvalsh(covariance)
    assert np.sqrt(values[-1] / values[0]) == pytest.approx(10, rel=0.3)
    assert np.trace(covariance) == pytest.approx(10, rel=0.4)
    off = covariance - np.diag(np.diag(covariance))
    assert np.abs(off).max() > 0.1


@pytest.fixture(scope="module")
def table():
    return make_embedding(200, 10, random_state=0)


def test_documents_have_the_lengths_asked_and_known_words(table):
    documents, topics = make_documents(table, 200, 4, length=(0, 3), random_state=0)
    assert {len(document) for document in documents} == {0, 1, 2, 3}
    assert topics.shape == (200,)
    assert set(topics) == set(range(4))
    assert all(word in table for document in documents for word in document)
    documents, _ = make_documents(table, 20, 4, length=7, random_state=0)
    assert {len(document) for document in documents} == {7}
    documents, topics = make_documents(table, 0, 1)
    assert (documents, topics.shape) == ([], (0,))
    heap = WordEmbedding(["a", "b"], np.ones((2, 3)))  # words all in one place
    documents, _ = make_documents(heap, 1, 2, length=200, random_state=0)
    assert set(documents[0]) == {"a", "b"}


def test_words_follow_the_distance_to_the_anchor():
    """Chi-square on a table of three words; false alarm 1e-6."""
    line = WordEmbedding(["a", "b", "c"], [[0.0], [1.0], [3.0]])
    # All words can be the anchor: tell which by the draw of a concentrated topic
    (sharp,), _ = make_documents(
        line, 1, 1, length=5, concentration=1e6, random_state=3
    )
    anchor = line.words.index(sharp[0])
    (document,), _ = make_documents(line, 1, 1, length=20_000, random_state=3)
    squared = (line.vectors[:, 0].astype(float) - line.vectors[anchor, 0]) ** 2
    weight = np.exp(-squared / (2 * np.median(squared)))
    seen = [document.count(word) for word in line.words]
    expected = 20_000 * weight / weight.sum()
    assert chisquare(seen, expected).pvalue > 1e-6


def test_concentration_zero_is_uniform(table):
    """Chi-square; false alarm 1e-6."""
    (document,), _ = make_documents(
        table, 1, 1, length=20_000, concentration=0, random_state=0
    )
    seen = [document.count(word) for word in table.words]
    assert chisquare(seen).pvalue > 1e-6


@refusals(
    ({"n_words": 0}, "n_words must be an integer >= 1, got 0"),
    ({"n_words": 3, "n_clusters": 4}, r"n_clusters must be <= n_words \(3\)"),
    ({"random_state": True}, "random_state must be .* got a bool"),
)
def test_bad_parameters_of_embedding(kwargs):
    make_embedding(**kwargs)


@refusals(
    ({"embedding": "one-hot"}, "embedding must be a WordEmbedding, got 'one-hot'"),
    ({"n_topics": 201}, r"n_topics must be <= the number of words \(200\)"),
    ({"length": (3, 2)}, "length must be an integer >= 3, got 2"),
    ({"length": (1, 2, 3)}, r"length must be .* pair"),
    ({"length": "ab"}, r"length must be an integer >= 0, got 'ab'"),
    ({"concentration": -0.5}, "concentration must be a finite number >= 0"),
)
def test_bad_parameters_of_documents(table, kwargs):
    make_documents(**{"embedding": table, **kwargs})
