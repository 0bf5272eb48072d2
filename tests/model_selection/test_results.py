"""Searches over ε and λ with two scores: their table, and its intervals."""

import statistics
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from skdptext import DPWordPerturber
from skdptext.mechanisms import Exponential
from skdptext.metrics import words_changed_scorer
from skdptext.model_selection import search_results, search_results_frame
from tests.expected import refusals


def search(*splits):
    """A search with one score, given by split."""
    params = [{"epsilon": i + 1.0} for i in range(len(splits[0]))]
    by_split = {f"split{i}_test_a": np.array(s) for i, s in enumerate(splits)}
    results = {"params": params, "mean_test_a": np.mean(splits, axis=0), **by_split}
    return SimpleNamespace(estimator=DPWordPerturber(lam=0.2), cv_results_=results)


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
    found = search_results(search(*([s] for s in scores)), test_over_train=ratio)
    extra = 1 / (k - 1) if ratio is None else ratio
    assert found.scores["a"].std == pytest.approx([statistics.stdev(scores)])
    error = statistics.stdev(scores) * (1 / k + extra) ** 0.5
    margin, mean = stats.t.ppf(0.975, k - 1) * error, np.mean(scores)
    assert found.scores["a"].low[0] == pytest.approx(max(lowest, mean - margin))
    assert found.scores["a"].high[0] == pytest.approx(min(highest, mean + margin))


def test_a_single_split_has_no_interval_and_arrays_need_no_pandas(monkeypatch):
    one = search([0.5, 0.6])
    frame = search_results_frame(one)
    assert frame[["std", "low", "high"]].isna().all(axis=None)
    assert frame["n_splits"].tolist() == [1, 1]
    monkeypatch.setitem(sys.modules, "pandas", None)
    found = search_results(one)
    assert found.params["epsilon"].tolist() == [1, 2]
    assert found.params["lam"].tolist() == [0.2, 0.2]
    np.testing.assert_allclose(found.scores["a"].mean, [0.5, 0.6])
    assert found.chosen is None
    with pytest.raises(ImportError, match="needs pandas"):
        search_results_frame(one)


def test_the_table_is_what_the_search_fits_and_scores(small_embedding):
    """Of grids that vary a mechanism, the classifier, or the whole step: no NaN."""
    perturber = DPWordPerturber(small_embedding, lam=0.3, document_length=1)
    model = Pipeline([("p", perturber), ("c", LogisticRegression(C=0.7))])
    half, other = Exponential("half"), clone(perturber).set_params(epsilon=7.0)
    grid = [
        {"p__epsilon": [3.0], "p__mechanism": [half, "randomized-response"]},
        {"p": [other], "c__C": [2.0], "c__class_weight": [{0: 1, 1: 2}]},
    ]
    scoring = {"accuracy": "accuracy", "changed": words_changed_scorer}
    texts = [[w] for w in small_embedding.words[:12]]
    searched = GridSearchCV(model, grid, cv=3, scoring=scoring, refit="changed")
    frame = search_results_frame(searched.fit(texts, [0, 1] * 6))
    for name in scoring:
        part = frame[frame["score"] == name].set_index("candidate").loc[range(3)]
        np.testing.assert_allclose(
            part["mean"], searched.cv_results_[f"mean_test_{name}"]
        )
        assert np.flatnonzero(part["chosen"]).tolist() == [searched.best_index_]
        assert part["epsilon"].tolist() == [3, 3, 7]
        assert part["c__C"].tolist() == [0.7, 0.7, 2.0]
        assert part["c__class_weight"].tolist() == [None, None, {0: 1, 1: 2}]
        assert part["p__mechanism"].nunique() == 3
    assert "p__epsilon" not in frame
    assert frame["lam"].eq(0.3).all()  # not searched: from the perturber


@refusals(
    (DPWordPerturber(), {}, "search must be a fitted search, got DPWordPerturber"),
    (search([1.0]), {"test_over_train": -1}, "test_over_train must be a finite .* 0"),
)
def test_bad_searches(given, options):
    search_results_frame(given, **options)
