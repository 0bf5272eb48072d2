"""An obfuscation report: the table against plain scikit-learn, warnings, views."""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from joblib import parallel_config
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier

from skdptext import DPDocumentReplacer, DPWordPerturber, WordEmbedding
from skdptext.inspection import PrivacyUtilityDisplay, obfuscation_report
from tests.expected import refusals, refused
from tests.inspection.corpus import CLEAN, bayes, few, small
from tests.utils.test_html import read


class Spy(MultinomialNB):
    """Naive Bayes that keeps what it was given."""

    def fit(self, X, y):
        self.known_ = X
        return super().fit(X, y)

    def predict(self, X):
        LOG.append((self.known_, X))
        return super().predict(X)


LOG: list = []
SPY = {"spy": (Spy(), "author")}


def by_name(report, question="author", release=0):
    return {row.adversary: row for row in report.of(question, release)}


def test_numbers_are_those_of_the_release_that_was_attacked(synthetic):
    """Rights of each document by plain scikit-learn; the halves are those stated."""
    embedding, documents, authors, _ = synthetic
    LOG.clear()
    perturber = DPWordPerturber(
        embedding, epsilon=4.0, document_length=30, resize="truncate"
    )
    splits = list(StratifiedKFold(4).split(documents, authors))
    report = obfuscation_report(
        documents, authors, None, perturber, adversaries=SPY, cv=splits, linkage=False
    )
    originals = DPWordPerturber(embedding).fit([]).prepare(documents).toarray()
    noisy = np.zeros_like(originals)
    # originals: in clear, cut and released; releases: released
    assert len(LOG) == 4 * (3 + 1)
    for i, (known, held) in enumerate(splits):
        for known_bags, attacked in LOG[3 * i : 3 * i + 2]:  # 30 words, cut to 30
            assert (known_bags.toarray() == originals[known]).all()
            assert (attacked.toarray() == originals[held]).all()
        noisy[held] = LOG[3 * i + 2][1].toarray()
    for i, (known, held) in enumerate(splits):  # one release, known and attacked
        assert (LOG[12 + i][0].toarray() == noisy[known]).all()
        assert (LOG[12 + i][1].toarray() == noisy[held]).all()
    assert (noisy.sum(axis=1) == 30).all()
    assert (noisy != originals).any(axis=1).all()
    rows = by_name(report)
    for name, train in (("originals", originals), ("releases", noisy)):
        right = np.zeros(48)
        for known, held in splits:
            model = bayes().fit(train[known], authors[known])
            right[held] = model.predict(noisy[held]) == authors[held]
        row = rows[f"spy, trained on {name}"]
        # of a half of the documents, whichever it is
        assert row.n_documents == 24
        assert abs(row.value - right.mean()) <= min(right.mean(), 1 - right.mean())
        # as of half as many: documents that teach each other are right in pairs
        hits = 12 * row.value
        low = stats.beta.ppf(0.025, hits, 12 - hits + 1)
        assert (row.low, row.knows) == (pytest.approx(low), name)
    assert rows["always the most frequent"].chance == 1 / 3


def test_documents_that_are_never_held_out_count_for_nothing(synthetic):
    """Twelve documents, held out five times, of three releases."""
    splits = [(np.arange(12, 48), np.arange(12))] * 5
    report = small(
        synthetic, cv=splits, n_releases=3, trained_on="originals", linkage=False
    )
    for row in report.rows:
        assert row.n_documents == 6
        assert row.value * 18 == pytest.approx(round(row.value * 18))


@pytest.mark.no_cover
def test_seeded_reports_do_not_depend_on_n_jobs_or_company(synthetic):
    synthetic = embedding, *_ = few(synthetic)
    grid = [
        DPWordPerturber(embedding, epsilon=e, document_length=12) for e in (3.0, 9.0)
    ]
    first = small(synthetic, grid, cv=2, linkage=False)
    with parallel_config("threading"):
        second = small(synthetic, grid, cv=2, linkage=False, n_jobs=2)
    assert first.rows == second.rows
    frame = first.to_frame()
    assert frame["release"].is_monotonic_increasing
    assert frame.query("release == 1")["epsilon"].unique().tolist() == [9]


