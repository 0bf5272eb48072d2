"""The pruned search finds what brute force finds, ties included, and solves few."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.feature_extraction.text import CountVectorizer

from skdptext.metrics import pairwise_word_movers_distances
from skdptext.neighbors import WMDKNNClassifier, WMDNeighbors
from tests.memory import traced_memory
from tests.neighbors.inside import Counted, crowded, embedded, nearest_of, search_module


def brute_force(queries, train, embedding, k, itself=False):
    D = pairwise_word_movers_distances(queries, train, embedding=embedding)
    return nearest_of(D, k, itself)


def assert_same(neighbours, expected):
    for got, want in zip(neighbours, expected, strict=True):
        np.testing.assert_array_equal(got, want)  # to the last bit


def fitted(X, embedding, k, **params):
    y = np.arange(X.shape[0]) % 2
    return WMDKNNClassifier(embedding, n_neighbors=k, **params).fit(X, y)


@pytest.fixture(scope="module")
def prose_bags(prose, built_in):
    return sp.csr_array(CountVectorizer(vocabulary=built_in.words).transform(prose[0]))


@pytest.fixture(scope="module")
def exact(prose_bags, built_in):
    """Distances of some texts: once for all ways to search."""
    return pairwise_word_movers_distances(prose_bags[:150], embedding=built_in)


def test_prose_with_ties_and_duplicates(prose_bags, built_in, exact):
    bags = prose_bags[:60]
    # every document three times, twice in proportion, in shuffled order
    train = sp.csr_array(sp.vstack([bags, 2 * bags, bags]))
    order = np.random.default_rng(0).permutation(train.shape[0])
    train = train[order]
    D = exact[:, order % 60]
    model = fitted(train, built_in, 7)
    distances, rows = model.kneighbors(bags[:40])
    assert_same((distances, rows), nearest_of(D[:40], 7))
    assert (distances[:, :3] == 0).all()
    assert (np.diff(rows[:, :3]) > 0).all()
    assert_same(model.kneighbors(), nearest_of(D[order % 60], 7, itself=True))


def test_few_problems_are_solved(prose_bags, built_in, monkeypatch):
    # Were a bound useless, the answers would still be right, and nothing fast.
    counted = Counted(monkeypatch)
    fitted(prose_bags[:900], built_in, 5).kneighbors(prose_bags[900:1000])
    assert 500 <= counted.solved <= 1000


def test_few_of_long_noisy_bags_are_solved(built_in, monkeypatch):
    """All are nearly as far, so that bounds must be close: 27 of 195 without Sinkhorn's
    steps."""
    rng = np.random.default_rng(0)
    words = rng.integers(0, len(built_in), (200, 120))
    X = np.zeros((200, len(built_in)))
    np.add.at(X, (np.arange(200)[:, None], words), 1)
    counted = Counted(monkeypatch)
    fitted(X[5:], built_in, 5).kneighbors(X[:5])
    assert counted.solved <= 8 * 5


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.sampled_from([1e-20, 1.0, 1e15]),
    st.integers(1, 20),
)
def test_many_ties(seed, k, scale, n_words):
    X, embedding = crowded(seed, 18, n_words, scale)
    train, queries = X[:14], X[14:]
    model = fitted(train, embedding, k)
    assert_same(model.kneighbors(queries), brute_force(queries, train, embedding, k))
    own = brute_force(train, train, embedding, k, itself=True)
    assert_same(model.kneighbors(), own)


@pytest.mark.parametrize("embedding", ["table", "one-hot"])
def test_documents_of_any_length_whatever_the_jobs_and_the_memory(
    small_embedding, embedding
):
    """Words from 150 on occur in queries only."""
    embedding = small_embedding if embedding == "table" else embedding
    rng = np.random.default_rng(0)
    X = np.zeros((90, 200))
    for i, size in enumerate(rng.choice([1, 2, 3, 8, 30, 120], 90)):
        words = rng.choice(150 if i < 60 else 200, size, replace=False)
        X[i, words] = rng.integers(1, 5, size)
    X[60] = np.arange(200) >= 190
    model, queries = fitted(X[:60], embedding, 5), X[60:]
    want = brute_force(queries, X[:60], embedding, 5)
    assert_same(model.kneighbors(queries), want)
    assert_same(model.set_params(n_jobs=2).kneighbors(queries), want)
    with config_context(working_memory=0.001):
        assert_same(model.kneighbors(queries), want)
    one_by_one = [model.kneighbors(query[None]) for query in queries[:10]]
    for part, whole in zip(zip(*one_by_one, strict=True), want, strict=True):
        assert np.array_equal(np.concatenate(part), whole[:10])


@pytest.mark.parametrize("radius", [0.0, 0.6])
def test_within_a_radius_of_prose(prose_bags, built_in, exact, radius):
    # half of the queries are among the texts
    train, queries, D = prose_bags[:140], prose_bags[130:150], exact[130:150, :140]
    # the distance of a pair, which is to be found
    radius = float(np.quantile(D, radius / 4, method="nearest")) if radius else 0.0
    model = WMDNeighbors(built_in, radius=radius).fit(train)
    found = model.radius_neighbors(queries, sort_results=True)
    for i, (distances, rows) in enumerate(zip(*found, strict=True)):
        order = np.argsort(D[i], kind="stable")
        order = order[D[i][order] <= radius]
        assert np.array_equal(rows, order)
        assert np.array_equal(distances, D[i][order])
    assert sum(map(len, found[0])) >= 10  # these at least


def test_equal_in_exact_arithmetic_is_a_tie():
    """Sums of the same roots and fractions, in different orders, on a grid."""
    places = [[x, y] for x in range(4) for y in range(4)]
    embedding = embedded(places)
    rng = np.random.default_rng(0)
    X = np.zeros((75, 16))
    for row in X:
        np.add.at(row, rng.integers(0, 16, rng.integers(2, 8)), 1)
    # each reflected: the same distances to reflected queries
    flipped = X.reshape(-1, 4, 4)[:, ::-1].reshape(-1, 16)
    turned = X.reshape(-1, 4, 4).transpose(0, 2, 1).reshape(-1, 16)
    even = np.ones((1, 16))  # no reflection changes it
    for copies in (flipped, turned):
        neighbours = fitted(np.vstack([X, copies]), embedding, 150).kneighbors(even)
        distances = dict(zip(neighbours[1][0].tolist(), neighbours[0][0], strict=True))
        assert all(distances[i] == distances[75 + i] for i in range(75))
        order = np.lexsort((neighbours[1][0], neighbours[0][0]))
        assert np.array_equal(order, np.arange(150))


# -- memory ------------------------------------------------------------------------


def peak(model, queries, megabytes):
    """Most bytes that a search holds above what is fitted."""
    model.kneighbors(queries[:1])
    with config_context(working_memory=megabytes), traced_memory() as memory:
        model.kneighbors(queries)
    return memory.peak


@pytest.mark.parametrize("megabytes", [12, 48])
def test_memory_of_texts(prose_bags, built_in, megabytes):
    model = fitted(prose_bags[:800], built_in, 5)
    assert peak(model, prose_bags[800:1000], megabytes) < megabytes * 2**20


def test_memory_of_short_texts_beside_a_long_one():
    rng = np.random.default_rng(0)
    X = rng.random((301, 3000)) < np.r_[np.full(300, 0.003), 1][:, None]
    model = fitted(X.astype(float), embedded(rng.normal(size=(3000, 2))), 20)
    assert peak(model, X[:32].astype(float), 24) < 24 * 2**20


def test_memory_where_bounds_rule_nothing_out(small_embedding, monkeypatch):
    """All costs of a long query at once would take 36 MB."""
    monkeypatch.setattr(search_module, "word_movers", lambda *_: 1e9)
    X = (np.random.default_rng(0).random((402, 200)) < 0.75).astype(float)
    assert peak(fitted(X[2:], small_embedding, 5), X[:2], 8) < 8 * 2**20
