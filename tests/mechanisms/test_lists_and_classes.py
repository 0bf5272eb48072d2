"""Lists and classes of words: how they are made, and what of their claims is false."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from skdptext import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import WordClasses, WordLists
from tests.laws import losses


def table(n_words, dim=2, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(n_words, dim))
    vectors[n_words // 2] = vectors[1]  # two words with one vector
    return WordEmbedding([f"w{i}" for i in range(n_words)], vectors)


@pytest.mark.parametrize("dim", [1, 2, 20])
def test_a_greedy_list_goes_to_the_nearest_word_that_is_left(dim):
    words = table(250, dim)
    lists = WordLists(3).prepare(words, 1.0, 0.0).lists
    assert lists[:, 0].tolist() == [0, 83, 166]
    D = cdist(words.vectors, words.vectors)
    for path in lists:
        assert sorted(path.tolist()) == list(range(250))
        for i in range(249):
            assert D[path[i], path[i + 1]] == D[path[i], path[i + 1 :]].min()


@pytest.mark.parametrize("size", [1, 7, 300])
def test_classes_form_around_the_first_words(size):
    words = table(250)
    labels = WordClasses(size).prepare(words, 1.0, 0.0).labels
    D = cdist(words.vectors, words.vectors)
    left = set(range(250))
    for label in range(math.ceil(250 / size)):
        members = set(np.flatnonzero(labels == label).tolist())
        first = min(left)
        assert first in members
        assert len(members) == min(size, len(left))
        others = left - members
        if others:
            assert D[first, list(members)].max() <= D[first, list(others)].min()
        left = others
    assert not left


def test_paths_and_classes_are_made_once_and_let_go():
    words = table(40)
    first = WordLists().prepare(words, 1.0, 0.0).lists
    for seed in range(40):
        other = WordLists().prepare(table(5, seed=seed), 2.0, 0.0)
        assert len(other.lists[0]) == 5
    np.testing.assert_array_equal(WordLists().prepare(words, 3.0, 0.0).lists, first)


@pytest.mark.parametrize("epsilon", [1e-9, 0.01, 1.0, 30.0, 1e5])
def test_all_of_epsilon_is_spent_in_each_class(epsilon):
    vectors = np.random.default_rng(1).normal(size=(40, 3))
    vectors[:10] = np.r_[[[9.0, 0, 0]], np.zeros((9, 3))]  # a crowd, and one alone
    words = WordEmbedding([f"w{i}" for i in range(40)], vectors)
    labels = np.arange(40) // 10
    channel = WordClasses(labels).prepare(words, epsilon, 0.0)
    claimed = channel.exponents(np.arange(40), np.arange(40))
    for label in range(4):
        inside = claimed[np.ix_(labels == label, labels == label)]
        assert inside.max() == pytest.approx(epsilon, rel=1e-6)
        assert inside.max() <= epsilon * (1 + 1e-6)
    assert np.isinf(claimed[labels[:, None] != labels]).all()


def test_words_that_do_not_differ():
    words = WordEmbedding(list("abc"), [[1.0, 2.0]] * 3)
    channel = WordClasses(3).prepare(words, 1.0, 0.0)
    np.testing.assert_allclose(np.exp(channel.log_proba(np.arange(3))), 1 / 3)
    assert not channel.exponents(np.arange(3), np.arange(3)).any()


def test_the_whole_rate_is_too_much():
    """ε over the largest distance, as if the normalising constants told nothing."""
    D = np.abs(np.subtract.outer(*[np.r_[0.0, 1 + np.arange(9) / 1000]] * 2))
    P = np.exp(-D / D.max())
    assert losses(P / P.sum(axis=1, keepdims=True)).max() > 1.4


def test_a_word_that_a_list_lacks_has_no_epsilon():
    """dp-diffractor leaves stop words in the clear, and lists hold different words."""
    channel = WordLists(order="random").prepare(table(6), 1.0, 0.0)
    P = np.exp(channel.log_proba(np.arange(6)))
    P[2] = np.eye(6)[2]
    assert np.isinf(losses(P)[[0, 1, 3], 2]).sum() == 3


def test_steps_of_any_epsilon():
    words = table(30)
    for epsilon in (1e-12, 1e-3, 800.0, 1e6):
        channel = WordLists().prepare(words, epsilon, 0.0)
        ids = np.arange(30).repeat(200)
        noisy = channel.apply(ids, channel.draw(np.random.default_rng(0), len(ids)))
        if epsilon > 1:
            np.testing.assert_array_equal(noisy, ids)
        else:  # all go to an end, or nearly all
            ends = np.isin(noisy, channel.lists[0, [0, -1]])
            assert ends.mean() > 0.9
        np.testing.assert_allclose(np.exp(channel.log_proba(ids[:1])).sum(), 1)


def test_classes_must_be_small():
    words = WordEmbedding([f"w{i}" for i in range(2049)], np.arange(2049.0)[:, None])
    with pytest.raises(InvalidParameterError, match="at most 2048 words each, got one"):
        WordClasses(np.zeros(2049, dtype=int)).prepare(words, 1.0, 0.0)


@pytest.mark.parametrize("epsilon", [1e-300, 1e-17, 1e-13, 1e-9, 1e-3])
@pytest.mark.parametrize("n_words", [2, 3, 5])
def test_small_classes_at_a_tiny_epsilon(n_words, epsilon):
    """Where rounding hides the sign that the search for the rate looks for."""
    vectors = np.random.default_rng(3).normal(size=(n_words, 2))
    table = WordEmbedding([f"w{i}" for i in range(n_words)], vectors)
    channel = WordClasses(2).prepare(table, epsilon, 0.0)
    ids = np.arange(n_words)
    claimed = channel.exponents(ids, ids)
    inside = np.isfinite(claimed)
    assert claimed[inside].max() <= epsilon
    assert losses(np.exp(channel.log_proba(ids)))[inside].max() <= epsilon + 1e-15