def test_noise_is_fresh_and_equal_documents_do_not_share_it():
    """It would let the adversary look them up."""
    embedding = WordEmbedding(["cat", "dog"], [[0.0], [1.0]])
    perturber = DPWordPerturber(
        embedding, epsilon=0.1, lam=0.0, document_length=40, random_state=3
    )
    releases = []
    for _ in range(2):
        LOG.clear()
        obfuscation_report(
            [["cat"] * 40, ["dog"] * 40] * 10,
            ["ann", "bob"] * 10,
            None,
            perturber,
            adversaries=SPY,
            trained_on="originals",
            cv=[(np.arange(4), np.arange(4, 20))],
            linkage=False,
        )
        releases.append(LOG[2][1].toarray())
    # P(16 counts, each about Binomial(40, 1/2), take 2 values or fewer) < 1e-6
    assert len(np.unique(releases[0], axis=0)) > 2
    assert (releases[0] != releases[1]).any()


@pytest.mark.no_cover
def test_bags_tokens_and_texts_are_the_same_documents(synthetic):
    embedding, documents, authors, topics = few(synthetic)
    bags = DPWordPerturber(embedding).fit([]).prepare(documents)
    kinds = [
        documents,
        (" ".join(words) for words in documents),
        bags,
        bags.toarray().tolist(),
    ]
    perturber = DPWordPerturber(embedding, epsilon=CLEAN)
    options = {"adversaries": {"t": (bayes(), "topic")}, "cv": 2, "random_state": 0}
    values = [
        obfuscation_report(kind, list(authors), topics, perturber, **options)
        .scores["topic"]
        .value
        for kind in kinds
    ]
    assert len(set(values)) == 1
    assert values[0] > 0.9


@pytest.mark.no_cover
def test_default_adversaries_know_the_mechanism(synthetic):
    embedding, documents, authors, _ = few(synthetic)
    perturber = DPWordPerturber(embedding, epsilon=5.0, document_length=12)
    report = obfuscation_report(
        documents, authors, None, perturber, cv=2, linkage=False, random_state=0
    )
    named = {name.partition(",")[0] for name in by_name(report)}
    assert named >= {
        "linear model of words", "naive Bayes", "Koppel", "nearest texts",
        "naive Bayes with the mechanism", "always the most frequent",
    }  # fmt: skip
    assert report.of("topic") == []


@pytest.mark.no_cover
def test_the_choice_of_the_strongest_raises_no_alarm():
    """Authors unrelated to text: the highest of 16 lies .18 above chance on average.

    Probabilities of a false alarm: 1e-6 each.
    """
    embedding = WordEmbedding(
        [f"w{i}" for i in range(50)],
        np.random.default_rng(0).normal(size=(50, 4)),
    )
    perturber = DPWordPerturber(embedding, epsilon=20.0, document_length=12)
    guessers = {
        f"a{k}": (DummyClassifier(strategy="uniform", random_state=k), "author")
        for k in range(16)
    }
    best = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        drawn = rng.choice(embedding.word_array, (40, 12))
        authors = rng.permutation(np.arange(40) % 2).astype(str)
        report = obfuscation_report(
            drawn.tolist(), authors, None, perturber, adversaries=guessers, cv=2,
            trained_on="originals", linkage=False, random_state=seed,
        )  # fmt: skip
        best.append(report.scores["author"])
    # scored on 20 documents in each run
    margin = stats.norm.isf(1e-6) * 0.5 / np.sqrt(20 * len(best))
    assert np.mean([row.value for row in best]) < 0.5 + margin
    alarms = sum(row.low > row.chance for row in best)
    assert alarms <= stats.binom.isf(1e-6, len(best), 0.025)


