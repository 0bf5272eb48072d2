"""Distances between documents as users ask for them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from skdptext import WordEmbedding
from skdptext.metrics import pairwise_word_movers_distances, word_movers_distance
from tests.expected import refusals

# Distances are rounded to 42 binary digits, so that equal ones tie.
ROUNDED = 2**-42


@pytest.fixture(scope="module")
def bags(small_embedding):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.03, size=(40, len(small_embedding))).astype(float)
    X[np.arange(40), rng.integers(0, 200, 40)] += 1
    X[7] = 2 * X[3]  # a duplicate, once normalised
    return X


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


@pytest.mark.parametrize("one_hot", [False, True])
def test_the_same_bits_however_it_is_asked(bags, small_embedding, one_hot):
    """In which order, in how many threads, as counts or shares: duplicates tie."""
    table = "one-hot" if one_hot else small_embedding
    D = pairwise_word_movers_distances(bags, embedding=table)
    assert np.array_equal(D, D.T)
    assert not D.diagonal().any()
    assert D[3, 7] == 0
    assert np.array_equal(D[3], D[7])
    frame = pd.DataFrame(bags, columns=small_embedding.words)
    heavy = sp.coo_array(2.0**40 * bags)  # weights, of which any sum will do
    for Y, n_jobs in ((bags, None), (None, 2), (frame, 2), (heavy, 1)):
        other = pairwise_word_movers_distances(bags, Y, embedding=table, n_jobs=n_jobs)
        assert np.array_equal(D, other)
    assert D[2, 5] == word_movers_distance(bags[2], bags[5], table)
    shares = bags / bags.sum(axis=1, keepdims=True)
    of_shares = pairwise_word_movers_distances(shares, embedding=table)
    np.testing.assert_allclose(of_shares, D, rtol=0, atol=1e-14)


def test_one_hot_is_total_variation(bags):
    got = pairwise_word_movers_distances(bags, embedding="one-hot")
    P = bags / bags.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(got, cdist(P, P, "cityblock") / np.sqrt(2), atol=1e-12)
    eye = WordEmbedding(map(str, range(200)), np.eye(200))
    table = pairwise_word_movers_distances(bags[:9], embedding=eye)
    np.testing.assert_allclose(got[:9, :9], table, atol=1e-7)  # √2 in float64 or 32


def test_tokens_rows_and_bags_agree(small_embedding):
    x = np.bincount([3, 5, 5], minlength=200)
    y = np.bincount([9, 5], minlength=200).astype(float)
    x.flags.writeable = False  # input is not written to
    want = word_movers_distance(x, y, small_embedding)
    for one in (np.array(["w3", "w5", "w5"]), sp.csr_array(x[None]), x.tolist()):
        for two in (["w9", "unknown", "w5"], y[None]):
            assert word_movers_distance(one, two, small_embedding) == want


GOOD, NAMES = np.eye(200)[:3], [f"w{i}" for i in range(200)]
EMPTY = np.vstack([GOOD, np.zeros((2, 200))])


@refusals(
    (EMPTY, {}, r"X must hold .* 2 without any, in rows \[3, 4\]"),
    (GOOD[:, :150], {}, "150 columns, the embedding has 200 words"),
    (GOOD * 1j, {}, "X must be a matrix of numbers, got a ndarray that holds"),
    (GOOD, {"Y": GOOD[:, :150], "embedding": "one-hot"}, "Y must .* 150 columns"),
    (pd.DataFrame(GOOD, columns=NAMES[::-1]), {}, "'w199', which is word 199"),
)
def test_bad_matrices(small_embedding, X, options):
    options = {"embedding": small_embedding} | options
    pairwise_word_movers_distances(X, **options)


@refusals(
    (GOOD[:2], ["w1"], "x must be one document, got 2"),
    (["w1"], ["no", "way"], "y must hold documents with at least one word"),
    ("w1 w2", ["w1"], "x must be a matrix of numbers"),
)
def test_bad_documents(small_embedding, x, y):
    word_movers_distance(x, y, small_embedding)
