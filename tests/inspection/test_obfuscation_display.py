"""The figure of a report holds the report's numbers."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from skdptext import DPWordPerturber
from skdptext.attacks import linear_topic_classifier
from skdptext.datasets import make_documents, make_embedding
from skdptext.exceptions import InvalidParameterError
from skdptext.inspection import ObfuscationDisplay, obfuscation_report


@pytest.fixture(scope="module")
def reports():
    """Of one perturber, and of a grid of three ε and two λ."""
    embedding = make_embedding(100, 6, random_state=0)
    documents, topics = make_documents(embedding, 24, 2, length=20, random_state=0)
    model = linear_topic_classifier(embedding)
    grid = [
        DPWordPerturber(embedding, epsilon=e, lam=lam, document_length=20)
        for lam in (0.0, 0.5)
        for e in (30.0, 3.0, 10.0)
    ]
    options = {
        "adversaries": {"a": (model, "author"), "t": (model, "topic")},
        "random_state": 0,
        "cv": 2,
        "linkage": False,
    }
    authors = np.tile(["ann", "bob"], 12)
    return [
        obfuscation_report(documents, authors, topics, p, **options)
        for p in (grid[0], grid)
    ]


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.mark.no_cover
def test_one_release_is_a_row_per_adversary(reports):
    display = reports[0].plot()
    axis, r = display.ax_, reports[0].results
    assert isinstance(display, ObfuscationDisplay)
    names = [label.get_text() for label in axis.get_yticklabels()]
    assert names == [
        f"{who}, knows {what}" for who in "at" for what in ("originals", "releases")
    ]
    clean, noisy = (box.lines[0] for box in axis.containers)
    np.testing.assert_allclose(clean.get_xdata(), r["clean"])
    np.testing.assert_allclose(noisy.get_xdata(), r["noisy"])
    # the first line stands on top
    assert (np.diff(noisy.get_ydata()) < 0).all()
    bars = axis.containers[1].lines[2][0].get_segments()
    ends = np.array([segment[:, 0] for segment in bars])
    np.testing.assert_allclose(ends, np.stack([r["noisy_low"], r["noisy_high"]], 1))
    assert "accuracy" in axis.get_xlabel()
    assert "95%" in axis.get_xlabel()
    labels = axis.get_legend_handles_labels()[1]
    assert sorted(labels) == ["chance (most frequent)", "in clear", "released"]


def test_a_grid_is_a_line_per_lam_by_rising_epsilon(reports):
    display = ObfuscationDisplay.from_report(reports[1])
    lines = {box.get_label(): box.lines[0] for box in display.ax_.containers}
    assert set(lines) == {
        f"{target}, λ = {lam}" for target in ("author", "topic") for lam in ("0", "0.5")
    }
    assert lines["topic, λ = 0.5"].get_xdata().tolist() == [3, 10, 30]
    best = [reports[1].strongest(release, "topic")["noisy"] for release in (4, 5, 3)]
    assert lines["topic, λ = 0.5"].get_ydata().tolist() == best
    assert display.ax_.get_xlabel().startswith("ε (nats")
    texts = {text.get_text() for text in display.ax_.texts}
    assert texts == {
        f"{t} {level}" for t in ("author", "topic") for level in ("in clear", "chance")
    }


def test_trade_off(reports):
    _, axis = plt.subplots()
    display = reports[1].plot(kind="trade-off", ax=axis)
    assert display.ax_ is axis
    assert display.figure_ is axis.figure
    lines = {box.get_label(): box.lines[0] for box in axis.containers}
    assert set(lines) == {"λ = 0", "λ = 0.5"}
    for lam, releases in (("λ = 0", (1, 2, 0)), ("λ = 0.5", (4, 5, 3))):
        for target, data in (
            ("topic", lines[lam].get_xdata()),
            ("author", lines[lam].get_ydata()),
        ):
            wanted = [reports[1].strongest(i, target)["noisy"] for i in releases]
            assert np.asarray(data).tolist() == wanted
    texts = [text.get_text() for text in axis.texts]
    assert texts == ["3", "10", "30"] * 2


def test_without_topics_there_is_no_trade_off(reports):
    results = {
        name: column[reports[1].results["target"] == "author"]
        for name, column in reports[1].results.items()
    }
    display = ObfuscationDisplay(results)
    assert len(display.plot().ax_.containers) == 2
    with pytest.raises(InvalidParameterError, match="for authors and for topics"):
        display.plot(kind="trade-off")


def test_bad_input(reports):
    with pytest.raises(InvalidParameterError, match="report must be"):
        ObfuscationDisplay.from_report("report")
    with pytest.raises(InvalidParameterError, match="kind must be one of"):
        reports[0].plot(kind="pie")
    with pytest.raises(InvalidParameterError, match="'epsilon' or 'trade-off'"):
        reports[1].plot(kind="adversaries")
