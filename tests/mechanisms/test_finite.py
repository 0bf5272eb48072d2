"""Channels that state their law in full: what follows from it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.base import transitions_of
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import (
    Exponential,
    FiniteChannel,
    InvertedChannel,
    Law,
    MahalanobisNoise,
    WordMechanism,
    check_law,
)
from skdptext.metrics import plausible_deniability
from tests.channels import Stated, StatedChannel
from tests.laws import assert_counts, catches, losses

TABLE = WordEmbedding([f"w{i}" for i in range(12)], np.arange(12.0)[:, None])
IDS = np.arange(12)


def random_law(seed):
    """Some words are never released for some others."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(12, 0.5), size=12) * (rng.random((12, 12)) < 0.9)
    P[:, 3] += 0.01
    P[7] = P[2]
    return P / P.sum(axis=1, keepdims=True)


class Shifted(StatedChannel):
    """Masses too small for floats, and the same law."""

    def _log_masses(self, words):
        return self.log_proba(words) - 2000.0


@pytest.mark.parametrize("seed", range(3))
def test_exponents_are_those_of_the_law(seed):
    P = random_law(seed)
    channel = Stated(P).prepare(TABLE, 1.0, 0.0)
    claimed, lost = channel.exponents(IDS, IDS), losses(P)
    assert np.isinf(claimed).any()
    assert (claimed >= lost).all()
    np.testing.assert_allclose(claimed, lost, atol=1e-11)
    assert claimed[5, 5] == 0 < claimed[2, 7] < 1e-11
    with config_context(working_memory=1e-4):  # a row at a time
        np.testing.assert_array_equal(channel.exponents(IDS[::-1], IDS), claimed[::-1])


@pytest.mark.parametrize("kind", [StatedChannel, Shifted])
def test_draws_follow_the_law(kind):
    P = random_law(4)
    channel = kind(Stated(P), TABLE, 1.0, 0.0)
    rng = np.random.default_rng(0)
    words = rng.integers(0, 12, 60_000)
    draws = channel.draw(rng, len(words))
    noisy = channel.apply(words, draws)
    for word in (0, 2, 11):
        assert_counts(np.bincount(noisy[words == word], minlength=12), P[word])
    counts = np.bincount(noisy[words == 0], minlength=12)
    assert catches(assert_counts, counts, P[1])
    for memory in (0, 500, 2**20):  # no rows are kept, some, and all
        with channel.session(memory) as apply:
            pieces = [apply(words[i::7], (draws[0][i::7],)) for i in range(7)]
        for i, piece in enumerate(pieces):
            np.testing.assert_array_equal(piece, noisy[i::7])
    assert channel.apply(words[:0], (draws[0][:0],)).shape == (0,)


class Shared(dict):
    """Another thread of the release adds rows as soon as this one has looked."""

    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def _looked(self, answer):
        self.update(self.rows)
        return answer

    def get(self, word, default=None):
        return self._looked(super().get(word, default))

    def keys(self):
        return self._looked(set(super().keys()))

    def __contains__(self, word):
        return self._looked(super().__contains__(word))


@pytest.mark.parametrize("n_found", [1, 5, 12])
def test_threads_may_add_rows_at_any_moment(n_found):
    """A word that was looked up twice could come from memory that nobody wrote."""
    channel = Stated(random_law(4)).prepare(TABLE, 1.0, 0.0)
    words = IDS.repeat(50)
    draws = channel.draw(np.random.default_rng(0), len(words))
    rows = {}
    channel.apply(IDS[:n_found], (np.zeros(n_found),), memo=rows)
    assert len(rows) == n_found
    expected = channel.apply(words, draws)
    np.testing.assert_array_equal(
        channel.apply(words, draws, memo=Shared(rows)), expected
    )


def test_a_law_is_all_that_a_release_needs():
    perturber = DPWordPerturber(
        TABLE, mechanism=Stated(random_law(1)), epsilon=1.0, document_length=3
    ).fit([])
    assert perturber.transform([["w1", "w2", "w3"]]).sum() == 3
    assert perturber.guarantee().numerical_delta == 3 * (2.0**-36 + 12 * 2.0**-51)


def test_other_draws_are_not_vouched_for():
    class Shuffled(StatedChannel):
        def apply(self, words, draws, memory=None, memo=None):
            return super().apply(words, draws, memory, memo)[::-1]

    channel = Shuffled(Stated(random_law(1)), TABLE, 1.0, 0.0)
    assert channel.law() == Law()
    with pytest.raises(TypeError, match="abstract"):
        FiniteChannel(Stated(random_law(0)), TABLE, 1.0, 0.0)


# -- rows that are no distributions ----------------------------------------------------

_ROWS = {
    "too much": np.log([[0.75, 0.25, 0.25], [0.3, 0.3, 0.4], [0.3, 0.3, 0.4]]),
    "too little": np.log([[0.5, 0.25, 0.25], [0.3, 0.3, 0.3], [0.2, 0.4, 0.4]]),
    "not logarithms": np.array([[0.5, 0.25, 0.25]] * 3),
    "NaN": np.array([[0.0, -np.inf, -np.inf], [np.nan, 0, 0], [0, 0, 0]]),
    "inf": np.array([[np.inf, 0, 0]] * 3),
    "another shape": np.log(np.full((3, 2), 0.5)),
    "all impossible": np.full((3, 3), -np.inf),
}


