"""The search without compiled loops: what its bounds leave to solve, and its memory."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context

from skdptext.transport import BagIndex, as_word_bags, take_bags
from tests.memory import traced_memory
from tests.transport.inside import cascade_module, index_module, search_module


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.setattr(search_module, "bounds_for", lambda _: None)
    monkeypatch.setattr(search_module, "kernels_for", lambda _: None)


@pytest.fixture(scope="module")
def bags(labelled_prose):
    X = labelled_prose[0]
    return as_word_bags(X[:800]), as_word_bags(X[800:830])


def test_the_second_bound_rules_most_bags_out(bags, built_in, monkeypatch):
    train, queries = bags[0], take_bags(bags[1], np.arange(12))
    index = BagIndex(train, len(built_in), built_in.vectors)
    neighbours = index.nearest(queries, 5)
    monkeypatch.setattr(
        index_module, "dual_bounds", lambda *args: np.zeros(len(args[-1]))
    )
    relaxed_only = index.nearest(queries, 5)
    for got, want in zip(neighbours[:2], relaxed_only[:2], strict=True):
        np.testing.assert_array_equal(got, want)
    assert neighbours[2].sum() < relaxed_only[2].sum() / 5


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
    monkeypatch.setattr(cascade_module, "pair_distance", lambda *_: 1e9)
    X = (np.random.default_rng(0).random((402, 200)) < 0.75).astype(float)
    train, queries = (
        as_word_bags(sp.csr_array(X[2:])),
        as_word_bags(sp.csr_array(X[:2])),
    )
    index = BagIndex(train, 200, small_embedding.vectors)
    assert peak(index, queries, 8) < 8 * 2**20


def test_an_index_holds_the_bags_that_it_is_given(bags, built_in):
    """Those of a process are read only; the loops want arrays of one kind."""
    train, _ = bags
    index = BagIndex(train, len(built_in), built_in.vectors)
    assert index.bags.ids is train.ids
    assert index.bags.weights is train.weights is index.local.weights
    for array in (train.starts, train.ids, train.weights):
        array.flags.writeable = False
    try:
        other = BagIndex(train, len(built_in), built_in.vectors)
    finally:
        for array in (train.starts, train.ids, train.weights):
            array.flags.writeable = True
    assert other.bags.ids.flags.writeable
    assert np.array_equal(other.bags.ids, train.ids)
