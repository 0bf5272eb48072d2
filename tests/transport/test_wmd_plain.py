"""The search without compiled loops: what its bounds leave to solve, and its memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context

from skdptext.transport import BagIndex, as_word_bags, take_bags
from skdptext.transport import _plain as plain_module
from skdptext.transport import _search as search_module
from skdptext.transport._plain import search_plainly


@pytest.fixture(scope="module")
def bags(labelled_prose):
    X = labelled_prose[0]
    return as_word_bags(X[:800]), as_word_bags(X[800:860])


def test_the_second_bound_rules_most_bags_out(bags, built_in, monkeypatch):
    train, queries = bags
    index = BagIndex(train, len(built_in), built_in.vectors)
    found = search_plainly(index, queries, 5, None)
    monkeypatch.setattr(
        plain_module, "dual_bounds", lambda *args: np.zeros(len(args[-1]))
    )
    relaxed_only = search_plainly(index, queries, 5, None)
    for got, want in zip(found[:2], relaxed_only[:2], strict=True):
        np.testing.assert_array_equal(got, want)
    assert found[2].sum() < relaxed_only[2].sum() / 5


@pytest.fixture
def peak(monkeypatch):
    """Most bytes that a search holds above its index."""
    monkeypatch.setattr(search_module, "search_for", lambda _: None)

    def measure(index, queries, megabytes):
        index.nearest(take_bags(queries, np.arange(1)), 5)
        with config_context(working_memory=megabytes):
            tracemalloc.start()
            try:
                index.nearest(queries, 5)
                return tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()

    return measure


@pytest.mark.parametrize("megabytes", [4, 12])
def test_memory_of_texts(bags, built_in, peak, megabytes):
    train, queries = bags
    index = BagIndex(train, len(built_in), built_in.vectors)
    assert peak(index, queries, megabytes) < megabytes * 2**20


def test_memory_where_bounds_rule_nothing_out(small_embedding, peak, monkeypatch):
    """All costs of a long query at once would take 36 MB."""
    monkeypatch.setattr(plain_module, "pair_distance", lambda *_: 1e9)
    X = (np.random.default_rng(0).random((402, 200)) < 0.75).astype(float)
    train, queries = (
        as_word_bags(sp.csr_array(X[2:])),
        as_word_bags(sp.csr_array(X[:2])),
    )
    index = BagIndex(train, 200, small_embedding.vectors)
    assert peak(index, queries, 8) < 8 * 2**20
