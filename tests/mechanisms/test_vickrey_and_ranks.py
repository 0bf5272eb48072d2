"""Post-processing of noise: exact laws on a line, and known mistakes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
from scipy.spatial.distance import cdist

from skdptext import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import (
    MahalanobisNoise,
    RandomizedResponse,
    Ranked,
    VickreyChannel,
    WordMechanism,
)
from skdptext.search import k_nearest_words
from tests.laws import (
    assert_counts,
    catches,
    losses,
    on_a_line,
    two_nearest,
    vickrey_rule,
)

LINE = np.array([0.0, 0.4, 1.0, 1.2, 3.0], dtype=np.float32)
TABLE = WordEmbedding(list("abcde"), LINE[:, None])
N = 100_000


def counts(channel, word, seed=0):
    words = np.full(N, word)
    noisy = channel.apply(words, channel.draw(np.random.default_rng(seed), N))
    return np.bincount(noisy, minlength=len(channel.embedding))


@pytest.mark.parametrize("t", [0.1, 0.5, 0.9, 1.0])
def test_vickrey_follows_its_law(t):
    channel = MahalanobisNoise(second=t).prepare(TABLE, 2.0, 0.0)
    P = on_a_line(LINE, 2.0, vickrey_rule(LINE, t))
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
    claimed = channel.exponents(np.arange(5), np.arange(5))
    assert (losses(P) <= claimed + 1e-9).all()
    for word in (0, 3):
        assert_counts(counts(channel, word), P[word])


class SwappedDistances(VickreyChannel):
    """d₁ and d₂ change places in the probability."""

    def apply(self, words, draws, memory=None):
        *of_noise, uniforms = draws
        points = (
            LINE[words]
            + MahalanobisNoise().prepare(TABLE, 2.0, 0.0).noise(of_noise)[:, 0]
        )
        near, gaps = two_nearest(points, LINE)
        t = self.mechanism.second
        first = (1 - t) * gaps[:, 0] / (t * gaps[:, 1] + (1 - t) * gaps[:, 0])
        return np.where(uniforms < first, near[:, 0], near[:, 1])


class SmallestTwoInAnyOrder(VickreyChannel):
    """Relies on a partial sort for the order of the two: sometimes they are swapped."""

    def apply(self, words, draws, memory=None):
        noisy = super().apply(words, draws, memory)
        of_noise = draws[:-1]
        other = super().apply(words, (*of_noise, np.zeros(len(words))), memory)
        return np.where(np.arange(len(words)) % 10 == 0, other, noisy)


@pytest.mark.parametrize("wrong", [SwappedDistances, SmallestTwoInAnyOrder])
def test_wrong_probabilities_are_caught(wrong):
    channel = wrong(MahalanobisNoise(second=0.7), TABLE, 2.0, 0.0)
    P = on_a_line(LINE, 2.0, vickrey_rule(LINE, 0.7))
    assert catches(assert_counts, counts(channel, 0), P[0])


def test_second_to_none_is_the_nearest():
    draws = (
        MahalanobisNoise().prepare(TABLE, 2.0, 0.0).draw(np.random.default_rng(0), 500)
    )
    words = np.arange(500) % 5
    nearest = MahalanobisNoise().prepare(TABLE, 2.0, 0.0).apply(words, draws)
    barely = MahalanobisNoise(second=1e-300).prepare(TABLE, 2.0, 0.0)
    half = np.full(500, 0.5)
    np.testing.assert_array_equal(barely.apply(words, (*draws, half)), nearest)


# -- ranks ---------------------------------------------------------------------------


def rank_rule(positions, spread):
    """The neighbours of each word with the probabilities of their ranks."""
    gaps = np.abs(np.subtract.outer(positions, positions)).astype(float)
    np.fill_diagonal(gaps, -1)
    ranks = np.argsort(np.argsort(gaps, axis=1, kind="stable"), axis=1)
    G = np.exp(-ranks / spread)
    return G / G.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("spread", [0.2, 1.0, 7.0])
def test_ranks_follow_their_law(spread):
    channel = Ranked(spread=spread).prepare(TABLE, 2.0, 0.0)
    nearest = on_a_line(LINE, 2.0, vickrey_rule(LINE, 0.0))
    P = nearest @ rank_rule(LINE, spread)
    for word in (1, 4):
        assert_counts(counts(channel, word), P[word])
    assert (losses(P) <= channel.exponents(np.arange(5), np.arange(5)) + 1e-9).all()


def test_ties_are_ranked_in_the_order_of_the_table():
    square = WordEmbedding(list("abcd"), [[0, 0], [1, 0], [0, 1], [1, 1]])
    channel = Ranked(spread=1.0).prepare(square, 1e6, 0.0)  # the pivot is the word
    rng = np.random.default_rng(0)
    draws = channel.draw(rng, 4)
    q = np.exp(-1)
    for rank, expected in enumerate([(0, 3), (1, 1), (2, 2), (3, 0)]):
        # in the middle of the rank's share of the uniforms
        u = (1 - q**rank + 1 - q ** (rank + 1)) / 2 / (1 - q**4)
        given = (*draws[:-1], np.full(4, u))
        words = channel.apply(np.array([0, 3, 0, 3]), given)
        assert words.tolist() == [*expected, *expected]


def test_a_seed_inside_of_the_loop_is_no_noise_for_a_text():
    """Published code moves all words by one vector: their difference shows."""
    noise = np.linspace(-30, 30, 60_001)

    def releases(text):
        near = np.abs(LINE[text][:, None] + noise - LINE[:, None, None]).argmin(axis=0)
        return set(map(tuple, near.T.tolist()))

    # of "a b" and "a d" each may become what the other never does
    one, two = releases([0, 1]), releases([0, 3])
    assert one - two
    assert two - one
    # and a release here draws a vector for each word
    channel = Ranked(spread=1e-3).prepare(TABLE, 0.2, 0.0)
    words = channel.apply(
        np.repeat(2, 400), channel.draw(np.random.default_rng(0), 400)
    )
    assert len(set(words.tolist())) > 3


def test_ranks_are_found_once_where_they_fit(monkeypatch):
    vectors = np.random.default_rng(0).normal(size=(400, 3))
    vectors[7] = vectors[3]
    table = WordEmbedding([f"w{i}" for i in range(400)], vectors)
    words = np.arange(400)
    ranked = []

    def counted(points, *args, **options):
        ranked.append(len(points))
        return k_nearest_words(points, *args, **options)

    # how often they are found shows only where they are
    monkeypatch.setattr("skdptext.mechanisms._ranked.k_nearest_words", counted)

    def law(memory):
        channel = Ranked(RandomizedResponse(), spread=3.0).prepare(table, 4.0, 0.0)
        with sklearn.config_context(working_memory=memory):
            parts = [channel.law().log_proba(part) for part in np.array_split(words, 3)]
        # the ranks stay at home
        assert len(pickle.dumps(channel)) < 2 * len(pickle.dumps(table))
        return np.concatenate(parts)

    held = law(64)
    assert sum(ranked) == 400
    ranked.clear()
    made_anew = law(1)
    assert sum(ranked) == 3 * 400
    np.testing.assert_allclose(held, made_anew, rtol=1e-13)  # blocks differ
    # each word's law by a sort of all distances, in the order of the table if equal
    distances = cdist(table.vectors, table.vectors)
    order = distances.argsort(axis=1, kind="stable")
    order[7, :2] = 7, 3  # a pivot comes first
    masses = np.exp(-words / 3.0) / np.exp(-words / 3.0).sum()
    moves = np.empty((400, 400))
    np.put_along_axis(moves, order, np.tile(masses, (400, 1)), axis=1)
    inner = RandomizedResponse().prepare(table, 4.0, 0.0).log_proba(words)
    np.testing.assert_allclose(np.exp(held), np.exp(inner) @ moves, rtol=1e-9)


def test_small_spreads_keep_the_pivot():
    channel = Ranked(spread=1e-320).prepare(TABLE, 2.0, 0.0)
    plain = MahalanobisNoise().prepare(TABLE, 2.0, 0.0)
    words, draws = np.arange(5), channel.draw(np.random.default_rng(0), 5)
    np.testing.assert_array_equal(
        channel.apply(words, draws), plain.apply(words, draws[:-1])
    )


def test_an_inner_mechanism_of_ones_own():
    class Nothing(WordMechanism):
        def prepare(self, embedding, epsilon, lam):
            return None

    with pytest.raises(InvalidParameterError, match="prepare of Nothing must return"):
        Ranked(Nothing()).prepare(TABLE, 1.0, 0.0)
