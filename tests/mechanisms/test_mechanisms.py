"""What holds for each mechanism in each of its forms: its law, its claim, its noise."""

import math
import re

import numpy as np
import pytest
from experiments.mechanisms.recipes import CusText, Diffractor, SanTextPlus
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn import config_context

from skdptext import WordEmbedding
from skdptext.mechanisms import Exponential
from tests.channels import Stated, violated
from tests.expected import leaks_allowed, refusals
from tests.laws import assert_counts, hockey_stick, law_of, losses
from tests.mechanism_forms import forms

pytestmark = leaks_allowed

N = 30
IDS = np.arange(N)
_rng = np.random.default_rng(7)
_vectors = _rng.normal(size=(N, 3)) * _rng.choice([0.3, 1, 2], (N, 1))
_vectors[[4, 9]] = _vectors[2]
TABLE = WordEmbedding([f"w{i}" for i in IDS], _vectors)
# with a law in which some words are never released for some others
_P = _rng.dirichlet(np.full(N, 0.5), N) * (_rng.random((N, N)) < 0.9)
_P[:, 3] += 0.01
_P[7] = _P[2]
ALL = forms() | {
    "stated": Stated(_P / _P.sum(axis=1, keepdims=True)),
    "SanText+": SanTextPlus([f"w{i}" for i in range(0, N, 2)], probability=0.3),
    "CusText": CusText([i % 3 for i in range(N)]),
    "1-Diffractor": Diffractor(),
}
every_form = pytest.mark.parametrize("name", ALL)


def prepared(name, epsilon=2.0, lam=0.0, table=TABLE):
    return ALL[name].prepare(table, epsilon, lam)


# short, so that rounding of the probabilities is far below them
LINE = WordEmbedding(TABLE.words, np.cumsum(_rng.exponential(0.05, (N, 1)), axis=0))


# -- draws, exponents and losses -------------------------------------------------------


@pytest.mark.no_cover
@every_form
def test_draws_follow_the_law_however_they_are_cut(name):
    mechanism = prepared(name, table=LINE)
    P, rng = law_of(mechanism), np.random.default_rng(1)
    for word in (2, 6):
        words = np.full(20_000, word)
        noisy = mechanism.apply(words, mechanism.draw(rng, len(words)))
        assert_counts(np.bincount(noisy, minlength=N), P[word])
    words = rng.integers(0, N, 5000)
    draws = mechanism.draw(rng, len(words))
    whole = mechanism.apply(words, draws)
    assert_counts(np.bincount(whole, minlength=N), P.mean(axis=0))
    with config_context(working_memory=0.004):
        for i in range(7):
            part = mechanism.apply(words[i::7], tuple(each[i::7] for each in draws))
            np.testing.assert_array_equal(part, whole[i::7])
    none = mechanism.apply(words[:0], mechanism.draw(rng, 0))
    assert none.shape == (0,)


@every_form
@pytest.mark.parametrize("epsilon", [0.3, 5.0])
def test_exponents_are_the_losses_of_the_law(name, epsilon):
    mechanism = prepared(name, epsilon, table=LINE)
    claimed, lost = mechanism.exponents(IDS, IDS), losses(law_of(mechanism))
    assert (lost <= claimed + 1e-11 + 1e-9 * np.abs(lost)).all()
    if name != "noise":  # of which the loss of the noisy vector is claimed
        np.testing.assert_allclose(lost, claimed, rtol=1e-9, atol=1e-9)
    assert (claimed.diagonal() == 0).all()
    x, y = np.array([7, 2, 2, 29]), np.array([0, 9, 7, 2, 5])  # in any order
    with config_context(working_memory=1e-4):
        np.testing.assert_allclose(mechanism.exponents(x, y), claimed[np.ix_(x, y)])


@pytest.mark.no_cover
@every_form
@settings(max_examples=10)
@given(x=st.integers(0, 29), y=st.integers(0, 29), delta=st.floats(1e-9, 0.9))
def test_exponents_with_delta_are_between_enumeration_and_the_pure_one(
    name, x, y, delta
):
    mechanism = prepared(name, table=LINE)
    P, ids = law_of(mechanism), (np.array([x]), np.array([y]))
    (loss,) = mechanism.losses(*ids)
    t = loss.exponent(delta)
    assert t <= mechanism.exponents(*ids)[0, 0] * (1 + 1e-3) + 1e-3
    if t < math.inf:
        assert hockey_stick(P[x], P[y], t) <= delta * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("name", ["noise", "exact", "stated"])
def test_audits_find_nothing(name):
    pairs = [("w1", "w6"), ("w8", "w3")]
    assert not violated(ALL[name], TABLE, pairs, epsilon=2.0, lam=0.5).any()


# -- what is said ----------------------------------------------------------------------

LOST = r"no two words lose more than (\d[\d.]*(?:e[+-]?\d+)?) per unit of d"


@pytest.mark.parametrize("name", ["exact", "half", "capped", "half, capped"])
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), epsilon=st.floats(0.01, 30))
def test_no_number_that_is_said_is_below_what_is_lost(name, seed, epsilon):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(N, 3)) * rng.choice([0.05, 1, 20], (N, 1))
    table = WordEmbedding(TABLE.words, vectors)
    mechanism = prepared(name, epsilon, 0.0, table)
    most = float(re.search(LOST, mechanism.sentences()[0])[1])
    D = cdist(table.vectors, table.vectors)  # of what is stored, in float32
    D = np.minimum(D, mechanism.max_distance or math.inf)
    assert (mechanism.exponents(IDS, IDS) - most * D).max() <= 1e-9
    assert most <= epsilon * 1.002


# -- as parameters ---------------------------------------------------------------------


@refusals(
    (Exponential("tem"), "calibration must be one of 'exact', 'half'"),
    (Exponential(max_distance=0), "max_distance must be a finite number > 0"),
    (Exponential(max_distance=math.inf), "max_distance must be a finite number"),
)
def test_bad_options(mechanism):
    mechanism.prepare(TABLE, 1.0)
