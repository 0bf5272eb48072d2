"""What holds for each mechanism: its law, its claim, and that it goes everywhere."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
from experiments.mechanisms.recipes import Vickrey
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.attacks import WordReconstructionAttack
from skdptext.audit import audit_word_privacy
from skdptext.inspection import NeighborhoodDisplay
from skdptext.mechanisms import (
    Exponential,
    MahalanobisNoise,
    RandomizedResponse,
)
from skdptext.metrics import plausible_deniability
from skdptext.model_selection import calibrate_epsilon
from tests.channels import Stated
from tests.expected import leaks_allowed
from tests.laws import assert_counts, losses
from tests.mechanism_forms import forms

pytestmark = leaks_allowed

_rng = np.random.default_rng(7)
_vectors = _rng.normal(size=(30, 3)) * _rng.choice([0.3, 1, 2], (30, 1))
_vectors[[4, 9]] = _vectors[2]
TABLE = WordEmbedding([f"w{i}" for i in range(30)], _vectors)
IDS = np.arange(30)

# ε and λ of those whose law can be stated, and of those that add noise
FINITE = {
    "exact": (2.0, 0.0),
    "half": (2.0, 0.5),
    "capped": (2.0, 0.0),
    "half, capped": (2.0, 0.5),
    "randomized response": (3.0, 0.0),
    "stated": (1.0, 0.0),
}
NOISE = {"Vickrey": (3.0, 0.5)}
_LAW = _rng.dirichlet(np.full(30, 0.5), 30)
# with two that a user might write: any law, and something computed from the noise
MECHANISMS = forms() | {"stated": Stated(_LAW), "Vickrey": Vickrey(0.4)}
ALL = FINITE | NOISE


def perturber(name, **parameters):
    epsilon, lam = ALL[name]
    settings = {
        "epsilon": epsilon, "lam": lam, "mechanism": MECHANISMS[name],
        "random_state": 5, "document_length": 4, "resize": "truncate",
    }  # fmt: skip
    return DPWordPerturber(TABLE, **{**settings, **parameters}).fit([])


def prepared(name):
    return MECHANISMS[name].prepare(TABLE, *ALL[name])


# -- law and claim -------------------------------------------------------------------


@pytest.mark.no_cover
@pytest.mark.parametrize("name", FINITE)
def test_releases_follow_the_stated_law(name):
    channel = prepared(name)
    P = np.exp(channel.log_proba(IDS))
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
    rng = np.random.default_rng(1)
    for word in (2, 6):
        words = np.full(20_000, word)
        noisy = channel.apply(words, channel.draw(rng, len(words)))
        assert_counts(np.bincount(noisy, minlength=30), P[word])
    words = rng.integers(0, 30, 10_000)
    draws = channel.draw(rng, len(words))
    whole = channel.apply(words, draws)
    with config_context(working_memory=0.004):  # in pieces, with little memory
        pieces = [
            channel.apply(
                words[i : i + 997], tuple(part[i : i + 997] for part in draws)
            )
            for i in range(0, len(words), 997)
        ]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
    assert_counts(np.bincount(whole, minlength=30), P.mean(axis=0))


@pytest.mark.parametrize("name", FINITE)
def test_claims_bound_the_losses_of_the_law(name):
    channel = prepared(name)
    claimed = channel.exponents(IDS, IDS)
    lost = losses(np.exp(channel.log_proba(IDS)))
    assert (lost <= claimed * (1 + 1e-12) + 1e-9).all()
    np.testing.assert_allclose(lost, claimed, rtol=1e-9, atol=1e-9)
    # any order of the words, and any of them twice
    x, y = np.array([7, 2, 2, 29]), np.array([0, 9, 7, 2, 5])
    np.testing.assert_allclose(channel.exponents(x, y), claimed[np.ix_(x, y)])
    np.testing.assert_allclose(
        np.exp(channel.log_proba(x)), np.exp(channel.log_proba(IDS))[x]
    )
    assert channel.apply(x[:0], channel.draw(np.random.default_rng(0), 0)).shape == (0,)


@pytest.mark.no_cover
@pytest.mark.parametrize("name", ALL)
def test_claims_of_losses(name):
    """With δ, exponents are below the pure ones, and for the same reason."""
    channel = prepared(name)
    x, y = np.array([0, 3, 6, 1]), np.array([6, 0, 1, 2])
    pure = np.diag(channel.exponents(x, y))
    for loss, t in zip(channel.losses(x, y), pure, strict=True):
        assert loss.exponent(1e-6) <= t * (1 + 1e-3) + 1e-9
    if name == "Vickrey":
        noise = MahalanobisNoise().prepare(TABLE, channel.epsilon, channel.lam)
        for ours, theirs in zip(channel.losses(x, y), noise.losses(x, y), strict=True):
            assert ours.exponent(1e-3) == theirs.exponent(1e-3) < pure.max()


@pytest.mark.parametrize("name", ["Vickrey", "exact", "stated"])
def test_audits_find_nothing(name):
    fitted = perturber(name, document_length=1, random_state=None)
    audit = audit_word_privacy(
        fitted, n_draws=4000, confidence=1 - 1e-6, random_state=0
    )
    assert not audit.violated.any()


# -- releases ------------------------------------------------------------------------


def documents(n=40):
    rng = np.random.default_rng(0)
    order = np.argsort(TABLE.vectors[:, 0])
    y = np.arange(n) % 2
    return [[f"w{order[i]}" for i in rng.integers(0, 10, 4) + 20 * t] for t in y], y


@pytest.mark.no_cover
@pytest.mark.parametrize("name", ALL)
def test_releases_are_repeatable(name):
    X, _ = documents()
    fitted = perturber(name)
    first = fitted.transform(X).toarray()
    np.testing.assert_array_equal(fitted.transform(X[::-1]).toarray(), first[::-1])
    for other in (
        perturber(name, mechanism=clone(MECHANISMS[name])),
        perturber(name, n_jobs=2),
        pickle.loads(pickle.dumps(fitted)),
    ):
        np.testing.assert_array_equal(other.transform(X).toarray(), first)
    with config_context(working_memory=0.01):
        for n_jobs in (1, 2):
            again = perturber(name, n_jobs=n_jobs).transform(X)
            np.testing.assert_array_equal(again.toarray(), first)


def test_options_key_the_noise():
    seen = [
        perturber("half", mechanism=mechanism, epsilon=epsilon, random_state=2**100)
        .transform([["w1", "w6", "w20", "w3"]] * 12, document_ids=range(12))
        .toarray()
        .tolist()
        for mechanism, epsilon in [
            (Vickrey(0.4), 3.0),
            (Vickrey(1e-9), 3.0),  # the nearest word but for the key
            (MahalanobisNoise(), 3.0),
            (Exponential("half"), 2.0),
            # caps beyond all words: the law is the same, and its noise is not
            (Exponential("half", 1e6), 2.0),
            (Exponential("half", 2e6), 2.0),
            (Exponential("exact"), 2.0),
            (RandomizedResponse(), 2.0),
            (Exponential("half"), 2.0 + 1e-12),
        ]
    ]
    assert all(a != b for a, b in itertools.combinations(seen, 2))


# -- everywhere ------------------------------------------------------------------------


def test_a_search_over_mechanisms_and_their_options():
    X, y = documents()
    pipeline = Pipeline(
        [("noise", perturber("exact")), ("classify", MultinomialNB())]
    ).set_params(noise__random_state=0)
    search = GridSearchCV(
        pipeline,
        [
            {"noise__mechanism": [None, "exponential", RandomizedResponse()]},
            {"noise__mechanism__calibration": ["half"]},
        ],
        cv=2,
    ).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("name", ["Vickrey", "exact", "stated"])
def test_statistics_and_attacks(name):
    fitted = perturber(name, document_length=1)
    deniability = plausible_deniability(fitted, n_draws=200, random_state=0)
    assert deniability.n_unchanged.mean() / 200 < 0.9
    attack = WordReconstructionAttack(fitted, n_draws=100, random_state=0).fit()
    some = ["w0", "w9", "w27"]
    assert 0 <= attack.score(fitted.perturb_words(some, 1).tolist(), some) <= 1
    if name == "stated":  # whatever ε is
        return
    words = [[word] for word in fitted.embedding_.words]
    calibrated = calibrate_epsilon(fitted, 0.7, documents=words, random_state=0)
    assert calibrated.changed == pytest.approx(0.7, abs=0.01)
    if name == "exact":
        sure = perturber(name, document_length=1, epsilon=1e4)
        stays = plausible_deniability(sure, n_draws=20, random_state=0)
        assert stays.n_unchanged.mean() / 20 > 0.85


def test_what_is_made_of_noise_keeps_its_display():
    fitted = perturber("Vickrey")
    display = NeighborhoodDisplay.from_estimator(fitted, "w6", n_draws=20)
    assert display is not None
    assert fitted.guarantee().metric is not None


def test_post_processing_keeps_the_claim():
    ours = perturber("Vickrey").guarantee()
    noise = perturber("Vickrey", mechanism=None).guarantee()
    x, y = ["w1", "w2", "w3", "w4"], ["w9", "w8", "w7", "w6"]
    assert ours.exponent(x, y) == noise.exponent(x, y)
    assert ours.euclidean().exponent(x, y) == noise.euclidean().exponent(x, y)
    assert ours.numerical_delta == noise.numerical_delta


# -- exponents -----------------------------------------------------------------------


def test_odds_grow_by_one_exponent_and_fall_by_the_other():
    """Exponents of an exponential mechanism are not symmetric."""
    channel = Exponential().prepare(TABLE, 1.0, 0.0)
    P, t = np.exp(channel.log_proba(IDS)), channel.exponents(IDS, IDS)
    x, y = np.unravel_index((t - t.T).argmax(), t.shape)
    ratios = np.log(P[x] / P[y])
    assert ratios.max() == pytest.approx(t[x, y])
    assert -ratios.min() == pytest.approx(t[y, x])
    assert ratios.max() > t[y, x] + 0.01  # so neither bound holds for both


def test_numerical_delta_is_no_additive_delta():
    """Two words 40 apart: float64 never makes b of a, exact arithmetic may.

    So for no t of use is Pr[b | b] ≤ e^t Pr[b | a] + numerical_delta as drawn.
    """
    table = WordEmbedding(["a", "b"], [[0.0], [40.0]])
    channel = Exponential().prepare(table, 1.0, 0.0)
    delta = channel.numerical_delta
    ends = np.array([0.0, 1 - 2.0**-53])  # the least uniform, and the largest
    for word in (0, 1):
        made = channel.apply(np.array([word, word]), (ends,))
        drawn = np.bincount(made, minlength=2) > 0
        exact = np.exp(channel.log_proba(np.array([word])))[0]
        assert exact.min() > 0
        if not drawn.all():  # total variation: what is never drawn
            assert exact[~drawn].sum() <= delta
        if word == 0:
            assert not drawn[1]
    (t,) = channel.exponents(np.array([1]), np.array([0]))[0]
    assert t == pytest.approx(40, rel=1e-6)
    assert delta < 1e-10
    assert (1 + math.exp(t)) * delta > 1


def test_randomized_response_says_what_arithmetic_leaves():
    law = RandomizedResponse().prepare(TABLE, 1.0)
    assert law.numerical_delta == 2.0**-52


def test_infinite_exponents_are_shown():
    """Words of two classes that never become each other."""
    P = np.kron(np.eye(2), np.full((15, 15), 1 / 15))
    guarantee = perturber("stated", mechanism=Stated(P)).guarantee()
    assert guarantee.exponent("w0", "w20") == math.inf
    assert "exponent infinite" in guarantee._repr_html_()


@pytest.mark.parametrize("name", ["exact", "half"])
@pytest.mark.parametrize("n_words", [1, 2])
def test_few_words(name, n_words):
    table = WordEmbedding(["a", "b"][:n_words], [[1.0, 2.0], [3.0, 2.5]][:n_words])
    channel = MECHANISMS[name].prepare(table, 1.0, 0.0)
    words = np.arange(n_words).repeat(50)
    noisy = channel.apply(words, channel.draw(np.random.default_rng(0), len(words)))
    assert set(noisy.tolist()) == set(range(n_words))
    assert channel.exponents(words[:1], words[:1]) == 0
    P = np.exp(channel.log_proba(words))
    np.testing.assert_allclose(P.sum(axis=1), 1)
