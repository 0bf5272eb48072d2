"""What fit says of an ε that changes nearly all, or nearly none, of the words."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.exceptions import CalibrationWarning
from skdptext.mechanisms import (
    Exponential,
    MahalanobisNoise,
    RandomizedResponse,
    Ranked,
    RankedChannel,
    WordChannel,
    WordMechanism,
)
from skdptext.perturbation import _strength
from skdptext.utils import Memo
from tests.expected import leaks_allowed

pytestmark = leaks_allowed


def embedding(n_words=1200):
    vectors = np.random.default_rng(0).normal(size=(n_words, 8))
    return WordEmbedding([f"w{i}" for i in range(n_words)], vectors)


TABLE = embedding()


def said(perturber, X=("w0",)):
    """The messages of fit about ε."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        perturber.fit(X)
    return [str(w.message) for w in caught if w.category is CalibrationWarning]


def test_fit_to_no_documents_says_nothing_until_something_is_released():
    """So that an ε can be looked for from any ε."""
    perturber = DPWordPerturber(TABLE, epsilon=0.5, lam=0.0, document_length=1)
    assert said(perturber, []) == []
    with pytest.warns(CalibrationWarning, match="hardly anything of the documents"):
        perturber.transform(["w0 w1"])
    assert len(said(perturber)) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", CalibrationWarning)
        perturber.transform(["w0 w1"])  # fit has said it


class Plain(WordMechanism):
    """Randomized response that tells nothing but what it must."""

    def prepare(self, embedding, epsilon, lam):
        return PlainChannel(self, embedding, epsilon, lam)


class PlainChannel(WordChannel):
    def draw(self, rng, n):
        return rng.random(n), rng.integers(len(self.embedding), size=n)

    def apply(self, words, draws):
        keeps = 1 / (1 + (len(self.embedding) - 1) * np.exp(-self.epsilon))
        return np.where(draws[0] < keeps, words, draws[1])

    def exponents(self, x, y):
        return self.epsilon * np.not_equal.outer(x, y)


@pytest.mark.parametrize(
    ("mechanism", "low", "middle", "high"),
    [
        (None, 0.5, 8.0, 1e4),
        (Exponential("half"), 0.1, 6.0, 500.0),
        (RandomizedResponse(), 0.5, 7.0, 30.0),
        (Plain(), 0.5, 7.0, 30.0),
    ],
    ids=lambda x: x if isinstance(x, float) else repr(x),
)
def test_extremes_are_told_and_nothing_else(mechanism, low, middle, high):
    options = {"lam": 0.0, "mechanism": mechanism, "document_length": 1}
    (all_of_them,) = said(DPWordPerturber(TABLE, epsilon=low, **options))
    assert re.match(
        rf"epsilon={low:g} changes (about 9\d\.?\d? %|practically all) of the words "
        r"of this embedding: hardly anything of the documents is left\. .*calibrate",
        all_of_them,
    )
    assert said(DPWordPerturber(TABLE, epsilon=middle, **options)) == []
    (none,) = said(DPWordPerturber(TABLE, epsilon=high, **options))
    assert re.match(
        rf"epsilon={high:g} changes (about 0\.\d+ %|practically none) of.*nearly as",
        none,
    )


def test_toys_are_left_alone(small_embedding):
    for epsilon in (1e-3, 1e6):
        assert said(DPWordPerturber(small_embedding, epsilon=epsilon)) == []


def test_the_share_is_that_of_a_release():
    epsilon = 0.7
    (message,) = said(DPWordPerturber(TABLE, epsilon=epsilon, lam=0.0))
    percent = float(re.search(r"about ([\d.]+) %", message)[1])
    at = DPWordPerturber(TABLE, epsilon=epsilon, lam=0.0).fit([])
    words = np.array(TABLE.words)
    share = 100 * (at.perturb_words(words, 20) != words[:, None]).mean()
    # 64 words and 8 draws tell 98 % to a per cent or two
    assert abs(percent - share) < 2


class Measured(MahalanobisNoise):
    """Counts the draws of noise that is shared."""

    def prepare(self, embedding, epsilon, lam):
        from skdptext.mechanisms import MahalanobisChannel

        class Channel(MahalanobisChannel):
            law = MahalanobisChannel.law

            def noise(self, draws):
                CALLS.append((epsilon, lam))
                return super().noise(draws)

        return Channel(self, embedding, epsilon, lam)


CALLS: list[tuple[float, float]] = []


class Unasked(Ranked):
    """Its exact law is not to be asked for."""

    def prepare(self, embedding, epsilon, lam):
        return UnaskedChannel(self, embedding, epsilon, lam)


class UnaskedChannel(RankedChannel):
    def law(self):
        def refuse(words):
            raise AssertionError("the law was asked for")

        return replace(super().law(), log_proba=refuse)


def test_ranks_are_measured_by_draws():
    mechanism = Unasked(RandomizedResponse(), spread=0.1)
    options = {"lam": 0.0, "mechanism": mechanism, "document_length": 1}
    assert len(said(DPWordPerturber(TABLE, epsilon=0.5, **options))) == 1
    assert said(DPWordPerturber(TABLE, epsilon=7.0, **options)) == []
    assert len(said(DPWordPerturber(TABLE, epsilon=30.0, **options))) == 1


def test_one_measurement_serves_all_epsilon():
    table = embedding(1100)
    for epsilon in (0.2, 4.0, 1e4):
        for _ in range(2):
            said(DPWordPerturber(table, epsilon=epsilon, lam=0.0, mechanism=Measured()))
    assert len(CALLS) == 1


def test_a_release_is_the_same_with_and_without_it():
    # whether it was measured or remembered, whatever the filters
    table = embedding(1300)
    releases = []
    for action in ("always", "ignore"):
        with warnings.catch_warnings():
            warnings.simplefilter(action)
            perturber = DPWordPerturber(
                table, epsilon=0.3, output="text", document_length=3, random_state=1
            )
            releases.append(perturber.fit_transform(["w1 w2 w3"]))
    assert releases[0] == releases[1]


def test_among_many_words_few_changes_are_no_finding():
    # beyond 50,000 words the noise is looked at among the first ones only, where fewer
    # words change: that nearly all do is certain, that nearly none do is not
    vectors = np.random.default_rng(0).normal(size=(50_500, 2)).astype(np.float32)
    table = WordEmbedding([f"w{i}" for i in range(50_500)], vectors)
    assert said(DPWordPerturber(table, epsilon=1e7, lam=0.0)) == []
    assert len(said(DPWordPerturber(table, epsilon=0.1, lam=0.0))) == 1


@pytest.mark.no_cover
def test_after_many_settings_the_first_is_measured_again(monkeypatch):
    monkeypatch.setattr(_strength, "_known", Memo(4))  # of 64

    def told(epsilon):
        return said(
            DPWordPerturber(
                TABLE, epsilon=epsilon, lam=0.0, mechanism=RandomizedResponse()
            )
        )

    first = told(0.25)
    assert all(told(0.25 + i / 100) for i in range(1, 6))
    assert told(0.25) == first != []
