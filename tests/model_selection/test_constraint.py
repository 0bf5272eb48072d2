"""Choosing a candidate under constraints."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skdptext import DPWordPerturber
from skdptext.exceptions import (
    InvalidParameterError,
    NoFeasibleCandidateError,
    PrivacyLeakWarning,
    UnknownScoreError,
)
from skdptext.model_selection import best_under_constraint
from tests.expected import refusals

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


def test_upper_bounds_and_several_constraints():
    results = {
        "mean_test_accuracy": [0.9, 0.8, 0.7, 0.6],
        "mean_test_unchanged": [0.8, 0.5, 0.4, 0.1],
        "mean_test_time": [1.0, 9.0, 1.0, 1.0],
    }
    rule = best_under_constraint(
        maximize="accuracy", subject_to={"unchanged": ("<=", 0.5), "time": ["<=", 5]}
    )
    assert rule(results) == 2
    reverse = best_under_constraint(
        maximize="time", subject_to={"accuracy": (">=", 0.75)}
    )
    assert reverse(results) == 1


def test_nan_is_never_chosen():
    nan = float("nan")
    results = {"mean_test_a": [nan, 0.5, 0.9], "mean_test_b": [1.0, 1.0, nan]}
    rule = best_under_constraint(maximize="a", subject_to={"b": 0.0})
    assert rule(results) == 1


def test_no_candidate_says_how_far_each_score_gets():
    results = {"mean_test_a": [0.1, 0.2], "mean_test_b": [0.3, 0.55]}
    rule = best_under_constraint(maximize="a", subject_to={"b": 0.9})
    with pytest.raises(
        NoFeasibleCandidateError, match=r"b >= 0\.9 \(scores go from 0\.3 to 0\.55\)"
    ) as error:
        rule(results)
    assert error.value.cv_results is results
    twin = pickle.loads(pickle.dumps(error.value))
    assert str(twin) == str(error.value)
    with pytest.raises(NoFeasibleCandidateError, match="all scores are NaN"):
        rule({"mean_test_a": [0.1], "mean_test_b": [float("nan")]})


def test_in_a_search():
    X, y = make_classification(random_state=0)
    search = GridSearchCV(
        LogisticRegression(),
        {"C": [1e-4, 1.0, 100.0]},
        scoring={
            "accuracy": "accuracy",
            "size": lambda m, X, y: -np.abs(m.coef_).sum(),
        },
        refit=best_under_constraint(maximize="size", subject_to={"accuracy": 0.8}),
    ).fit(X, y)
    accuracy = search.cv_results_["mean_test_accuracy"]
    assert accuracy[search.best_index_] >= 0.8
    smaller = (
        search.cv_results_["mean_test_size"]
        > (search.cv_results_["mean_test_size"][search.best_index_])
    )
    assert (accuracy[smaller] < 0.8).all()
    # the score of such a search is the one that the rule maximizes
    assert search.score(X, y) == -np.abs(search.best_estimator_.coef_).sum()
    several = clone(search).set_params(
        scoring=lambda m, X, y: {"accuracy": m.score(X, y), "size": -m.C}
    )
    assert several.fit(X, y).score(X, y) == -several.best_params_["C"]
    stored = clone(search).set_params(
        scoring=["accuracy", "f1"],
        refit=best_under_constraint(maximize="f1", subject_to={"accuracy": 0.5}),
    )
    twin = pickle.loads(pickle.dumps(stored.fit(X, y)))
    assert twin.score(X, y) == stored.scorer_["f1"](stored, X, y)
    single = GridSearchCV(
        LogisticRegression(),
        {"C": [1.0]},
        refit=best_under_constraint(maximize="score", subject_to={"score": 0.1}),
    ).fit(X, y)
    assert single.best_index_ == 0


@pytest.mark.parametrize(
    "step", [lambda p: p, lambda p: make_pipeline(p, "passthrough")]
)
def test_a_search_over_whole_perturbers_warns_too(step):
    candidates = [step(DPWordPerturber(epsilon=epsilon)) for epsilon in (1, 5)]
    results = {"params": [{"noise": c} for c in candidates], "mean_test_a": [0.1, 0.2]}
    rule = best_under_constraint(maximize="a", subject_to={"a": 0})
    with pytest.warns(PrivacyLeakWarning, match="epsilon, lam chosen by scores"):
        assert rule(results) == 1


@pytest.mark.parametrize(
    ("searched", "warns"),
    [
        ("perturb__epsilon", True),
        ("perturb__document_length", True),
        ("release__perturb__oov", True),
        ("perturb__resize", True),
        ("prepare__stop_words", True),
        ("tokenizer", True),
        ("perturb__output", True),
        ("perturb__mechanism", True),
        ("perturb__mechanism__calibration", True),
        ("perturb__mechanism__mechanism__second", True),
        ("n_jobs", False),
        ("classify__random_state", False),
        ("classify__C", False),
    ],
)
def test_what_changes_the_release_warns(searched, warns):
    results = {"params": [{searched: 1}, {searched: 2}], "mean_test_a": [0.1, 0.2]}
    rule = best_under_constraint(maximize="a", subject_to={"a": 0})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert rule(results) == 1
    assert [w.category for w in caught] == [PrivacyLeakWarning] * warns
    if warns:
        path = searched.split("__")
        name = "mechanism" if "mechanism" in path else path[-1]
        assert str(caught[0].message).startswith(f"{name} chosen by scores")


@refusals(
    (None, {"b": 1}, "maximize must be the name of a score, got None"),
    ("a", {}, "subject_to must map names"),
    ("a", 0.5, "subject_to must map names"),
    ("a", {1: 0.5}, "names of scores as keys, got 1"),
    ("a", {"b": "high"}, r"subject_to\['b'\] must be a finite number, got 'high'"),
    ("a", {"b": float("nan")}, r"subject_to\['b'\] must be a finite number"),
    ("a", {"b": ("<", 0.5)}, r"subject_to\['b'\] must be a number, \(\">=\""),
    ("a", {"b": (1, 2, 3)}, r"subject_to\['b'\] must be a number"),
)
def test_bad_parameters(maximize, subject_to):
    best_under_constraint(maximize=maximize, subject_to=subject_to)


def test_a_misspelt_score_is_found_before_any_fit():
    scoring = {"accuracy": "accuracy", "changed": None}
    for maximize, bounded in (("chnged", "accuracy"), ("changed", "acuracy")):
        with pytest.raises(
            InvalidParameterError,
            match=r"must name scores of the search \(\['accuracy', 'changed'\]\), got "
            rf"'({maximize}|{bounded})'",
        ):
            best_under_constraint(
                maximize=maximize, subject_to={bounded: 0.5}, scoring=scoring
            )
    rule = best_under_constraint(
        maximize="changed", subject_to={"accuracy": 0.5}, scoring=scoring
    )
    assert "scoring=['accuracy', 'changed']" in repr(rule)
    assert repr(pickle.loads(pickle.dumps(rule))) == repr(rule)
    for bad in ("accuracy", [], [1], 3):
        with pytest.raises(InvalidParameterError, match="scoring must hold names of"):
            best_under_constraint(maximize="a", subject_to={"a": 1}, scoring=bad)


def test_a_misspelt_score_costs_no_results():
    X, y = make_classification(random_state=0)
    search = GridSearchCV(
        LogisticRegression(),
        {"C": [0.1, 1.0]},
        scoring={"accuracy": "accuracy", "f1": "f1"},
        refit=best_under_constraint(maximize="f2", subject_to={"accuracy": 0.5}),
        cv=2,
    )
    with pytest.raises(UnknownScoreError, match=r"got 'f2'\. The scores of") as raised:
        search.fit(X, y)
    assert isinstance(raised.value, InvalidParameterError)
    assert set(raised.value.cv_results) >= {"mean_test_accuracy", "mean_test_f1"}
    choose = best_under_constraint(maximize="f1", subject_to={"accuracy": 0.5})
    assert choose(raised.value.cv_results) in (0, 1)
