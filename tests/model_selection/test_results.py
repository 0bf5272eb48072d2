"""Searches over ε and λ with two scores: their table, and its intervals."""

from __future__ import annotations

import statistics
import sys

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline

from skdptext import DPWordPerturber
from skdptext.mechanisms import Exponential
from skdptext.metrics import words_changed_scorer
from skdptext.model_selection import (
    best_under_constraint,
    search_results,
    search_results_frame,
)
from tests.expected import refused


def results(*splits, params=None, name="a"):
    """cv_results_ of one score, given by split."""
    by_split = {f"split{i}_test_{name}": np.array(s) for i, s in enumerate(splits)}
    n = len(splits[0])
    default = [{"noise__epsilon": i + 1, "noise__lam": 0.5} for i in range(n)]
    return {
        "params": default if params is None else params,
        f"mean_test_{name}": np.mean(splits, axis=0),
        **by_split,
    }


def fitted(model, grid, embedding, **options):
    texts = [[w] for w in embedding.words[:12]]
    return GridSearchCV(model, grid, cv=3, **options).fit(texts, [0, 1] * 6)


def test_the_table_is_what_the_search_scored(small_embedding):
    perturber = DPWordPerturber(small_embedding, document_length=1, lam=0.2)
    searched = fitted(
        Pipeline([("my_noise", perturber), ("classify", MultinomialNB())]),
        {"my_noise__epsilon": [0.01, 1000], "classify__alpha": [0.5, 1]},
        small_embedding,
        scoring={"accuracy": "accuracy", "changed": words_changed_scorer},
        refit=best_under_constraint(
            maximize="changed", subject_to={"accuracy": 0}, tuned_on="public"
        ),
    )
    frame = search_results_frame(searched)
    assert len(frame) == 4 * 2
    assert frame["lam"].eq(0.2).all()  # not searched: from the perturber
    for _, row in frame.iterrows():
        i = row["candidate"]
        candidate = searched.cv_results_["params"][i]
        assert row["epsilon"] == candidate["my_noise__epsilon"]
        assert row["classify__alpha"] == candidate["classify__alpha"]
        by_split = [
            searched.cv_results_[f"split{s}_test_{row['score']}"][i] for s in range(3)
        ]
        np.testing.assert_allclose(row["mean"], np.mean(by_split))
        np.testing.assert_allclose(row["std"], statistics.stdev(by_split), atol=1e-12)
        assert row["chosen"] == (i == searched.best_index_)
    assert frame[frame["chosen"]]["epsilon"].tolist() == [0.01, 0.01]


@pytest.mark.parametrize("ratio", [None, 0.3 / 0.7])
@pytest.mark.parametrize(
    ("scores", "lowest", "highest"),
    [
        ((0.5, 0.7, 0.6, 0.8), 0, 1),  # shares, and so are the limits
        ((0.99, 0.9, 1.0), 0, 1),
        ((-0.01, 0.1, 0.05), -np.inf, np.inf),
        ((1.2, 0.9, 1.0), -np.inf, np.inf),
    ],
)
def test_interval_is_the_corrected_t_interval(scores, lowest, highest, ratio):
    k = len(scores)
    found = search_results(results(*([s] for s in scores)), test_over_train=ratio)
    extra = 1 / (k - 1) if ratio is None else ratio
    error = statistics.stdev(scores) * (1 / k + extra) ** 0.5
    margin, mean = stats.t.ppf(0.975, k - 1) * error, np.mean(scores)
    assert found.scores["a"].low[0] == pytest.approx(max(lowest, mean - margin))
    assert found.scores["a"].high[0] == pytest.approx(min(highest, mean + margin))
    assert found.chosen is None


def test_a_single_split_has_no_interval():
    frame = search_results_frame(results([0.5, 0.6]))
    assert frame[["std", "low", "high"]].isna().all(axis=None)
    assert frame["n_splits"].tolist() == [1, 1]


