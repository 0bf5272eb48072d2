"""The report's numbers against plain scikit-learn, its warnings, errors and HTML."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from html.parser import HTMLParser

import numpy as np
import pytest
from joblib import parallel_config
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from skdptext import DPWordPerturber, WMDKNNClassifier, WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.inspection import obfuscation_report
from skdptext.preprocessing import DocumentPreparer

CLEAN = 1e9  # so much ε that no word moves


@pytest.fixture(scope="module")
def stories(data_file):
    """(texts, authors, fandoms): six stories by each of six authors of two fandoms."""
    found = defaultdict(list)
    with gzip.open(data_file("pan19_fanfiction_en.jsonl.gz"), "rt") as file:
        for line in file:
            story = json.loads(line)
            author = story["author"] or ""
            if story["split"] == "unknown" and author.startswith(("p03", "p05")):
                found[author, story["topic"]].append(story["text"])
    by_fandom = defaultdict(list)
    for (author, fandom), texts in sorted(found.items()):
        if len(texts) >= 6:
            by_fandom[fandom].append((author, texts[:6]))
    rows = [
        (text, author, fandom)
        for fandom, some in by_fandom.items()
        for author, texts in some[:3]
        for text in texts
    ]
    texts, authors, fandoms = zip(*rows, strict=True)
    return list(texts), np.array(authors), np.array(fandoms)


@pytest.fixture(scope="module")
def table(google_8k):
    return google_8k.restrict(3000)


def linear():
    return make_pipeline(TfidfTransformer(), LogisticRegression(C=10))


class Spy(ClassifierMixin, BaseEstimator):
    """Answers like the linear model, and keeps what it was given."""

    seen: tuple = ()

    def __init__(self, log=None):
        self.log = log

    def fit(self, X, y):
        self.known_ = X
        self.model_ = linear().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        LOG.append((self.known_, X))
        return self.model_.predict(X)


LOG: list = []


class Lookup(ClassifierMixin, BaseEstimator):
    """Knows a document again if it is the very same, and else says "x"."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        rows = (row.tobytes() for row in X.toarray())
        self.known_ = dict(zip(rows, y, strict=True))
        return self

    def predict(self, X):
        return np.array([self.known_.get(row.tobytes(), "x") for row in X.toarray()])


