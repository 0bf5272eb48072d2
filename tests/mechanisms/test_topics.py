"""Words that answer with topics: the distribution, its price, and where it goes."""

from __future__ import annotations

import math
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.attacks import (
    DocumentLinkageAttack,
    WordReconstructionAttack,
    linkage_attack,
)
from skdptext.audit import audit_word_privacy
from skdptext.embeddings import one_hot_embedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import TopicResponse
from skdptext.metrics import ReleaseLikelihood, plausible_deniability, word_transitions
from skdptext.naive_bayes import ChannelNaiveBayes
from skdptext.preprocessing import TopicWordSelector
from tests.expected import leaks_allowed, refusals
from tests.laws import assert_counts, catches, losses

pytestmark = leaks_allowed

RNG = np.random.default_rng(3)
WORDS = [f"w{i}" for i in range(12)]
TABLE = WordEmbedding(WORDS, RNG.normal(size=(12, 4)))
ODDS = RNG.normal(size=(12, 3)) * RNG.choice([0.01, 0.5, 3], (12, 1))
ODDS[5] = 0.0
NAMES = ["art", "law", "tea"]
IDS = np.arange(12)


def exact(odds, epsilon, full_span=2.0):
    """P[w, z] by the definition, word by word."""
    rows = []
    for row in odds:
        low, span = min(row), max(row) - min(row)
        masses = [math.exp(epsilon * (x - low) / max(span, full_span)) for x in row]
        rows.append([mass / sum(masses) for mass in masses])
    return np.array(rows)


def perturber(epsilon=1.5, **parameters):
    mechanism = TopicResponse(ODDS, topics=NAMES)
    given_ = {"document_length": 3, "mechanism": mechanism} | parameters
    return DPWordPerturber(TABLE, epsilon=epsilon, **given_).fit([])


@pytest.mark.parametrize("full_span", [5e-324, 2.0, 1e308])
def test_log_odds_of_any_finite_size(full_span):
    """Their span may be more than the largest number."""
    odds = np.zeros((12, 2))
    odds[:3] = [[1e308, -1e308], [-1.7e308, 1.7e308], [5e-324, 0.0]]
    channel = TopicResponse(odds, full_span=full_span).prepare(TABLE, 1.5, 0.0)
    P = np.exp(channel.log_proba(IDS))
    strong = math.exp(1.5) / (1 + math.exp(1.5))
    np.testing.assert_allclose(P[:2], [[strong, 1 - strong], [1 - strong, strong]])
    np.testing.assert_allclose(P[3:], 0.5)
    np.testing.assert_allclose(channel.exponents(IDS, IDS), losses(P), atol=1e-9)
    perturber(mechanism=TopicResponse(odds, full_span=full_span)).transform(
        [["w0"] * 3]
    )


@settings(max_examples=30)
@given(
    epsilon=st.floats(0.01, 8),
    full_span=st.floats(0.1, 5),
    shift=st.floats(-3, 3),
    seed=st.integers(0, 99),
)
def test_distribution_and_exponents_are_exact(epsilon, full_span, shift, seed):
    odds = ODDS[np.random.default_rng(seed).permutation(12)] + shift
    channel = TopicResponse(odds, full_span=full_span).prepare(TABLE, epsilon, 0.5)
    P = exact(odds, epsilon, full_span)
    np.testing.assert_allclose(np.exp(channel.log_proba(IDS)), P, rtol=1e-9)
    np.testing.assert_allclose(channel.exponents(IDS, IDS), losses(P), atol=1e-9)
    assert channel.worst_exponent == pytest.approx(losses(P).max(), abs=1e-9)
    assert channel.worst_exponent <= 2 * epsilon + 1e-9


def assert_released_as_stated(released, P):
    for row, drawn in zip(P, released, strict=True):
        counts = np.array([(drawn == name).sum() for name in NAMES])
        assert_counts(counts, row)


