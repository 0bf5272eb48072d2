"""The trade-off of a search: the artists show the numbers, and these are right."""

from __future__ import annotations

import sys
from functools import partial
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline

mpl.use("Agg")
import matplotlib.pyplot as plt

from skdptext import DPWordPerturber
from skdptext.datasets import make_documents, make_embedding
from skdptext.inspection import PrivacyUtilityDisplay
from skdptext.metrics import (
    identified_scorer,
    privacy_utility_scoring,
    words_changed_scorer,
)
from skdptext.model_selection import best_under_constraint, search_results_frame
from tests.expected import no_warning, refused

EPSILON, LAM = [20, 5, 10, 20, 5, 10], [0, 0, 0, 1, 1, 1]
SCORES = {
    "changed": np.array([0.2, 0.9, 0.5, 0.1, 0.8, 0.4]),
    "accuracy": np.array([0.9, 0.52, 0.8, 0.85, 0.51, 0.7]),
    "identified": np.array([1.0, 0.3, 0.8, 1.0, 0.4, 0.9]),
}
OFF = [-0.02, -0.01, 0.0, 0.01, 0.02]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def table(n_splits=5, **scores):
    """Two λ, three ε in no order."""
    params = [{"epsilon": e, "lam": x} for e, x in zip(EPSILON, LAM, strict=True)]
    results = {"params": params}
    for name, values in (scores or SCORES).items():
        results[f"mean_test_{name}"] = values
        for split, off in enumerate(OFF[:n_splits]):
            results[f"split{split}_test_{name}"] = values + off
    return results


def searched(n_splits=5, chosen=2, refit=None, scoring=None, **scores):
    """A search that has been fitted; two labels."""
    return SimpleNamespace(
        estimator=DPWordPerturber(),
        cv_results_=table(n_splits, **scores),
        best_index_=chosen,
        refit=refit,
        scoring=privacy_utility_scoring() if scoring is None else scoring,
        classes_=np.arange(2),
    )


def test_lines_and_bands_show_the_numbers():
    search = searched()
    display = PrivacyUtilityDisplay.from_search(search)
    frame = search_results_frame(search).set_index(["score", "candidate"])
    np.testing.assert_array_equal(display.privacy, SCORES["changed"])
    np.testing.assert_array_equal(display.utility, SCORES["accuracy"])
    np.testing.assert_array_equal(
        display.utility_interval, frame.loc["accuracy"][["low", "high"]]
    )
    assert display.plot() is display
    assert display.figure_ is display.ax_.figure
    assert list(display.lines_) == list(display.bands_) == ["λ = 0", "λ = 1"]
    line = display.lines_["λ = 1"]
    # from ε = 5 to 20, as per cent
    np.testing.assert_allclose(line.get_xdata(), [80, 40, 10])
    np.testing.assert_allclose(line.get_ydata(), [51, 70, 85])
    (band,) = display.bands_["λ = 1"].get_paths()
    edge = {(round(x), round(y, 6)) for x, y in band.vertices}
    for row, x in ((4, 80), (5, 40), (3, 10)):
        for end in 100 * display.utility_interval[row]:
            assert (x, round(end, 6)) in edge
    assert display.ax_.get_xlim() == (0, 100)
    assert display.ax_.get_ylim()[0] <= 100 * display.utility_interval.min()
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["λ = 0", "λ = 1"]
    styles = {(each.get_color(), each.get_marker()) for each in display.lines_.values()}
    assert len(styles) == 2


def test_the_chosen_candidate_and_epsilon_along_its_line():
    display = PrivacyUtilityDisplay.from_search(searched(chosen=5)).plot()
    np.testing.assert_allclose(display.chosen_.get_offsets(), [[40, 70]])
    spots = [tuple(np.round(label.xy)) for label in display.labels_[:3]]
    assert spots == [(40, 70), (80, 51), (10, 85)]
    low, high = 100 * display.utility_interval[5]
    said = display.labels_[0].get_text()
    for part in ("ε = 10", "λ = 1", "40%", "70%", f"±{(high - low) / 2:.0f}"):
        assert part in said
    assert [label.get_text() for label in display.labels_[1:3]] == ["ε = 5", "ε = 20"]
    colors = {label.get_color() for label in display.labels_[1:3]}
    assert colors == {display.lines_["λ = 1"].get_color()}
    none = PrivacyUtilityDisplay.from_search(searched(chosen=None)).plot()
    assert none.chosen_ is None
    texts = [label.get_text() for label in none.labels_[:3]]
    assert texts == ["ε = 5", "ε = 10", "ε = 20"]


