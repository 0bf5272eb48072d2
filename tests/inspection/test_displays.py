"""Displays: the artists show the numbers, and the numbers are right."""

from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
import pytest
from scipy import stats

mpl.use("Agg")
import matplotlib.pyplot as plt

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.inspection import (
    NeighborhoodDisplay,
    PlausibleDeniabilityDisplay,
    PrivacyUtilityDisplay,
)
from skdptext.metrics import plausible_deniability
from tests.expected import refusals, refused
from tests.laws import ALPHA


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def perturber(small_embedding):
    return DPWordPerturber(
        small_embedding, epsilon=3.0, lam=0.5, document_length=1
    ).fit([])


def trade(**changes):
    """Two λ, three ε in no order; the scores of λ = 1 are worse throughout."""
    epsilon, lam = [20, 5, 10, 20, 5, 10], [0, 0, 0, 1, 1, 1]
    changed = np.array([0.2, 0.9, 0.5, 0.1, 0.8, 0.4])
    accuracy = np.array([0.9, 0.5, 0.8, 0.85, 0.45, 0.7])
    results = {
        "params": [
            {"noise__epsilon": e, "noise__lam": x}
            for e, x in zip(epsilon, lam, strict=True)
        ],
    }
    for name, scores in (("changed", changed), ("accuracy", accuracy)):
        results[f"mean_test_{name}"] = scores
        results[f"split0_test_{name}"] = scores - 0.01
        results[f"split1_test_{name}"] = scores + 0.01
    return results | changes


def trade_display():
    return PrivacyUtilityDisplay.from_search(
        trade(), privacy="changed", utility="accuracy"
    )


def shown(container):
    """Data and bars of an errorbar: x, y, and segments per direction."""
    line, _, bars = container
    return line.get_xdata(), line.get_ydata(), [bar.get_segments() for bar in bars]


def test_trade_shows_its_numbers():
    display = trade_display()
    assert display.on_front.tolist() == [True] * 3 + [False] * 3
    assert display.plot() is display
    assert display.figure_ is display.ax_.figure
    assert list(display.lines_) == ["λ = 0", "λ = 1"]
    x, y, (across, up) = shown(display.lines_["λ = 1"])
    assert x.tolist() == [0.8, 0.4, 0.1]  # ε = 5, 10, 20
    assert y.tolist() == [0.45, 0.7, 0.85]
    np.testing.assert_allclose(up[0][:, 1], display.utility_interval[4])
    np.testing.assert_allclose(across[2][:, 0], display.privacy_interval[3])
    assert display.front_.get_xydata().tolist() == [[0.2, 0.9], [0.5, 0.8], [0.9, 0.5]]
    labels = {tuple(label.xy): label.get_text() for label in display.labels_}
    assert labels == {(0.2, 0.9): "ε = 20", (0.9, 0.5): "ε = 5", (0.5, 0.8): "ε = 10"}
    assert display.chosen_ is None
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["λ = 0", "λ = 1", "Pareto front"]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == (
        "changed", "accuracy",
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["privacy", "utility"])
def test_scores_against_epsilon(kind):
    display = trade_display()
    display.chosen = 2
    axis = plt.figure().add_subplot()
    display.plot(axis, kind=kind)
    assert display.ax_ is axis
    x, y, _ = shown(display.lines_["λ = 0"])
    assert x.tolist() == [5, 10, 20]
    assert y.tolist() == getattr(display, kind)[[1, 2, 0]].tolist()
    spot = [[10, getattr(display, kind)[2]]]
    assert display.chosen_.get_offsets().tolist() == spot
    assert display.front_ is None
    assert display.labels_ == []
    assert axis.get_xscale() == "log"
    assert [t.get_text() for t in axis.get_xticklabels()] == ["5", "10", "20"]


def test_less_may_be_better_and_one_split_has_no_bars():
    table = {k: v for k, v in trade().items() if not k.startswith("split1")}
    display = PrivacyUtilityDisplay.from_search(
        table, privacy="changed", utility="accuracy", directions=("min", "max")
    )
    assert display.on_front.tolist() == [True] + [False] * 2 + [True] + [False] * 2
    display.groups = None
    display.plot(label_front=False)
    assert shown(display.lines_["λ = 0"])[2] == []
    assert display.labels_ == []


def test_chance_is_a_line_and_no_legend_covers_anything(perturber):
    display = trade_display()
    assert display.plot().chance_ is None
    display.chance = 0.5
    for kind, drawn in (("trade", True), ("utility", True), ("privacy", False)):
        line = display.plot(kind=kind).chance_
        assert (line is not None) == drawn
        if drawn:
            assert set(line.get_ydata()) == {0.5}
            texts = display.ax_.get_legend().get_texts()
            assert "chance" in [text.get_text() for text in texts]
    deniability = PlausibleDeniabilityDisplay.from_estimator(perturber, n_draws=5)
    for axis in (display.ax_, deniability.plot().axes_[1]):
        axis.figure.canvas.draw()
        legend = axis.get_legend().get_window_extent()
        assert legend.y1 < axis.xaxis.label.get_window_extent().y0
        assert legend.y0 >= 0
        assert legend.x1 <= axis.figure.bbox.x1
    # in a figure without a layout nothing makes room
    _, axis = plt.subplots()
    display.plot(axis)
    legend = axis.get_legend().get_window_extent()
    assert legend.x1 < axis.get_window_extent().x1


