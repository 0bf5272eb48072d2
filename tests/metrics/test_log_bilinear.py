"""The form that estimated transitions are smoothed towards."""

from __future__ import annotations

import numpy as np
import pytest

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.base import _transitions
from skdptext.mechanisms import WordChannel
from skdptext.metrics import word_transitions
from tests.channels import Stated, StatedChannel

RNG = np.random.default_rng(0)
TABLE = WordEmbedding([f"w{i}" for i in range(500)], RNG.normal(size=(500, 20)))
PRIOR = RNG.dirichlet(np.ones(500))


@pytest.fixture(scope="module")
def source():
    perturber = DPWordPerturber(TABLE, epsilon=3.0, lam=0.0, document_length=1)
    return perturber.fit([])


@pytest.fixture(scope="module")
def few(source):
    return word_transitions(source, PRIOR, n_draws=5, random_state=0)


def test_a_few_draws_tell_more_than_counts_of_them(source, few, monkeypatch):
    """Bits that an adversary lacks are fewer, and near those of many draws."""
    # 5,000 releases tell them to 0.03 bits, and constants lose 0.4
    monkeypatch.setattr(_transitions, "_N_TEST", 5000)
    assert few.form_smoothing > 0
    few = few.log_loss().value
    many = word_transitions(source, PRIOR, n_draws=20, random_state=1).log_loss().value
    without = word_transitions(source, PRIOR, n_draws=5, random_state=2)
    without.__dict__["_form"] = None  # the smoothing as it was: by a constant
    assert without.form_smoothing == 0
    without = without.log_loss().value
    assert few < without
    assert few - many < 0.5 * (without - many)


def test_profiles_are_distributions_of_what_counts_say(few):
    profiles = RNG.dirichlet(np.ones(500), 3)
    released = few.profiles(profiles)
    np.testing.assert_allclose(released.sum(axis=1), 1, rtol=1e-4)
    counts = few.counts(np.arange(500))  # proportional to Pr[z | w], by z
    shares = counts / counts.sum(axis=0)
    np.testing.assert_allclose(released, profiles @ shares.T, rtol=2e-3, atol=1e-7)


def test_small_vocabularies_have_no_form():
    table = TABLE.restrict(100)
    source = DPWordPerturber(table, epsilon=3.0, document_length=1).fit([])
    assert word_transitions(source, n_draws=5, random_state=0).form_smoothing == 0


def test_what_is_known_needs_no_form(monkeypatch):
    """One word is certain: nothing is left to estimate."""
    monkeypatch.setattr(_transitions, "_N_TEST", 1000)
    prior = np.eye(500)[7]
    source = DPWordPerturber(TABLE, epsilon=3.0, document_length=1).fit([])
    transitions = word_transitions(source, prior, n_draws=5, random_state=0)
    assert transitions.form_smoothing == 0
    assert transitions.vulnerability().value == pytest.approx(1)
    assert transitions.log_loss().value == pytest.approx(0, abs=1e-12)


class UnknownChannel(StatedChannel):
    law = WordChannel.law  # so that draws are counted


class Unknown(Stated):
    channel_class = UnknownChannel


def test_words_of_equal_vectors():
    table = WordEmbedding(TABLE.words, np.ones((500, 2)))
    # the first of equals is released
    options = {"mechanism": Unknown(np.eye(500)[[0] * 500]), "document_length": 1}
    source = DPWordPerturber(table, epsilon=3.0, **options).fit([])
    transitions = word_transitions(source, n_draws=5, random_state=0)
    assert (transitions.proba[:, 0] == 1).all()
    bits = -np.log2(transitions.posterior(["w0"]))
    assert bits.mean() == pytest.approx(np.log2(500), rel=0.05)
