"""What holds for each mechanism: its law, its claim, and that it goes everywhere."""

from __future__ import annotations

import itertools
import math
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.attacks import WordReconstructionAttack
from skdptext.audit import audit_noise_law, audit_word_privacy
from skdptext.inspection import NeighborhoodDisplay
from skdptext.mechanisms import (
    Directional,
    Exponential,
    MahalanobisNoise,
    RandomizedResponse,
    Ranked,
    SensitiveWords,
    WordClasses,
    WordLists,
    word_losses,
)
from skdptext.metrics import plausible_deniability
from skdptext.model_selection import calibrate_epsilon
from skdptext.privacy import PrivacyGuarantee
from tests.expected import leaks_allowed, refused
from tests.laws import assert_counts, losses
from tests.mechanism_forms import forms

pytestmark = leaks_allowed

_rng = np.random.default_rng(7)
_vectors = _rng.normal(size=(30, 3)) * _rng.choice([0.3, 1, 2], (30, 1))
_vectors[[4, 9]] = _vectors[2]
TABLE = WordEmbedding([f"w{i}" for i in range(30)], _vectors)
IDS = np.arange(30)
SOME = [f"w{i}" for i in range(0, 30, 3)]

# ε and λ of those whose law can be stated, and of those that add noise
FINITE = {
    "exact": (2.0, 0.0),
    "half": (2.0, 0.5),
    "balanced": (6.0, 0.0),
    "tight": (20.0, 0.0),
    "capped": (2.0, 0.0),
    "randomized response": (3.0, 0.0),
    "ranks of an exponential": (2.0, 0.5),
    "wide ranks": (4.0, 0.0),
    "sensitive": (1.5, 0.0),
    "sensitive, half": (1.5, 0.7),
    "sensitive, all move": (1.5, 0.0),
    "sensitive, none moves": (2.0, 0.0),
    "list": (0.7, 0.0),
    "lists": (0.7, 0.0),
    "random lists": (0.3, 0.0),
    "list given": (2.0, 0.0),
    "classes": (2.0, 0.0),
    "small classes": (1.0, 0.5),
    "labels": (3.0, 0.0),
    "one word a class": (3.0, 0.0),
}
NOISE = {
    "Vickrey": (3.0, 0.5),
    "second always": (3.0, 0.0),
    "ranks": (4.0, 0.5),
    "ranks of Vickrey": (4.0, 0.0),
    "directions": (6.0, 0.0),
    "directions by angle": (5.0, 0.0),
}
MECHANISMS = forms(TABLE)
ALL = FINITE | NOISE


def perturber(name, **parameters):
    epsilon, lam = ALL[name]
    settings = {
        "epsilon": epsilon, "lam": lam, "mechanism": MECHANISMS[name],
        "random_state": 5, "document_length": 4,
    }  # fmt: skip
    return DPWordPerturber(TABLE, **{**settings, **parameters}).fit([])


def prepared(name):
    return MECHANISMS[name].prepare(TABLE, *ALL[name])


# -- law and claim -------------------------------------------------------------------


@pytest.mark.no_cover
@pytest.mark.parametrize("name", FINITE)
def test_releases_follow_the_stated_law(name):
    channel = prepared(name)
    P = np.exp(channel.law().log_proba(IDS))
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
    rng = np.random.default_rng(1)
    for word in (2, 6):
        words = np.full(20_000, word)
        noisy = channel.apply(words, channel.draw(rng, len(words)))
        assert_counts(np.bincount(noisy, minlength=30), P[word])
    words = rng.integers(0, 30, 10_000)
    draws = channel.draw(rng, len(words))
    whole = channel.apply(words, draws)
    with channel.session(4096) as apply:  # in pieces, with little memory
        pieces = [
            apply(words[i : i + 997], tuple(part[i : i + 997] for part in draws))
            for i in range(0, len(words), 997)
        ]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
    assert_counts(np.bincount(whole, minlength=30), P.mean(axis=0))


@pytest.mark.parametrize("name", FINITE)
def test_claims_bound_the_losses_of_the_law(name):
    channel = prepared(name)
    claimed = channel.exponents(IDS, IDS)
    lost = losses(np.exp(channel.law().log_proba(IDS)))
    assert (lost <= claimed * (1 + 1e-12) + 1e-9).all()
    if name != "sensitive, all move" and "ranks" not in name:  # the others' are exact
        np.testing.assert_allclose(lost, claimed, rtol=1e-9, atol=1e-9)
    # any order of the words, and any of them twice
    x, y = np.array([7, 2, 2, 29]), np.array([0, 9, 7, 2, 5])
    np.testing.assert_allclose(channel.exponents(x, y), claimed[np.ix_(x, y)])
    np.testing.assert_allclose(
        np.exp(channel.law().log_proba(x)), np.exp(channel.law().log_proba(IDS))[x]
    )
    assert channel.apply(x[:0], channel.draw(np.random.default_rng(0), 0)).shape == (0,)


