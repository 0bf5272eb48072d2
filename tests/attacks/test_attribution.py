"""Which documents adversaries attribute rightly, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from skdptext import DPWordPerturber
from skdptext.attacks import attribution_attack
from skdptext.exceptions import InvalidParameterError
from skdptext.inspection import obfuscation_report
from tests.inspection.corpus import CLEAN, Lookup, linear, make_corpus


@pytest.fixture(scope="module")
def synthetic():
    return make_corpus()


def test_documents_one_by_one(synthetic):
    """Of each document the share of tries in which it was told rightly."""
    embedding, documents, _, topics = synthetic
    documents = list(documents)
    documents[40] = documents[1]  # of topic "x", but the very text of one of topic "y"
    splits = [([0, 1, 2, 3], [4, 40, 41]), ([0, 2, 3], [40, 42])]
    expected = np.full(48, np.nan)
    expected[[4, 40, 41, 42]] = [1, 0.5, 0, 1]  # what is not known again passes for "x"
    found = attribution_attack(
        documents,
        topics,
        topics,
        DPWordPerturber(embedding, epsilon=CLEAN, document_length=30),
        adversaries={"again": (Lookup(), "topic")},
        cv=splits,
        random_state=0,
    )
    assert [a.trained_on for a in found.attempts] == ["originals", "releases"]
    for attempt in found.attempts:
        assert attempt[:3] == (0, "again", "topic")
        np.testing.assert_array_equal(attempt.clean, expected)
        np.testing.assert_array_equal(attempt.noisy, expected)
    assert found.n_splits == 2
    assert found.n_strangers == 0


@pytest.mark.no_cover
def test_the_report_is_made_of_it(synthetic):
    embedding, documents, authors, topics = synthetic
    perturbers = [
        DPWordPerturber(embedding, epsilon=e, document_length=30) for e in (1.0, 9.0)
    ]
    options = {
        "adversaries": {"a": (linear(), "author"), "t": (linear(), "topic")},
        "n_releases": 2,
        "random_state": 4,
    }
    found = attribution_attack(documents, authors, topics, perturbers, **options)
    report = obfuscation_report(documents, authors, topics, perturbers, **options)
    for name in ("release", "adversary", "target", "trained_on"):
        values = [getattr(attempt, name) for attempt in found.attempts]
        assert values == report.results[name].tolist()
    for name in ("clean", "noisy"):
        means = [np.nanmean(getattr(attempt, name)) for attempt in found.attempts]
        np.testing.assert_allclose(means, report.results[name], rtol=1e-12)
    assert [p.epsilon for p in found.perturbers] == [1.0, 9.0]
    assert found.chance["author"]["uniform"] == 1 / 3
    assert found.chance_if_unrelated is None


def test_topics_that_give_the_authors_away(synthetic):
    embedding, documents, _, topics = synthetic
    found = attribution_attack(
        documents,
        topics,
        topics,
        DPWordPerturber(embedding, epsilon=CLEAN, document_length=30),
        adversaries={"a": (linear(), "author")},
        trained_on="originals",
        random_state=0,
    )
    assert found.chance["author"]["from_other"] == 1
    assert 0.5 < found.chance_if_unrelated < 0.7


def test_who_wants_topics_needs_them(synthetic):
    embedding, documents, authors, _ = synthetic
    with pytest.raises(InvalidParameterError, match="topics must be given"):
        attribution_attack(
            documents,
            authors,
            perturber=DPWordPerturber(embedding),
            adversaries={"t": (linear(), "topic")},
        )
