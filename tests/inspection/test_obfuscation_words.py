"""What an obfuscation report says of itself, its errors, text, frame and HTML."""

from __future__ import annotations

import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.inspection import obfuscation_report
from tests.inspection.corpus import CLEAN, Lookup, bayes, few, small

# -- what the report says of itself ----------------------------------------------------


def said(report, text):
    return any(text in warning for warning in report.warnings)


@pytest.mark.no_cover
def test_warnings_of_sizes_labels_and_releases(synthetic):
    embedding, documents, _, topics = synthetic
    long = DPWordPerturber(embedding, epsilon=1e-3, document_length=30)
    both = [long, DPWordPerturber(embedding, epsilon=CLEAN)]
    report = small(synthetic, both, cv=2, linkage=False)
    assert said(report, "Only 48 documents")
    assert said(report, "changes only 0.0% of the words")
    assert said(report, "releases the number of words")
    assert not said(report, "topic gives the author away")
    assert not said(report, "Little is promised")  # ε is tiny, or lengths show
    assert 0 < report.exponents[0] < 1
    assert np.isinf(report.exponents[1])
    # an author for each topic; few documents; most by one author
    rows = np.r_[np.flatnonzero(topics == "x")[:20], np.flatnonzero(topics == "y")[:4]]
    report = obfuscation_report(
        [documents[i] for i in rows],
        topics[rows],
        topics[rows],
        DPWordPerturber(embedding, epsilon=50.0, document_length=30),
        adversaries={"a": (bayes(), "author")},
        linkage=False,
    )
    assert said(report, "topic gives the author away")
    assert said(report, "100% of the authors right")
    assert said(report, "1 of 2 authors have fewer than 5")
    assert said(report, "One author wrote 83%") is False  # 0.83 < 2 · 0.5
    assert said(report, "Little is promised")
    exponent = report.guarantees[0].exponent(documents[rows[0]], documents[rows[-1]])
    assert 0.3 * exponent < report.exponents[0] < 3 * exponent


class Blind(ClassifierMixin, BaseEstimator):
    """Does not look at the text."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], X.shape[0])


def blind_report(authors, topics, cv=2, **options):
    embedding = WordEmbedding(["cat", "dog"], [[0.0], [1.0]])
    return obfuscation_report(
        [["cat"]] * len(authors),
        authors,
        topics,
        DPWordPerturber(embedding, document_length=1),
        adversaries={"a": (Blind(), "author")},
        cv=cv,
        linkage=False,
        random_state=0,
        **options,
    )


@pytest.mark.no_cover
def test_topics_give_away_no_author_who_is_dealt_out_at_random():
    """Two documents a topic: one of them is by the topic's most frequent author."""
    topics = np.repeat(np.arange(160), 2)
    authors = np.tile(["ann", "bob", "eve", "joe"], 80)
    rng = np.random.default_rng(0)
    for _ in range(5):
        # a share of 0.62 on average, against 0.25 of the most frequent author; an
        # excess of 0.1 is 5.9 standard deviations away: alpha = 1e-6 for all five
        report = blind_report(rng.permutation(authors), topics)
        assert report.results["chance_from_other"][0] > 0.5
        assert not said(report, "topic gives the author away")
    # ... and every topic by one author stands out from just that
    owned = np.repeat(rng.permutation(authors[:160]), 2)
    report = blind_report(owned, topics)
    assert said(report, "100% of the authors right, against 6")
    # few documents: an excess that chance brings about in one table of three
    assert not said(blind_report(["a", "a", "b", "b"], list("xxyy")), "gives the auth")


def test_topics_of_whole_stories_are_compared_with_whole_stories():
    """Six stories of ten chapters on three topics: as few as these say little."""
    story = np.repeat(np.arange(6), 10)
    authors = np.array(list("aabbcc"))[story]
    topics = np.array(list("xxyyzz"))[story]
    splits = [
        (np.flatnonzero(story % 2 == k), np.flatnonzero(story % 2 != k)) for k in (0, 1)
    ]
    # chapters taken for independent: all but impossible; stories: 1 of 15 deals
    for groups, loud in ((None, True), (story, False)):
        report = blind_report(authors, topics, cv=splits, groups=groups)
        assert said(report, "topic gives the author away") == loud


