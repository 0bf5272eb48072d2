"""What is made of noisy sums: known labels are found again, and noise is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import softmax
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score

from skdptext import DPTextClassifier
from skdptext.learning._features import CONSTANT, directions
from skdptext.learning._readout import (
    by_shares,
    denoised,
    draw_corpus,
    said_by_groups,
    said_by_vectors,
    train_student,
)
from tests.expected import refused
from tests.learning.conftest import PETS, kept

# -- which sums ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "grouped"),
    [
        ({"n_rarest": 99}, True),
        ({"n_rarest": 100}, False),
        ({"n_rarest": np.int8(64), "epsilon": np.int8(2)}, False),  # 128 is too large
        ({"n_rarest": 100, "delta": 0}, True),
        ({"n_expected": 799}, True),  # a quarter of an equal share is guessed
        ({"n_expected": 800}, False),
    ],
)
def test_few_of_a_class_are_counted_in_groups(public, private, options, grouped):
    model = DPTextClassifier(public, classes=["food", "pets"], **options)
    model.fit(*private)
    assert hasattr(model.encoder_, "predict") == grouped
    assert (model.guarantee().delta == 0) == grouped


def test_directions_are_more_where_the_rarest_class_outweighs_their_noise():
    for given, expected in (
        ((125, 5000), 25),
        ((375, 5000), 75),
        ((10**6, 5000), 100),
        ((10**6, 400), 40),  # the covariance of few public documents is not known
        ((10**6, 10), 20),
        ((300, 5000, 3), 3),
    ):
        assert directions(*given) == expected


def test_equal_public_documents_make_no_groups_of_their_own():
    public = ["a cat and a dog", "dogs and a cat", "tea and milk", "milk or tea"] * 10
    model = DPTextClassifier(public, classes=["food", "pets"], epsilon=5.0, delta=0)
    model.fit(["my cat", "some tea"] * 100, ["pets", "food"] * 100, range(200))
    assert model.predict(["cat", "tea"]).tolist() == ["pets", "food"]


# -- groups ----------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_cells_are_expected_counts_by_integration(scale):
    noisy = np.array([[-4.0, 0.0, 1.5], [6.0, 25.0, 2.0]])
    mean = max(noisy.mean(), 0.3)

    def density(c, value, power=0):
        weight = (c + 0.25) ** -0.7 * np.exp(-0.3 * c / mean - abs(value - c) / scale)
        return c**power * weight

    for value, found in zip(noisy.flat, denoised(noisy, scale).flat, strict=True):
        points = {"points": [max(value, 0.0)], "limit": 200}
        top = 35 + 10 * scale
        weight = quad(density, 0, top, (value,), **points)[0]
        exact = quad(density, 0, top, (value, 1), **points)[0] / weight
        assert found == pytest.approx(exact, rel=0.02, abs=0.02)


def test_what_noise_alone_makes_of_a_cell_says_little():
    rng = np.random.default_rng(0)
    cells = np.zeros((2, 200))
    cells[0, :10], cells[1, 10:20] = 40.0, 40.0
    cells += rng.laplace(size=cells.shape)
    said = said_by_groups(cells, 1.0).log_likelihood(np.arange(200))
    said = softmax(said / 2, axis=1)  # likelihoods of groups are sharpened
    assert said[:10, 0].mean() > 0.9
    assert said[10:20, 1].mean() > 0.9
    # a group of noise is taken for a sure one where it is read as a count
    sure = (said[20:].max(axis=1) > 0.9).mean()
    naive = np.maximum(cells, 1e-3)[:, 20:]
    assert sure < 0.05 < 0.4 < ((naive / naive.sum(axis=0)).max(axis=0) > 0.9).mean()


# -- vectors ---------------------------------------------------------------------------


def mixture(rng, n, k=6, apart=0.45):
    """Unit vectors of two classes, the second of which has a quarter of them."""
    labels = (rng.random(n) < 0.25).astype(int)
    rows = rng.normal(size=(n, k)) / np.sqrt(k) * np.linspace(1, 0.3, k)
    rows[:, 0] += apart * np.where(labels, 1, -1)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), labels


def sums_of(rows, labels):
    """Without noise, as they are released."""
    rows = np.c_[rows * np.sqrt(1 - CONSTANT**2), np.full(len(rows), CONSTANT)]
    return np.eye(2)[labels].T @ rows


@pytest.mark.parametrize("moved", [0.0, 0.3])
def test_vectors_are_read_as_by_discriminant_analysis_of_rows(moved):
    """Whose classes are as frequent, but for shrinkage; also where private texts lie
    elsewhere than the public ones, and others where the private ones do."""
    rng = np.random.default_rng(1)
    rows, labels = mixture(rng, 3000)
    clear = LinearDiscriminantAnalysis(solver="lsqr").fit(rows, labels)

    def expected(rows):
        return softmax(clear.predict_log_proba(rows) - np.log(clear.priors_), axis=1)

    sums = sums_of(rows + moved, labels)
    said = said_by_vectors(sums, 1e-9, rows)
    np.testing.assert_allclose(said.shares, np.bincount(labels) / 3000)
    for where, public in ((rows, True), (rows + moved, False)):
        found = np.exp(said.log_likelihood(where, public))
        np.testing.assert_allclose(found, expected(rows), atol=0.02)
    # with noise, they are found nearly as often in other public documents
    public, truth = mixture(rng, 3000)
    noisy = sums + rng.normal(0, 4.0, sums.shape)
    scores = said_by_vectors(noisy, 4.0, public).log_likelihood(public)
    least = balanced_accuracy_score(truth, expected(public).argmax(axis=1)) - 0.02
    assert balanced_accuracy_score(truth, scores.argmax(axis=1)) > least


def test_noise_that_drowns_the_classes_is_known():
    rng = np.random.default_rng(2)
    public, labels = mixture(rng, 3000)
    sums = sums_of(public, labels)
    for share, low, high in ((0.01, -9, 0.5), (1.0, 0.9, 1)):
        noisy = share * sums + rng.normal(0, 8, (20, *sums.shape))
        signals = [said_by_vectors(x, 8.0, public).signal for x in noisy]
        assert low < np.mean(signals) < high
    cells = rng.laplace(size=(2, 30), scale=20)
    assert said_by_groups(cells + 50, 20.0).signal < 0.5


def test_no_release_breaks_the_readout():
    nowhere = np.eye(4, 0)  # an encoder may have no directions
    for cells in (np.zeros((3, 5)), np.full((3, 5), -40.0), np.eye(3, 5) * 1e9):
        for scale in (1e-6, 1.0, 1e4):
            for weights in (
                said_by_groups(cells, scale).weights(np.arange(5)),
                said_by_vectors(cells, scale, np.eye(4)).weights(np.eye(4)),
                said_by_vectors(cells[:, :1], scale, nowhere).weights(nowhere),
            ):
                assert np.isfinite(weights).all()
                assert (weights >= 0).all()


# -- student and corpus --------------------------------------------------------------

TEXTS = ["cat dog", "dog fur", "tea milk", "milk cup", "cat fur", "cup tea"] * 5
CLASSES = np.array([0, 0, 1, 1, 0, 1] * 5)


def test_the_student_is_logistic_regression_with_weights():
    weights = np.random.default_rng(4).random((30, 2)) + 2 * np.eye(2)[CLASSES]
    student = train_student(TEXTS, weights)
    rows = student[0].transform(TEXTS).toarray()
    theirs = LogisticRegression(C=10.0)
    theirs.fit(np.vstack([rows] * 2), np.repeat([0, 1], 30), weights.T.ravel())
    np.testing.assert_allclose(
        student.predict_proba(TEXTS), theirs.predict_proba(rows), atol=2e-3
    )
    odd = student.predict_proba(["", "zebra"])
    np.testing.assert_array_equal(odd[0], odd[1])
    np.testing.assert_array_equal(student.predict(TEXTS), CLASSES)
    alike = train_student(TEXTS, np.tile([1.0, 0.0], (30, 1)))  # no text of the other
    assert (alike.predict(TEXTS) == 0).all()


def test_words_of_no_public_document_are_related_by_the_sums(make, private):
    """By their vectors; the student does not know them."""
    model = make("vectors", epsilon=9.0, n_components=1).fit(*private[:2])
    assert model.predict(["kitten", "soup"]).tolist() == ["pets", "food"]
    assert not model._features.rows(["unknown"]).any()


def test_heads(make, private):
    """Released shares make the frequent class likelier."""
    rows = (private[1] == "pets") | (np.arange(200) % 4 == 0)
    texts, labels = kept(rows, *private[:2])
    model = make("vectors", epsilon=9.0).fit(texts, labels)
    equal = model.predict_proba(["cat tea", *PETS])
    released = model.set_params(priors="released").predict_proba(["cat tea", *PETS])
    share = np.mean(np.array(labels) == "pets")
    odds = 2 * np.log(equal[:, 1] / equal[:, 0]) + np.log(share / (1 - share))
    found = np.log(released[:, 1] / released[:, 0])
    np.testing.assert_allclose(found, odds, atol=0.4)  # but for the noise on shares
    np.testing.assert_allclose(released.sum(axis=1), 1)
    # and a corpus is drawn by them
    documents, drawn = model.sample(4000, random_state=0)
    # 5 standard deviations of the draw, and the noise on the counts
    assert (drawn == "pets").mean() == pytest.approx(share, abs=0.08)
    assert set(documents) <= set(model.public_)
    with refused("n_samples"):
        model.sample(10**10)
    with refused("priors must be one of"):  # which may have changed since fit
        model.set_params(priors="Released").predict(TEXTS)


def test_a_corpus_is_drawn_by_shares_and_fit():
    rng = np.random.default_rng(5)
    log_proba = np.log(np.where(np.eye(2)[CLASSES] > 0, 0.95, 0.05))
    shares = np.array([0.8, 0.2])
    at, labels = draw_corpus(by_shares(log_proba, shares), shares, 4000, rng)
    # false alarms: 6 standard deviations, less than 1e-8
    assert abs((labels == 0).mean() - 0.8) < 6 * np.sqrt(0.16 / 4000)
    posterior = np.exp(2 * log_proba) * shares
    posterior /= posterior.sum(axis=1, keepdims=True)
    right = posterior / posterior.sum(axis=0)
    for c in (0, 1):
        mine = at[labels == c]
        expected = right[c == CLASSES, c].sum()
        error = np.sqrt(expected * (1 - expected) / len(mine))
        assert abs((CLASSES[mine] == c).mean() - expected) < 6 * error
    unlikely = np.tile([0.0, -2000.0], (3, 1))
    _, labels = draw_corpus(unlikely, np.array([0.5, 0.5]), 50, rng)
    assert set(labels) == {0, 1}
