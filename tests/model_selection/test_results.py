"""Searches over ε and λ with two scores: their table, intervals, and warnings."""

from __future__ import annotations

import pickle
import statistics
import sys
import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline

from skdptext import DPWordPerturber
from skdptext.exceptions import (
    NoFeasibleCandidateError,
    PrivacyLeakWarning,
)
from skdptext.mechanisms import Exponential
from skdptext.metrics import find_perturber, words_changed_scorer
from skdptext.model_selection import (
    best_under_constraint,
    calibrate_epsilon,
    search_results,
    search_results_frame,
)
from tests.conftest import unwatched
from tests.expected import no_warning, refused


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


RULE = {"maximize": "changed", "subject_to": {"accuracy": 0.5}}


@pytest.fixture(scope="module")
def searched(built_in, prose, pytestconfig):
    """A grid search on 300 pieces of text on two topics, half of them each."""
    texts, labels = prose
    table = built_in.restrict(1000)
    perturber = DPWordPerturber(table, document_length=8, resize="sample", lam=0.2)
    search = GridSearchCV(
        Pipeline([("my_noise", perturber), ("classify", MultinomialNB())]),
        {"my_noise__epsilon": [1, 15, 60], "classify__alpha": [0.5, 1]},
        scoring={"accuracy": "accuracy", "changed": words_changed_scorer},
        refit=best_under_constraint(**RULE, tuned_on="public", confidence=0.5),
        cv=3,
    )
    with warnings.catch_warnings(), unwatched(pytestconfig):
        warnings.simplefilter("error", PrivacyLeakWarning)
        return search.fit(texts[:300], labels[:300])


@pytest.mark.no_cover
def test_table_of_a_search_on_real_texts(searched):
    frame = search_results_frame(searched)
    assert len(frame) == 6 * 2
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
    chosen = frame[frame["chosen"] & (frame["score"] == "accuracy")]
    # chance is 0.5; the lower end of the rule's own interval cleared it
    assert chosen["mean"].item() > 0.5
    assert find_perturber(searched).epsilon == chosen["epsilon"].item()
    changed = frame[frame["score"] == "changed"].groupby("epsilon")["mean"].mean()
    assert changed.loc[1] > changed.loc[15] > changed.loc[60]


@pytest.mark.parametrize("ratio", [None, 0.3 / 0.7])
def test_interval_is_the_corrected_t_interval(ratio):
    splits = [[0.5, 0.9], [0.7, 0.9], [0.6, 0.9], [0.8, 0.9]]
    frame = search_results_frame(
        results(*splits), confidence=0.9, test_over_train=ratio
    )
    scores = [0.5, 0.7, 0.6, 0.8]
    extra = 1 / 3 if ratio is None else ratio
    margin = stats.t.ppf(0.95, 3) * statistics.stdev(scores) * (1 / 4 + extra) ** 0.5
    low, high = frame.loc[0, "low"], frame.loc[0, "high"]
    np.testing.assert_allclose([low, high], [0.65 - margin, 0.65 + margin])
    assert frame.loc[1, ["low", "high"]].tolist() == pytest.approx([0.9, 0.9])
    assert not frame["chosen"].any()


def test_arrays_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    summary = search_results(results([0.5, 0.9], [0.7, 0.9]), test_over_train=0)
    assert summary.params["epsilon"].tolist() == [1, 2]
    assert summary.params["lam"].tolist() == [0.5, 0.5]
    assert list(summary.scores) == ["a"]
    np.testing.assert_allclose(summary.scores["a"].mean, [0.6, 0.9])
    margin = stats.t.ppf(0.975, 1) * statistics.stdev([0.5, 0.7]) / 2**0.5
    assert margin > 0.6
    np.testing.assert_allclose(summary.scores["a"].low, [0, 0.9])
    assert summary.scores["a"].n_splits == 2
    assert summary.chosen is None


def test_a_single_split_has_no_interval():
    frame = search_results_frame(results([0.5, 0.6]))
    assert frame[["std", "low", "high"]].isna().all(axis=None)
    assert frame["n_splits"].tolist() == [1, 1]


def test_the_step_itself_may_be_searched(small_embedding):
    steps = [
        DPWordPerturber(small_embedding, epsilon=e, lam=0.3, document_length=1)
        for e in (3.0, 7.0)
    ]
    model = Pipeline([("p", steps[0]), ("c", LogisticRegression())])
    search = GridSearchCV(model, {"p": steps, "c__C": [1.0, 2.0]}, cv=2)
    texts = [[w] for w in small_embedding.words[:8]]
    search.fit(texts, [0, 1] * 4)
    frame = search_results_frame(search)
    assert sorted(frame["epsilon"]) == [3, 3, 7, 7]
    assert frame["lam"].eq(0.3).all()