def test_what_guessing_reaches_and_what_was_wanted():
    bounds = {"accuracy": 0.6, "changed": ("<=", 0.95), "identified": ("<=", 0.9)}
    rule = best_under_constraint(
        maximize="changed", subject_to=bounds, tuned_on="public"
    )
    display = PrivacyUtilityDisplay.from_search(searched(refit=rule)).plot()
    assert display.wanted == {"utility": (">=", 0.6), "privacy": ("<=", 0.95)}
    assert display.chance == 0.5
    guess, *wanted = display.rules_.values()
    assert set(guess.get_ydata()) == {50}
    assert sorted(wanted[0].get_xdata()) == [95, 95]
    assert set(wanted[1].get_ydata()) == {60}
    # written on the lines, and not into the legend
    texts = [label.get_text() for label in display.labels_]
    assert texts[-3:] == list(display.rules_)
    assert "60%" in texts[-1]
    assert "95%" in texts[-2]
    assert len(display.ax_.get_legend().get_texts()) == 2


def test_equal_bounds_of_both_axes_are_two_lines():
    rule = best_under_constraint(
        maximize="changed", subject_to={"accuracy": 0.6, "changed": 0.6},
        tuned_on="public",
    )  # fmt: skip
    display = PrivacyUtilityDisplay.from_search(searched(refit=rule)).plot()
    texts = [label.get_text() for label in display.labels_]
    assert len(display.rules_) == 3
    assert texts[-3:] == list(display.rules_)


def test_the_note_is_of_fits_that_did_not_fail():
    identified = SCORES["identified"].copy()
    identified[0] = np.nan
    search = searched(chosen=None, **SCORES | {"identified": identified})
    note = PrivacyUtilityDisplay.from_search(search).note
    known = np.nanmin(identified)
    assert f"{known:.0%}" in note
    assert "nan" not in note


@pytest.mark.parametrize("privacy", ["changed", "identified"])
@pytest.mark.parametrize("chosen", [None, 0, 1])
@pytest.mark.parametrize("n_splits", [3, 5])
def test_nothing_that_is_written_collides(privacy, chosen, n_splits):
    rule = best_under_constraint(
        maximize="changed", subject_to={"accuracy": 0.6}, tuned_on="public"
    )
    search = searched(n_splits, chosen=chosen, refit=rule)
    display = PrivacyUtilityDisplay.from_search(search, privacy=privacy).plot()
    display.figure_.canvas.draw()
    frame = display.ax_.get_window_extent()
    boxes = [label.get_window_extent() for label in display.labels_]
    for i, box in enumerate(boxes):
        assert frame.x0 <= box.x0 < box.x1 <= frame.x1
        assert frame.y0 <= box.y0 < box.y1 <= frame.y1
        assert not any(map(box.overlaps, boxes[:i]))
    legend = display.ax_.get_legend().get_window_extent()
    assert legend.y1 < display.ax_.xaxis.label.get_window_extent().y0
    if display.note_ is not None:
        note = display.note_.get_window_extent()
        assert 0 <= note.y0 < note.y1 <= legend.y0
        assert display.figure_.bbox.x0 <= note.x0 < note.x1 <= display.figure_.bbox.x1


def test_scores_are_found_by_their_scorers():
    scoring = {
        "right": "balanced_accuracy",
        "kept": words_changed_scorer,
        "seen": partial(identified_scorer, n_candidates=20),
    }
    named = dict(zip(("kept", "right", "seen"), SCORES.values(), strict=True))
    display = PrivacyUtilityDisplay.from_search(searched(scoring=scoring, **named))
    np.testing.assert_array_equal(display.privacy, SCORES["changed"])
    np.testing.assert_array_equal(display.utility, SCORES["accuracy"])
    # the note has the score and its number of candidates
    assert "80%" in display.note
    assert "20" in display.note
    del scoring["kept"], named["kept"]
    display = PrivacyUtilityDisplay.from_search(searched(scoring=scoring, **named))
    np.testing.assert_array_equal(display.privacy, SCORES["identified"])
    assert display.note == ""
    display = PrivacyUtilityDisplay.from_search(
        searched(scoring=scoring, **named), privacy="right", utility="seen",
        privacy_label="a", utility_label="b",
    ).plot()  # fmt: skip
    np.testing.assert_array_equal(display.utility, SCORES["identified"])
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("a", "b")
    assert (
        "30% to 100%" in PrivacyUtilityDisplay.from_search(searched(chosen=None)).note
    )


