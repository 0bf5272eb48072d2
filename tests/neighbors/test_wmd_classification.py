"""The classifier's votes, empty documents and refusals."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from skdptext import WordEmbedding
from skdptext.exceptions import EmptyDocumentWarning
from skdptext.metrics import pairwise_word_movers_distances
from skdptext.neighbors import WMDKNNClassifier, WMDNeighbors
from tests.expected import refusals, refused


@pytest.fixture(scope="module")
def data(small_embedding):
    """Training bags with duplicates, labels of three classes, queries."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.04, size=(60, len(small_embedding))).astype(float)
    X[np.arange(60), rng.integers(0, 200, 60)] += 1
    X[10], X[11] = X[40], X[41]
    return X[:40], rng.choice(["b", "a", "c"], 40), X[40:]


@pytest.fixture(scope="module")
def distances(data, small_embedding):
    """Of the queries and of the training bags to the latter."""
    return [
        pairwise_word_movers_distances(each, data[0], embedding=small_embedding)
        for each in (data[2], data[0])
    ]


NAMES = [f"w{i}" for i in range(200)]


def inverse_square(distances):
    return 1 / (0.1 + distances) ** 2


@pytest.mark.no_cover
@pytest.mark.parametrize("weights", ["uniform", "distance", inverse_square, None])
@pytest.mark.parametrize("k", [1, 4])
def test_votes_as_scikit_learn(data, distances, small_embedding, weights, k):
    (X, y, queries), (D, among) = data, distances
    model = WMDKNNClassifier(small_embedding, n_neighbors=k, weights=weights).fit(X, y)
    peer = KNeighborsClassifier(k, weights=weights, metric="precomputed").fit(among, y)
    # ties beyond the k-th are scikit-learn's to break; compare where there are none
    ordered = np.sort(D, axis=1)
    clear = ordered[:, k] > ordered[:, k - 1] + 1e-9
    assert clear.sum() >= 4
    np.testing.assert_allclose(
        model.predict_proba(queries)[clear], peer.predict_proba(D)[clear], atol=1e-12
    )
    assert np.array_equal(model.predict(queries)[clear], peer.predict(D)[clear])
    if k == 1:  # as scikit-learn's with X=None: none votes on itself
        nearest = model.kneighbors(return_distance=False)[:, 0]
        assert model.predict(None).tolist() == y[nearest].tolist()
        assert model.kneighbors(queries[:2], 40)[1].shape == (2, 40)