def test_releases_follow_the_distribution_and_mistakes_do_not():
    words = ["w0", "w3", "w5", "w11"]
    ids = TABLE.find(words)
    fitted = perturber(random_state=2**90)
    P = exact(ODDS, 1.5)
    drawn = fitted.perturb_words(words, 20_000)
    assert_released_as_stated(drawn, P[ids])
    spans = np.ptp(ODDS, axis=1, keepdims=True)
    for mistake in (
        exact(ODDS, 0.75),  # half of ε
        exact(ODDS * 2 / spans.clip(1e-9), 1.5),  # every word at full strength
        exact(ODDS, 1.5, full_span=1e-9),
        exact(-ODDS, 1.5),
        exact(ODDS[:, [1, 0, 2]], 1.5),  # columns by other topics
        exact(ODDS, 1.5, full_span=spans.max()),  # scaled by the widest word
    ):
        assert catches(assert_released_as_stated, drawn, mistake[ids])


def test_neutral_words_are_nearly_free():
    guarantee = perturber().guarantee()
    neutral = np.flatnonzero(np.ptp(ODDS, axis=1) < 0.1)
    assert len(neutral) >= 2
    assert guarantee.exponent(WORDS[neutral[0]], WORDS[neutral[1]]) < 0.1
    telling = np.argmax(np.ptp(ODDS, axis=1))
    assert guarantee.exponent(WORDS[telling], WORDS[neutral[0]]) > 0.3
    said = " ".join(guarantee.details().split())
    assert "TopicResponse(3 topics)" in said
    assert "A word becomes one of 3 public topics (art, law, tea)" in said
    worst = perturber().mechanism_.worst_exponent
    assert f"the exponent is at most {worst:.4g};" in said


def test_outputs_are_named_by_topic():
    texts = ["w0 w1 w2 w3", "w4 w4 w4", "w9 w8 w7"]
    fitted = perturber(random_state=2**90)
    assert fitted.get_feature_names_out().tolist() == NAMES
    bags = fitted.transform(texts)
    assert bags.shape == (3, 3)
    assert bags.sum(axis=1).ravel().tolist() == [[3, 3, 3]]
    tokens = perturber(output="tokens", random_state=2**90).transform(texts)
    text = perturber(output="text", random_state=2**90).transform(texts)
    assert [" ".join(names) for names in tokens] == text
    assert {word for names in tokens for word in names} <= set(NAMES)
    counts = CountVectorizer(vocabulary=NAMES).fit_transform(text)
    np.testing.assert_array_equal(counts.toarray(), bags.toarray())
    keeping = perturber(output="text", oov="keep", document_length=None)
    assert keeping.transform(["w0 stranger"])[0].split()[1] == "stranger"
    released = fitted.mechanism_.released
    assert released.dim == TABLE.dim
    # where it lies: at the words that speak for it
    scores = fitted.mechanism_.scores
    weights = np.maximum(scores - scores.mean(axis=1, keepdims=True), 0)[:, 1]
    mean = weights @ TABLE.vectors / weights.sum()
    np.testing.assert_allclose(released["law"], mean, rtol=1e-5)


def test_seeds_pickles_and_clones():
    first = perturber(random_state=2**90)
    texts = ["w0 w1 w2", "w3 w4 w5"]
    for again in (perturber(random_state=2**90), pickle.loads(pickle.dumps(first))):
        np.testing.assert_array_equal(
            again.transform(texts).toarray(), first.transform(texts).toarray()
        )
    other = TopicResponse(ODDS, topics=["art", "law", "oil"])
    prints = {
        mechanism.prepare(TABLE, 1.5, 0.5).fingerprint
        for mechanism in (first.mechanism, clone(first.mechanism), other)
    }
    assert len(prints) == 2


# -- what knows a perturber knows it -------------------------------------------------