def test_what_a_grid_leaves_out_is_what_the_search_fits(small_embedding):
    """Of two grids, one of which varies a mechanism: no NaN and no None."""
    perturber = DPWordPerturber(small_embedding, lam=0.3, document_length=1)
    model = Pipeline([("p", perturber), ("c", LogisticRegression(C=0.7))])
    grid = [
        {"p__epsilon": [3.0]},
        {"p__epsilon": [3.0], "p__mechanism": [Exponential()], "c__C": [2.0]},
    ]
    search = GridSearchCV(model, grid, cv=2)
    search.fit([[w] for w in small_embedding.words[:8]], [0, 1] * 4)
    frame = search_results_frame(search)
    assert frame["p__mechanism"].tolist() == ["MahalanobisNoise", "Exponential"]
    assert frame["c__C"].tolist() == [0.7, 2.0]
    alone = search_results_frame(
        {"params": [{"epsilon": 1, "lam": 0, "mechanism": m} for m in (None, "own")],
         "mean_test_a": [0, 0], "split0_test_a": [0, 0], "split1_test_a": [0, 0]}
    )  # fmt: skip
    assert alone["mechanism"].tolist() == ["MahalanobisNoise", "own"]


def test_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="needs pandas"):
        search_results_frame(results([0.5]))


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
        ((results([1.0]), 1.0), r"confidence must be .* in \(0, 1\), got 1"),
        ((results([1.0]), 0.9, -1), "test_over_train must be a finite number >= 0"),
    ],
)
def test_bad_tables(arguments, message):
    search, *rest = arguments
    options = dict(zip(("confidence", "test_over_train"), rest, strict=False))
    with refused(message):
        search_results_frame(search, **options)


def test_a_bound_by_interval_refuses_the_lucky():
    """The mean of the first candidate meets the bound; its interval does not."""
    table = results([0.7, 0.84], [0.8, 0.85], [0.9, 0.86], name="accuracy")
    table["mean_test_changed"] = np.array([0.9, 0.6])
    options = {"maximize": "changed", "tuned_on": "public"}
    at_least = {"subject_to": {"accuracy": 0.79}}
    at_most = {"subject_to": {"accuracy": ("<=", 0.9)}}
    for bound in (at_least, at_most):
        assert best_under_constraint(**options, **bound)(table) == 0
        assert best_under_constraint(**options, **bound, confidence=0.95)(table) == 1
    empty = table | {f"split{i}_test_accuracy": [np.nan] * 2 for i in range(3)}
    with pytest.raises(NoFeasibleCandidateError, match="all scores are NaN"):
        best_under_constraint(**options, **at_least, confidence=0.9)(empty)
    wide = best_under_constraint(
        **options, **at_least, confidence=0.95, test_over_train=100
    )
    with pytest.raises(NoFeasibleCandidateError, match=r"near ends of the 0\.95"):
        wide(table)
    text = repr(wide)
    assert text.endswith("confidence=0.95, test_over_train=100.0, tuned_on='public')")
    assert repr(pickle.loads(pickle.dumps(wide))) == text


def test_one_split_is_no_evidence():
    rule = best_under_constraint(
        maximize="a", subject_to={"a": 0}, confidence=0.9, tuned_on="released"
    )
    with refused("confidence must be None where"):
        rule(results([0.5]))


@pytest.mark.no_cover
def test_tuning_on_what_may_be_private_warns(searched):
    table = searched.cv_results_
    with pytest.warns(PrivacyLeakWarning, match="epsilon chosen by scores") as caught:
        best_under_constraint(**RULE)(table)
    assert len(caught) == 1
    assert 'tuned_on="public"' in str(caught[0].message)
    quiet = [{"tuned_on": "public"}, {"tuned_on": "released"}]
    with no_warning():
        for options in quiet:
            best_under_constraint(**RULE, **options)(table)
        # Nothing of the release is chosen: no false alarm.
        best_under_constraint(**RULE)(table | {"params": [{"classify__alpha": 1}] * 6})


def test_calibration_by_words_asks_where_they_are_from(small_embedding):
    perturber = DPWordPerturber(small_embedding, document_length=1).fit([])
    words = list(small_embedding.words[:5])
    with no_warning():
        calibrate_epsilon(  # reads the table only
            perturber, words=small_embedding.words, random_state=0, tuned_on="public"
        )
        calibrate_epsilon(perturber, words=words, random_state=0, tuned_on="public")
    with pytest.warns(PrivacyLeakWarning, match="ε is chosen by words of documents"):
        calibrate_epsilon(perturber, words=words, random_state=0)
    for make in (
        lambda: calibrate_epsilon(perturber, tuned_on="secret"),
        lambda: best_under_constraint(**RULE, tuned_on="secret"),
    ):
        with refused("tuned_on must be one of 'private', 'public'"):
            make()


def test_intervals_of_shares_stay_shares():
    def ends(*scores):
        results = {f"split{i}_test_a": [s] for i, s in enumerate(scores)}
        results |= {"params": [{"epsilon": 1, "lam": 0}], "mean_test_a": [0]}
        score = search_results(results).scores["a"]
        return score.low[0], score.high[0]

    assert ends(0.99, 0.9, 1.0)[1] == 1
    assert ends(0.99, 0.9, 1.0)[0] > 0
    assert ends(0.0, 0.1, 0.05)[0] == 0
    assert ends(-0.01, 0.1, 0.05)[0] < -0.01  # no share
    assert ends(1.2, 0.9, 1.0)[1] > 1.2


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
