"""Choosing a candidate under constraints."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from skdptext.exceptions import NoFeasibleCandidateError, PrivacyLeakWarning
from skdptext.model_selection import best_under_constraint
from tests.expected import leaks_allowed, no_warning, refusals

pytestmark = leaks_allowed

scores = st.floats(0, 1).map(lambda v: round(v, 1))


@pytest.mark.no_cover
@given(table=st.lists(st.tuples(scores, scores), min_size=1, max_size=8), bound=scores)
def test_best_of_the_feasible(table, bound):
    privacy, utility = np.array(table).T
    results = {"mean_test_privacy": privacy, "mean_test_utility": utility}
    rule = best_under_constraint(maximize="privacy", subject_to={"utility": bound})
    feasible = [i for i, (_, u) in enumerate(table) if u >= bound]
    if not feasible:
        with pytest.raises(NoFeasibleCandidateError):
            rule(results)
        return
    expected = max(feasible, key=lambda i: (privacy[i], utility[i], -i))
    assert rule(results) == expected


NAN = float("nan")
TABLE = {
    "mean_test_accuracy": [0.9, 0.8, 0.7, 0.6, NAN],
    "mean_test_unchanged": [0.8, 0.5, 0.4, 0.1, 0.0],
    "mean_test_time": [1.0, 9.0, 1.0, 1.0, NAN],
}


@pytest.mark.parametrize(
    ("maximize", "subject_to", "chosen"),
    [
        ("accuracy", {"unchanged": ("<=", 0.5), "time": ["<=", 5]}, 2),
        ("time", {"accuracy": (">=", 0.75)}, 1),
        ("time", {"unchanged": ("<=", 0.45)}, 3),  # of equal ones the largest margin
        ("unchanged", {"time": 0.0}, 0),
        ("accuracy", {"unchanged": ("<=", 0.1)}, 3),  # and no NaN
    ],
)
def test_bounds_of_both_kinds_several_and_nan(maximize, subject_to, chosen):
    rule = best_under_constraint(maximize=maximize, subject_to=subject_to)
    assert rule(TABLE) == chosen


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
