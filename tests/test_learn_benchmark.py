"""The experiment on learning from private text: its divisions and intervals."""

from __future__ import annotations

import numpy as np
from experiments.learn import corpora, run
from experiments.learn.corpora import Case


def test_thirds_share_no_text():
    parts = corpora.split("docstrings", 0)
    thirds = [parts.public, parts.private, parts.test]
    assert len(parts.private) == 500
    assert len(set().union(*thirds)) == sum(map(len, thirds))
    topics = parts.public_topic, parts.topic, parts.test_topic
    assert [len(t) for t in topics] == [len(texts) for texts in thirds]
    assert corpora.split("docstrings", 1).public != parts.public


def test_authors_are_drawn_by_rank():
    rng = np.random.default_rng(0)
    assert corpora.drawn_authors(Case("SMS", 1.0), 10, rng) is None
    drawn = corpora.drawn_authors(Case("SMS", 1.0, authors=100), 40_000, rng)
    sizes = np.bincount(drawn, minlength=100)
    # false alarms: 6 standard deviations, less than 1e-8
    expected = 40_000 * np.arange(1, 101) ** -0.5 / (np.arange(1, 101) ** -0.5).sum()
    assert (abs(sizes - expected) < 6 * np.sqrt(expected)).all()


def test_intervals_are_students_over_splits():
    from scipy.stats import ttest_1samp

    values = [0.7, 0.72, 0.69, 0.75, 0.71]
    theirs = ttest_1samp(values, 0).confidence_interval()
    np.testing.assert_allclose(run.interval(values)[1:], theirs)
    assert run.interval([0.5]) == (0.5, 0.5, 0.5)
