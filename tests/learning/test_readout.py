"""What is made of noisy sums: known labels are found again, and noise is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.linear_model import LogisticRegression

from skdptext import DPTextClassifier
from skdptext.learning._readout import (
    NoisyTable,
    class_shares,
    denoised,
    draw_corpus,
    likelihood,
    likelihood_of_groups,
    likelihood_of_vectors,
    make_plan,
    targets,
    train_student,
    words_of_public,
)


def of_groups(cells, scale=1e-9):
    return NoisyTable(np.asarray(cells, float), scale, None, None, 0.0, 0.0)


def of_vectors(sums, counts, sigma=1e-9):
    return NoisyTable(None, 0.0, np.asarray(sums), np.asarray(counts), sigma, sigma)


def planned(n, epsilon=1.0, n_classes=2, n_public=2000, vectors=True, n_groups=None):
    return make_plan(
        n_expected=n, epsilon=epsilon, n_classes=n_classes, n_public=n_public,
        vectors=vectors, n_groups=n_groups,
    )  # fmt: skip


VOCABULARY = [f"word{i}" for i in range(150)]

# -- plans ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "epsilon", "n_classes", "groups", "vectors"),
    [
        (500, 1.0, 16, 1.0, 0.0),
        (500, 2.0, 16, 2.0, 0.0),
        (300, 1.0, 2, 0.5, 0.5),
        (800, 1.0, 2, 0.0, 1.0),
        (1723, 0.5, 2, 0.0, 0.5),
        (10**6, 0.1, 20, 0.0, 0.1),
    ],
)
def test_few_people_are_counted_in_groups_and_many_in_vectors(
    n, epsilon, n_classes, groups, vectors
):
    plan = planned(n, epsilon, n_classes)
    assert (plan.groups_epsilon, plan.vectors_epsilon) == (groups, vectors)
    assert (plan.n_groups > 0) == (groups > 0)
    alone = planned(n, epsilon, n_classes, vectors=False)
    assert (alone.groups_epsilon, alone.vectors_epsilon) == (epsilon, 0)


def test_fewer_directions_and_groups_where_people_are_few():
    assert [planned(n).n_components for n in (210, 800, 2500)] == [5, 10, 31]
    groups = [planned(n, vectors=False).n_groups for n in (10, 500, 10**6)]
    assert groups == [8, 50, 300]
    assert planned(10**6, vectors=False, n_public=100).n_groups == 25
    assert planned(10**6, vectors=False, n_groups=7).n_groups == 7
    assert planned(200, n_groups=7).n_groups == 7
    assert planned(10**6, n_groups=7).n_groups == 0


@pytest.mark.parametrize(("own", "n"), [("groups", 10**6), ("vectors", 20)])
def test_an_encoder_of_the_users_has_a_part_in_every_plan(own, n):
    given = {
        "n_expected": n, "epsilon": 1.0, "n_classes": 2, "n_public": 2000,
        "n_groups": None,
    }  # fmt: skip
    alone = make_plan(**given, vectors=True)
    assert (alone.vectors_epsilon, alone.groups_epsilon)[own == "vectors"] == 1.0
    plan = make_plan(**given, vectors=True, own=own)
    assert (plan.vectors_epsilon, plan.groups_epsilon) == (0.5, 0.5)
    if own == "groups":
        assert make_plan(**given, vectors=False, own=own).groups_epsilon == 1.0


def test_more_classes_are_grouped_in_more_directions():
    given = {"vectors": False, "epsilon": 2.0}
    of_classes = [planned(500, n_classes=k, **given).grouping for k in (2, 9, 16, 100)]
    assert of_classes == [30, 36, 60, 60]
    of_groups = [planned(500, n_groups=k, **given).grouping for k in (8, 20, 40)]
    assert of_groups == [10, 20, 30]


def test_the_default_groups_are_found_in_directions_for_every_class():
    rng = np.random.default_rng(0)
    public = [" ".join(rng.choice(VOCABULARY, 12)) for _ in range(300)]
    names = [str(i) for i in range(16)]
    for classes, directions in ((names[:2], 30), (names, 60)):
        model = DPTextClassifier(public, classes=classes, n_groups=60)
        model.fit(["word1 word2", "word3"], classes[:2])
        assert model.encoder_[0].transform(public).shape == (300, directions)


# -- tables --------------------------------------------------------------------------


def test_without_noise_the_table_is_the_clear_one():
    cells = [[30.0, 0.0, 10.0, 4.0], [0.0, 50.0, 5.0, 4.0], [1.0, 1.0, 1.0, 90.0]]
    table = of_groups(cells, 0.01)
    np.testing.assert_allclose(denoised(table), cells, atol=0.1)
    np.testing.assert_allclose(
        class_shares(table), [44, 59, 93] / np.float64(196), 0.01
    )
    exact = np.array(cells) / np.sum(cells, axis=1, keepdims=True)
    found = np.exp(likelihood_of_groups(table)).T
    np.testing.assert_allclose(found, exact / exact.sum(axis=0), atol=0.02)


@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_cells_are_expected_counts_by_integration(scale):
    noisy = np.array([[-4.0, 0.0, 1.5], [6.0, 25.0, 2.0]])
    mean = max(noisy.mean(), 0.3)

    def density(c, value, power=0):
        weight = (c + 0.25) ** -0.7 * np.exp(-0.3 * c / mean - abs(value - c) / scale)
        return c**power * weight

    found_all = denoised(of_groups(noisy, scale))
    for value, found in zip(noisy.flat, found_all.flat, strict=True):
        points = {"points": [max(value, 0.0)], "limit": 200}
        top = 35 + 10 * scale
        weight = quad(density, 0, top, (value,), **points)[0]
        exact = quad(density, 0, top, (value, 1), **points)[0] / weight
        assert found == pytest.approx(exact, rel=0.02, abs=0.02)


def test_what_noise_alone_makes_of_a_cell_says_little():
    rng = np.random.default_rng(0)
    cells = np.zeros((2, 200))
    cells[0, :10], cells[1, 10:20] = 40.0, 40.0
    table = of_groups(cells + rng.laplace(size=cells.shape), 1.0)
    said = np.exp(likelihood_of_groups(table))
    assert said[:10, 0].mean() > 0.9
    assert said[10:20, 1].mean() > 0.9
    # a group of noise is taken for a sure one where it is read as a count
    sure = (said[20:].max(axis=1) > 0.9).mean()
    naive = np.maximum(table.groups, 1e-3)[:, 20:]
    assert sure < 0.05 < 0.4 < ((naive / naive.sum(axis=0)).max(axis=0) > 0.9).mean()


def mixture(rng, n, k=6, apart=0.45):
    """Unit vectors of two classes, the second of which has a quarter of them."""
    labels = (rng.random(n) < 0.25).astype(int)
    rows = rng.normal(size=(n, k)) / np.sqrt(k)
    rows[:, 0] += apart * np.where(labels, 1, -1)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), labels


def sums_of(rows, labels):
    counts = np.bincount(labels).astype(float)
    return np.stack([rows[labels == c].sum(axis=0) for c in (0, 1)]), counts


def test_classes_of_vectors_are_found_by_their_sums():
    rng = np.random.default_rng(1)
    private, labels = mixture(rng, 3000)
    public, truth = mixture(rng, 3000)
    sums, counts = sums_of(private, labels)
    best = LogisticRegression(class_weight="balanced").fit(private, labels)

    def accuracy(guess):
        return np.mean([(guess[truth == c] == c).mean() for c in (0, 1)])

    clear = accuracy(best.predict(public))
    table = of_vectors(sums, counts)
    np.testing.assert_allclose(class_shares(table), counts / 3000)
    assert accuracy(likelihood_of_vectors(table, public).argmax(axis=1)) > clear - 0.01
    noisy = of_vectors(
        sums + rng.normal(0, 4.0, sums.shape), counts + rng.normal(0, 4.0, 2), 4.0
    )
    guess = likelihood_of_vectors(noisy, public).argmax(axis=1)
    assert accuracy(guess) > clear - 0.02
    # classes in the wrong order, or sums read as means, would not do
    swapped = likelihood_of_vectors(of_vectors(sums[::-1], counts), public)
    assert accuracy(swapped.argmax(axis=1)) < 0.5


def test_means_that_noise_explains_say_nothing():
    rng = np.random.default_rng(2)
    public, _ = mixture(rng, 50)
    sums = rng.normal(0, 30.0, (2, 6))
    said = likelihood_of_vectors(of_vectors(sums, np.array([60.0, 60.0]), 60.0), public)
    np.testing.assert_allclose(said, np.log(0.5))
    assert np.ptp(likelihood_of_vectors(of_vectors(sums, np.full(2, 60.0)), public)) > 1


def test_groups_and_vectors_are_independent_witnesses():
    rng = np.random.default_rng(3)
    rows, labels = mixture(rng, 500)
    groups = (rng.random(500) < np.where(labels, 0.8, 0.3)).astype(int)
    cells = np.array(
        [[(groups[labels == c] == g).sum() for g in (0, 1)] for c in (0, 1)]
    )
    sums, counts = sums_of(rows, labels)
    both = NoisyTable(cells.astype(float), 0.1, sums, counts, 0.1, 0.1)
    apart = likelihood_of_groups(both)[groups] + likelihood_of_vectors(both, rows)
    joint = np.exp(likelihood(both, groups, rows))
    exact = np.exp(apart) / np.exp(apart).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(joint, exact)
    one = likelihood(of_groups(cells, 0.1), groups, None)
    np.testing.assert_allclose(one, likelihood_of_groups(both)[groups])


def test_no_release_breaks_the_readout():
    for cells in (np.zeros((3, 5)), np.full((3, 5), -40.0), np.eye(3, 5) * 1e9):
        for scale in (1e-6, 1.0, 1e4):
            table = of_groups(cells, scale)
            said = likelihood(table, np.arange(5), None)
            weights = targets(said, class_shares(table))
            assert np.isfinite(said).all()
            assert np.isfinite(weights).all()
            assert (weights >= 0).all()
    for sums, counts in ((0.0, 0.0), (-3.0, -50.0), (1e6, 1.0)):
        table = of_vectors(np.full((2, 4), sums), np.full(2, counts), 2.0)
        said = likelihood(table, None, np.eye(4))
        assert np.isfinite(targets(said, class_shares(table))).all()


# -- student and corpus --------------------------------------------------------------

TEXTS = ["cat dog", "dog fur", "tea milk", "milk cup", "cat fur", "cup tea"] * 5
CLASSES = np.array([0, 0, 1, 1, 0, 1] * 5)


def test_a_document_of_a_rare_class_weighs_more_but_needs_better_reasons():
    likelihoods = np.log([[0.6, 0.4], [0.2, 0.8], [0.9, 0.1], [0.9, 0.1]])
    shares = np.array([0.9, 0.1])
    posterior = np.exp(2 * likelihoods) * shares
    posterior /= posterior.sum(axis=1, keepdims=True)
    weights = targets(likelihoods, shares)
    np.testing.assert_allclose(weights, posterior * 2 / posterior.sum(axis=0))
    np.testing.assert_allclose(weights.sum(axis=0), [2, 2])


def test_the_student_is_logistic_regression_with_weights():
    public = words_of_public(TEXTS)
    rng = np.random.default_rng(4)
    weights = rng.random((len(TEXTS), 2)) + 2 * np.eye(2)[CLASSES]
    student = train_student(public, weights)
    rows, n = public[2], len(TEXTS)
    twice = np.concatenate([rows.toarray()] * 2)
    theirs = LogisticRegression(C=20.0, tol=1e-8, max_iter=10**4).fit(
        twice, np.repeat([0, 1], n), weights.T.ravel()
    )  # two rows of coefficients cost half of what their difference would
    assert student.words == ("cat", "cup", "dog", "fur", "milk", "tea")
    np.testing.assert_allclose(
        np.exp(student.log_proba(TEXTS)), theirs.predict_proba(rows), atol=2e-3
    )
    odd = student.log_proba(["", "zebra", ["CAT", "cup"]])
    assert np.isfinite(odd).all()
    np.testing.assert_array_equal(odd[0], odd[1])


def test_the_student_learns_what_it_is_told():
    weights = np.eye(2)[CLASSES]
    student = train_student(words_of_public(TEXTS), weights)
    np.testing.assert_array_equal(student.log_proba(TEXTS).argmax(axis=1), CLASSES)
    alike = train_student(words_of_public(TEXTS), np.tile([1.0, 0.0], (len(TEXTS), 1)))
    assert (alike.log_proba(TEXTS).argmax(axis=1) == 0).all()


def test_a_corpus_is_drawn_by_shares_and_fit():
    rng = np.random.default_rng(5)
    log_proba = np.log(np.where(np.eye(2)[CLASSES] > 0, 0.95, 0.05))
    shares = np.array([0.8, 0.2])
    at, labels = draw_corpus(log_proba, shares, None, rng)
    np.testing.assert_array_equal(at, np.arange(len(TEXTS)))
    np.testing.assert_array_equal(labels, CLASSES)
    at, labels = draw_corpus(log_proba, shares, 4000, rng)
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


def test_unlikely_classes_can_still_be_drawn():
    log_proba = np.tile([0.0, -2000.0], (3, 1))
    at, labels = draw_corpus(
        log_proba, np.array([0.5, 0.5]), 50, np.random.default_rng(6)
    )
    assert set(labels) == {0, 1}
    assert set(at) <= {0, 1, 2}
