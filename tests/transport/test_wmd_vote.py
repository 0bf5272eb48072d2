"""A vote that ends when it is sure is that of the nearest, ties included."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn import config_context

from skdptext.metrics import pairwise_word_movers_distances
from skdptext.neighbors import WMDKNNClassifier
from skdptext.transport import BagIndex, as_word_bags
from tests.transport.inside import PLAIN_LOOPS, crowded, search_module


def winners(distances, labels, k):
    """The most frequent label of the k first in order, of several the least."""
    votes = []
    for row in distances:
        nearest = labels[np.argsort(row, kind="stable")[:k]].tolist()
        votes.append(
            min(set(nearest), key=lambda label: (-nearest.count(label), label))
        )
    return votes


def assert_votes(seed, k, n_words, n_labels, n_bags, scale, n_queries):
    X, embedding, labels = crowded(seed, n_bags + n_queries, n_words, n_labels, scale)
    train, queries, labels = X[:n_bags], X[n_bags:], labels[:n_bags]
    index = BagIndex(as_word_bags(sp.csr_array(train)), n_words, embedding.vectors)
    votes, _ = index.vote(as_word_bags(sp.csr_array(queries)), k, labels)
    D = pairwise_word_movers_distances(queries, train, embedding=embedding)
    assert votes.tolist() == winners(D, labels, k)


@pytest.mark.no_cover
@example(3, 3, 10, 2, 12, 1.0)  # a bag as near as the farthest decides
@settings(max_examples=50)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.integers(1, 20),
    st.integers(1, 4),
    st.integers(12, 60),
    st.sampled_from([1e-20, 1.0, 1e15]),
)
def test_ties(loops, seed, k, n_words, n_labels, n_bags, scale):
    assert_votes(seed, k, n_words, n_labels, n_bags, scale, n_queries=6)


@settings(max_examples=25)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 5),
    st.integers(1, 12),
    st.integers(1, 3),
    st.integers(5, 60),
    st.sampled_from([1e-20, 1.0, 1e15]),
)
def test_ties_uncompiled(seed, k, n_words, n_labels, n_bags, scale):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module, "bounds_for", lambda _: PLAIN_LOOPS)
        patch.setattr(search_module, "kernels_for", lambda _: None)
        assert_votes(seed, k, n_words, n_labels, n_bags, scale, n_queries=3)


@pytest.fixture(scope="module")
def exact(labelled_prose, built_in):
    """Of thirty texts to five hundred others: once for all ways to search."""
    X = labelled_prose[0]
    return pairwise_word_movers_distances(X[500:530], X[:500], embedding=built_in)


@pytest.mark.no_cover
@pytest.mark.parametrize("k", [1, 5, 10])
def test_texts(loops, labelled_prose, built_in, exact, k):
    X, y = labelled_prose
    train, queries = as_word_bags(X[:500]), as_word_bags(X[500:530])
    index = BagIndex(train, len(built_in), built_in.vectors)
    labels = np.unique(y, return_inverse=True)[1][:500]
    votes, n_solved = index.vote(queries, k, labels)
    assert votes.tolist() == winners(exact, labels, k)
    assert 0 < votes.mean() < 1
    # Were a vote never sure before the neighbours are, it would still be right.
    everything = index.nearest(queries, k)[2]
    assert n_solved.min() == k // 2 + 1
    # the vote of one is sure when the neighbour is
    assert n_solved.mean() <= everything.mean() * (0.9 if k > 1 else 1.0)
    model = WMDKNNClassifier(built_in, n_neighbors=k).fit(X[:500], y[:500])
    assert model.predict(X[500:530]).tolist() == model.classes_[votes].tolist()
    model.set_params(n_jobs=2)
    with config_context(working_memory=1):  # runs of a few queries each
        assert model.predict(X[500:530]).tolist() == model.classes_[votes].tolist()


def test_no_problem_is_solved_twice(loops):
    """Where a vote could not be made sure, its neighbours are found after all."""
    X, embedding, labels = crowded(28, 60, 12, 2)
    index = BagIndex(as_word_bags(sp.csr_array(X[20:])), 12, embedding.vectors)
    queries = as_word_bags(sp.csr_array(X[:20]))
    assert (index.vote(queries, 5, labels[20:])[1] <= 40).all()