def test_warning_of_a_lost_topic(synthetic):
    embedding, documents, authors, topics = synthetic
    halves = np.arange(24), np.arange(24, 48)
    for epsilon, lost in ((1e-3, True), (CLEAN, False)):
        report = obfuscation_report(
            documents[:24] * 2,
            np.tile(authors[::2], 2),
            np.tile(topics[:24], 2),
            DPWordPerturber(embedding, epsilon=epsilon, document_length=30),
            adversaries={"t": (Lookup(), "topic")},
            cv=[halves, halves[::-1]],
            trained_on="originals",
            linkage=False,
        )
        assert report.results["clean"][0] == 1
        assert said(report, "no topic classifier is better than chance") == lost
        assert report.results["noisy"][0] == (0.5 if lost else 1)


def test_warning_without_topics_or_words(synthetic):
    embedding, documents, authors, _ = synthetic
    documents = [["unknown"], *documents[1:]]
    report = obfuscation_report(
        documents,
        authors,
        None,
        DPWordPerturber(embedding, epsilon=1e-3),
        adversaries={"a": (bayes(), "author")},
        cv=2,
    )
    assert said(report, "1 documents have no known word")
    assert said(report, "ε is small for this embedding")


def test_warning_of_one_busy_author(synthetic):
    embedding, documents, _, _ = synthetic
    authors = ["ann"] * 38 + ["bob"] * 5 + ["eve"] * 5
    report = obfuscation_report(
        documents,
        authors,
        None,
        DPWordPerturber(embedding, document_length=30),
        adversaries={"a": (bayes(), "author")},
        linkage=False,
    )
    assert said(report, "One author wrote 79%")


def test_resampled_releases_have_an_exponent(synthetic):
    embedding = synthetic[0]
    perturber = DPWordPerturber(
        embedding, epsilon=0.5, document_length=9, resize="sample"
    )
    report = small(synthetic, perturber, cv=2, linkage=False)
    assert 0 < report.exponents[0] < np.inf
    assert report.guarantees[0].resampled


def test_warning_where_fasttext_is_missing(synthetic, monkeypatch):
    monkeypatch.setitem(sys.modules, "floret", None)
    report = small(
        few(synthetic), adversaries=None, cv=2, trained_on="originals", linkage=False
    )
    assert "DRtopic" not in report.results["adversary"]
    assert said(report, "pip install floret")


# -- errors ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"authors": ["ann"] * 48}, "authors must hold at least 2 different"),
        ({"authors": ["ann", "bob"]}, "authors must hold one label per document"),
        ({"authors": "ann"}, "authors must hold one label per document"),
        ({"authors": [None, *["a", "b"] * 23, "a"]}, "authors must not be missing"),
        ({"topics": [np.nan, *range(47)]}, "topics must not be missing"),
        ({"authors": [1, *["a", "b"] * 23, "a"]}, "authors must be .* all numbers"),
        ({"topics": ["x", 2.5] * 24}, "topics must be .* got text .* and number"),
        ({"topics": ["x", np.nan] * 24}, "topics must not be .*, got nan for doc"),
        ({"groups": [1, "a", None] * 16}, "groups must not be missing, got None"),
        ({"groups": [1, "a"] * 24}, "groups must be of one kind"),
        ({"topics": ["x"] * 48}, "topics must hold at least 2 different"),
        ({"documents": "one text"}, "single str"),
        ({"perturber": None}, "perturber must be a word perturber or a list"),
        ({"perturber": []}, "perturber must be a word perturber or a list"),
        ({"perturber": bayes()}, "perturber must be a word perturber or a list"),
        ({"adversaries": {}}, "adversaries must map names"),
        ({"adversaries": {"a": bayes()}}, "adversaries must map names"),
        ({"adversaries": {"a": (bayes(), "age")}}, "adversaries must map names"),
        ({"adversaries": {"a": (3, "author")}}, "adversaries must map names"),
        (
            {"topics": None, "adversaries": {"a": (bayes(), "topic")}},
            "topics must be given for adversary 'a'",
        ),
        ({"trained_on": "all"}, "trained_on must be one of"),
        ({"n_releases": 0}, "n_releases must be an integer >= 1"),
        ({"confidence": 1.0}, r"confidence must be .* in \(0, 1\)"),
        ({"confidence": "high"}, "confidence must be a finite number"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"random_state": "x"}, "random_state must be"),
        ({"cv": 1}, "cv must be an integer >= 2"),
        ({"cv": 30}, "each author must have at least as many documents"),
        ({"authors": ["ann"] * 47 + ["bob"]}, "each author must have at least"),
        ({"cv": [([0, 20], [20, 2])]}, "cv must not give an adversary"),
        ({"cv": [([0, 3], [1, 2])]}, "documents of at least 2 authors"),
        ({"groups": [0] * 48, "cv": [([0], [1])]}, "at least 2 authors"),
        ({"cv": "five"}, "cv must be an integer, a splitter"),
    ],
)
def test_bad_input(synthetic, change, message):
    embedding, documents, authors, topics = synthetic
    options = {
        "documents": documents,
        "authors": authors,
        "topics": topics,
        "perturber": DPWordPerturber(embedding, document_length=30),
        "adversaries": {"a": (bayes(), "author")},
    }
    with pytest.raises(InvalidParameterError, match=message):
        obfuscation_report(**{**options, **change})