def test_names_kept_in_clear_give_the_author_away(one_adversary):
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(60)]
    embedding = WordEmbedding(words, rng.normal(size=(60, 4)))
    authors = np.repeat(["ann", "bob"], 25)
    hero = {"ann": "Severus", "bob": "Bella"}
    texts = [" ".join([hero[a], *rng.choice(words, 20)]) for a in authors]
    for oov in ("keep", "drop"):
        perturber = DPWordPerturber(
            embedding, epsilon=1e-3, document_length=20,
        resize="truncate", oov=oov, output="text",
            lowercase=False,
        )  # fmt: skip
        options = {"cv": 2, "linkage": False, "random_state": 0}
        report = obfuscation_report(texts, authors, None, perturber, **options)
        assert said(report, "as they are; names") == (oov == "keep")
        assert (report.scores["author"].low > 0.6) == (oov == "keep")
        assert np.isinf(report.exponents[0]) == (oov == "keep")


def test_groups_stay_together(synthetic):
    groups = np.repeat(np.arange(16), 3)
    LOG.clear()
    options = {"trained_on": "originals", "adversaries": SPY, "linkage": False}
    small(synthetic, groups=groups, cv=4, **options)
    bags = DPWordPerturber(synthetic[0]).fit([]).prepare(synthetic[1]).toarray()
    rows = {row.tobytes(): i for i, row in enumerate(bags)}
    for known, held in LOG[::3]:
        sides = [
            {groups[rows[row.tobytes()]] for row in side.toarray()}
            for side in (known, held)
        ]
        assert not sides[0] & sides[1]


def test_words_and_documents_side_by_side(synthetic):
    """Both kinds of release in one report; the adversary knows the law of each."""
    embedding, documents, _, topics = synthetic
    texts, topics = [" ".join(words[:15]) for words in documents[:28]], topics[:28]
    public = DPDocumentReplacer(texts[:8], public_labels=topics[:8], epsilon=24.0)
    words = DPWordPerturber(embedding, epsilon=5.0, document_length=12)
    report = obfuscation_report(
        texts[8:], topics[8:], topics[8:], [words, public], cv=2, random_state=0
    )
    assert report.releases[1].noise == "DPDocumentReplacer"
    assert report.exponents[1] == 24.0
    # of two groups by topic, e^24 : 1 of the stand-ins are of the topic of the document
    informed = "naive Bayes with the mechanism, trained on originals"
    assert by_name(report, "topic", 1).get(informed, report.rows[0]).value == 1.0
    assert {row.question for row in report.rows} == {"author", "topic", "linkage"}
    for view in (str(report), report._repr_html_()):
        assert "DPDocumentReplacer" in view
        assert "nan" not in view
        assert "bounds what any adversary finds" in " ".join(view.split())
    report.plot()
    public.set_params(output="index")
    for given, message in ((texts[8:], "must release texts"), (np.eye(20), "a matrix")):
        with refused(message):
            obfuscation_report(given, topics[8:], None, public)


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
        [documents[i] for i in rows], topics[rows], topics[rows],
        DPWordPerturber(embedding, epsilon=50.0, document_length=30),
        adversaries={"a": (bayes(), "author")}, linkage=False,
    )  # fmt: skip
    assert said(report, "topic gives the author away")
    assert said(report, "100% of the authors right")
    assert said(report, "1 of 2 authors have fewer than 5")
    assert said(report, "One author wrote 83%") is False  # 0.83 < 2 · 0.5
    assert said(report, "Little is promised")
    exponent = report.guarantees[0].exponent(documents[rows[0]], documents[rows[-1]])
    assert 0.3 * exponent < report.exponents[0] < 3 * exponent
    resampled = DPWordPerturber(
        embedding, epsilon=0.5, document_length=9, resize="sample"
    )
    report = small(synthetic, resampled, cv=2, linkage=False)
    assert 0 < report.exponents[0] < np.inf