@pytest.mark.no_cover
@pytest.mark.parametrize("name", ALL)
def test_claims_of_losses(name):
    """With δ, exponents are below the pure ones, and for the same reason."""
    channel = prepared(name)
    x, y = np.array([0, 3, 6, 1]), np.array([6, 0, 1, 2])
    pure = np.diag(channel.exponents(x, y))
    for loss, t in zip(word_losses(channel, x, y), pure, strict=True):
        assert loss.exponent(1e-6) <= t * (1 + 1e-3) + 1e-9
    if name in ("Vickrey", "ranks"):
        noise = MahalanobisNoise().prepare(TABLE, channel.epsilon, channel.lam)
        for ours, theirs in zip(
            word_losses(channel, x, y), word_losses(noise, x, y), strict=True
        ):
            assert ours.exponent(1e-3) == theirs.exponent(1e-3) < pure.max()


@pytest.mark.parametrize(
    "name", ["Vickrey", "ranks", "directions", "exact", "sensitive"]
)
def test_audits_find_nothing(name):
    fitted = perturber(name, document_length=1, random_state=None)
    audit = audit_word_privacy(
        fitted, n_draws=4000, confidence=1 - 1e-6, n_swept=0, random_state=0
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


# A seed must give the same release in the next version, too.
STREAMS = {
    "wide ranks": "w18 w9 w28 w22 w22 w4 w5 w8 w16 w8 w14 w24",
    "list": "w6 w4 w17 w8 w23 w24 w6 w29 w24 w1 w6 w7",
    "lists": "w8 w1 w20 w6 w1 w7 w23 w6 w20 w6 w29 w20",
    "random lists": "w28 w18 w20 w15 w6 w13 w14 w22 w13 w15 w6 w25",
    "classes": "w21 w6 w7 w6 w6 w20 w6 w6 w24 w10 w1 w20",
    "labels": "w17 w18 w4 w1 w6 w20 w1 w14 w20 w5 w2 w8",
    "Vickrey": "w6 w1 w10 w11 w6 w25 w1 w1 w5 w6 w8 w7",
    "second always": "w6 w1 w20 w1 w6 w17 w6 w1 w11 w6 w6 w17",
    "ranks": "w1 w6 w24 w23 w6 w17 w6 w1 w17 w1 w1 w3",
    "directions": "w6 w10 w5 w10 w1 w20 w23 w10 w25 w1 w23 w24",
    "directions by angle": "w10 w1 w20 w21 w10 w7 w10 w6 w20 w1 w28 w20",
}


@pytest.mark.parametrize("name", STREAMS)
def test_streams_stay_as_they_are(name):
    fitted = perturber(name, document_length=12, output="text", random_state=2**100)
    (text,) = fitted.transform([["w1", "w6", "w20"] * 4])
    assert text == STREAMS[name]


def test_noise_without_a_second_is_that_of_old_releases():
    """As before there was the option: a seed replays what it released then."""
    old = "w6 w1 w25 w1 w6 w20 w6 w23 w20 w23 w1 w25"
    for mechanism in (None, MahalanobisNoise(), MahalanobisNoise(second=0)):
        fitted = DPWordPerturber(
            TABLE, epsilon=3.0, lam=0.5, mechanism=mechanism, document_length=12,
            output="text", random_state=2**100,
        ).fit([])  # fmt: skip
        assert fitted.transform([["w1", "w6", "w20"] * 4]) == [old]


def test_options_key_the_noise():
    seen = [
        perturber("half", mechanism=mechanism, epsilon=epsilon, random_state=2**100)
        .transform([["w1", "w6", "w20", "w3"]] * 12, document_ids=range(12))
        .toarray()
        .tolist()
        for mechanism, epsilon in [
            (MahalanobisNoise(second=0.4), 3.0),
            (MahalanobisNoise(second=1e-9), 3.0),
            (MahalanobisNoise(), 3.0),
            (Ranked(spread=1e-3), 3.0),  # no rank but the first
            (Ranked(MahalanobisNoise(), spread=1e-3), 3.0),
            (Ranked(MahalanobisNoise(second=1e-9), spread=1e-3), 3.0),
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
        [("noise", perturber("ranks")), ("classify", MultinomialNB())]
    ).set_params(noise__random_state=0)
    search = GridSearchCV(
        pipeline,
        [
            {"noise__mechanism": [Directional(), WordClasses(), WordLists()]},
            {
                "noise__mechanism__mechanism__second": [0.2],
                "noise__mechanism__mechanism": [MahalanobisNoise()],
                "noise__mechanism__spread": [0.1],
            },
        ],
        cv=2,
    ).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    best = search.best_estimator_.set_params(noise__mechanism=Ranked(WordLists(2)))
    best.set_params(noise__mechanism__mechanism__n_lists=1)
    assert best["noise"].mechanism.mechanism.n_lists == 1


@pytest.mark.parametrize("name", ["Vickrey", "exact", "sensitive", "list"])
def test_statistics_and_attacks(name):
    fitted = perturber(name, document_length=1)
    deniability = plausible_deniability(fitted, n_draws=200, random_state=0)
    sure = perturber(name, document_length=1, epsilon=1e4)
    stays = plausible_deniability(sure, n_draws=20, random_state=0)
    assert deniability.n_unchanged.mean() / 200 < 0.9
    if name != "Vickrey":
        assert stays.n_unchanged.mean() / 20 > 0.85
    share = 0.7 if name == "sensitive" else 0.3
    calibrated = calibrate_epsilon(fitted, share, n_draws=50, random_state=0)
    assert calibrated.share == pytest.approx(share, abs=0.1)
    attack = WordReconstructionAttack(fitted, n_draws=100, random_state=0).fit()
    assert 0 <= attack.score(fitted.perturb_words(SOME, 1).tolist(), SOME) <= 1


@pytest.mark.parametrize("name", NOISE)
def test_nothing_is_said_that_does_not_hold(name):
    """The released word is not that nearest to φ(w) + noise."""
    fitted = perturber(name)
    law = fitted.mechanism_.law()
    assert not law.scales
    assert law.log_proba is None
    with refused("audit_noise_law is for mechanisms"):
        audit_noise_law(fitted)
    with refused("utility_probability is for"):
        fitted.guarantee().utility_probability(1.0)
    display = NeighborhoodDisplay.from_estimator(fitted, "w6", n_draws=20)
    assert display is not None
    metric = not name.startswith("directions")
    assert (fitted.guarantee().metric is not None) == metric
    assert (law.metric is not None) == metric


@pytest.mark.parametrize("name", ["Vickrey", "ranks"])
def test_post_processing_keeps_the_claim(name):
    ours = perturber(name).guarantee()
    noise = perturber(name, mechanism=None).guarantee()
    x, y = ["w1", "w2", "w3", "w4"], ["w9", "w8", "w7", "w6"]
    assert ours.exponent(x, y) == noise.exponent(x, y)
    assert ours.euclidean().exponent(x, y) == noise.euclidean().exponent(x, y)
    assert ours.numerical_delta == noise.numerical_delta


# -- in words ------------------------------------------------------------------------

SAID = {
    "ranks": "neighbours by rank are post-processing",
    "Vickrey": "the two nearest words is post-processing of the noisy vector",
    "sensitive": "promise is one-sided. 10 of the 30 words are sensitive",
    "list": "ε times the number of places between the two words in a public list",
    "lists": "largest number of places between the two words in 3 public lists, not",
    "classes": "class of every word, and so about 2.2 bits .of the 4.9 .* is released",
    "directions": "the chord between the directions .* are discarded .* at most 2ε",
    "directions by angle": "the angle between the directions .* at most πε",
}


@pytest.mark.parametrize("name", SAID)
def test_guarantees_say_what_is_particular(name):
    guarantee = perturber(name).guarantee()
    assert re.search(SAID[name], " ".join(guarantee.details().split()))
    assert re.search(SAID[name], " ".join(guarantee._repr_html_().split()))


def in_words(mechanism, table=TABLE, epsilon=1.0):
    channel = mechanism.prepare(table, epsilon, 0.0)
    return " ".join(PrivacyGuarantee(channel).details().split())


def test_odds_grow_by_one_exponent_and_fall_by_the_other():
    """Exponents of an exponential mechanism are not symmetric."""
    channel = Exponential().prepare(TABLE, 1.0, 0.0)
    P, t = np.exp(channel.law().log_proba(IDS)), channel.exponents(IDS, IDS)
    x, y = np.unravel_index((t - t.T).argmax(), t.shape)
    ratios = np.log(P[x] / P[y])
    assert ratios.max() == pytest.approx(t[x, y])
    assert -ratios.min() == pytest.approx(t[y, x])
    assert ratios.max() > t[y, x] + 0.01  # so neither bound holds for both
    guarantee = PrivacyGuarantee(channel)
    text = " ".join(guarantee.compose(3).details().split())
    assert "that a word was w, and not another word w', grow by at most" in text
    assert "exp(3·t(w, w')), and fall by at most exp(3·t(w', w))" in text
    assert "odds grow by a factor of" in text
    both = guarantee.compose(
        PrivacyGuarantee(MahalanobisNoise().prepare(TABLE, 1, 0.5))
    )
    text = " ".join(both.details().split())
    assert "a word, or a document, against another grow by at most exp(t)" in text
    assert "change by" not in text


def test_ranks_tell_what_their_inner_mechanism_tells():
    text = in_words(Ranked(WordClasses(7)))
    assert "Of the inner mechanism: The class of every word" in text
    assert "Of the inner mechanism: This is pure" in in_words(
        Ranked(RandomizedResponse())
    )
    assert "Of the inner mechanism" not in in_words(Ranked())


def test_sensitive_words_say_what_holds_for_their_probability():
    never = in_words(SensitiveWords(words=SOME, probability=0))
    assert "another sensitive word, but never one outside the list" in never
    always = in_words(SensitiveWords(words=SOME, probability=1))
    assert "one-sided" not in always
    assert "Every word is released as a sensitive one" in always
    assert "ε does not bound them per unit of d" in always
    half = SensitiveWords(Exponential("half"), words=SOME, probability=1)
    assert "Every exponent is at most ε d(w, w')." in in_words(half)


def test_across_the_list_epsilon_does_not_bound_exponents_per_unit():
    """200 sensitive words that are orthonormal, and one at their centre."""
    names = [f"s{i}" for i in range(200)]
    table = WordEmbedding([*names, "centre"], np.r_[np.eye(200), [[1 / 200] * 200]])
    ids, p, epsilon = np.arange(201), 0.5, 2.0
    d = np.linalg.norm(table.vectors[0].astype(float) - table.vectors[200])
    exponents = {}
    for calibration in ("exact", "half"):
        channel = SensitiveWords(
            Exponential(calibration), words=names, probability=p
        ).prepare(table, epsilon, 0.0)
        P = np.exp(channel.law().log_proba(ids[[0, 200]]))
        lost = losses(P[:, :200])[0, 1]
        (claimed,) = channel.exponents(ids[:1], ids[200:])[0]
        assert lost == pytest.approx(claimed, rel=1e-9)
        assert lost <= 2 * channel.inner.rate * d + math.log(1 / p)
        exponents[calibration] = lost
    stated = epsilon * d + math.log(1 / p)
    assert exponents["half"] < stated == pytest.approx(2.688, abs=1e-3)
    assert exponents["exact"] == pytest.approx(3.445, abs=1e-3)


def test_numerical_delta_is_no_additive_delta():
    """Two words 40 apart: float64 never makes b of a, exact arithmetic may.

    So for no t of use is Pr[b | b] ≤ e^t Pr[b | a] + numerical_delta as drawn.
    """
    table = WordEmbedding(["a", "b"], [[0.0], [40.0]])
    channel = Exponential().prepare(table, 1.0, 0.0)
    delta = channel.law().numerical_delta
    ends = np.array([0.0, 1 - 2.0**-53])  # the least uniform, and the largest
    for word in (0, 1):
        made = channel.apply(np.array([word, word]), (ends,))
        drawn = np.bincount(made, minlength=2) > 0
        exact = np.exp(channel.law().log_proba(np.array([word])))[0]
        assert exact.min() > 0
        if not drawn.all():  # total variation: what is never drawn
            assert exact[~drawn].sum() <= delta
        if word == 0:
            assert not drawn[1]
    (t,) = channel.exponents(np.array([1]), np.array([0]))[0]
    assert t == pytest.approx(40, rel=1e-6)
    assert delta < 1e-10
    assert (1 + math.exp(t)) * delta > 1
    text = in_words(Exponential(), table)
    assert "a release differs from it with probability at most 2e-11 per word" in text


def test_randomized_response_says_what_arithmetic_leaves():
    law = RandomizedResponse().prepare(TABLE, 1.0, 0.0).law()
    assert law.numerical_delta == 2.0**-52


def test_infinite_exponents_are_shown():
    guarantee = perturber("classes").guarantee()
    assert guarantee.exponent("w0", "w1") in (math.inf, pytest.approx(2.0, abs=2.0))
    assert "between two random words infinite." in " ".join(guarantee.details().split())
    assert "exponent infinite" in guarantee._repr_html_()
    one = in_words(WordClasses(1))
    assert "neighbour the exponent is infinite, between two random" in one
    assert "become their neighbours, infinite; if they become random words, inf" in one
    assert "δ" not in one


# -- refusals ------------------------------------------------------------------------

HOSTILE = [
    (Ranked(3), "mechanism must be None or a WordMechanism, got 3"),
    (Ranked(Ranked), "mechanism must be None or a WordMechanism, got an ABCMeta"),
    (Ranked(spread=0), r"spread must be a finite number > 0, got 0"),
    (Ranked(spread=math.inf), r"spread must be a finite number > 0, got inf"),
    (Ranked(Exponential("no")), "calibration must be one of"),
    (SensitiveWords(), "words must be a public collection .* got None"),
    (SensitiveWords(words=[]), "words must be a public collection .* got a list"),
    (SensitiveWords(words="rare"), "words must be an iterable of str, got a str of 4"),
    (SensitiveWords(words=[1]), "words must be str, got an int at position 0"),
    (SensitiveWords(words=["w1", "x"]), "words must be known to the embedding"),
    (SensitiveWords(words=SOME, probability=1.1), r"probability must .* in \[0, 1\]"),
    (
        SensitiveWords(WordLists(), words=SOME),
        "mechanism must be None or an Exponential",
    ),
    (WordLists(0), "n_lists must be an integer >= 1, got 0"),
    (WordLists(1.5), "n_lists must be an integer >= 1, got 1.5"),
    (WordLists(order="best"), "order must be one of 'greedy', 'random', got 'best'"),
    (WordLists(order=None), "order must be .* got None for n_lists=1 of 30 words"),
    (WordLists(2, order=IDS), "order must be .* for n_lists=2 of 30 words"),
    (WordLists(order=IDS + 1), "order must be .* got a row that is not a permutation"),
    (WordLists(order=IDS / 1), "order must be .* got a ndarray for n_lists=1"),
    (WordLists(order=[[1], [2, 3]]), "order must be .* got a list for n_lists=1"),
    (WordLists(order=TABLE.words), "order must be .* got a tuple"),
    (WordClasses(0), "classes must be an integer >= 1 and <= 2048, got 0"),
    (WordClasses(True), "classes must be an integer >= 1 and <= 2048, got True"),
    (WordClasses(pd.Series(range(30))), "classes must .* got a Series"),
    (WordClasses(2.5), "classes must be an integer >= 1 or an array .* got a float"),
    (WordClasses(None), "classes must be .* got None"),
    (WordClasses("topics"), "classes must be .* got a str of 6 characters"),
    (WordClasses([1, 2]), "classes must be .* got 2 for 30 words"),
    (WordClasses([None] * 30), "classes must be .* got None"),
    (MahalanobisNoise(second=-0.1), r"second must be a finite number in \[0, 1\]"),
    (MahalanobisNoise(second="1"), r"second must be a finite number in \[0, 1\]"),
    (Directional("gauss"), "distribution must be one of 'vmf', 'purkayastha'"),
]


@pytest.mark.parametrize(("mechanism", "message"), HOSTILE)
def test_options_are_checked_first(mechanism, message):
    with refused(message):
        DPWordPerturber(TABLE, mechanism=mechanism).fit([])


def test_an_option_made_wrong_after_fit():
    fitted = perturber("Vickrey")
    fitted.mechanism = MahalanobisNoise(second=np.zeros(2))
    with refused("mechanism must not change after"):
        fitted.transform([["w1"] * 4])


STATED = [
    "exact",
    "half",
    "balanced",
    "tight",
    "wide ranks",
    "list",
    "lists",
    "classes",
]


@pytest.mark.parametrize(
    ("name", "n_words"), [*itertools.product(STATED, (1, 2)), ("Vickrey", 2)]
)
def test_few_words(name, n_words):
    table = WordEmbedding(["a", "b"][:n_words], [[1.0, 2.0], [3.0, 2.5]][:n_words])
    channel = MECHANISMS[name].prepare(table, 1.0, 0.0)
    words = np.arange(n_words).repeat(50)
    noisy = channel.apply(words, channel.draw(np.random.default_rng(0), len(words)))
    assert set(noisy.tolist()) == set(range(n_words))
    assert channel.exponents(words[:1], words[:1]) == 0
    if name in STATED:
        P = np.exp(channel.law().log_proba(words))
        np.testing.assert_allclose(P.sum(axis=1), 1)
