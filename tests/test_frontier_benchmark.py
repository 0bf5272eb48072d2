"""The benchmark of which release protects: its measures, against slow ones."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.frontier import corpora, measure, plan, report

from skdptext import DPDocumentReplacer


@pytest.fixture
def split():
    rng = np.random.default_rng(0)
    words = {"a": "cat dog pet fur", "b": "tea milk cup pot", "c": "law court judge"}

    def texts(topics):
        return [" ".join(rng.choice(words[t].split(), 6)) for t in topics]

    public, topic = np.repeat(list("abc"), 10), np.repeat(list("abc"), [4, 8, 3])
    author = np.array(["x", "y", "x"] * 5)
    known = np.tile(["x", "y"], 6)
    return corpora.Split(
        texts(public), public, texts(topic), topic, [], author,
        texts(np.repeat(list("abc"), 4)), known,
    )  # fmt: skip


def test_measures_of_replaced_documents_against_releases(split):
    """Weighed by probability, as by many draws; and never above what is proven."""
    replacer = DPDocumentReplacer(
        split.public, measure.labels_grouper(), public_labels=split.public_topic,
        epsilon=1.5, output="group", random_state=2**90,
    ).fit()  # fmt: skip
    P = measure.response(3, 1.5)
    np.testing.assert_allclose(
        P, np.exp(replacer.channel_.log_proba(np.arange(3))), rtol=1e-6
    )
    groups = measure.grouped(split, measure.labels_grouper(), by_labels=True)
    shares = measure.replaced(split, groups, 3, 1.5, np.random.default_rng(0))
    assert shares["found"].max() <= replacer.guarantee().found_at_most(15) + 1e-9
    names = replacer.groups_
    ids = [f"{i}" for i in range(15)]
    n = 400
    drawn = np.asarray(
        replacer.transform(
            list(split.protected) * n,
            document_ids=[f"{turn}-{i}" for turn in range(n) for i in ids],
        )
    )
    right = (drawn.reshape(n, 15) == split.topic).sum(axis=0)
    logs = replacer.log_likelihood(split.protected, drawn)
    best = logs >= logs.max(axis=1, keepdims=True) - 1e-9
    linked = (
        best[np.arange(15 * n), np.tile(np.arange(15), n)] / best.sum(axis=1)
    ).mean()
    # the groups are told apart without error here, so that a topic is its group
    assert names.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(right / n, shares["topic"], atol=0.13)
    assert linked == pytest.approx(shares["found"].mean(), abs=0.03)


def test_public_labels_are_measured_as_the_constructor_groups_them(split):
    ours = DPDocumentReplacer(split.public, public_labels=split.public_topic).fit()
    grouper, k = plan.grouper_of("SMS", None, 0, split)
    groups = measure.grouped(split, grouper, by_labels=True)
    assert k == ours.n_groups_ == 3
    assert repr(grouper) == repr(ours.grouper_)
    expected = [ours.groups_of(texts) for texts in (split.protected, split.known)]
    for numbers, names in zip(groups[1:], expected, strict=True):
        assert ours.groups_[numbers].tolist() == names.tolist()


def test_topics_count_alike():
    values, topic = np.array([1, 1, 1, 0.0]), np.array(["a", "a", "a", "b"])
    assert measure.by_topic(values, topic) == 0.5


def test_near_copies_are_left_out():
    texts = ["one two three four", "one two three five", "six seven eight", "two", "",
             "nine ten two three", "one two three four"]  # fmt: skip
    assert corpora.without_near_copies(texts).tolist() == [0, 2, 5]


def test_accuracy_between_two_settings():
    rows = [{"found": 0.2, "topic": 0.8}, {"found": 0.0, "topic": 0.4}]
    assert report.at_found(rows, 0.1)["topic"] == pytest.approx(0.6)


def test_names_are_capitals_in_the_middle_of_sentences():
    text = "Alas, Watson never saw the Hound. The dog ran, I said; not Dr. Moor!"
    assert measure.names(text) == "Watson Hound"
    stories = ["so Holmes met Watson"] * 4 + ["so Frodo met Sam"] * 4
    encoder = measure.names_encoder()
    first, *_, last = encoder.fit_transform(stories)
    assert first @ last == pytest.approx(0, abs=1e-3)  # no name in common