@pytest.mark.no_cover
def test_percentiles_and_their_artists(small_embedding):
    perturber = DPWordPerturber(small_embedding.restrict(40), document_length=1).fit([])
    epsilons, lams = [10, 1, 3], [0, 0.5, 1]
    result = plausible_deniability(
        perturber, epsilons=epsilons, lams=lams, n_draws=10, random_state=0
    )
    display = PlausibleDeniabilityDisplay.from_estimator(
        perturber, epsilons=epsilons, lams=lams, n_draws=10, random_state=0
    )
    summary = result.summary()
    for name in ("n_unchanged", "n_distinct"):
        for row, key in enumerate(("p5", "p50", "p95")):
            np.testing.assert_array_equal(
                getattr(display, name)[row], summary[name][key]
            )
    assert display.plot() is display
    assert len(display.axes_) == len(display.lines_) == 2
    for lines, name in zip(display.lines_, ("n_unchanged", "n_distinct"), strict=True):
        low, median, high = getattr(display, name)[:, [1, 2, 0], 2]
        x, y, (bars,) = shown(lines[1.0])
        np.testing.assert_array_equal(y, median)
        np.testing.assert_allclose([b[0, 1] for b in bars], low)
        np.testing.assert_allclose([b[1, 1] for b in bars], high)
        # side by side, each nearest to its own ε
        assert np.abs(np.log(x / [1, 3, 10])).max() < np.log(3) / 2
        np.testing.assert_allclose(shown(lines[0.5])[0], [1, 3, 10])
    assert display.axes_[0].get_xlabel() == "ε"
    assert "of 10" in display.axes_[0].get_ylabel()
    legend = display.axes_[1].get_legend().get_texts()
    assert [text.get_text() for text in legend] == ["λ = 0", "λ = 0.5", "λ = 1"]


def test_a_result_without_a_grid_into_given_axes(perturber):
    result = plausible_deniability(perturber, n_draws=20)
    _, axes = plt.subplots(2, 1)
    display = PlausibleDeniabilityDisplay.from_result(result).plot(axes)
    assert display.axes_.tolist() == axes.tolist()
    assert display.lines_[0][0.5][0].get_xdata().tolist() == [3.0]
    assert display.n_unchanged.shape == (3, 1, 1)


def test_neighbourhood_of_a_word(perturber, small_embedding):
    word = small_embedding.words[3]
    options = {"n_neighbors": 5, "n_landed": 3, "n_draws": 4000, "random_state": 0}
    display = NeighborhoodDisplay.from_estimator(perturber, word, **options)
    gaps = np.linalg.norm(
        small_embedding.vectors.astype(float) - small_embedding[word], axis=1
    )
    order = np.argsort(gaps, kind="stable")
    assert display.words[0] == word
    assert display.words[1:6].tolist() == [small_embedding.words[i] for i in order[1:6]]
    np.testing.assert_allclose(display.distances[:6], gaps[order[:6]])
    assert (np.diff(display.shares[6:]) <= 0).all()
    assert display.shares.sum() <= 1 + 1e-12
    # the law of the release itself, from draws of its own
    outcome = perturber.perturb_words([word], 4000)[0]
    for name, share in zip(display.words, display.shares, strict=True):
        a, b = round(share * 4000), int((outcome == name).sum())
        p = stats.fisher_exact([[a, 4000 - a], [b, 4000 - b]]).pvalue
        assert p > ALPHA / len(display.words)
    again = NeighborhoodDisplay.from_estimator(perturber, word, **options)
    np.testing.assert_array_equal(display.points, again.points)
    fresh = NeighborhoodDisplay.from_estimator(perturber, word)
    assert not np.array_equal(fresh.points, display.points)


def test_plane_of_columns_and_of_directions(perturber, small_embedding):
    dim = small_embedding.dim
    word = small_embedding.words[0]
    options = {"n_neighbors": 4, "n_landed": 0, "n_draws": 50, "random_state": 0}
    columns = NeighborhoodDisplay.from_estimator(
        perturber, word, projection=(2, 1), **options
    )
    vectors = small_embedding.vectors[small_embedding.find(columns.words)]
    gaps = vectors.astype(float) - small_embedding[word]
    np.testing.assert_allclose(columns.positions, gaps[:, [2, 1]])
    assert columns.axes_names == ("column 2", "column 1")
    skew = np.zeros((dim, 2))
    skew[2, 0], skew[1, 1], skew[2, 1] = 5.0, 0.1, 3.0  # spans the same plane
    given = NeighborhoodDisplay.from_estimator(
        perturber, word, projection=skew, **options
    )
    np.testing.assert_allclose(given.positions, columns.positions, atol=1e-12)
    learned = NeighborhoodDisplay.from_estimator(perturber, word, **options)
    # principal axes: no correlation, and no plane shows more of the spread
    spread = np.cov(learned.positions.T)
    assert abs(spread[0, 1]) < 1e-10 * spread[0, 0]
    total = np.linalg.eigvalsh(np.cov(gaps.T))
    np.testing.assert_allclose(np.diag(spread), total[[-1, -2]])