@pytest.mark.filterwarnings("ignore::skdptext.exceptions.EmptyDocumentWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_several_outputs_are_several_classifiers(data, small_embedding):
    X, y, queries = data
    queries = queries[:12].copy()
    queries[3] = 0  # without words
    several = np.column_stack([y, np.arange(40) % 2, np.full(40, 7)]).astype(str)
    model = WMDKNNClassifier(small_embedding, n_neighbors=4, weights="distance")
    shares = model.fit(X, several).predict_proba(queries)
    labels = model.predict(queries)
    for j in range(3):
        one = clone(model).fit(X, several[:, [j]])  # a single column is one output
        assert np.array_equal(one.predict_proba(queries), shares[j])
        assert np.array_equal(one.predict(queries), labels[:, j])
        assert np.array_equal(one.classes_, model.classes_[j])
    assert set(labels[:, 2]) == {"7"}


def bags_of(n, n_words, seed):
    """Documents of so many different words, of 2,000."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n, 2000), dtype=np.int8)
    for row in X:
        row[rng.choice(2000, n_words, replace=False)] = 1
    return X


def test_long_searches_are_told_before_they_begin():
    rng = np.random.default_rng(0)
    table = WordEmbedding([f"w{i}" for i in range(2000)], rng.normal(size=(2000, 10)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # a fold of 391 texts of 20 words is a matter of a second
        model = WMDKNNClassifier(table).fit(bags_of(313, 20, 0), np.arange(313) % 2)
        model.predict(bags_of(78, 20, 1))
        # one of 400 articles of 200 different words is not, and many folds are minutes
        model.fit(bags_of(240, 200, 0), np.arange(240) % 2)
        for ask in (model.predict, model.predict_proba, model.kneighbors):
            with pytest.raises(UserWarning, match=r"160 documents among 240 .* of CPU"):
                ask(bags_of(160, 200, 1))
        # total variation is a closed form
        flat = WMDKNNClassifier("one-hot").fit(bags_of(240, 200, 0), np.arange(240) % 2)
        flat.predict(bags_of(60, 200, 1))


def test_empty_documents(data, small_embedding):
    """They are told of, are near to none, and get the answer for all."""
    X, y, queries = (part.copy() for part in data)
    X[[0, 5, 39]] = 0
    model = WMDKNNClassifier(small_embedding, n_neighbors=4)
    radius = WMDNeighbors(small_embedding, radius=1e9)
    for each in (model, radius):
        told = r"3 of 40 .* \[0, 5, 39\]"
        with pytest.warns(EmptyDocumentWarning, match=told) as caught:
            each.fit(sp.csr_array(X), y)
        assert [caught[0].filename, len(caught)] == [__file__, 1]
    assert model.empty_rows_.tolist() == [0, 5, 39]
    nonempty = np.setdiff1d(np.arange(40), [0, 5, 39])
    share = [(y[nonempty] == label).mean() for label in "abc"]

    # rows are those of the matrix given to fit
    D = pairwise_word_movers_distances(queries, X[nonempty], embedding=small_embedding)
    want = nonempty[np.argsort(D, axis=1, kind="stable")[:, :4]]
    assert np.array_equal(model.kneighbors(queries)[1], want)
    assert model.kneighbors_graph(queries).shape == (20, 40)
    reached = radius.radius_neighbors(queries[:2], return_distance=False)
    assert all(np.array_equal(rows, nonempty) for rows in reached)

    empty = np.isin(np.arange(20), [2, 9])
    for ask, usual in (
        (model.predict_proba, share),
        (model.predict, "abc"[np.argmax(share)]),
    ):
        before = ask(queries)
        with pytest.warns(EmptyDocumentWarning, match="2 of 20"):
            answers = ask(np.where(empty[:, None], 0, queries))
        assert (answers[empty] == usual).all()
        assert np.array_equal(answers[~empty], before[~empty])
    for call in (model.kneighbors, model.kneighbors_graph, radius.radius_neighbors):
        with refused(r"rows \[0, 1\]"):
            call(0 * queries[:2])
        with refused(r"or the training documents.* rows \[0, 5, 39\]"):
            call()


def test_a_pickle_holds_the_vectors_once(data):
    wide = WordEmbedding(NAMES, np.random.default_rng(0).normal(size=(200, 900)))
    stored = pickle.dumps(WMDKNNClassifier(wide, weights="distance").fit(*data[:2]))
    assert len(stored) < 1.5 * wide.vectors.nbytes


@refusals(
    ({"n_neighbors": 0}, "n_neighbors must be an integer >= 1, got 0"),
    ({"n_neighbors": True}, "n_neighbors must be an integer >= 1, got True"),
    ({"weights": "near"}, "'weights' .* must be a str among .*, a callable or"),
)
def test_bad_parameters(data, small_embedding, params):
    WMDKNNClassifier(small_embedding).set_params(**params).fit(*data[:2])


@refusals(
    (lambda X, y: (X[:, :9], y), "9 columns, the embedding has 200 words"),
    (lambda X, y: (X, np.ones((40, 2, 2), int)), "dim 3"),
    (lambda X, y: (pd.DataFrame(X, columns=NAMES[::-1]), y), "0 is named 'w199'"),
    (lambda X, y: (X * 0, y), "at least one document with words, got 40"),
    (lambda X, y: (["a text"] * 40, y), "got a list instead. .* Count the words"),
)
def test_bad_training_data(data, small_embedding, change):
    WMDKNNClassifier(small_embedding).fit(*change(*data[:2]))


@refusals(
    (lambda model, X: model.predict(sp.csr_array(-X)), "Negative values in data"),
    (lambda model, X: model.kneighbors(X, 41), r"must be <= .* \(40\), got 41"),
    (lambda model, X: model.kneighbors(None, 40), r"must be <= .* \(39\), got 40"),
)
def test_bad_queries(data, small_embedding, call):
    model = WMDKNNClassifier(small_embedding, n_neighbors=3).fit(*data[:2])
    call(model, data[2])
