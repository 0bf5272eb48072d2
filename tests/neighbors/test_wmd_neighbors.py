"""Neighbours without labels, the regressor, graphs, and what takes graphs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.neighbors import (
    KNeighborsRegressor,
    KNeighborsTransformer,
    NearestNeighbors,
)
from sklearn.pipeline import make_pipeline

from skdptext import WordEmbedding
from skdptext.exceptions import EmptyDocumentWarning
from skdptext.metrics import pairwise_word_movers_distances
from skdptext.neighbors import (
    WMDKNNRegressor,
    WMDNeighbors,
    WMDNeighborsTransformer,
)
from tests.expected import refused

N = 40  # documents of the corpus
N_WORDS = 7
GRID = WordEmbedding(
    [f"w{i}" for i in range(N_WORDS)],
    [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [0, 2], [2, 2]],
)


def brute(D, k):
    rows = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, rows, axis=1), rows


@pytest.fixture(scope="module")
def corpus(small_embedding):
    """Bags of two kinds of words, with copies, and which kind."""
    rng = np.random.default_rng(3)
    X = np.zeros((N, len(small_embedding)))
    y = np.arange(N) % 2
    for row, kind in zip(X, y, strict=True):
        np.add.at(row, 100 * kind + rng.integers(0, 100, 12), 1.0)
    X[24], X[25], X[26] = X[0], X[0], X[1]
    return X, y


@pytest.fixture(scope="module")
def all_distances(corpus, small_embedding):
    """Of all pairs of the corpus, which nothing may change."""
    D = pairwise_word_movers_distances(corpus[0], embedding=small_embedding)
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
        for got, want in zip(model.kneighbors(asked, n), brute(D, n), strict=True):
            assert np.array_equal(got, want)
        distances, rows = model.radius_neighbors(asked, sort_results=True)
        graph = model.radius_neighbors_graph(asked, mode="distance")
        for i, (d, r) in enumerate(zip(distances, rows, strict=True)):
            inside = np.flatnonzero(D[i] <= radius)
            order = np.argsort(D[i][inside], kind="stable")
            assert np.array_equal(r, inside[order])
            assert np.array_equal(d, D[i][r])
            part = slice(graph.indptr[i], graph.indptr[i + 1])
            assert np.array_equal(graph.indices[part], inside)
            assert np.array_equal(graph.data[part], D[i][inside])


@pytest.mark.no_cover
def test_as_scikit_learn_gives_them(corpus, small_embedding, all_distances):
    X, D = corpus[0], all_distances
    radius = float(np.quantile(D, 0.1))
    ours = WMDNeighbors(small_embedding, n_neighbors=4, radius=radius).fit(X)
    peer = NearestNeighbors(n_neighbors=4, radius=radius, metric="precomputed").fit(D)
    for mode in ("connectivity", "distance"):
        for asked, of_peer in ((None, None), (X[::7], D[::7])):
            for method in ("kneighbors_graph", "radius_neighbors_graph"):
                got = getattr(ours, method)(asked, mode=mode)
                want = getattr(peer, method)(of_peer, mode=mode)
                assert type(got) is type(want)
                # scikit-learn breaks ties between copies as it likes
                assert np.allclose(
                    np.sort(got.toarray(), axis=1), np.sort(want.toarray(), axis=1)
                )
    ragged, theirs = ours.radius_neighbors(X[:5]), peer.radius_neighbors(D[:5])
    for got, want in zip(ragged[1], theirs[1], strict=True):
        assert np.array_equal(got, want)
    alone = ours.radius_neighbors(X[:5], return_distance=False)
    assert alone.dtype == object
    assert alone.base is None  # the distances are not kept


def test_documents_without_words(corpus, small_embedding):
    X = corpus[0].copy()
    X[5] = 0
    with pytest.warns(EmptyDocumentWarning, match=r"1 of 40 .* rows \[5\]") as caught:
        model = WMDNeighbors(small_embedding, n_neighbors=2).fit(X)
    assert caught[0].filename == __file__
    rows = model.radius_neighbors(X[:1], radius=1e9, return_distance=False)[0]
    assert np.array_equal(rows, np.delete(np.arange(N), 5))
    assert model.kneighbors_graph(X[:4]).shape == (4, N)
    for ask in (model.radius_neighbors, model.radius_neighbors_graph):
        with refused(r"what fit was given.* in rows \[5\]"):
            ask(radius=1.0)
        with refused(r"X .* in rows \[5\]"):
            ask(X, radius=1.0)
    with refused("Leave them out before: X = X"):
        model.kneighbors()


def test_refusals(corpus, small_embedding):
    X, _ = corpus

    with refused("'radius' .* must be a float in the range"):
        WMDNeighbors(small_embedding, radius=-1).fit(X)
    model = WMDNeighbors(small_embedding).fit(X)
    with refused("radius must be a finite number >= 0, got None"):
        model.radius_neighbors(X)
    with refused("radius must be a finite number"):
        model.radius_neighbors(X, radius=np.nan)
    with refused(r"documents with words to choose from \(40\), got 41"):
        model.set_params(n_neighbors=41).kneighbors(X)
    with refused("'mode' .* must be a str among"):
        WMDNeighborsTransformer(small_embedding, mode="ones").fit(X)
    with refused(r"to choose from \(40\), got 41"):
        WMDNeighborsTransformer(small_embedding, n_neighbors=40).fit_transform(X)
    with refused("Input X contains NaN"):
        WMDNeighbors(small_embedding).fit(np.full(X.shape, np.nan))
    with pytest.raises(NotFittedError):
        WMDNeighbors(small_embedding).radius_neighbors(X, radius=1)


# -- the regressor -------------------------------------------------------------------


def falling(distances):
    return 1 / (1 + distances)


@pytest.mark.no_cover
@pytest.mark.parametrize("weights", ["uniform", "distance", falling, None])
@pytest.mark.parametrize("n_outputs", [None, 1, 2])
def test_means_as_scikit_learn(
    corpus, small_embedding, all_distances, weights, n_outputs
):
    X, queries = corpus[0][:24], corpus[0][27:]
    y = np.random.default_rng(0).normal(size=(24, n_outputs) if n_outputs else 24)
    ours = WMDKNNRegressor(small_embedding, n_neighbors=3, weights=weights).fit(X, y)
    peer = KNeighborsRegressor(3, weights=weights, metric="precomputed")
    want = peer.fit(all_distances[:24, :24], y).predict(all_distances[27:, :24])
    got = ours.predict(queries)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, atol=1e-12)
    with pytest.warns(EmptyDocumentWarning, match="answer for all"):
        empty = ours.predict(np.vstack([queries[:1], 0 * queries[:1]]))
    np.testing.assert_allclose(empty, [want[0], y.mean(axis=0)])
    again = pickle.loads(pickle.dumps(ours))
    assert np.array_equal(again.predict(queries), got)


# -- graphs for what comes next ------------------------------------------------------


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
def test_transformer(corpus, small_embedding, all_distances, mode):
    X, _ = corpus
    step = WMDNeighborsTransformer(small_embedding, mode=mode, n_neighbors=3)
    graph = step.fit_transform(X)
    k = 4 if mode == "distance" else 3
    distances, rows = brute(all_distances, k)  # itself is among the nearest
    assert np.array_equal(graph.indices.reshape(N, k), rows)
    ones = np.ones_like(distances)
    data = distances if mode == "distance" else ones
    assert np.array_equal(graph.data.reshape(N, k), data)
    others = step.transform(X[:7])
    assert others.shape == (7, N)
    peer = KNeighborsTransformer(mode=mode, n_neighbors=3, metric="precomputed")
    assert (
        np.diff(others.indptr)
        == np.diff(peer.fit(all_distances).transform(all_distances[:7]).indptr)
    ).all()
    assert len(step.get_feature_names_out()) == N


@pytest.fixture(scope="module")
def dense(corpus, small_embedding):
    """Distances of all pairs, by tf-idf weights."""
    X = TfidfTransformer(norm="l1").fit_transform(corpus[0])
    return pairwise_word_movers_distances(X, embedding=small_embedding)


@pytest.fixture(scope="module")
def step_of(small_embedding):
    def step(**options):
        weigh = TfidfTransformer(norm="l1")
        return make_pipeline(weigh, WMDNeighborsTransformer(small_embedding, **options))

    return step


@pytest.mark.no_cover
def test_clusters_are_those_of_all_distances(corpus, dense, step_of):
    near = float(np.quantile(dense[dense > 0], 0.02))
    clusterer = DBSCAN(eps=near, min_samples=3, metric="precomputed")
    labels = make_pipeline(step_of(n_neighbors=20), clusterer).fit_predict(corpus[0])
    assert len(np.unique(labels)) >= 3
    assert np.array_equal(labels, clusterer.fit_predict(dense))


@pytest.mark.no_cover
@pytest.mark.parametrize("min_samples", [2, 3])
def test_clusters_of_a_radius_are_those_of_all_distances(
    corpus, dense, small_embedding, min_samples
):
    """The graph leaves each document out, also where copies lie at distance 0."""
    near = float(np.quantile(dense[dense > 0], 0.02))
    X = TfidfTransformer(norm="l1").fit_transform(corpus[0])
    model = WMDNeighbors(small_embedding).fit(X)
    graph = model.radius_neighbors_graph(radius=near, mode="distance")
    edges = graph.tocoo()
    assert (edges.row != edges.col).all()
    cluster = DBSCAN(eps=near, min_samples=min_samples, metric="precomputed")
    labels = cluster.fit_predict(graph)
    assert len(np.unique(labels)) >= 3
    assert np.array_equal(labels, cluster.fit_predict(dense))