def test_arrays_need_no_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    summary = search_results(results([0.5, 0.9], [0.7, 0.9]))
    assert summary.params["epsilon"].tolist() == [1, 2]
    assert summary.params["lam"].tolist() == [0.5, 0.5]
    np.testing.assert_allclose(summary.scores["a"].mean, [0.6, 0.9])
    assert summary.chosen is None
    with pytest.raises(ImportError, match="needs pandas"):
        search_results_frame(results([0.5]))


def test_the_step_itself_may_be_searched(small_embedding):
    steps = [
        DPWordPerturber(small_embedding, epsilon=e, lam=0.3, document_length=1)
        for e in (3.0, 7.0)
    ]
    model = Pipeline([("p", steps[0]), ("c", LogisticRegression())])
    search = fitted(model, {"p": steps, "c__C": [1.0, 2.0]}, small_embedding)
    frame = search_results_frame(search)
    assert sorted(frame["epsilon"]) == [3, 3, 7, 7]
    assert frame["lam"].eq(0.3).all()


def test_what_a_grid_leaves_out_is_what_the_search_fits(small_embedding):
    """Of two grids, one of which varies a mechanism: no NaN and no None."""
    perturber = DPWordPerturber(small_embedding, lam=0.3, document_length=1)
    model = Pipeline([("p", perturber), ("c", LogisticRegression(C=0.7))])
    grid = [
        {"p__epsilon": [3.0]},
        {"p__epsilon": [3.0], "p__mechanism": [Exponential(), Exponential("half"),
         "randomized-response"], "c__C": [2.0]},
    ]  # fmt: skip
    frame = search_results_frame(fitted(model, grid, small_embedding))
    assert frame["p__mechanism"].tolist() == [
        "MahalanobisNoise", "Exponential()", "Exponential(calibration='half')",
        "RandomizedResponse",
    ]  # fmt: skip
    assert frame["c__C"].tolist() == [0.7, 2.0, 2.0, 2.0]


def test_values_that_are_no_numbers():
    params = [{"epsilon": 1, "lam": 0, "ngram_range": (1, n)} for n in (1, 2)]
    frame = search_results_frame(results([0.5, 0.6], params=params))
    assert frame["ngram_range"].tolist() == [(1, 1), (1, 2)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((DPWordPerturber(),), "fitted search or its cv_results_, got DPWordPerturber"),
        (({},), "fitted search or its cv_results_, got dict"),
        ((results([1.0], params=[{"p__epsilon": 1}]),), "vary one parameter lam"),
        (
            (results([1.0], params=[{"a__epsilon": 1, "b__epsilon": 1}]),),
            "vary one parameter epsilon",
        ),
        (
            ({"params": [{"epsilon": 1, "lam": 0}], "mean_test_a": [1.0]},),
            "got no split0_test_a",
        ),
        ((results([1.0]), -1), "test_over_train must be a finite number >= 0"),
    ],
)
def test_bad_tables(arguments, message):
    search, *rest = arguments
    options = dict(zip(("test_over_train",), rest, strict=False))
    with refused(message):
        search_results_frame(search, **options)


def test_a_search_over_two_perturbers_is_refused():
    search = GridSearchCV(Pipeline([(n, DPWordPerturber()) for n in "ab"]), {})
    search.cv_results_ = results([0.5]) | {"params": [{"a__epsilon": 1}]}
    with refused("exactly one word perturber, got 2"):
        search_results(search)


def test_a_halving_search_never_calls_its_rule():
    rule = best_under_constraint(maximize="a", subject_to={"a": 2}, tuned_on="public")
    search = GridSearchCV(DPWordPerturber(), {}, refit=rule)
    search.cv_results_ = results([0.5], params=[{"epsilon": 1}]) | {"iter": [0]}
    with pytest.warns(UserWarning, match="never calls its refit"):
        search_results(search)
