"""What the bounds of the search leave to solve, and its memory."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context

from skdptext.transport import BagIndex, as_word_bags, take_bags
from tests.memory import traced_memory
from tests.transport.inside import search_module


@pytest.fixture(scope="module")
def bags(labelled_prose):
    X = labelled_prose[0]
    return as_word_bags(X[:800]), as_word_bags(X[800:830])


def test_each_bound_rules_bags_out(bags, built_in, monkeypatch):
    train, queries = bags[0], take_bags(bags[1], np.arange(12))
    index = BagIndex(train, len(built_in), built_in.vectors)
    neighbours = index.nearest(queries, 5)
    monkeypatch.setattr(
        search_module,
        "dual_bounds",
        lambda costs, query, place, bags, numbers, *_: (
            np.zeros(len(numbers)),
            np.zeros((len(numbers), len(query)), np.float32),
        ),
    )
    relaxed_only = index.nearest(queries, 5)
    for got, want in zip(neighbours[:2], relaxed_only[:2], strict=True):
        np.testing.assert_array_equal(got, want)
    assert neighbours[2].sum() < relaxed_only[2].sum() / 5


def test_few_of_long_noisy_bags_are_solved(built_in):
    """All are nearly as far, so that bounds must be close: 29 of 190 without Sinkhorn's
    steps."""
    rng = np.random.default_rng(0)
    words = rng.integers(0, len(built_in), (200, 120))
    X = np.zeros((200, len(built_in)))
    np.add.at(X, (np.arange(200)[:, None], words), 1)
    every = as_word_bags(sp.csr_array(X))
    queries, train = take_bags(every, np.arange(5)), take_bags(every, np.arange(5, 200))
    index = BagIndex(train, len(built_in), built_in.vectors)
    assert index.nearest(queries, 5)[2].mean() <= 8


def peak(index, queries, megabytes):
    """Most bytes that a search holds above its index."""
    index.nearest(take_bags(queries, np.arange(1)), 5)
    with config_context(working_memory=megabytes), traced_memory() as memory:
        index.nearest(queries, 5)
    return memory.peak


@pytest.mark.parametrize("megabytes", [4, 12])
def test_memory_of_texts(bags, built_in, megabytes):
    train, queries = bags
    index = BagIndex(train, len(built_in), built_in.vectors)
    assert peak(index, queries, megabytes) < megabytes * 2**20


def test_memory_where_bounds_rule_nothing_out(small_embedding, monkeypatch):
    """All costs of a long query at once would take 36 MB."""
    monkeypatch.setattr(search_module, "pair_distance", lambda *_: 1e9)
    X = (np.random.default_rng(0).random((402, 200)) < 0.75).astype(float)
    train, queries = (
        as_word_bags(sp.csr_array(X[2:])),
        as_word_bags(sp.csr_array(X[:2])),
    )
    index = BagIndex(train, 200, small_embedding.vectors)
    assert peak(index, queries, 8) < 8 * 2**20


def test_an_index_holds_the_bags_that_it_is_given(bags, built_in):
    train, _ = bags
    index = BagIndex(train, len(built_in), built_in.vectors)
    assert index.bags.ids is train.ids
    assert index.bags.weights is train.weights is index.local.weights
