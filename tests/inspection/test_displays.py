"""Displays: the artists show the numbers, and the numbers are right."""

from __future__ import annotations

import sys
from functools import partial
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.text import Text

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.inspection import (
    NeighborhoodDisplay,
    PlausibleDeniabilityDisplay,
    PrivacyUtilityDisplay,
)
from skdptext.metrics import (
    identified_scorer,
    plausible_deniability,
    privacy_utility_scoring,
)
from skdptext.model_selection import best_under_constraint, search_results_frame
from tests.expected import leaks_allowed, refusals, refused
from tests.laws import ALPHA

EPSILON, LAM = [20, 5, 10, 20, 5, 10], [0, 0, 0, 1, 1, 1]
SCORES = {
    "changed": np.array([0.2, 0.9, 0.5, 0.1, 0.8, 0.4]),
    "accuracy": np.array([0.9, 0.52, 0.8, 0.85, 0.51, 0.7]),
    "identified": np.array([1.0, 0.3, 0.8, 1.0, 0.4, 0.9]),
}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def perturber(small_embedding):
    return DPWordPerturber(
        small_embedding, epsilon=3.0, lam=0.5, document_length=1
    ).fit([])


def test_percentiles_and_their_artists(small_embedding):
    perturber = DPWordPerturber(small_embedding.restrict(40), document_length=1).fit([])
    epsilons, lams = [1, 3, 10], [0, 0.5, 1]
    options = {"n_draws": 10, "random_state": 0}
    display = PlausibleDeniabilityDisplay.from_estimator(
        perturber, iter(["w1", "w2", "w3"]), epsilons=[10, 1, 3], lams=lams, **options
    )
    for i, j in np.ndindex(3, 3):
        one = clone(perturber).set_params(epsilon=epsilons[i], lam=lams[j]).fit([])
        result = plausible_deniability(one, ["w1", "w2", "w3"], **options)
        for name, columns in result.summary().items():
            expected = [columns[key] for key in ("p5", "p50", "p95")]
            assert getattr(display, name)[:, i, j].tolist() == expected
    assert display.plot() is display
    for lines, name in zip(display.lines_, ("n_unchanged", "n_distinct"), strict=True):
        low, median, high = getattr(display, name)[:, :, 2]
        line, _, (bars,) = lines[2]
        np.testing.assert_array_equal(line.get_ydata(), median)
        ends = np.array([bar[:, 1] for bar in bars.get_segments()])
        np.testing.assert_allclose(ends, np.stack([low, high], axis=1))
        # side by side, each nearest to its own ε
        assert np.abs(np.log(line.get_xdata() / [1, 3, 10])).max() < np.log(3) / 2
    # if every word were equally likely: 10 draws among 40 words
    at = [line.get_ydata()[0] for line in display.chance_]
    np.testing.assert_allclose(at, [10 / 40, 40 * (1 - (39 / 40) ** 10)])


def test_neighborhood_of_a_word(perturber, small_embedding):
    word = small_embedding.words[3]
    options = {"n_neighbors": 5, "n_landed": 3, "n_draws": 4000, "random_state": 0}
    display = NeighborhoodDisplay.from_estimator(perturber, word, **options)
    vectors = small_embedding.vectors.astype(float)
    gaps = np.linalg.norm(vectors - vectors[3], axis=1)
    order = np.argsort(gaps, kind="stable")
    assert display.words[:6].tolist() == [small_embedding.words[i] for i in order[:6]]
    np.testing.assert_allclose(display.distances[:6], gaps[order[:6]])
    assert (np.diff(display.shares[6:]) <= 0).all()
    assert display.shares.sum() <= 1 + 1e-12
    # the distribution of the release itself, from draws of its own
    outcome = perturber.perturb_words([word], 4000)[0]
    for name, share, (low, high) in zip(
        display.words, display.shares, display.intervals, strict=True
    ):
        a, b = round(share * 4000), int((outcome == name).sum())
        p = stats.fisher_exact([[a, 4000 - a], [b, 4000 - b]]).pvalue
        assert p > ALPHA / len(display.words)
        expected = stats.binomtest(a, 4000).proportion_ci(0.95)
        np.testing.assert_allclose([low, high], expected, atol=1e-9)
    again = NeighborhoodDisplay.from_estimator(perturber, word, **options)
    np.testing.assert_array_equal(display.points, again.points)
    fresh = NeighborhoodDisplay.from_estimator(perturber, word)
    assert not np.array_equal(fresh.points, display.points)
    # principal axes of the words shown: no other plane has more of their spread
    spread = np.cov(display.positions.T)
    assert abs(spread[0, 1]) < 1e-10 * spread[0, 0]
    shown = vectors[small_embedding.find(display.words)]
    most = np.linalg.eigvalsh(np.cov(shown.T))[[-1, -2]]
    np.testing.assert_allclose(np.diag(spread), most, rtol=1e-6)


