"""Neighbours without labels, the regressor, graphs, and what takes graphs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsRegressor

from skdptext import WordEmbedding
from skdptext.exceptions import EmptyDocumentWarning
from skdptext.metrics import pairwise_word_movers_distances
from skdptext.neighbors import WMDKNNRegressor, WMDNeighbors, WMDNeighborsTransformer
from tests.expected import refusals
from tests.neighbors.inside import nearest_of

N = 40  # documents of the corpus
N_WORDS = 7
GRID = WordEmbedding(
    [f"w{i}" for i in range(N_WORDS)],
    [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [0, 2], [2, 2]],
)


@pytest.fixture(scope="module")
def corpus(small_embedding):
    """Bags of two kinds of words, with copies."""
    rng = np.random.default_rng(3)
    X = np.zeros((N, len(small_embedding)))
    for i, row in enumerate(X):
        np.add.at(row, 100 * (i % 2) + rng.integers(0, 100, 12), 1.0)
    X[24], X[25], X[26] = X[0], X[0], X[1]
    return X


@pytest.fixture(scope="module")
def all_distances(corpus, small_embedding):
    """Of all pairs of the corpus, which nothing may change."""
    D = pairwise_word_movers_distances(corpus, embedding=small_embedding)
    D.flags.writeable = False
    return D


# -- the same as brute force -------------------------------------------------------


@pytest.mark.no_cover
@settings(max_examples=30)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 9),
    st.integers(1, 9),
    st.sampled_from([0, 0.5, 1, 1.25, 2]),
)
@pytest.mark.parametrize("embedding", [GRID, "one-hot"], ids=["grid", "one-hot"])
def test_as_brute_force(embedding, seed, n, k, radius):
    """On a grid many distances tie, and a radius often is a distance."""
    rng = np.random.default_rng(seed)
    bags = rng.poisson(0.5, size=(n + 5, N_WORDS))
    bags[np.arange(n + 5), rng.integers(0, N_WORDS, n + 5)] += 1
    X, queries = bags[:n], bags[n:]
    model = WMDNeighbors(embedding, radius=radius).fit(X)
    for asked in (queries, None):
        D = pairwise_word_movers_distances(
            X if asked is None else asked, X, embedding=embedding
        )
        if asked is None:
            np.fill_diagonal(D, np.inf)
        n = min(k, len(X) - (asked is None))
        np.testing.assert_equal(model.kneighbors(asked, n), nearest_of(D, n))
        distances, rows = model.radius_neighbors(asked, sort_results=True)
        graph = model.radius_neighbors_graph(asked, mode="distance")
        alone = model.radius_neighbors(asked, return_distance=False)
        for i, (d, r) in enumerate(zip(distances, rows, strict=True)):
            inside = np.flatnonzero(D[i] <= radius)
            order = np.argsort(D[i][inside], kind="stable")
            assert np.array_equal(r, inside[order])
            assert np.array_equal(d, D[i][r])
            assert np.array_equal(np.sort(alone[i]), inside)
            part = slice(graph.indptr[i], graph.indptr[i + 1])
            assert np.array_equal(graph.indices[part], inside)
            assert np.array_equal(graph.data[part], D[i][inside])


# -- the regressor -------------------------------------------------------------------


def falling(distances):
    return 1 / (1 + distances)


@pytest.mark.no_cover
@pytest.mark.parametrize("weights", ["uniform", "distance", falling, None])
@pytest.mark.parametrize("shape", [24, (24, 1), (24, 2)])
def test_means_as_scikit_learn(corpus, small_embedding, all_distances, weights, shape):
    X, queries = corpus[:24], corpus[27:]
    y = np.random.default_rng(0).normal(size=shape)
    ours = WMDKNNRegressor(small_embedding, n_neighbors=3, weights=weights).fit(X, y)
    peer = KNeighborsRegressor(3, weights=weights, metric="precomputed")
    want = peer.fit(all_distances[:24, :24], y).predict(all_distances[27:, :24])
    found = ours.predict(queries)
    assert found.shape == want.shape
    np.testing.assert_allclose(found, want, atol=1e-12)
    with pytest.warns(EmptyDocumentWarning, match="answer for all"):
        empty = ours.predict(np.vstack([queries[:1], 0 * queries[:1]]))
    np.testing.assert_allclose(empty, [want[0], y.mean(axis=0)])


# -- graphs for what comes next ------------------------------------------------------


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
def test_transformer(corpus, small_embedding, all_distances, mode):
    step = WMDNeighborsTransformer(small_embedding, mode=mode, n_neighbors=3)
    graph = step.fit_transform(corpus)
    k = 4 if mode == "distance" else 3
    distances, rows = nearest_of(all_distances, k)  # itself is among the nearest
    assert np.array_equal(graph.indices.reshape(N, k), rows)
    data = distances if mode == "distance" else np.ones_like(distances)
    assert np.array_equal(graph.data.reshape(N, k), data)
    others = step.transform(corpus[:7])
    assert others.shape == (7, N)
    assert (np.diff(others.indptr) == k).all()
    assert len(step.get_feature_names_out()) == N


@refusals(
    (WMDNeighbors, {"radius": True}, "radius must be a finite number >= 0, got True"),
    (WMDNeighbors, {"n_jobs": 10**40}, "n_jobs must be .* at most 32768, got 10000"),
    (WMDNeighbors, {"n_jobs": 0}, "n_jobs must be None or .* other than 0.*, got 0"),
    (WMDNeighborsTransformer, {"n_neighbors": 40}, r"choose from \(40\), got 41"),
)
def test_bad_radii_and_graphs(corpus, small_embedding, estimator, options):
    model = estimator(small_embedding, **options).fit(corpus)
    model.radius_neighbors(corpus) if "radius" in options else model.transform(corpus)