def test_adversaries_and_audits():
    fitted = perturber(epsilon=4.0, output="tokens")
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, 3)) for _ in range(20)]
    P = exact(ODDS, 4.0)
    likelihood = ReleaseLikelihood(fitted, texts, ordered=True)
    releases = [["art", "tea", "law"], ["law"] * 3]
    logs = likelihood(releases)
    codes = np.array([TABLE.find(text.split()) for text in texts])
    for i, release in enumerate(releases):
        z = [NAMES.index(name) for name in release]
        np.testing.assert_allclose(logs[i], np.log(P[codes, z]).sum(axis=1), rtol=1e-4)
    bag = ReleaseLikelihood(fitted, texts, ordered=False)(releases)
    shares = np.array([[P[c].mean(axis=0)] for c in codes])[:, 0]
    expected = np.log(shares[:, [0, 2, 1]]).sum(axis=1)
    np.testing.assert_allclose(bag[0], expected, rtol=1e-4)
    attack = DocumentLinkageAttack(fitted, random_state=0).fit(texts)
    assert attack.predict(releases).shape == (2,)
    rows = linkage_attack(texts, fitted, random_state=0).rows
    assert {"ordered text", "bag", "tf-idf"} <= {row.adversary for row in rows}
    audit = audit_word_privacy(
        fitted, [("w0", "w3"), ("w5", "w11")], n_draws=4000, random_state=0
    )
    assert not audit.violated.any()
    words = WordReconstructionAttack(fitted, random_state=0).fit()
    posterior = np.exp(words.predict_log_proba(["art"]))[0]
    np.testing.assert_allclose(posterior, P[:, 0] / P[:, 0].sum(), rtol=1e-4)
    transitions = word_transitions(fitted)
    assert transitions.released.tolist() == NAMES
    np.testing.assert_allclose(transitions.proba, P, rtol=1e-5)
    deniability = plausible_deniability(fitted)
    assert (deniability.n_unchanged == 0).all()
    assert (deniability.n_distinct <= 3).all()


@pytest.mark.parametrize("trained_on", ["originals", "releases"])
def test_channel_naive_bayes(trained_on):
    rng = np.random.default_rng(0)
    topics = rng.integers(0, 3, 150)
    best = exact(ODDS, 9.0)
    texts = [
        rng.choice(WORDS, 20, p=best[:, z] / best[:, z].sum()).tolist() for z in topics
    ]
    fitted = perturber(epsilon=3.0, document_length=20)
    model = ChannelNaiveBayes(fitted, alpha=1.0, trained_on=trained_on)
    counts = np.array([np.bincount(TABLE.find(t), minlength=12) for t in texts])
    noisy = fitted.transform(texts)
    for given_ in (texts, counts) if trained_on == "originals" else (noisy,):
        model.fit(given_, topics)
        assert model.feature_log_prob_.shape == (3, 3)
        np.testing.assert_allclose(
            np.exp(model.feature_log_prob_), model.profiles_ @ exact(ODDS, 3.0),
            rtol=1e-3,
        )  # fmt: skip
        assert model.score(noisy, topics) > 0.5
    tokens = perturber(epsilon=3.0, document_length=20, output="tokens")
    assert model.score(tokens.transform(texts), topics) > 0.5


@pytest.mark.no_cover
def test_after_a_selector_in_a_pipeline(built_in, prose):
    """Real text: public labels, a choice of words, topics, and a grid over ε."""
    texts, labels = prose
    embedding = built_in.restrict(2000)
    public, private = slice(0, 600), slice(600, 1000)
    count = CountVectorizer(vocabulary=embedding.words)
    mechanism = TopicResponse.from_documents(
        texts[public], labels[public], embedding=embedding
    )
    assert mechanism.topics == sorted(
        {"_".join(str(name).split()) for name in labels[public]}
    )
    selector = TopicWordSelector(n_words=300, tuned_on="public")
    selector.fit(count.transform(texts[public]), labels[public])
    pipeline = Pipeline(
        [
            ("count", count),
            ("select", selector),
            ("perturb", DPWordPerturber(
                embedding, mechanism=mechanism, document_length=6, resize="sample",
                random_state=2**90,
            )),
            ("classify", LogisticRegression()),
        ]
    )  # fmt: skip
    search = GridSearchCV(
        pipeline,
        {"perturb__epsilon": [0.1, 4.0], "select": [selector, "passthrough"]},
        cv=2,
    )
    search.fit(texts[public], labels[public])
    by_epsilon = search.cv_results_["mean_test_score"].reshape(2, 2)
    assert (by_epsilon[1] > by_epsilon[0] + 0.05).all()
    assert search.best_estimator_.score(texts[private], labels[private]) > 0.65
    fitted = search.best_estimator_["perturb"]
    assert fitted.get_feature_names_out().tolist() == mechanism.topics


