"""Learning from private texts: what comes out, what is read, and what is refused."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skdptext import DPTextClassifier
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.preprocessing import MeanVectorEncoder
from tests.learning.conftest import (
    KINDS,
    NUMBERS,
    Numbers,
    exact_sums,
    texts_of,
)

TEST = texts_of([0, 1] * 20, seed=9)
RIGHT = np.array(["pets", "food"] * 20)


@pytest.mark.parametrize("kind", KINDS)
def test_it_learns(make, private, kind):
    texts, labels, authors = private
    model = make(kind, epsilon=5.0).fit(texts, labels, authors)
    assert (model.predict(TEST) == RIGHT).all()
    proba = model.predict_proba(TEST)
    assert proba.shape == (40, 2)
    assert np.allclose(proba.sum(axis=1), 1)
    assert (model.classes_[proba.argmax(axis=1)] == RIGHT).all()
    assert model.score(TEST, RIGHT) == 1
    n_features = {"groups": 3, "vectors": 7}[kind]
    assert model.noisy_sums_.shape == (2, n_features)
    documents, its_labels = model.sample()
    assert documents == list(model.public_)
    assert (its_labels == ["pets", "food"] * 40).mean() > 0.95
    assert model.predict([]).shape == (0,)


@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_those_of_people(make, private, kind):
    """With hardly any noise they are the sums of a plain computation."""
    texts, labels, authors = private
    model = make(kind, epsilon=1e5, n_expected=2)
    model.set_params(delta=0.5 if kind == "vectors" else 0).fit(texts, labels, authors)
    rows = np.eye(3)[model.encoder_.predict(texts)] if kind == "groups" else None
    if kind == "vectors":
        rows = model.encoder_.transform(texts)
        rows *= np.sqrt(1 - 0.3**2) / np.linalg.norm(rows, axis=1, keepdims=True)
        rows = np.hstack([rows, np.full((200, 1), 0.3)])
    expected = np.zeros_like(model.noisy_sums_)
    for row, label, author in zip(rows, labels, authors, strict=True):
        expected[int(label == "pets")] += row / (authors == author).sum()
    atol = 0.01 if kind == "groups" else 0.3
    assert np.allclose(model.noisy_sums_, expected, atol=atol)


@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_that_of_the_guarantee(make, private, kind):
    texts, labels, authors = private
    model = make(kind).fit(texts, labels, authors)
    guarantee = model.guarantee()
    (part,) = guarantee.parts
    assert (guarantee.unit, guarantee.epsilon) == ("person", 1.0)
    assert guarantee.delta == (0.0 if kind == "groups" else 1e-6)
    assert guarantee.delta_at(1.0) <= guarantee.delta
    assert part.n_cells == (0 if kind == "groups" else 14)
    assert part.laplace_scale == (2**30 if kind == "groups" else 0)
    assert model.fit(texts, labels).guarantee().unit == "document"


def test_fresh_noise_in_every_fit(make, private):
    texts, labels, _ = private
    model = make("vectors")
    first = model.fit(texts, labels).noisy_sums_
    assert (first != model.fit(texts, labels).noisy_sums_).all()
    seeded = make("vectors", random_state=np.random.default_rng(0))
    first = seeded.fit(texts, labels).noisy_sums_
    assert (first != seeded.fit(texts, labels).noisy_sums_).all()


def test_a_seed_repeats_noise_for_the_same_sums_only(make, private):
    """Noise that two data sets share shows the difference between them."""
    texts, labels, _ = private
    models = [make("vectors", random_state=2**80).fit(texts, labels) for _ in range(2)]
    one, two = (model.noisy_sums_ for model in models)
    assert np.array_equal(one, two)
    # the same sums of other texts: nothing but the sums has an effect
    turned = [" ".join(reversed(text.split())) for text in texts]
    for other in (texts[::-1], turned[::-1]):
        assert np.array_equal(models[0].fit(other, labels[::-1]).noisy_sums_, one)
    exact = exact_sums(models[0], texts, labels)
    fewer = exact_sums(models[0], texts[1:], labels[1:])
    noise = one - exact / 2**30
    other_noise = models[0].fit(texts[1:], labels[1:]).noisy_sums_ - fewer / 2**30
    assert (np.abs(noise - other_noise) > 1e-6).all()
    other_seed = make("vectors", random_state=2**80 + 1).fit(texts, labels).noisy_sums_
    assert (other_seed != one).all()


def test_the_number_of_rows_is_not_read(make, private):
    """Who writes the same twice counts the same."""
    texts, labels, _ = private
    model = make("groups", random_state=2**80)
    people = np.arange(len(texts))
    once = model.fit(texts, labels, people)
    released = once.noisy_sums_, str(once.guarantee()), once.sample(50, random_state=0)
    twice = [np.concatenate([part, part]) for part in (texts, labels, people)]
    again = model.fit(*twice)
    assert np.array_equal(released[0], again.noisy_sums_)
    assert released[1] == str(again.guarantee())
    assert released[2][0] == again.sample(50, random_state=0)[0]


def test_words_of_private_texts_have_no_effect(make, private):
    texts, labels, _ = private
    model = make("vectors", random_state=2**80).fit(texts, labels)
    strange = [f"zqx {text} unheard" for text in texts]
    other = make("vectors", random_state=2**80).fit(strange, labels)
    assert np.array_equal(model.noisy_sums_, other.noisy_sums_)
    assert np.array_equal(model.predict_proba(TEST), other.predict_proba(TEST))
    assert b"zqx" not in pickle.dumps(other)


def test_classes_from_y_are_said_to_leak(make, private):
    texts, labels, _ = private
    with pytest.warns(PrivacyLeakWarning, match="taken from the private labels"):
        model = make("groups", classes=None).fit(texts, labels)
    assert "list of classes was taken" in " ".join(str(model.guarantee()).split())
    with pytest.raises(InvalidParameterError, match="at least 2 classes"):
        make("groups", classes=None).fit(texts, ["one"] * 200)
    with pytest.raises(InvalidParameterError, match="got 200 for 200 documents"):
        make("groups", classes=None).fit(texts, range(200))
    # of declared classes, one may be all that there is
    make("groups").fit(texts, ["pets"] * 200)


def test_public_documents_among_the_private_ones(public, private):
    texts, labels, _ = private
    # of some length: short ones may coincide by chance
    letters = np.random.default_rng(0).choice(list("abcdefghijklm"), (80, 30, 8))
    own = [" ".join(map("".join, words)) for words in letters]
    long = [" ".join(pair) for pair in zip(public, own, strict=True)]
    model = DPTextClassifier(long, classes=["food", "pets"])
    nearly = [text.upper().replace(" ", "  ") + "!" for text in long[:3]]
    for copies in (long[:3], nearly):
        with pytest.warns(PrivacyLeakWarning, match="^3 of 80 public texts are"):
            model.fit([*texts[3:], *copies], labels)
    with warnings.catch_warnings(action="error"):
        model.fit(texts, labels)


def test_the_holder_is_told_where_noise_drowns_the_classes(make, private):
    for kind in KINDS:
        with pytest.warns(UserWarning, match="noise drowns .* at epsilon=0.01"):
            make(kind, epsilon=0.01, random_state=2**80).fit(*private)
        with warnings.catch_warnings(action="error"):
            make(kind, epsilon=9.0).fit(*private)


def test_small_seeds_can_be_guessed(make, private):
    texts, labels, _ = private
    with pytest.warns(PrivacyLeakWarning, match="can be guessed"):
        model = make("groups", random_state=7).fit(texts, labels)
    assert "7" not in repr(model)
    assert "do not know the integer" in " ".join(str(model.guarantee()).split())


# -- encoders of a user's own --------------------------------------------------------


@pytest.mark.no_cover
def test_encoders_that_give_groups(public, private):
    texts, labels, _ = private
    grouper = make_pipeline(TfidfVectorizer(), KMeans(4, n_init=1, random_state=0))
    model = DPTextClassifier(public, grouper, classes=["food", "pets"], epsilon=5.0)
    assert model.fit(texts, labels).noisy_sums_.shape == (2, 4)
    assert (model.predict(TEST) == RIGHT).all()
    fitted = clone(grouper).fit(public)
    model.set_params(encoder=fitted).fit(texts, labels)
    assert "was given fitted" in " ".join(str(model.guarantee()).split())


def test_encoders_that_give_vectors(public, private):
    texts, labels, _ = private
    encoder = make_pipeline(TfidfVectorizer(), TruncatedSVD(3, random_state=0))
    model = DPTextClassifier(public, encoder, classes=["food", "pets"], epsilon=5.0)
    assert model.fit(texts, labels).noisy_sums_.shape == (2, 4)
    assert (model.predict(TEST) == RIGHT).all()
    sparse = DPTextClassifier(public, TfidfVectorizer(), classes=["food", "pets"])
    assert sparse.fit(texts, labels).noisy_sums_.shape == (2, 9)


def test_frozen_steps_were_fitted_before(public, private):
    # clone keeps them, and what they learned from is taken on trust
    words = TfidfVectorizer().fit(public)
    for step, said in ((FrozenEstimator(words), True), (words, False)):
        encoder = make_pipeline(step, TruncatedSVD(3, random_state=0))
        model = DPTextClassifier(public, encoder, classes=["food", "pets"])
        assert ("given fitted" in str(model.fit(*private).guarantee())) == said


class Quoting(Numbers):
    """Its error quotes a text."""

    def transform(self, X):
        if any("secret" in text for text in X):
            raise ValueError(X)
        return super().transform(X)


class Wide(Numbers):
    def transform(self, X):
        return np.ones((len(X), 2 + ("secret" in X[0])))


class Flat(Numbers):
    def transform(self, X):
        return np.zeros(len(X))


def test_encoders_that_fail():
    for encoder, message in (
        (Quoting(), "failed with ValueError"),
        (Wide(), "as many numbers as the public documents"),
        (Flat(), "must give every document a row of numbers"),
        (MeanVectorEncoder("one-hot"), "its transform|MeanVector|embedding|failed"),
    ):
        model = DPTextClassifier(NUMBERS, encoder, classes=["a", "b"])
        with pytest.raises(InvalidParameterError, match=message) as caught:
            model.fit(["secret", "secret"], ["a", "b"])
        assert "secret" not in str(caught.value)


# -- bad input -----------------------------------------------------------------------

BAD_PARAMETERS = {
    "epsilon": [0, -1.0, np.nan, np.inf, "1", None, 1e-9],
    "delta": [-1e-9, 1.0, 2, None, np.nan],
    "n_groups": [0, 1, 2.5, "many", None, True],
    "n_components": [0, 1.5, None],
    "n_expected": [0, 1.5, "10", 10**7],  # δ is above 1/n_expected
    "classes": [["a"], [], ["a", "a"], [["a", "b"]], [1, None], "ab", 3, [1, "a"]],
    "random_state": [-1, 1.5, "x"],
    "n_jobs": [0, 1.5],
    "verbose": [-1, None],
    "embedding": ["one-hot", np.eye(2)],
    "encoder": [3, TfidfVectorizer, object(), LogisticRegression()],
    "public_documents": ["text", None, [], 5, [1], np.eye(3), b"a", iter(["a", "b"])],
}


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_bad_parameters(public, private, name):
    texts, labels, _ = private
    for wrong in BAD_PARAMETERS[name]:
        model = DPTextClassifier(public, classes=["food", "pets"])
        model.set_params(**{name: wrong})
        with pytest.raises(InvalidParameterError, match=name):
            model.fit(texts, labels)


def test_parameters_that_do_not_go_together(public, private, words):
    texts, labels, _ = private
    model = DPTextClassifier(public, Numbers(), embedding=words)
    with pytest.raises(InvalidParameterError, match="embedding must be None, or"):
        model.fit(texts, labels)
    model = DPTextClassifier(NUMBERS, Numbers(), delta=0, classes=["food", "pets"])
    with pytest.raises(InvalidParameterError, match="delta must be > 0 for sums"):
        model.fit(NUMBERS, labels[:6])
    with pytest.raises(InvalidParameterError, match="at most 1/n_expected"):
        DPTextClassifier(public, delta=1e-3, n_expected=2000).fit(texts, labels)
    # as many are expected as there are public documents
    more = DPTextClassifier(
        public, embedding=words, delta=0.1, n_rarest=100, classes=["food", "pets"]
    )
    with pytest.raises(InvalidParameterError, match="at most 1/n_expected"):
        more.fit(texts, labels)
    # groups only, whatever there is
    groups = DPTextClassifier(
        public, embedding=words, delta=0, classes=["food", "pets"]
    )
    assert groups.fit(texts, labels).guarantee().delta == 0


SECRET = "zqxsecret"
ROWS, LABELS = ["a cat", "a cup", "fur"], ["pets", "food", "pets"]


@pytest.mark.parametrize(
    ("X", "y", "authors", "message"),
    [
        (ROWS, LABELS[:2], None, "y must hold one label per document"),
        (ROWS, [*LABELS, "food"], None, r"one label per document \(3\), got 4"),
        (ROWS, None, None, "y must hold one label per document, got None"),
        (ROWS, ["pets", None, "food"], None, "y must not be missing"),
        (ROWS, ["pets", np.nan, "food"], None, "y must not be missing"),
        (ROWS, [0.0, np.nan, 1.0], None, "y must not be missing"),
        (
            ROWS,
            pd.DataFrame({"y": ["pets", None, "food"]}),
            None,
            "must not be missing",
        ),
        (
            ROWS,
            np.array([["pets"], [None], ["a"]], object),
            None,
            "must not be missing",
        ),
        (
            ROWS,
            pl.DataFrame({"y": ["pets", None, "food"]}),
            None,
            "must not be missing",
        ),
        (ROWS, np.array([["pets"], [1], ["a"]], object), None, "y must be of one kind"),
        (ROWS, [0, 1, 1], None, "got numbers, not text"),
        (ROWS, ["pets", SECRET, "food"], None, "that of document 1 is none of them"),
        (ROWS, [LABELS, LABELS], None, "one label per document"),
        (ROWS, LABELS, LABELS, "several people share, got the authors"),
        (ROWS, LABELS, ["Ann"], r"authors must hold one label per document \(3\)"),
        (ROWS, LABELS, ["Ann", None, "Bo"], "authors must not be missing"),
        (ROWS, LABELS, ["Ann", 3, "Bo"], "authors must be of one kind"),
        (ROWS, LABELS, SECRET, "authors must hold one label per document"),
        (SECRET, LABELS, None, "X must be an iterable of documents"),
        (SECRET.encode(), LABELS, None, "X must be an iterable of documents"),
        (None, LABELS, None, "Expected an iterable of documents"),
        ([SECRET, None, "a"], LABELS, None, "got None as document 1"),
        ([SECRET, 3.5, "a"], LABELS, None, "got a float as document 1"),
        ([[SECRET, 1], ["a"], ["b"]], LABELS, None, "every token must be a str"),
        (np.eye(3), LABELS, None, "got a count matrix"),
        ({SECRET: 1}, LABELS, None, "Expected an iterable"),
    ],
)
def test_bad_data(make, X, y, authors, message):
    for kind in KINDS:
        with pytest.raises(InvalidParameterError, match=message) as caught:
            make(kind).fit(X, y, authors)
        assert SECRET not in str(caught.value)


def test_empty_documents_count(make):
    texts, labels = ["", "cat", "?!", "cup"], ["pets", "pets", "food", "food"]
    for kind in KINDS:
        model = make(kind, epsilon=1e4, n_expected=2)
        model.set_params(delta=0.5 if kind == "vectors" else 0).fit(texts, labels)
        n = model.noisy_sums_[:, -1] / 0.3
        if kind == "groups":
            n = model.noisy_sums_.sum(axis=1)
        assert n == pytest.approx([2, 2], abs=0.5)
        model.predict(["", "?!"])
        model.fit([], []).predict(["cat"])  # nobody at all: noise only


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "form",
    [
        lambda x: iter(x),
        lambda x: (each for each in x),
        tuple,
        lambda x: np.array(x, dtype=object),
        pd.Series,
        lambda x: pd.Series(x, index=range(5, 5 + len(x))),
        pl.Series,
    ],
)
def test_forms_of_input(make, private, form):
    texts, labels, authors = private
    model = make("vectors", random_state=2**80)
    expected = model.fit(texts, labels, authors).noisy_sums_
    given = form(texts), form(labels.tolist()), form(authors.tolist())
    assert np.array_equal(model.fit(*given).noisy_sums_, expected)
    assert (model.predict(form(TEST)) == model.predict(TEST)).all()


def test_tables_and_token_lists(make, private):
    texts, labels, authors = private
    model = make("vectors", random_state=2**80)
    expected = model.fit(texts, labels, authors).noisy_sums_
    column = pd.DataFrame({"text": texts})
    assert np.array_equal(model.fit(column, labels, authors).noisy_sums_, expected)
    tokens = [text.split() for text in texts]
    assert np.array_equal(model.fit(tokens, labels, authors).noisy_sums_, expected)


# -- what comes out, and copies of it ----------------------------------------------


def test_samples(make, private):
    texts, labels, _ = private
    skewed = np.flatnonzero((labels == "pets") | (np.arange(200) % 4 == 0))
    texts, labels = [texts[i] for i in skewed], labels[skewed]
    model = make("vectors", epsilon=9.0).fit(texts, labels)
    documents, drawn = model.sample(4000, random_state=0)
    share = (labels == "pets").mean()
    # 5 standard deviations of the draw, and the noise on the counts
    assert (drawn == "pets").mean() == pytest.approx(share, abs=0.08)
    assert set(documents) <= set(model.public_)
    assert model.sample(9, random_state=1)[0] == model.sample(9, random_state=1)[0]
    for wrong in (0, 1.5, "3"):
        with pytest.raises(InvalidParameterError, match="n_samples"):
            model.sample(wrong)


def test_clones_and_pickles(make, private):
    texts, labels, authors = private
    model = make("vectors", random_state=2**80)
    first = model.fit(texts, labels, authors)
    again = clone(model).fit(texts, labels, authors)
    assert np.array_equal(first.noisy_sums_, again.noisy_sums_)
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict_proba(TEST), model.predict_proba(TEST))


@pytest.mark.parametrize(
    "authors",
    [[-1, 2**63, 2**63 + 1], [2**60, 2**60 + 1, 0.5], [1e300, 2e300, 3.0]],
    ids=["signed and unsigned", "integers and floats", "floats"],
)
def test_authors_who_would_become_one_are_refused(make, authors):
    """Two people under one number: one who leaves would change the other's weight."""
    with pytest.raises(InvalidParameterError, match="authors must be told apart"):
        make("groups").fit(["a cat", "tea", "a dog"], ["pets", "food", "pets"], authors)
