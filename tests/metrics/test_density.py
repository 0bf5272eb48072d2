"""Density of vocabularies and corpora."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.feature_extraction.text import CountVectorizer

from skdptext import WordEmbedding
from skdptext.metrics import density_statistics
from tests.expected import refusals

PAIR = WordEmbedding(["a", "b"], [[5000.0], [5000.5]])


def test_close_words_far_from_the_origin():
    assert density_statistics(PAIR).distances.tolist() == [0.5, 0.5]


@settings(max_examples=40)
@given(st.integers(2, 60), st.integers(1, 5), st.integers(0, 2**32), st.booleans())
def test_distances_are_brute_forces(n_words, dim, seed, whole):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n_words, dim)).astype(np.float32)
    if whole:  # equal vectors abound
        vectors = np.round(vectors)
    table = WordEmbedding([f"w{i}" for i in range(n_words)], vectors)
    expected = cdist(vectors, vectors)
    np.fill_diagonal(expected, np.inf)
    expected = expected.min(axis=1)
    with config_context(working_memory=0.001):
        density = density_statistics(table, n_extreme=3)
    np.testing.assert_allclose(density.distances, expected, rtol=1e-12)
    ranked = np.sort(expected)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = ranked[-3:].mean() / ranked[:3].mean()
        np.testing.assert_allclose(density.sparse_over_dense, ratio, rtol=1e-12)
        np.testing.assert_allclose(density.max_over_min, ranked[-1] / ranked[0])


def test_corpus():
    words = ["aa", "bb", "cc", "far", "unused"]
    table = WordEmbedding(words, [[0.0], [1.0], [3.0], [10.0], [3.1]])
    texts = ["Aa bb, bb!", "far far zzz", "", "cc far"]
    counts = CountVectorizer(vocabulary=table.words).fit_transform(texts)
    tokens = [["Aa", "bb", "bb"], ["far", "far", "zzz"], [], ["cc", "far"]]
    for X in (texts, tokens, counts):
        density = density_statistics(table, X, n_extreme=2)
        assert density.words.tolist() == ["aa", "bb", "cc", "far"]
        # without the unused word, which is near to cc
        assert density.distances.tolist() == [1.0, 1.0, 2.0, 7.0]
        assert density.sparsest.tolist() == ["far", "cc"]
        assert density.densest.tolist() == ["aa", "bb"]
        assert density.sparse_over_dense == 4.5
        assert density.n_records == 4
        assert density.mean_record_size == 7 / 4
        assert density.std_record_size == np.std([3, 2, 0, 2])
        assert density.records_with_sparse == 2 / 4
        assert density.records_per_sparse == (2 + 1) / (2 * 4)


@refusals(
    (PAIR, [["a"]], {}, "X must have at least 2 words of the embedding, got 1"),
    (PAIR.restrict(1), None, {}, "embedding must have at least 2"),
)
def test_bad_input(embedding, X, options):
    density_statistics(embedding, X, **options)