class Rows(WordMechanism):
    def __init__(self, rows=None):
        self.rows = rows

    def prepare(self, embedding, epsilon, lam):
        return RowsChannel(self, embedding, epsilon, lam)


class RowsChannel(InvertedChannel):
    def log_proba(self, words):
        return self.mechanism.rows[words]


@pytest.mark.parametrize("lam", [1e-3, 0.5, 1.0])
@pytest.mark.parametrize(
    "mechanism",
    [
        *map(Exponential, ("half", "exact")),
        Exponential("half", 2.0),
        MahalanobisNoise(),
    ],
    ids=repr,
)
def test_equal_vectors_are_refused_before_anything_is_promised(mechanism, lam):
    """No covariance is learned from them; "half" looked at it only when it drew."""
    for vectors in (np.ones((5, 2)), np.tile([0.1, 0.2, 0.3], (100, 1))):
        table = WordEmbedding([f"w{i}" for i in range(len(vectors))], vectors)
        with pytest.raises(InvalidParameterError, match="at least 2 different vectors"):
            mechanism.prepare(table, 1.0, lam)


class Turning(Rows):
    def prepare(self, embedding, epsilon, lam):
        return TurningChannel(self, embedding, epsilon, lam)


class TurningChannel(RowsChannel):
    turned = False

    def log_proba(self, words):
        even = np.full((len(words), 3), -np.log(3))
        return super().log_proba(words) if self.turned else even


class OneBad(RowsChannel):
    def log_proba(self, words):
        n_words = len(self.embedding)
        rows = np.full((len(words), n_words), -np.log(n_words))
        rows[words == self.mechanism.rows] = np.nan
        return rows


@pytest.mark.parametrize("bad", [0, 1, 197, 499])
def test_fit_looks_at_all_rows_of_a_small_embedding(bad):
    class Mechanism(Rows):
        channel_class = OneBad
        prepare = WordMechanism.prepare

    table = WordEmbedding([f"w{i}" for i in range(500)], np.ones((500, 2)))
    perturber = DPWordPerturber(table, mechanism=Mechanism(bad), document_length=1)
    with pytest.raises(InvalidParameterError, match=r"log_proba of OneBad .* with NaN"):
        perturber.fit([])


@pytest.mark.no_cover
def test_fit_looks_at_rows_of_a_large_embedding():
    """Of two by two hundred thousand probabilities each, and not of all at once."""
    asked = []

    class Counted(RowsChannel):
        def log_proba(self, words):
            asked.append(words)
            return np.full((len(words), 200_000), -np.log(200_000))

    class Mechanism(Rows):
        channel_class = Counted
        prepare = WordMechanism.prepare

    names = [f"w{i}" for i in range(200_000)]
    table = WordEmbedding(names, np.arange(200_000.0)[:, None])
    check_law(Counted(Mechanism(), table, 1.0, 0.0))
    assert list(map(len, asked)) == [1] * 5
    assert {asked[0][0], asked[-1][0]} == {0, 199_999}


def test_logarithms_of_float32_are_named():
    """What the vectors' own type comes to is said by the error."""

    class Softmax(RowsChannel):
        def log_proba(self, words):
            scores = self.embedding.vectors[words] @ self.embedding.vectors.T
            return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    class Mechanism(Rows):
        channel_class = Softmax
        prepare = WordMechanism.prepare

    vectors = np.random.default_rng(0).normal(size=(50, 4))
    table = WordEmbedding([f"w{i}" for i in range(50)], vectors)
    with pytest.raises(InvalidParameterError, match="vectors of an embedding are floa"):
        DPWordPerturber(table, mechanism=Mechanism(), document_length=1).fit([])


@pytest.mark.parametrize("kind", _ROWS)
def test_rows_that_are_no_distributions_neither_draw_nor_promise(kind, monkeypatch):
    """Drawing would scale them, and promising would not."""
    table = WordEmbedding(list("abc"), np.eye(3))
    mechanism = Rows(_ROWS[kind])
    perturber = DPWordPerturber(
        table, mechanism=mechanism, document_length=3, tokenizer=str.split
    )
    with pytest.raises(InvalidParameterError, match="log_proba of RowsChannel"):
        perturber.fit([])
    # rows that change when they have been looked at
    perturber.set_params(mechanism=Turning(_ROWS[kind])).fit([])
    guarantee = perturber.guarantee()
    sampled = clone(perturber).set_params(resize="sample").fit([]).guarantee()
    monkeypatch.setattr(TurningChannel, "turned", True)
    for ask in (
        lambda: perturber.transform(["a b c"]),
        lambda: perturber.perturb_words(["a", "b", "c"]),
        lambda: guarantee.exponent("a", "b"),
        lambda: guarantee.exponent("a", "b", delta=1e-6),
        lambda: sampled.exponent(["a"], ["b", "c"]),
        lambda: transitions_of(perturber.mechanism_),
        lambda: plausible_deniability(perturber),
    ):
        with pytest.raises(InvalidParameterError, match="log_proba of TurningChannel"):
            ask()


def test_rows_are_not_overwritten_by_a_draw():
    class Same(RowsChannel):
        def log_proba(self, words):
            return self.mechanism.rows  # the array itself

    rows = np.log(np.full((2, 2), 0.5))
    channel = Same(Rows(rows), WordEmbedding(["a", "b"], np.eye(2)), 1.0, 0.0)
    channel.apply(np.array([0, 1]), channel.draw(np.random.default_rng(0), 2))
    np.testing.assert_array_equal(rows, np.log(np.full((2, 2), 0.5)))