# -- text, frame and HTML --------------------------------------------------------------


class Outline(HTMLParser):
    """Checks that tags close in order, and collects texts."""

    void = frozenset({"br", "hr", "meta"})

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.no_cover
@pytest.mark.parametrize("several", [False, True])
def test_html_is_well_formed_and_escaped(synthetic, several):
    synthetic = embedding, *_ = few(synthetic)
    perturbers = [
        DPWordPerturber(embedding, epsilon=e, document_length=12) for e in (3.0, 30.0)
    ]
    name = "<script>alert('&')</script>"
    report = small(
        synthetic,
        perturbers if several else perturbers[0],
        adversaries={name: (bayes(), "author")},
        cv=2,
    )
    html = report._repr_html_()
    outline = Outline()
    outline.feed(html)
    assert outline.open == []
    assert "script" not in outline.tags
    assert name in outline.texts
    assert outline.tags.count("table") == 2
    assert outline.tags.count("li") == len(report.warnings)
    shown = f"{report.strongest(0)['noisy']:.2f}\N{NO-BREAK SPACE}["
    assert any(text.startswith(shown) for text in outline.texts)
    text = repr(report)
    assert name in text
    said = " ".join(text.split())
    assert all(warning in said for warning in report.warnings)
    assert ("the strongest adversary of each" in text) == several


def test_frame_holds_the_results(synthetic):
    report = small(few(synthetic), cv=2, linkage=False)
    frame = report.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.shape == (4, len(report.results))
    assert frame["noisy"].to_list() == report.results["noisy"].tolist()


@pytest.mark.no_cover
def test_it_begins_with_which_document_it_was(synthetic):
    """From who holds the documents; one sentence for each release, in text and HTML."""
    synthetic = few(synthetic)
    options = {"adversaries": {"a": (bayes(), "author")}, "cv": 2}
    report = small(synthetic, **options)
    (linkage,) = report.linkages
    assert (linkage.n_candidates, linkage.n_targets) == (18, 18)
    lines = repr(report).splitlines()
    head = " ".join(lines[: lines.index("")])
    assert head.startswith(linkage.in_words())
    assert max(map(len, lines[: lines.index("")])) <= 88
    assert report._repr_html_().count("candidates in clear") == 1
    counts = np.array(
        [np.bincount([int(w[1:]) for w in d], minlength=200) for d in synthetic[1]]
    )
    again = small((synthetic[0], counts, *synthetic[2:]), **options)
    # the same documents, though in another order of words
    assert [r.adversary for r in again.linkages[0].rows] == [
        r.adversary for r in linkage.rows
    ]
    both = [
        DPWordPerturber(synthetic[0], epsilon=e, lam=0.0, document_length=12)
        for e in (0.01, 1e6)
    ]
    blurred, clear = (report := small(synthetic, both, **options)).linkages
    assert max(r.success for r in blurred.rows) < 0.4  # a guess finds 0.06
    assert clear.rows[0].success == 1
    said = " ".join(repr(report).split())
    assert f"The release with ε = 0.01, λ = 0: {blurred.in_words()}" in said
    without = small(synthetic, linkage=False, **options)
    assert without.linkages == []
    assert "candidates" not in repr(without)
    with pytest.raises(InvalidParameterError, match="linkage must be True or False"):
        small(synthetic, linkage=1)
