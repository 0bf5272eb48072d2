"""The steps of the search in NumPy, which its results do not show, and its memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context

from skdptext.transport import BagIndex, as_word_bags, take_bags
from skdptext.transport import _search as search_module
from skdptext.transport._bounds import dual_bounds, residual_relaxed_bounds
from skdptext.transport._carried import query_potentials
from skdptext.transport._cascade import Cascade


@pytest.fixture(scope="module")
def bags(labelled_sms):
    X = labelled_sms[0]
    return as_word_bags(X[:800]), as_word_bags(X[800:860])


def test_potentials_are_those_of_each_pair(bags, google_8k):
    train, queries = bags
    cascade = Cascade(BagIndex(train, 8000, google_8k.vectors), queries, 5, None)
    cascade.prepare()
    likely = np.random.default_rng(0).integers(0, len(train), (len(queries), 7))
    bounds, potentials = cascade.sample(likely)
    for i in range(len(queries)):
        words = slice(queries.starts[i], queries.starts[i + 1])
        for rank, bag in enumerate(likely[i]):
            costs, a, b = cascade.problems(np.array([i]), np.array([bag]))
            least = residual_relaxed_bounds(costs, a, b)
            bound, _, beta = dual_bounds(costs, a, b, *least[1:])
            assert bounds[i, rank] == pytest.approx(bound[0], abs=1e-12)
            own = query_potentials(costs, beta)[:, 0]
            np.testing.assert_array_equal(potentials[rank, words], own)


def pairs_left(bags, google_8k, monkeypatch):
    """Pairs for which bounds of their own are computed, after the likeliest."""
    train, queries = bags
    counts = []
    tighten = Cascade.tighten

    def count(self, query, bag, last=False):
        counts.append(len(query))
        return tighten(self, query, bag, last)

    with monkeypatch.context() as patch:
        patch.setattr(Cascade, "tighten", count)
        Cascade(BagIndex(train, 8000, google_8k.vectors), queries, 5, None).run()
    return counts[0]


def test_carried_potentials_rule_most_pairs_out(bags, google_8k, monkeypatch):
    carried = pairs_left(bags, google_8k, monkeypatch)
    monkeypatch.setattr(
        Cascade, "carry", lambda self, i, bounds, *_: np.flatnonzero(
            bounds <= self.limits[i]
        )
    )  # fmt: skip
    assert 0 < carried < pairs_left(bags, google_8k, monkeypatch) / 2


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
def test_memory_of_messages(bags, google_8k, peak, megabytes):
    train, queries = bags
    index = BagIndex(train, 8000, google_8k.vectors)
    assert peak(index, queries, megabytes) < megabytes * 2**20


def test_memory_where_bounds_rule_nothing_out(small_embedding, peak):
    """Of equal bags each is solved: all pairs at once would take 17 MB."""
    rng = np.random.default_rng(0)
    equal = np.tile(rng.permutation(np.arange(200) < 2), (1000, 1)).astype(float)
    train, queries = as_word_bags(sp.csr_array(equal)), np.eye(60, 200)
    index = BagIndex(train, 200, small_embedding.vectors)
    assert peak(index, as_word_bags(sp.csr_array(queries)), 8) < 8 * 2**20