# -- what it is made from ------------------------------------------------------------


def test_log_odds_from_documents():
    texts = ["w0 w0 w1", "w0 w2", "w3", "w2 w3 unknown"]
    topics = ["b side", "b side", "a", "a"]
    mechanism = TopicResponse.from_documents(
        iter(texts), topics, embedding=TABLE, smoothing=0.5, full_span=1.0
    )
    assert mechanism.topics == ["a", "b_side"]
    assert mechanism.full_span == 1.0
    counts = np.array([[0, 2], [0, 1], [1, 1], [2, 0]])  # documents, not words
    expected = counts.sum(axis=1, keepdims=True) / 2
    odds = np.log(counts + 0.5) - np.log(expected + 0.5)
    np.testing.assert_allclose(mechanism.log_odds[:4], odds)
    assert (mechanism.log_odds[4:] == 0).all()
    bags = np.zeros((2, 12), int)
    bags[0, 0], bags[1, 3] = 5, 1
    again = TopicResponse.from_documents(bags, [1, 0], embedding=TABLE)
    assert again.topics == ["0", "1"]
    np.testing.assert_allclose(again.log_odds[0], np.log([1, 2]) - np.log(1.5))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "log_odds must be finite numbers of shape"),
        ({"log_odds": ODDS[:5]}, r"a row for each of the 12 words .* got shape \(5, 3"),
        ({"log_odds": ODDS[:, :1]}, r"got shape \(12, 1\)"),
        ({"log_odds": ODDS * np.nan}, "got NaN or inf"),
        ({"log_odds": "secret"}, "log_odds must be finite numbers"),
        ({"log_odds": ODDS, "topics": ["a", "b"]}, "a name for each of the 3 columns"),
        ({"log_odds": ODDS, "topics": ["a", "b", "a"]}, "different str"),
        ({"log_odds": ODDS, "topics": ["a", "b", "c d"]}, "without blanks"),
        ({"log_odds": ODDS, "topics": "abc"}, "topics must hold a name"),
        ({"log_odds": ODDS, "topics": [1, 2, 3]}, "different str"),
        ({"log_odds": ODDS, "full_span": 0}, "full_span must be a finite number > 0"),
    ],
)
def test_bad_options(options, message):
    mechanism = TopicResponse(**options)
    with pytest.raises(InvalidParameterError, match=message) as raised:
        DPWordPerturber(TABLE, document_length=2, mechanism=mechanism).fit([])
    assert "secret" not in str(raised.value)


@refusals(
    (["w0"], ["a", "b"], {}, r"topics must hold one label per document \(1\)"),
    (["w0", "w1"], ["a", "a"], {}, "at least 2 different labels, got 1"),
    (["w0", "w1"], ["a b", "a  b"], {}, "differ in more than blanks"),
    (["w0", "w1"], ["a", "b"], {"smoothing": 0}, "smoothing must be a finite"),
    (["w0", "w1"], ["a", "b"], {"embedding": None}, "must be a WordEmbedding"),
    ("w0", ["a"], {}, "got a single str"),
)
def test_bad_documents(documents, topics, options):
    given_ = {"embedding": TABLE} | options
    TopicResponse.from_documents(documents, topics, **given_)


def test_nearly_neutral_words_differ_by_no_more_than_is_printed():
    log_odds = np.zeros((2, 8))
    log_odds[0, 0], log_odds[1, 1:] = 0.2, 0.2  # s spans 0.1 for both
    channel = TopicResponse(log_odds).prepare(one_hot_embedding(["x", "y"]), 10.0, 0.0)
    said = " ".join(channel.law().said())
    printed = float(re.search(r"differ by at most (\d+(?:\.\d+)?)", said)[1])
    actual = channel.exponents(np.array([0]), np.array([1]))[0]
    assert 1.5 < actual <= printed
