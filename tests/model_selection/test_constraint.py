"""Choosing a candidate under constraints."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from skdptext.exceptions import NoFeasibleCandidateError, PrivacyLeakWarning
from skdptext.model_selection import best_under_constraint
from tests.expected import leaks_allowed, no_warning, refusals

pytestmark = leaks_allowed

NAN = float("nan")


@pytest.mark.no_cover
@pytest.mark.parametrize("relation", [">=", "<="])
@pytest.mark.parametrize("seed", range(100))
def test_best_of_the_feasible(relation, seed):
    """Bounds of both kinds; of equal ones the largest margin in the first."""
    rng = np.random.default_rng(seed)
    table = rng.choice([0, 0.5, 1, NAN], (seed % 8 + 1, 3), p=[0.3, 0.3, 0.3, 0.1])
    bound, most = rng.choice([0, 0.5, 1], 2)
    names = [f"mean_test_{name}" for name in ("privacy", "utility", "time")]
    results = dict(zip(names, table.T, strict=True))
    subject_to = {"utility": (relation, bound), "time": ["<=", most]}
    rule = best_under_constraint(maximize="privacy", subject_to=subject_to)
    sign = 1 if relation == ">=" else -1
    feasible = [
        i
        for i, (privacy, utility, time) in enumerate(table)
        if sign * utility >= sign * bound and time <= most and privacy == privacy
    ]
    if not feasible:
        with pytest.raises(NoFeasibleCandidateError):
            rule(results)
        return
    expected = max(feasible, key=lambda i: (table[i, 0], sign * table[i, 1], -i))
    assert rule(results) == expected


TABLE = {
    "mean_test_accuracy": [0.9, 0.8, 0.7, 0.6, NAN],
    "mean_test_unchanged": [0.8, 0.5, 0.4, 0.1, 0.0],
    "mean_test_time": [1.0, 9.0, 1.0, 1.0, NAN],
}


@pytest.mark.parametrize(
    ("subject_to", "reached"),
    [
        ({"accuracy": 0.95, "time": ("<=", 2)}, "0.6 to 0.9"),
        ({"acuracy": 0.5}, "acuracy"),  # none has it
    ],
)
def test_one_error_says_what_was_reached(subject_to, reached):
    rule = best_under_constraint(maximize="unchanged", subject_to=subject_to)
    with pytest.raises(NoFeasibleCandidateError, match=reached) as error:
        rule(TABLE)
    # scikit-learn keeps no results then
    assert error.value.cv_results is TABLE
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


def negative_size(model, X, y):
    return -np.abs(model.coef_).sum()


def test_in_a_search():
    X, y = make_classification(random_state=0)
    search = GridSearchCV(
        LogisticRegression(), {"C": [1e-4, 1.0, 100.0]},
        scoring={"accuracy": "accuracy", "size": negative_size},
        refit=best_under_constraint(maximize="size", subject_to={"accuracy": 0.8}),
    ).fit(X, y)  # fmt: skip
    accuracy = search.cv_results_["mean_test_accuracy"]
    sizes = search.cv_results_["mean_test_size"]
    assert accuracy[search.best_index_] >= 0.8
    assert (accuracy[sizes > sizes[search.best_index_]] < 0.8).all()
    # the score of such a search is the one that the rule maximizes
    for twin in (search, pickle.loads(pickle.dumps(search)), clone(search).fit(X, y)):
        assert twin.refit.subject_to == {"accuracy": (">=", 0.8)}
        assert twin.best_index_ == search.best_index_
        assert twin.score(X, y) == negative_size(search.best_estimator_, X, y)
    several = clone(search).set_params(
        scoring=lambda m, X, y: {"accuracy": m.score(X, y), "size": -m.C}
    )
    assert several.fit(X, y).score(X, y) == -several.best_params_["C"]
    rule = best_under_constraint(maximize="score", subject_to={"score": 0.1})
    single = GridSearchCV(LogisticRegression(), {"C": [1.0]}, refit=rule).fit(X, y)
    assert single.score(X, y) == single.best_estimator_.score(X, y)


def test_a_choice_by_documents_that_may_be_private_warns():
    options = {"maximize": "accuracy", "subject_to": {"accuracy": 0}}
    with pytest.warns(PrivacyLeakWarning, match="chosen by scores of documents that"):
        assert best_under_constraint(**options)(TABLE) == 0
    with no_warning():
        for origin in ("public", "released"):
            best_under_constraint(**options, tuned_on=origin)(TABLE)


@refusals(
    ("a", 0.5, "private", "subject_to must map names"),
    ("a", {"b": "high"}, "private", r"subject_to\['b'\] must be a finite number, got"),
    ("a", {"b": ("<", 0.5)}, "private", r"subject_to\['b'\] must be a number, \(\">="),
)
def test_bad_parameters(maximize, subject_to, tuned_on):
    best_under_constraint(maximize=maximize, subject_to=subject_to, tuned_on=tuned_on)