@pytest.fixture(scope="module")
def synthetic():
    """48 documents on two topics, which lie 8 apart; each author likes some words."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(200, 8))
    vectors[100:, 0] += 8
    embedding = WordEmbedding([f"w{i}" for i in range(200)], vectors)
    topics, authors = np.array(["x", "y"] * 24), np.repeat(["ann", "bob", "eve"], 16)
    documents = []
    for topic, author in zip(topics, authors, strict=True):
        start = 100 * (topic == "y") + 20 * "abe".index(author[0])
        documents.append(
            [f"w{start + i}" for i in rng.integers(0, rng.choice([20, 60]), 30)]
        )
    return embedding, documents, authors, topics


def small(synthetic, perturber=None, **options):
    embedding, documents, authors, topics = synthetic
    if perturber is None:
        perturber = DPWordPerturber(embedding, epsilon=10.0, document_length=30)
    options.setdefault(
        "adversaries", {"a": (linear(), "author"), "t": (linear(), "topic")}
    )
    options.setdefault("random_state", 0)
    return obfuscation_report(documents, authors, topics, perturber, **options)


# -- numbers -------------------------------------------------------------------------


def test_clean_numbers_are_those_of_plain_cross_validation(stories, table):
    texts, authors, fandoms = stories
    assert len(texts) == 36
    splits = list(StratifiedKFold(3).split(texts, authors))
    models = {
        "linear author": (linear(), "author"),
        "WMD topic": (WMDKNNClassifier(table, n_neighbors=3), "topic"),
    }
    perturber = DPWordPerturber(
        table, epsilon=CLEAN, document_length=60, stop_words="english"
    )
    report = obfuscation_report(
        texts, authors, fandoms, perturber, adversaries=models, cv=splits
    )
    bags = DocumentPreparer(table, document_length=60, output="bow").fit_transform(
        texts
    )
    truth = {"author": authors, "topic": fandoms}
    r = report.results
    assert r["adversary"].tolist() == ["linear author"] * 2 + ["WMD topic"] * 2
    for k, name in enumerate(r["adversary"]):
        model, target = models[name]
        guess = cross_val_predict(model, bags, truth[target], cv=splits)
        hits = int((guess == truth[target]).sum())
        assert r["clean"][k] == pytest.approx(hits / 36)
        assert r["noisy"][k] == r["clean"][k]  # no word moves
        interval = stats.binomtest(hits, 36).proportion_ci(0.95, method="wilson")
        assert (r["clean_low"][k], r["clean_high"][k]) == pytest.approx(tuple(interval))
    assert (r["words_changed"] == 0).all()
    assert (r["n_documents"] == 36).all()
    author = r["target"] == "author"
    assert (r["chance_majority"][author] == 1 / 6).all()
    assert (r["chance_from_other"][author] == 1 / 3).all()  # three authors a fandom
    assert (r["chance_majority"][~author] == 1 / 2).all()
    assert (r["chance_from_other"][~author] == 1.0).all()


def test_noisy_numbers_are_those_of_the_release_that_was_attacked(synthetic):
    embedding, documents, authors, _ = synthetic
    LOG.clear()
    perturber = DPWordPerturber(embedding, epsilon=4.0, document_length=30)
    report = obfuscation_report(
        documents,
        authors,
        perturber=perturber,
        adversaries={"spy": (Spy(), "author")},
        cv=(splits := list(StratifiedKFold(4).split(documents, authors))),
    )
    bags = DocumentPreparer(embedding, output="bow", stop_words=None)
    originals = bags.fit_transform(documents).toarray()
    noisy = np.zeros_like(originals)
    assert len(LOG) == 4 * 3  # originals: in clear and released; releases: released
    for i, (known, held) in enumerate(splits):
        assert (LOG[2 * i][0].toarray() == originals[known]).all()
        assert (LOG[2 * i][1].toarray() == originals[held]).all()
        noisy[held] = LOG[2 * i + 1][1].toarray()
    for i, (known, held) in enumerate(splits):  # one release, known and attacked
        assert (LOG[8 + i][0].toarray() == noisy[known]).all()
        assert (LOG[8 + i][1].toarray() == noisy[held]).all()
    assert (noisy.sum(axis=1) == 30).all()
    assert (noisy != originals).any(axis=1).all()
    for k, train in enumerate((originals, noisy)):
        hits = [
            linear().fit(train[known], authors[known]).predict(noisy[held])
            == authors[held]
            for known, held in splits
        ]
        assert report.results["noisy"][k] == pytest.approx(np.concatenate(hits).mean())
    assert report.results["trained_on"].tolist() == ["originals", "releases"]


def test_a_document_counts_once_however_often_it_is_attacked(synthetic):
    # splits that hold the same 12 documents out five times, and three releases
    held = np.arange(12)
    splits = [(np.arange(12, 48), held)] * 5
    report = small(synthetic, cv=splits, n_releases=3, trained_on="originals")
    assert (report.results["n_documents"] == 12).all()
    shares = report.results["noisy"] * 12 * 3
    assert shares == pytest.approx(np.round(shares))  # equal splits add nothing new
    for k, share in enumerate(report.results["clean"]):
        interval = stats.binomtest(round(12 * share), 12).proportion_ci(
            0.95, method="wilson"
        )
        assert report.results["clean_low"][k] == pytest.approx(interval.low)


def test_seeded_reports_do_not_depend_on_n_jobs_or_company(synthetic):
    embedding = synthetic[0]
    grid = [
        DPWordPerturber(embedding, epsilon=e, lam=lam, document_length=30)
        for e in (3.0, 9.0)
        for lam in (0.0, 0.5)
    ]
    first = small(synthetic, grid)
    with parallel_config("threading"):
        second = small(synthetic, grid, n_jobs=2)
    for name, column in first.results.items():
        np.testing.assert_array_equal(column, second.results[name])
    assert len(first.results["noisy"]) == 4 * 2 * 2
    assert first.results["release"].tolist() == sorted(first.results["release"])
    own = {name: v[first.results["release"] == 2] for name, v in first.results.items()}
    assert (own["epsilon"] == 9).all()
    assert (own["lam"] == 0).all()


def test_fresh_noise_without_a_seed(synthetic):
    embedding, documents, authors, _ = synthetic
    perturber = DPWordPerturber(
        embedding, epsilon=4.0, document_length=30, random_state=3
    )
    releases = []
    for _ in range(2):
        LOG.clear()
        obfuscation_report(
            documents,
            authors,
            None,
            perturber,
            adversaries={"spy": (Spy(), "author")},
            trained_on="originals",
            cv=[(np.arange(24), np.arange(24, 48))],
        )
        releases.append(LOG[1][1].toarray())
    assert (releases[0] != releases[1]).any()


def test_equal_documents_do_not_share_noise():
    # noise that is equal for equal documents would let the adversary look them up
    embedding = WordEmbedding(["cat", "dog"], [[0.0], [1.0]])
    LOG.clear()
    obfuscation_report(
        [["cat"] * 40, ["dog"] * 40] * 10,
        ["ann", "bob"] * 10,
        None,
        DPWordPerturber(embedding, epsilon=0.1, lam=0.0, document_length=40),
        adversaries={"spy": (Spy(), "author")},
        trained_on="originals",
        cv=[(np.arange(4), np.arange(4, 20))],
        random_state=0,
    )
    (_, _), (_, released) = LOG
    # P(16 counts, each about Binomial(40, 1/2), take 2 values or fewer) < 1e-6
    assert len(np.unique(released.toarray(), axis=0)) > 2


def test_bags_tokens_and_texts_are_the_same_documents(synthetic):
    embedding, documents, authors, topics = synthetic
    bags = DocumentPreparer(embedding, output="bow", stop_words=None)
    kinds = [
        documents,
        (" ".join(words) for words in documents),
        bags.fit_transform(documents),
        bags.transform(documents).toarray().tolist(),
    ]
    perturber = DPWordPerturber(embedding, epsilon=CLEAN)
    reports = [
        obfuscation_report(
            kind,
            list(authors),
            topics,
            perturber,
            random_state=0,
            adversaries={"t": (linear(), "topic")},
        )
        for kind in kinds
    ]
    assert len({report.results["noisy"][0] for report in reports}) == 1
    assert reports[0].results["noisy"][0] > 0.9


def test_default_adversaries_and_topics_left_out(synthetic):
    embedding, documents, authors, _ = synthetic
    perturber = DPWordPerturber(embedding, epsilon=5.0, document_length=30)
    report = obfuscation_report(
        documents, authors, None, perturber, trained_on="releases", cv=2
    )
    names = report.results["adversary"].tolist()
    assert names == ["SRauth", "DRauth", "linear author"]
    assert np.isnan(report.results["chance_from_other"]).all()
    assert report.strongest(target="topic") == {}
    full = small(synthetic, adversaries=None, trained_on="originals", cv=2)
    assert {"SRtopic", "linear topic"} <= set(full.results["adversary"])
    assert full.strongest(target="topic")["clean"] > 0.9


def test_names_kept_in_clear_give_the_author_away():
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(60)]
    embedding = WordEmbedding(words, rng.normal(size=(60, 4)))
    authors = np.repeat(["ann", "bob"], 15)
    hero = {"ann": "Severus", "bob": "Bella"}
    texts = [" ".join([hero[a], *rng.choice(words, 20)]) for a in authors]
    found = {}
    for oov in ("keep", "drop"):
        perturber = DPWordPerturber(
            embedding,
            epsilon=1e-3,
            document_length=20,
            oov=oov,
            output="text",
            lowercase=False,
        )
        report = obfuscation_report(texts, authors, None, perturber, random_state=0)
        found[oov] = report.strongest()["noisy"]
        said = any("clear; names" in warning for warning in report.warnings)
        assert said == (oov == "keep")
    assert found["keep"] == 1.0
    assert found["drop"] < 0.9


def test_groups_stay_together(synthetic):
    groups = np.repeat(np.arange(16), 3)
    LOG.clear()
    small(
        synthetic,
        groups=groups,
        cv=4,
        trained_on="originals",
        adversaries={"spy": (Spy(), "author")},
    )
    rows = {row.tobytes(): i for i, row in enumerate(_bags(synthetic))}
    for known, held in LOG[::2]:
        sides = [
            {groups[rows[row.tobytes()]] for row in side.toarray()}
            for side in (known, held)
        ]
        assert not sides[0] & sides[1]


def _bags(synthetic):
    preparer = DocumentPreparer(synthetic[0], output="bow", stop_words=None)
    return preparer.fit_transform(synthetic[1]).toarray()


# -- what the report says of itself ----------------------------------------------------


def said(report, text):
    return any(text in warning for warning in report.warnings)


def test_warnings_of_sizes_labels_and_releases(synthetic):
    embedding, documents, _, topics = synthetic
    long = DPWordPerturber(embedding, epsilon=1e-3, document_length=30)
    report = small(synthetic, [long, DPWordPerturber(embedding, epsilon=CLEAN)])
    assert said(report, "Only 48 documents")
    assert said(report, "changes 0.0% of the words only")
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
        adversaries={"a": (linear(), "author")},
    )
    assert said(report, "topic gives the author away")
    assert said(report, "100% of the authors right")
    assert said(report, "1 of 2 authors have fewer than 5")
    assert said(report, "One author wrote 83%") is False  # 0.83 < 2 · 0.5
    assert said(report, "Little is promised")
    exponent = report.guarantees[0].exponent(documents[rows[0]], documents[rows[-1]])
    assert 0.3 * exponent < report.exponents[0] < 3 * exponent


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
        adversaries={"a": (linear(), "author")},
    )
    assert said(report, "1 documents have no known word")
    assert said(report, "ε is small for this table")


def test_warning_of_one_busy_author(synthetic):
    embedding, documents, _, _ = synthetic
    authors = ["ann"] * 38 + ["bob"] * 5 + ["eve"] * 5
    report = obfuscation_report(
        documents,
        authors,
        None,
        DPWordPerturber(embedding, document_length=30),
        adversaries={"a": (linear(), "author")},
    )
    assert said(report, "One author wrote 79%")


def test_resampled_releases_have_an_exponent(synthetic):
    embedding = synthetic[0]
    perturber = DPWordPerturber(
        embedding, epsilon=0.5, document_length=9, resize="sample"
    )
    report = small(synthetic, perturber, cv=2)
    assert 0 < report.exponents[0] < np.inf
    assert report.guarantees[0].resampled


def test_warning_where_fasttext_is_missing(synthetic, monkeypatch):
    from skdptext.inspection import _obfuscation_attacks, _obfuscation_result

    for module in (_obfuscation_attacks, _obfuscation_result):
        monkeypatch.setattr(module, "find_spec", lambda name: None)
    report = small(synthetic, adversaries=None, cv=2, trained_on="originals")
    assert "DRtopic" not in report.results["adversary"]
    assert said(report, "install skdptext[fasttext]")


# -- errors ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"authors": ["ann"] * 48}, "authors must hold at least 2 different"),
        ({"authors": ["ann", "bob"]}, "authors must hold one label per document"),
        ({"authors": "ann"}, "authors must hold one label per document"),
        ({"authors": [None, *["a", "b"] * 23, "a"]}, "authors must not be missing"),
        ({"topics": [np.nan, *range(47)]}, "topics must not be missing"),
        ({"topics": ["x"] * 48}, "topics must hold at least 2 different"),
        ({"documents": "one text"}, "single str"),
        ({"perturber": None}, "perturber must be a word perturber or a list"),
        ({"perturber": []}, "perturber must be a word perturber or a list"),
        ({"perturber": linear()}, "perturber must be a word perturber or a list"),
        ({"adversaries": {}}, "adversaries must map names"),
        ({"adversaries": {"a": linear()}}, "adversaries must map names"),
        ({"adversaries": {"a": (linear(), "age")}}, "adversaries must map names"),
        ({"adversaries": {"a": (3, "author")}}, "adversaries must map names"),
        (
            {"topics": None, "adversaries": {"a": (linear(), "topic")}},
            "topics must be given for adversary 'a'",
        ),
        ({"trained_on": "all"}, "trained_on must be one of"),
        ({"n_releases": 0}, "n_releases must be an integer >= 1"),
        ({"confidence": 1.0}, "confidence must be in"),
        ({"confidence": "high"}, "confidence must be a finite number"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"random_state": "x"}, "random_state must be"),
        ({"cv": 1}, "cv must be an integer >= 2"),
        ({"cv": 30}, "each author must have at least as many documents"),
        ({"authors": ["ann"] * 47 + ["bob"]}, "each author must have at least"),
        ({"cv": [([0, 20], [20, 2])]}, "cv must not give an adversary"),
        ({"cv": [([0, 3], [1, 2])]}, "documents of at least 2 authors"),
        ({"groups": [0] * 48, "cv": [([0], [1])]}, "at least 2 authors"),
        ({"cv": "five"}, "cv must split the documents"),
    ],
)
def test_bad_input(synthetic, change, message):
    embedding, documents, authors, topics = synthetic
    options = {
        "documents": documents,
        "authors": authors,
        "topics": topics,
        "perturber": DPWordPerturber(embedding, document_length=30),
        "adversaries": {"a": (linear(), "author")},
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


@pytest.mark.parametrize("several", [False, True])
def test_html_is_well_formed_and_escaped(synthetic, several):
    embedding = synthetic[0]
    perturbers = [
        DPWordPerturber(embedding, epsilon=e, document_length=30) for e in (3.0, 30.0)
    ]
    name = "<script>alert('&')</script>"
    report = small(
        synthetic,
        perturbers if several else perturbers[0],
        adversaries={name: (linear(), "author")},
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
    shown = f"{report.strongest(0)['noisy']:.2f} ["
    assert any(text.startswith(shown) for text in outline.texts)
    text = repr(report)
    assert name in text
    assert all(warning in text for warning in report.warnings)
    assert ("the strongest adversary of each" in text) == several


def test_frame_holds_the_results(synthetic):
    pd = pytest.importorskip("pandas")
    report = small(synthetic, cv=2)
    frame = report.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.shape == (4, len(report.results))
    assert frame["noisy"].to_list() == report.results["noisy"].tolist()
