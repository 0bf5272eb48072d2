"""Synthetic embeddings and documents."""

import numpy as np
import pytest
from scipy.stats import chisquare

from skdptext import WordEmbedding
from skdptext.datasets import make_documents, make_embedding
from tests.expected import refusals


def test_embedding_is_of_the_size_asked_and_repeats_by_its_seed():
    for n, dim, n_clusters in ((1, 1, 1), (60, 9, 7), (5, 3, 5)):
        prints = []
        for seed in (0, 0, rng := np.random.default_rng(0), rng, 1, None, None):
            made = make_embedding(n, dim, n_clusters=n_clusters, random_state=seed)
            assert made.vectors.shape == (n, dim)
            assert made.words == tuple(f"w{i}" for i in range(n))
            prints.append(made.fingerprint)
        assert prints[0] == prints[1] == prints[2]  # a generator moves on
        assert len(set(prints)) == 5


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


@pytest.mark.parametrize("concentration", [0.0, 1.0, 2.5])
def test_words_follow_the_distance_to_the_anchor(concentration):
    """Chi-square on a table of three words; false alarm 1e-6."""
    line = WordEmbedding(["a", "b", "c"], [[0.0], [1.0], [3.0]])
    # All words can be the anchor: tell which by the draw of a concentrated topic
    (sharp,), _ = make_documents(
        line, 1, 1, length=5, concentration=1e6, random_state=3
    )
    anchor = line.words.index(sharp[0])
    (document,), _ = make_documents(
        line, 1, 1, length=20_000, concentration=concentration, random_state=3
    )
    squared = (line.vectors[:, 0].astype(float) - line.vectors[anchor, 0]) ** 2
    weight = np.exp(-concentration * squared / (2 * np.median(squared)))
    seen = [document.count(word) for word in line.words]
    expected = 20_000 * weight / weight.sum()
    assert chisquare(seen, expected).pvalue > 1e-6


@refusals(
    (make_embedding, {"n_clusters": 10**6}, r"n_clusters must be <= n_words \(\d+\)"),
    (make_documents, {"n_topics": 201}, r"must be <= the number of words \(200\)"),
    (make_documents, {"length": (3, 2)}, "length must be an integer >= 3, got 2"),
    (make_documents, {"length": (1, 2, 3)}, r"length must be .* pair"),
)
def test_bad_parameters(table, make, options):
    own = {"embedding": table} if make is make_documents else {}
    make(**{**own, **options})
