"""Distances between documents as users ask for them."""

from __future__ import annotations

import numpy as np
import ot
import pandas as pd
import pytest
import scipy.sparse as sp
from gensim.models import KeyedVectors
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.feature_extraction.text import CountVectorizer

from skdptext import WordEmbedding
from skdptext.metrics import pairwise_word_movers_distances, word_movers_distance
from tests.expected import refused

# Distances are rounded to 42 binary digits, so that equal ones tie.
ROUNDED = 2**-42


@pytest.fixture(scope="module")
def bags(small_embedding):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.03, size=(40, len(small_embedding))).astype(float)
    X[np.arange(40), rng.integers(0, 200, 40)] += 1
    X[7] = 2 * X[3]  # a duplicate, once normalised
    return X


def by_emd2(X, Y, vectors):
    costs = cdist(vectors.astype(float), vectors.astype(float))
    X = X / X.sum(axis=1, keepdims=True)
    Y = Y / Y.sum(axis=1, keepdims=True)
    return np.array([[ot.emd2(x, y, costs) for y in Y] for x in X])


def test_pairwise_equals_emd2(bags, small_embedding):
    got = pairwise_word_movers_distances(
        sp.csr_array(bags[:12]), bags[12:20], embedding=small_embedding
    )
    want = by_emd2(bags[:12], bags[12:20], small_embedding.vectors)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-11)


@pytest.mark.no_cover
@settings(max_examples=60)
@given(st.data())
def test_equal_sizes_are_an_assignment(small_embedding, data):
    # 2018, Theorem 4.3: between bags of one size some optimal plan is a matching.
    n = data.draw(st.integers(1, 7))
    words = st.lists(st.integers(0, 15), min_size=n, max_size=n)
    x, y = data.draw(words), data.draw(words)
    vectors = small_embedding.vectors.astype(float)
    costs = cdist(vectors[x], vectors[y])
    want = costs[linear_sum_assignment(costs)].mean()
    tokens = [[small_embedding.words[i] for i in bag] for bag in (x, y)]
    got = word_movers_distance(*tokens, small_embedding)
    assert got == pytest.approx(want, rel=ROUNDED, abs=1e-12)


def test_symmetric_with_zero_diagonal_and_the_same_bits(bags, small_embedding):
    D = pairwise_word_movers_distances(bags, embedding=small_embedding)
    assert np.array_equal(D, D.T)
    assert not D.diagonal().any()
    assert D[3, 7] == 0
    assert np.array_equal(D[3], D[7])  # duplicates tie to the last bit
    other = pairwise_word_movers_distances(bags, bags, embedding=small_embedding)
    assert np.array_equal(D, other)
    assert D[2, 5] == word_movers_distance(bags[2], bags[5], small_embedding)


@pytest.mark.parametrize("embedding", ["table", "one-hot"])
def test_independent_of_jobs_and_memory(bags, small_embedding, embedding):
    embedding = small_embedding if embedding == "table" else embedding
    want = pairwise_word_movers_distances(bags, embedding=embedding)
    with config_context(working_memory=0.001):
        got = pairwise_word_movers_distances(bags, embedding=embedding)
    assert np.array_equal(got, want)
    got = pairwise_word_movers_distances(bags, embedding=embedding, n_jobs=2)
    assert np.array_equal(got, want)


def test_frequencies_are_as_good_as_counts(bags, small_embedding):
    counts = pairwise_word_movers_distances(bags, embedding=small_embedding)
    shares = bags / bags.sum(axis=1, keepdims=True)
    got = pairwise_word_movers_distances(shares, embedding=small_embedding)
    np.testing.assert_allclose(got, counts, rtol=0, atol=1e-14)


def test_one_hot_is_total_variation(bags):
    got = pairwise_word_movers_distances(bags, embedding="one-hot")
    P = bags / bags.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(got, cdist(P, P, "cityblock") / np.sqrt(2), atol=1e-12)
    assert word_movers_distance(bags[0], bags[1], "one-hot") == got[0, 1]
    eye = WordEmbedding(map(str, range(200)), np.eye(200))
    table = pairwise_word_movers_distances(bags[:9], embedding=eye)
    np.testing.assert_allclose(got[:9, :9], table, atol=1e-7)  # √2 in float64 or 32


def test_gensim_agrees(small_embedding):
    # gensim normalises the vectors unless it is told not to
    rng = np.random.default_rng(0)
    words = small_embedding.word_array
    documents = [rng.choice(words, size).tolist() for size in rng.integers(1, 25, 24)]
    model = KeyedVectors(small_embedding.dim)
    model.add_vectors(list(words), small_embedding.vectors)
    X = CountVectorizer(vocabulary=words, analyzer=lambda d: d).transform(documents)
    got = pairwise_word_movers_distances(X, embedding=small_embedding)
    for i in range(0, 24, 2):
        for j in range(i + 1, 24):
            want = model.wmdistance(documents[i], documents[j], norm=False)
            assert got[i, j] == pytest.approx(want, abs=2e-6)  # its costs: float32