def apart(labels, frame):
    """Whether labels, without their lines, lie in a frame, and none covers another."""
    boxes = [Text.get_window_extent(label) for label in labels]
    inside = all(
        frame.x0 <= box.x0 < box.x1 <= frame.x1
        and frame.y0 <= box.y0 < box.y1 <= frame.y1
        for box in boxes
    )
    return inside and not any(
        box.overlaps(other) for i, box in enumerate(boxes) for other in boxes[:i]
    )


@pytest.mark.parametrize("mechanism", [None, "exponential"])
def test_artists_of_the_neighborhood(small_embedding, mechanism):
    perturber = DPWordPerturber(
        small_embedding, epsilon=3.0, lam=0.0, document_length=1, mechanism=mechanism
    ).fit([])
    display = NeighborhoodDisplay.from_estimator(
        perturber, small_embedding.words[1], n_draws=300, random_state=0
    ).plot()
    assert len(display.points) == (300 if mechanism is None else 0)
    np.testing.assert_array_equal(display.words_.get_offsets(), display.positions)
    areas = display.words_.get_sizes()
    assert np.corrcoef(areas, display.shares)[0, 1] == pytest.approx(1)
    texts = [label.get_text().split()[0] for label in display.labels_]
    assert texts == display.words.tolist()
    display.figure_.canvas.draw()
    assert apart(display.labels_, display.figure_.bbox)


def searched(n_splits=5, chosen=2, refit=None, scoring=None, **scores):
    """A search that has been fitted: two λ, three ε in no order, two labels."""
    params = [{"epsilon": e, "lam": x} for e, x in zip(EPSILON, LAM, strict=True)]
    results = {"params": params}
    for name, values in (scores or SCORES).items():
        results[f"mean_test_{name}"] = values
        for split in range(n_splits):
            results[f"split{split}_test_{name}"] = values + (split - 2) / 100
    return SimpleNamespace(
        estimator=DPWordPerturber(),
        cv_results_=results,
        best_index_=chosen,
        refit=refit,
        scoring=scoring or {**privacy_utility_scoring(), "accuracy": "accuracy"},
        classes_=np.arange(2),
    )


def test_lines_and_bands_show_the_numbers():
    search = searched()
    display = PrivacyUtilityDisplay.from_search(search, chance=0.6).plot()
    frame = search_results_frame(search).set_index(["score", "candidate"])
    interval = frame.loc["accuracy"][["low", "high"]]
    np.testing.assert_array_equal(display.utility_interval, interval)
    assert list(display.lines_) == list(display.bands_) == ["λ = 0", "λ = 1"]
    line = display.lines_["λ = 1"]
    np.testing.assert_allclose(line.get_xdata(), [0.8, 0.4, 0.1])  # from ε = 5 to 20
    np.testing.assert_allclose(line.get_ydata(), [0.51, 0.7, 0.85])
    (band,) = display.bands_["λ = 1"].get_paths()
    edge = {(round(x, 6), round(y, 6)) for x, y in band.vertices}
    for row, x in ((4, 0.8), (5, 0.4), (3, 0.1)):
        assert {(x, round(end, 6)) for end in interval.loc[row]} <= edge
    assert [set(rule.get_ydata()) for rule in display.rules_] == [{0.6}]
    few = PrivacyUtilityDisplay.from_search(searched(4)).plot()
    assert (few.utility_interval, few.bands_) == (None, {})


