"""Learning from private texts: what comes out, what is read, and what is refused."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skdptext import DPTextClassifier
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from tests.expected import refusals, refused, small_samples, unknown_words
from tests.learning.conftest import (
    FOOD,
    KINDS,
    NUMBERS,
    PETS,
    Numbers,
    exact_sums,
    texts_of,
)

TEST = texts_of([0, 1] * 20, seed=9)
RIGHT = np.array(["pets", "food"] * 20)


@pytest.mark.parametrize("kind", KINDS)
def test_it_learns(make, private, kind):
    model = make(kind, epsilon=5.0).fit(iter(private[0]), *private[1:])
    assert (model.predict(TEST) == RIGHT).all()
    proba = model.predict_proba(TEST)
    assert np.allclose(proba.sum(axis=1), 1)
    assert (model.classes_[proba.argmax(axis=1)] == RIGHT).all()
    assert model.classes_.tolist() == ["food", "pets"]  # sorted
    assert model.noisy_sums_.shape == (2, {"groups": 3, "vectors": 7}[kind])
    documents, its_labels = model.sample()
    assert documents == list(model.public_)
    assert (its_labels == ["pets", "food"] * 40).mean() > 0.95
    assert model.predict([]).shape == (0,)


@pytest.mark.parametrize("seed", [None, np.random.default_rng(0)], ids=["none", "some"])
def test_fresh_noise_in_every_fit(make, private, seed):
    model = make("vectors", random_state=seed)
    first = model.fit(*private).noisy_sums_
    assert (first != model.fit(*private).noisy_sums_).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_repeats_noise_for_the_same_sums_only(make, private, kind):
    """Nothing but the sums has an effect, and noise that two data sets share shows the
    difference between them."""
    texts, labels, people = private[0], private[1], np.arange(200)
    model = make(kind, random_state=2**80)

    def released(*given):
        model.fit(*given)
        assert b"zqx" not in pickle.dumps(model)
        return model.noisy_sums_, model.predict_proba(TEST), str(model.guarantee())

    one = released(texts, labels, people)
    turned = [" ".join(["zqx", *text.split()[::-1]]) for text in texts]
    twice = [np.concatenate([part, part]) for part in (texts, labels, people)]
    # twice the half of a vector may be a step of the grid less
    for given in ((turned[::-1], labels[::-1], people), twice)[
        : 1 + (kind == "groups")
    ]:
        assert all(map(np.array_equal, released(*given), one))
    fewer = texts[1:], labels[1:], people[1:]
    noise = one[0] - exact_sums(model, texts, labels, people) / 2**30
    other_noise = released(*fewer)[0] - exact_sums(model, *fewer) / 2**30
    assert (np.abs(noise - other_noise) > 1e-6).all()
    # each is within 7 standard deviations, or 30 scales of Laplace's law
    assert np.abs(noise).max() < 35
    model.set_params(random_state=2**80 + 1)
    assert (released(texts, labels, people)[0] != one[0]).all()


@pytest.mark.parametrize(
    ("option", "warned", "caveat"),
    [
        ({"classes": None}, "taken from the private ", "list of classes was"),
        ({"random_state": 7}, "can be found by", "do not know the integer"),
    ],
    ids=["classes", "seed"],
)
def test_what_makes_it_leak_is_said(make, private, option, warned, caveat):
    with pytest.warns(PrivacyLeakWarning, match=warned):
        model = make("groups", epsilon=9.0, **option).fit(*private[:2])
    assert caveat in " ".join(str(model.guarantee()).split())
    assert "7" not in repr(model)


def test_one_label_is_enough_where_classes_are_declared(make, private):
    make("groups", epsilon=9.0).fit(private[0], ["pets"] * 200)
    with refused("at least 2 classes"):
        make("groups", classes=None).fit(private[0], ["pets"] * 200)


def test_public_documents_among_the_private_ones(public, private):
    texts, labels, _ = private
    texts = [f"{text} {text}" for text in texts]
    # of some length: short ones may coincide by chance
    letters = np.random.default_rng(0).choice(list("abcdefghijklm"), (160, 30, 8))
    long = [" ".join([*map("".join, words), *PETS, *FOOD]) for words in letters]
    model = DPTextClassifier(long, classes=["food", "pets"])
    nearly = [text.upper().replace(" ", "  ") + "!" for text in long[:3]]
    with pytest.warns(PrivacyLeakWarning, match="^1 of 160 public texts is"):
        model.fit([*texts[1:], nearly[0]], labels)
    model.set_params(public_documents=long[::-1])
    for copies in (long[:3], nearly):
        shared = [*texts[3:], *copies], labels
        with pytest.raises(InvalidParameterError, match="got 3 of 160 public texts"):
            model.fit(*shared)
    assert model.sample()[0] == long  # a refused fit changes no corpus
    caveat = "Public documents may be among the private ones:"
    assert caveat not in " ".join(str(model.guarantee()).split())
    model.set_params(allow_shared_texts=True).fit(*shared)
    assert caveat in " ".join(str(model.guarantee()).split())


def test_the_holder_is_told_where_noise_drowns_the_classes(make, private):
    for kind in KINDS:
        with pytest.warns(UserWarning, match="Noise drowns .* at epsilon=0.01"):
            make(kind, epsilon=0.01, random_state=2**80).fit(*private)
        with warnings.catch_warnings(action="error"):
            make(kind, epsilon=9.0).fit(*private)


# -- encoders of a user's own --------------------------------------------------------


WORDS, GIVEN = TfidfVectorizer(), TfidfVectorizer().fit(texts_of([0, 1] * 9))
MEANS, AXES = KMeans(4, n_init=1, random_state=0), TruncatedSVD(3, random_state=0)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("encoder", "n_features", "on_trust"),
    [
        (make_pipeline(WORDS, MEANS), 4, False),
        (make_pipeline(WORDS, AXES), 4, False),
        (WORDS, 9, False),
        (GIVEN, 9, True),
        # clone keeps what is frozen, and nothing else
        (make_pipeline(FrozenEstimator(GIVEN), AXES), 4, True),
        (make_pipeline(GIVEN, AXES), 4, False),
    ],
    ids=["groups", "axes", "words", "fitted", "frozen", "a fitted step"],
)
def test_encoders(public, private, encoder, n_features, on_trust):
    model = DPTextClassifier(public, encoder, classes=["food", "pets"], epsilon=5.0)
    assert model.fit(*private[:2]).noisy_sums_.shape == (2, n_features)
    assert (model.predict(TEST) == RIGHT).all()
    said = " ".join(str(model.guarantee()).split())
    assert ("was already fitted" in said) == on_trust


class Failing(Numbers):
    """Gives public documents vectors, and private ones what a function makes."""

    def __init__(self, made):
        self.made = made

    def transform(self, X):
        return self.made(X) if "secret" in X[0] else super().transform(X)


@refusals(
    (lambda X: int(X[0]), "failed with ValueError"),  # which quotes the text
    (lambda X: np.ones((len(X), 2)), "as many numbers as the public documents"),
    (lambda X: np.zeros(len(X)), "vector of finite numbers, got shape"),
    (lambda X: np.full((len(X), 3), np.nan), "finite numbers, got others"),
    (lambda X: np.arange(3.0 * len(X)).reshape(-1, 3), "each document by itself"),
    never="secret",
)
def test_encoders_that_fail(made):
    model = DPTextClassifier(NUMBERS, Failing(made), classes=["a", "b"])
    model.fit(["secret", "secret"], ["a", "b"])


# -- bad input -----------------------------------------------------------------------


@refusals(
    *(({"epsilon": wrong}, "epsilon") for wrong in (0, np.inf, 1e-9)),
    *(({"delta": wrong}, "delta") for wrong in (-1e-9, 1.0)),
    *(({"n_groups": wrong}, "n_groups") for wrong in (1, True, 10**400)),
    *(({"classes": w}, "classes") for w in (["a"], ["a", "a"], [["a", "b"]], [1, "a"])),
    *(({"encoder": w}, "encoder") for w in (TfidfVectorizer, LogisticRegression())),
    *(({"public_documents": w}, "public_documents") for w in ([], np.eye(3))),
    ({"priors": "Released"}, "priors must be one of"),
    ({"delta": 0, "n_groups": 10**6}, "n_groups must be at most"),
    ({"embedding": Numbers()}, "embedding must be None, or"),
    ({"encoder": Numbers()}, "embedding must be None, or"),
    ({"encoder": Numbers(), "embedding": None, "delta": 0}, "delta must be > 0 for"),
    # as many are expected as there are public documents, or as is said
    ({"delta": 0.1}, "at most 1/n_expected"),
    ({"delta": 1e-3, "n_expected": 2000}, "at most 1/n_expected"),
)
def test_bad_parameters(make, private, options):
    make("vectors").set_params(**options).fit(*private)


SECRET = "zqxsecret"
LABELS = ["pets", "food", "pets"]


@refusals(
    (LABELS[:2], None, "y must hold one label per document"),
    ([*LABELS, "food"], None, r"one label per document \(3\), got 4"),
    ([0, 1, 1], None, "got numbers, not text"),
    (["pets", SECRET, "pets"], None, "label of document 1 is not one of them"),
    (LABELS, LABELS, "several people share, got the authors"),
    ([SECRET, "pets", "food"], None, "several people share, got 3 for 3 documents"),
    (LABELS, ["Ann"], r"authors must hold one label per document \(3\)"),
    (LABELS, [-1, 2**63, 2**63 + 1], "authors must be told apart"),
    never=SECRET,
)
def test_bad_data(make, y, authors):
    make("groups").fit(["a cat", "a cup", "fur"], y, authors)


@small_samples
@unknown_words
def test_empty_documents_count(make):
    texts, labels = ["", "cat", "?!", "cup"], ["pets", "pets", "food", "food"]
    for kind in KINDS:
        model = make(kind).fit(texts, labels)
        sums = exact_sums(model, texts, labels) / 2**30
        n = sums.sum(axis=1) if kind == "groups" else sums[:, -1] / 0.3
        assert n == pytest.approx([2, 2])
        model.predict(["", "?!"])
        for authors in (None, []):
            model.fit([], [], authors).predict(["cat"])  # nobody at all: noise only