def test_scores_that_may_be_several_must_be_named():
    two = {"f1": SCORES["accuracy"], "auc": SCORES["accuracy"]}
    with refused("utility must name one of the scores"):
        PrivacyUtilityDisplay.from_search(searched(changed=SCORES["changed"], **two))
    with refused("privacy must name one of the scores"):
        PrivacyUtilityDisplay.from_search(searched(**two), utility="f1")
    with refused("utility must be one of 'changed'"):
        PrivacyUtilityDisplay.from_search(searched(), utility="f1")
    with refused("chance must be a"):
        PrivacyUtilityDisplay.from_search(searched(), chance="half")


@pytest.mark.parametrize("n_splits", [1, 3, 4])
def test_few_splits_have_no_interval(n_splits):
    display = PrivacyUtilityDisplay.from_search(searched(n_splits)).plot()
    assert display.utility_interval is None
    assert display.bands_ == {}
    assert "±" not in display.labels_[0].get_text()


@pytest.mark.parametrize(
    ("scoring", "name", "chance"),
    [
        ("balanced_accuracy", "score", 1 / 2),
        ("accuracy", "score", None),
        (["accuracy", "balanced_accuracy"], "balanced_accuracy", 1 / 2),
        ({"own": "balanced_accuracy"}, "own", 1 / 2),
        ({"own": "roc_auc"}, "own", 0.5),
        ({"own": words_changed_scorer}, "own", None),
    ],
)
def test_chance_is_known_where_the_scorer_tells_it(scoring, name, chance):
    search = searched(chosen=None, scoring=scoring, **{name: SCORES["accuracy"]})
    display = PrivacyUtilityDisplay.from_search(search, privacy=name, utility=name)
    assert display.chance == chance


def test_a_choice_that_may_be_chance_is_told():
    with no_warning():
        PrivacyUtilityDisplay.from_search(searched(chosen=2))
    with pytest.warns(UserWarning, match="no better than chance.*try less noise"):
        PrivacyUtilityDisplay.from_search(searched(chosen=1))
    with pytest.warns(UserWarning, match=r"no better than chance.*Use cv=5 or more"):
        PrivacyUtilityDisplay.from_search(searched(3, chosen=1))
    with no_warning():  # nothing was chosen
        PrivacyUtilityDisplay.from_search(searched(chosen=None))


@pytest.mark.filterwarnings("ignore::skdptext.exceptions.PrivacyLeakWarning")
def test_search_and_figure_in_one_call():
    embedding = make_embedding(60, 8, n_clusters=6, random_state=0)
    texts, topics = make_documents(embedding, 60, length=10, random_state=0)
    model = Pipeline([
        ("noise", DPWordPerturber(embedding, document_length=10)),
        ("bayes", MultinomialNB()),
    ])  # fmt: skip
    grid = {"noise__epsilon": [1.0, 300.0], "noise__lam": [0, 1]}
    axis = plt.figure().add_subplot()
    display = PrivacyUtilityDisplay.from_estimator(
        model, texts, topics, param_grid=grid, ax=axis
    )
    assert display.ax_ is axis
    assert display.chance == 1 / len(np.unique(topics))
    assert display.chosen is None
    results = display.search_.cv_results_
    np.testing.assert_array_equal(display.privacy, results["mean_test_changed"])
    np.testing.assert_array_equal(display.utility, results["mean_test_accuracy"])
    assert display.note
    rule = best_under_constraint(
        maximize="changed", subject_to={"accuracy": 0.3}, tuned_on="public"
    )
    display = PrivacyUtilityDisplay.from_estimator(
        model, texts, topics, param_grid=grid, refit=rule, cv=5, n_jobs=1,
        privacy="identified", scoring=privacy_utility_scoring(), chance=0.2,
    )  # fmt: skip
    assert display.chosen == display.search_.best_index_
    assert display.chance == 0.2
    results = display.search_.cv_results_
    np.testing.assert_array_equal(display.privacy, results["mean_test_identified"])


def test_bad_axes_and_no_matplotlib(monkeypatch):
    display = PrivacyUtilityDisplay.from_search(searched())
    with refused("ax must be a matplotlib Axes"):
        display.plot("here")
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        display.plot()