def test_what_was_chosen_and_what_was_wanted():
    wanted = {"accuracy": 0.6, "changed": ("<=", 0.6)}
    rule = best_under_constraint(
        maximize="changed", subject_to=wanted, tuned_on="public"
    )
    display = PrivacyUtilityDisplay.from_search(searched(chosen=5, refit=rule)).plot()
    rules = [(set(r.get_xdata()), set(r.get_ydata())) for r in display.rules_]
    assert sorted(rules, key=str) == [({0, 1}, {0.6}), ({0.6}, {0, 1})]
    spots = {tuple(np.round(x.xy, 2)): x.get_text() for x in display.labels_}
    assert spots == {(0.8, 0.51): "ε = 5", (0.4, 0.7): "ε = 10", (0.1, 0.85): "ε = 20"}
    display.figure_.canvas.draw()
    assert apart(display.labels_, display.figure_.bbox)


def test_scores_are_found_by_name():
    names = "kept", "right", "identified"
    scores = dict(zip(names, SCORES.values(), strict=True))
    scoring = {
        "right": "balanced_accuracy",
        "identified": partial(identified_scorer, n_candidates=20),
    }
    search = searched(scoring=scoring, **scores)
    display = PrivacyUtilityDisplay.from_search(search, privacy="kept", utility="right")
    np.testing.assert_array_equal(display.privacy, SCORES["changed"])
    np.testing.assert_array_equal(display.utility, SCORES["accuracy"])
    assert (display.chance, display.note, display.privacy_label) == (1 / 2, "", "kept")
    assert display.utility_label == "documents labeled correctly (balanced)"
    scores["changed"] = scores["kept"]
    for chosen, said in ((2, "80% of"), (None, "30% to 100% of")):
        search = searched(chosen=chosen, scoring=scoring, **scores)
        note = PrivacyUtilityDisplay.from_search(search, utility="right").note
        assert said in note
        assert "20 candidates" in note
    with refused("utility must be one of 'kept'"):
        PrivacyUtilityDisplay.from_search(search)


@leaks_allowed
def test_search_and_figure_in_one_call(small_embedding):
    noise = DPWordPerturber(small_embedding, document_length=1)
    display = PrivacyUtilityDisplay.from_estimator(
        make_pipeline(noise, MultinomialNB()), [["w1"], ["w2"], ["w3"]] * 4,
        [0, 1, 2] * 4, cv=2, refit="changed",
        param_grid={"dpwordperturber__epsilon": [1.0, 300.0]},
    )  # fmt: skip
    search = display.search_
    assert (display.chance, display.chosen) == (1 / 3, search.best_index_)
    assert display.utility_label == "documents labeled correctly (balanced)"
    np.testing.assert_array_equal(
        [display.privacy, display.utility],
        [search.cv_results_[f"mean_test_{name}"] for name in ("changed", "accuracy")],
    )


@refusals(
    ({"epsilons": [1, 0]}, "epsilons"),
    ({"lams": [1.5]}, "lams"),
)
def test_bad_parameters(perturber, options):
    PlausibleDeniabilityDisplay.from_estimator(perturber, None, **options)


def test_bad_axes_and_no_matplotlib(monkeypatch):
    flat = DPWordPerturber(WordEmbedding(["a", "b"], [[0.0], [1.0]]), document_length=1)
    with refused("at least 2 dimensions, got 1"):
        NeighborhoodDisplay.from_estimator(flat.fit([]), "a")
    display = PrivacyUtilityDisplay.from_search(searched())
    with refused("ax must be a matplotlib Axes"):
        display.plot("here")
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        display.plot()
