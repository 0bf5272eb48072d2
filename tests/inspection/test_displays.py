"""Displays: the artists show the numbers, and the numbers are right."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

mpl.use("Agg")
import matplotlib.pyplot as plt

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.inspection import (
    NeighborhoodDisplay,
    PlausibleDeniabilityDisplay,
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


def shown(container):
    """Data and bars of an errorbar: x, y, and segments per direction."""
    line, _, bars = container
    return line.get_xdata(), line.get_ydata(), [bar.get_segments() for bar in bars]


@pytest.mark.no_cover
def test_percentiles_and_their_artists(small_embedding):
    perturber = DPWordPerturber(small_embedding.restrict(40), document_length=1).fit([])
    epsilons, lams = [10, 1, 3], [0, 0.5, 1]
    options = {"n_draws": 10, "random_state": 0}
    display = PlausibleDeniabilityDisplay.from_estimator(
        perturber, iter(["w1", "w2", "w3"]), epsilons=epsilons, lams=lams, **options
    )
    for i, j in np.ndindex(3, 3):
        one = clone(perturber).set_params(epsilon=epsilons[i], lam=lams[j]).fit([])
        result = plausible_deniability(one, ["w1", "w2", "w3"], **options)
        for name, columns in result.summary().items():
            shown_ = getattr(display, name)[:, i, j].tolist()
            assert shown_ == [columns[key] for key in ("p5", "p50", "p95")]
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


def test_no_grid_into_given_axes(perturber):
    _, axes = plt.subplots(2, 1)
    made = PlausibleDeniabilityDisplay.from_estimator(perturber, n_draws=20)
    display = made.plot(axes)
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
    both = PlausibleDeniabilityDisplay.from_estimator(perturber, n_draws=5)
    with refused("ax must be 2 matplotlib Axes"):
        both.plot(plt.figure().add_subplot())


@refusals(
    ({"epsilons": 3.0}, "epsilons must be a sequence"),
    ({"epsilons": []}, "epsilons must be .* at least one"),
    ({"epsilons": [1, 0]}, r"epsilons\[1\] must be a finite number > 0"),
    ({"lams": [1.5]}, r"lams\[0\] must be a finite number in \[0, 1\]"),
    ({"lams": np.array(0.5)}, "lams must be a sequence"),
    ({"words": "w1"}, "words must be an iterable of str"),
)
def test_bad_grids(perturber, options):
    PlausibleDeniabilityDisplay.from_estimator(perturber, **options)
