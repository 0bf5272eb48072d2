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
from tests.expected import refusals, refused

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


@refusals(
    ({"radius": -1}, {}, "'radius' .* must be a float in the range"),
    ({}, {}, "radius must be a finite number >= 0, got None"),
    ({}, {"radius": np.nan}, "radius must be a finite number"),
)
def test_bad_radii(corpus, small_embedding, options, asked):
    X, _ = corpus
    WMDNeighbors(small_embedding, **options).fit(X).radius_neighbors(X, **asked)


@refusals(
    ({"mode": "ones"}, "'mode' .* must be a str among"),
    ({"n_neighbors": 40}, r"to choose from \(40\), got 41"),
)
def test_bad_graphs(corpus, small_embedding, options):
    step = WMDNeighborsTransformer(small_embedding, **options)
    with pytest.raises(NotFittedError):
        step.transform(corpus[0])
    step.fit_transform(corpus[0])


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


@pytest.mark.no_cover
@pytest.mark.parametrize("min_samples", [2, 3])
def test_clusters_are_those_of_all_distances(corpus, small_embedding, min_samples):
    """By tf-idf weights; copies lie at distance 0, and a radius leaves out itself."""
    weigh = TfidfTransformer(norm="l1")
    X = weigh.fit_transform(corpus[0])
    dense = pairwise_word_movers_distances(X, embedding=small_embedding)
    near = float(np.quantile(dense[dense > 0], 0.02))
    cluster = DBSCAN(eps=near, min_samples=min_samples, metric="precomputed")
    want = cluster.fit_predict(dense)
    assert len(np.unique(want)) >= 3
    step = WMDNeighborsTransformer(small_embedding, n_neighbors=20)
    steps = make_pipeline(weigh, step, cluster)
    assert np.array_equal(steps.fit_predict(corpus[0]), want)
    model = WMDNeighbors(small_embedding).fit(X)
    graph = model.radius_neighbors_graph(radius=near, mode="distance")
    edges = graph.tocoo()
    assert (edges.row != edges.col).all()
    assert np.array_equal(cluster.fit_predict(graph), want)