def blind_report(authors, topics, cv=2, **options):
    embedding = WordEmbedding(["cat", "dog"], [[0.0], [1.0]])
    options |= {"adversaries": {"a": (DummyClassifier(), "author")}, "random_state": 0}
    perturber = DPWordPerturber(embedding, document_length=1)
    return obfuscation_report(
        [["cat"]] * len(authors), authors, topics, perturber, cv=cv, linkage=False,
        **options,
    )  # fmt: skip


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
    authors, topics = (np.array(list(x))[story] for x in ("aabbcc", "xxyyzz"))
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
            documents[:24] * 2, np.tile(authors[::2], 2), np.tile(topics[:24], 2),
            DPWordPerturber(embedding, epsilon=epsilon, document_length=30),
            adversaries={"t": (KNeighborsClassifier(1), "topic")}, random_state=0,
            cv=[halves, halves[::-1]], trained_on="originals", linkage=False,
        )  # fmt: skip
        assert report.scores["topic"].clear == 1
        assert said(report, "no topic classifier is better than chance") == lost


def test_warnings_of_words_of_authors_and_of_what_is_missing(synthetic, monkeypatch):
    embedding, documents, _, _ = synthetic
    monkeypatch.setitem(sys.modules, "floret", None)
    report = obfuscation_report(
        [["unknown"], *documents[1:]], ["ann"] * 38 + ["bob"] * 5 + ["eve"] * 5, None,
        DPWordPerturber(embedding, epsilon=1e-3), cv=2, linkage=False,
        adversaries={"a": (bayes(), "author")},
    )  # fmt: skip
    assert said(report, "Documents without a known word: 1.")
    assert said(report, "ε is small for this embedding")
    assert said(report, "One author wrote 79%")
    assert said(report, "pip install floret")
    authors = np.repeat(["ann", "bob", "eve"], 16)
    for groups, n in ((authors, 48), (np.arange(48) // 2, 0)):
        made = small(synthetic, groups=groups, cv=3, linkage=False)
        assert said(made, "48 documents are by authors of whom") == bool(n)


@refusals(
    ({"authors": ["ann"] * 48}, "authors must hold at least 2 different"),
    ({"authors": ["ann", "bob"]}, "authors must hold one label per document"),
    ({"authors": [None, *["a", "b"] * 23, "a"]}, "authors must not be missing"),
    ({"topics": ["x", 2.5] * 24}, "topics must be .* got text .* and number"),
    ({"groups": [1, "a", None] * 16}, "groups must not be missing, got None"),
    ({"documents": "one text"}, "single str"),
    ({"perturber": None}, "perturber must be a word perturber or a list"),
    ({"perturber": []}, "perturber must be a word perturber or a list"),
    ({"adversaries": {}}, "adversaries must map names"),
    ({"adversaries": {"a": bayes()}}, "adversaries must map names"),
    ({"adversaries": {"a": (bayes(), "age")}}, "adversaries must map names"),
    (
        {"topics": None, "adversaries": {"a": (bayes(), "topic")}},
        "topics must be given for adversary 'a'",
    ),
    ({"trained_on": "all"}, "trained_on must be one of"),
    ({"n_releases": 0}, "n_releases must be an integer >= 1"),
    ({"linkage": 1}, "linkage must be True or False"),
    ({"n_jobs": 0}, "n_jobs must be"),
    ({"random_state": "x"}, "random_state must be"),
    ({"cv": 1}, "cv must be an integer >= 2"),
    ({"cv": 30}, "each author must have at least as many documents"),
    ({"authors": ["ann"] * 47 + ["bob"]}, "each author must have at least"),
    ({"cv": [([0, 20], [20, 2])]}, "cv must not give an adversary"),
    ({"cv": [([0, 3], [1, 2])]}, "documents of at least 2 authors"),
    ({"groups": [0] * 48, "cv": [([0, 20], [1])]}, "documents of a group tog"),
    ({"groups": [0] * 5}, r"groups must hold one label per document \(48\)"),
    ({"cv": "five"}, "cv must split the documents"),
)
def test_bad_input(synthetic, change):
    embedding, documents, authors, topics = synthetic
    options = {
        "documents": documents,
        "authors": authors,
        "topics": topics,
        "perturber": DPWordPerturber(embedding, document_length=30),
        "adversaries": {"a": (bayes(), "author")},
    }
    obfuscation_report(**options | change)


# -- text, HTML and figure -------------------------------------------------------------


@pytest.mark.no_cover
@pytest.mark.parametrize("several", [False, True])
def test_views_are_well_formed_and_begin_with_linkage(synthetic, several):
    synthetic = embedding, *_ = few(synthetic)
    perturbers = [
        DPWordPerturber(embedding, epsilon=e, document_length=12) for e in (3.0, 30.0)
    ]
    name = "<script>alert('&')</script>"
    report = small(
        synthetic, perturbers if several else perturbers[0],
        adversaries={name: (bayes(), "author")}, cv=2,
    )  # fmt: skip
    outline = read(report._repr_html_())
    assert "script" not in outline.tags
    assert outline.tags.count("table") == 2
    assert outline.tags.count("li") == len(report.warnings)
    assert any(text.startswith(name) for text in outline.texts) or several
    text = repr(report)
    flat = " ".join(text.split())
    assert all(warning in flat for warning in report.warnings)
    assert ("The strongest of each release" in text) == several
    assert flat.count("candidates in the clear found") == 1 + several
    assert report.scores["linkage"].n_documents == 9


@pytest.fixture
def grid(synthetic):
    """A report on a grid of three ε and two λ."""
    perturbers = [
        DPWordPerturber(synthetic[0], epsilon=e, lam=lam, document_length=30)
        for lam in (0.0, 0.5)
        for e in (30.0, 3.0, 10.0)
    ]
    yield small(synthetic, perturbers, cv=2, linkage=False)
    plt.close("all")


def test_a_grid_is_a_line_per_lam_by_rising_epsilon(grid):
    _, axis = plt.subplots()
    display = grid.plot(axis)
    assert isinstance(display, PrivacyUtilityDisplay)
    assert (display.ax_, display.figure_) == (axis, axis.figure)
    assert set(display.lines_) == {"λ = 0", "λ = 0.5"}
    line = display.lines_["λ = 0.5"].lines[0]
    for target, drawn in (("author", line.get_xdata()), ("topic", line.get_ydata())):
        best = [grid.of(target, release)[0].value for release in (4, 5, 3)]
        assert np.asarray(drawn).tolist() == best
    assert display.chance == grid.scores["topic"].chance
    assert display.on_front.any()
    line = grid.plot(kind="privacy").lines_["λ = 0.5"].lines[0]
    assert line.get_xdata().tolist() == [3, 10, 30]
    with refused("kind must be one of"):
        grid.plot(kind="pie")


def test_one_release_is_a_line_per_adversary(synthetic):
    report = small(synthetic, cv=2, linkage=False)
    axis = report.plot().ax_
    names = [label.get_text() for label in axis.get_yticklabels()]
    assert names == [
        f"{q}: {row.adversary}" for q in ("author", "topic") for row in report.of(q)
    ]
    (box,) = axis.containers
    drawn = [row.value for q in ("author", "topic") for row in report.of(q)]
    np.testing.assert_allclose(box.lines[0].get_xdata(), drawn)
    embedding = synthetic[0]
    several = [
        DPWordPerturber(embedding, epsilon=e, document_length=9) for e in (1.0, 9.0)
    ]
    alone = {"a": (bayes(), "author")}
    report = small(synthetic, several, adversaries=alone, cv=2, linkage=False)
    report.plot(kind="privacy")
    with refused("adversaries for topics"):
        report.plot()
    plt.close("all")