def test_tokens_rows_and_bags_agree(small_embedding):
    x = np.zeros(200)
    y = np.zeros(200)
    x[[3, 5]], y[[5, 9]] = [1, 2], [1, 1]
    want = word_movers_distance(x, y, small_embedding)
    for one, two in [
        (["w3", "w5", "w5"], ["w9", "unknown", "w5"]),
        (np.array(["w3", "w5", "w5"]), ("w9", "w5")),
        (sp.csr_array(x[None]), sp.csr_matrix(y[None])),
        (x[None], ["w9", "w5"]),
        (x.tolist(), y.astype(int).tolist()),
    ]:
        assert word_movers_distance(one, two, small_embedding) == want


def test_table_with_names(bags, small_embedding):
    frame = pd.DataFrame(bags, columns=small_embedding.words)
    want = pairwise_word_movers_distances(bags, embedding=small_embedding)
    got = pairwise_word_movers_distances(frame, embedding=small_embedding)
    assert np.array_equal(got, want)


def test_input_is_not_written_to(bags, small_embedding):
    X = sp.csr_array(bags)
    before = X.copy()
    X.data.flags.writeable = False
    pairwise_word_movers_distances(X, embedding=small_embedding)
    assert (before != X).nnz == 0


def test_empty_rows_are_named(bags, small_embedding):
    X = bags.copy()
    X[[2, 11]] = 0
    for embedding in (small_embedding, "one-hot"):
        with refused(r"X must hold .* 2 without any, in rows \[2, 11\]"):
            pairwise_word_movers_distances(X, embedding=embedding)
        with refused(r"Y must hold .* in rows \[2, 11\]"):
            pairwise_word_movers_distances(bags, X, embedding=embedding)
    X[:] = 0
    with refused(r"in rows \[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, \.\.\.\]"):
        pairwise_word_movers_distances(X, embedding=small_embedding)


def test_columns_must_match(bags, small_embedding):
    with refused("150 columns, the embedding has 200 words"):
        pairwise_word_movers_distances(bags[:, :150], embedding=small_embedding)
    with refused(r"Y must have as many columns as X \(200\), got 150"):
        pairwise_word_movers_distances(bags, bags[:, :150] + 1, embedding="one-hot")
    with refused(r"y must have as many columns as x \(2\), got 3"):
        word_movers_distance([1, 1], [1, 1, 1], "one-hot")


@pytest.mark.parametrize("bad", ["text", b"text", None, 3, [["a", "b"]], [[1], [1, 2]]])
def test_no_matrix(bad, small_embedding):
    with refused(r"X must be a matrix of (word weights|numbers), got an? \w+|None"):
        pairwise_word_movers_distances(bad, embedding=small_embedding)


@pytest.mark.parametrize(
    ("value", "match"), [(np.nan, "finite"), (np.inf, "finite"), (-1.0, "non-negative")]
)
def test_bad_weights(bags, small_embedding, value, match):
    X = bags.copy()
    X[4, 6] = value
    with refused(f"X must hold {match} entries only, got {value:g} in row 4, column 6"):
        pairwise_word_movers_distances(X, embedding=small_embedding)


def test_one_document_means_one(bags, small_embedding):
    with refused("x must be one document, got 2"):
        word_movers_distance(bags[:2], bags[0], small_embedding)
    with refused(
        r"y must hold at least one word .* 2 unknown: words of 2, 3 characters"
    ):
        word_movers_distance(["w1"], ["no", "way"], small_embedding)
    with refused("got both"):
        word_movers_distance(["w1", 2], ["w1"], small_embedding)
    with refused('x must hold word weights with embedding="one-hot", got tokens'):
        word_movers_distance(["w1"], ["w1"], "one-hot")
    with refused("x must be a matrix of word weights, got a str of 5 characters"):
        word_movers_distance("w1 w2", ["w1"], small_embedding)


@pytest.mark.parametrize("embedding", [None, "onehot", np.eye(3)])
def test_bad_embedding(embedding):
    with refused("embedding must be a WordEmbedding or"):
        pairwise_word_movers_distances(np.eye(3), embedding=embedding)


def test_bad_jobs(bags, small_embedding):
    with refused("n_jobs must be None or an integer other than 0, got 0"):
        pairwise_word_movers_distances(bags, embedding=small_embedding, n_jobs=0)


def test_no_documents(small_embedding):
    X, none = np.eye(200)[:3], np.empty((0, 200))
    for x, y, shape in ((none, None, (0, 0)), (none, X, (0, 3)), (X, none, (3, 0))):
        distances = pairwise_word_movers_distances(x, y, embedding=small_embedding)
        assert distances.shape == shape


def test_columns_named_by_other_words_are_refused(small_embedding):
    frame = pd.DataFrame(np.eye(200)[:3], columns=small_embedding.words[::-1])
    with refused("'w199', which is word 199"):
        pairwise_word_movers_distances(frame, embedding=small_embedding)