@pytest.mark.parametrize("dim", [2, 3, 12])
@pytest.mark.parametrize("lam", [0, 1])
def test_contours_hold_their_share_of_the_noise(dim, lam):
    rng = np.random.default_rng(dim)
    spread = rng.normal(size=(40, dim)) * np.linspace(0.3, 2, dim)
    table = WordEmbedding([f"w{i}" for i in range(40)], spread)
    model = DPWordPerturber(table, epsilon=4.0, lam=lam, document_length=1).fit([])
    display = NeighborhoodDisplay.from_estimator(
        model,
        "w0",
        n_draws=1000,
        projection=(0, dim - 1),
    )
    for level, outline in zip((0.5, 0.95), display.contours, strict=True):
        # inside the ellipse: nearer than its corner in its own scatter
        scatter = np.linalg.inv(outline[:-1].T @ outline[:-1] / (len(outline) - 1) * 2)
        lengths = np.einsum("ij,jk,ik->i", display.points, scatter, display.points)
        inside = int((lengths <= 1).sum())
        assert stats.binomtest(inside, 1000, level).pvalue > ALPHA


def test_artists_of_the_neighbourhood(perturber, small_embedding):
    display = NeighborhoodDisplay.from_estimator(
        perturber, small_embedding.words[1], n_draws=300, random_state=0
    )
    assert display.plot() is display
    np.testing.assert_array_equal(display.words_.get_offsets(), display.positions)
    np.testing.assert_array_equal(display.points_.get_offsets(), display.points)
    areas = display.words_.get_sizes()
    assert np.corrcoef(areas, display.shares)[0, 1] == pytest.approx(1)
    for line, outline in zip(display.contours_, display.contours, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), outline)
    texts = [label.get_text().split()[0] for label in display.labels_]
    assert texts == display.words.tolist()
    assert "Euclidean distance" in display.ax_.get_xlabel()
    frame = display.ax_.get_window_extent()
    boxes = [label.get_window_extent() for label in display.labels_]
    for i, box in enumerate(boxes):
        assert frame.x0 <= box.x0
        assert box.x1 <= frame.x1
        assert not any(map(box.overlaps, boxes[:i]))
    axis = plt.figure().add_subplot()
    assert display.plot(axis, label_words=False).ax_ is axis
    assert display.labels_ == []


@pytest.mark.no_cover
def test_words_are_no_mathematics():
    """Neither that of the title, nor those of the labels."""
    words = ["$_$", "$$", "a^$", "$"]
    table = WordEmbedding(words, [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [0.0, -3.0]])
    model = DPWordPerturber(table, epsilon=3.0, document_length=1).fit([])
    display = NeighborhoodDisplay.from_estimator(model, words[0]).plot()
    display.figure_.canvas.draw()
    shown = [label.get_text().split()[0] for label in display.labels_]
    assert shown == words


ONE = WordEmbedding(["a", "b"], [[0.0], [1.0]])


@refusals(
    (["w"], {}, "word must be a str"),
    (None, {"n_neighbors": 0}, "n_neighbors must be an integer >= 1"),
    (None, {"n_landed": -1}, "n_landed must be an integer >= 0"),
    (None, {"n_draws": 0}, "n_draws must be an integer >= 1"),
    (None, {"projection": "tsne"}, 'projection must be "pca", two columns'),
    (None, {"projection": (1, 1)}, "two different columns"),
    (None, {"projection": (0, 99)}, r"projection\[1\] must be an integer"),
    (None, {"projection": np.ones((3, 3))}, "array of shape"),
    (None, {"projection": np.ones((8, 2))}, "two finite, independent directions"),
)
def test_bad_neighbourhoods(perturber, small_embedding, word, options):
    NeighborhoodDisplay.from_estimator(
        perturber, word or small_embedding.words[0], **options
    )


def test_other_bad_parameters(perturber):
    flat = DPWordPerturber(ONE, document_length=1).fit([])
    with refused("at least 2 dimensions, got 1"):
        NeighborhoodDisplay.from_estimator(flat, "a")
    with refused("result must be a Plausible"):
        PlausibleDeniabilityDisplay.from_result(perturber)
    with refused("utility must be one of 'changed'"):
        PrivacyUtilityDisplay.from_search(trade(), privacy="changed", utility="f1")
    display = trade_display()
    with refused("kind must be one of 'trade'"):
        display.plot(kind="bars")
    with refused("ax must be a matplotlib Axes"):
        display.plot("here")
    both = PlausibleDeniabilityDisplay.from_estimator(perturber, n_draws=5)
    with refused("ax must be 2 matplotlib Axes"):
        both.plot(plt.figure().add_subplot())


def test_matplotlib_is_asked_for_when_it_is_missing(monkeypatch):
    display = trade_display()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        display.plot()
