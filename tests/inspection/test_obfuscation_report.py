"""The numbers of an obfuscation report against plain scikit-learn."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from joblib import parallel_config
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from skdptext import (
    DPDocumentReplacer,
    DPWordPerturber,
    WMDKNNClassifier,
    WordEmbedding,
)
from skdptext.attacks import attribution_attack
from skdptext.datasets import load_docstrings
from skdptext.exceptions import InvalidParameterError
from skdptext.inspection import obfuscation_report
from skdptext.naive_bayes import ChannelNaiveBayes
from skdptext.preprocessing import DocumentPreparer
from tests.inspection.corpus import CLEAN, bayes, few, small


@pytest.fixture(scope="module")
def stories():
    """(texts, authors, fandoms): six texts of three modules each of two libraries.

    Of 60 words, as exact distances of longer ones take long.
    """
    corpus = load_docstrings(authors=["scikit-learn", "scipy"], min_words=200)
    by_module = defaultdict(list)
    for name, text in zip(corpus.names, corpus.data, strict=True):
        by_module[".".join(name.split(".")[:2])].append(text)
    modules = [
        *("sklearn.cluster", "sklearn.ensemble", "sklearn.linear_model"),
        *("scipy.linalg", "scipy.signal", "scipy.stats"),
    ]
    rows = [
        (" ".join(text.split()[:60]), module, module.partition(".")[0])
        for module in modules
        for text in by_module[module][:6]
    ]
    texts, authors, fandoms = zip(*rows, strict=True)
    return list(texts), np.array(authors), np.array(fandoms)


@pytest.fixture(scope="module")
def table(built_in):
    return built_in.restrict(3000)


class Spy(ClassifierMixin, BaseEstimator):
    """Answers like naive Bayes, and keeps what it was given."""

    seen: tuple = ()

    def __init__(self, log=None):
        self.log = log

    def fit(self, X, y):
        self.known_ = X
        self.model_ = bayes().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        LOG.append((self.known_, X))
        return self.model_.predict(X)


LOG: list = []


@pytest.mark.no_cover
def test_clean_numbers_are_those_of_plain_cross_validation(stories, table):
    texts, authors, fandoms = stories
    assert len(texts) == 36
    splits = list(StratifiedKFold(3).split(texts, authors))
    models = {
        "Bayes author": (bayes(), "author"),
        "WMD topic": (WMDKNNClassifier(table, n_neighbors=3), "topic"),
    }
    perturber = DPWordPerturber(
        table, epsilon=CLEAN, document_length=20, stop_words="english"
    )
    report = obfuscation_report(
        texts,
        authors,
        fandoms,
        perturber,
        adversaries=models,
        cv=splits,
        linkage=False,
    )
    whole, cut = (
        DocumentPreparer(table, document_length=n, output="bow").fit_transform(texts)
        for n in (None, 20)
    )
    truth = {"author": authors, "topic": fandoms}
    r = report.results
    assert r["adversary"].tolist() == ["Bayes author"] * 2 + ["WMD topic"] * 2
    for k, name in enumerate(r["adversary"]):
        model, target = models[name]
        guess = cross_val_predict(model, whole, truth[target], cv=splits)
        hits = int((guess == truth[target]).sum())
        assert r["clean"][k] == pytest.approx(hits / 36)
        known_whole = [
            clone(model).fit(whole[known], truth[target][known]).predict(cut[held])
            == truth[target][held]
            for known, held in splits
        ]
        assert r["cut"][k] == pytest.approx(np.concatenate(known_whole).mean())
        # no word moves: originals cut, or all that is known and attacked cut
        guess = cross_val_predict(model, cut, truth[target], cv=splits)
        known_cut = (guess == truth[target]).mean()
        expected = r["cut"][k] if r["trained_on"][k] == "originals" else known_cut
        assert r["noisy"][k] == pytest.approx(expected)
        # those of the two ways to train hold together with 95 %
        interval = stats.binomtest(hits, 36).proportion_ci(0.975, method="wilson")
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
        linkage=False,
    )
    bags = DocumentPreparer(embedding, output="bow", stop_words=None)
    originals = bags.fit_transform(documents).toarray()
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
    for k, train in enumerate((originals, noisy)):
        hits = [
            bayes().fit(train[known], authors[known]).predict(noisy[held])
            == authors[held]
            for known, held in splits
        ]
        assert report.results["noisy"][k] == pytest.approx(np.concatenate(hits).mean())
    assert report.results["trained_on"].tolist() == ["originals", "releases"]


def test_a_document_counts_once_however_often_it_is_attacked(synthetic):
    # splits that hold the same 12 documents out five times, and three releases
    held = np.arange(12)
    splits = [(np.arange(12, 48), held)] * 5
    report = small(
        synthetic, cv=splits, n_releases=3, trained_on="originals", linkage=False
    )
    assert (report.results["n_documents"] == 12).all()
    shares = report.results["noisy"] * 12 * 3
    assert shares == pytest.approx(np.round(shares))  # equal splits add nothing new
    for k, share in enumerate(report.results["clean"]):
        interval = stats.binomtest(round(12 * share), 12).proportion_ci(
            0.95, method="wilson"
        )
        assert report.results["clean_low"][k] == pytest.approx(interval.low)


@pytest.mark.no_cover
def test_seeded_reports_do_not_depend_on_n_jobs_or_company(synthetic):
    synthetic = embedding, *_ = few(synthetic)
    grid = [
        DPWordPerturber(embedding, epsilon=e, lam=lam, document_length=12)
        for e in (3.0, 9.0)
        for lam in (0.0, 0.5)
    ]
    first = small(synthetic, grid, cv=2, linkage=False)
    with parallel_config("threading"):
        second = small(synthetic, grid, cv=2, linkage=False, n_jobs=2)
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
            linkage=False,
        )
        releases.append(LOG[2][1].toarray())
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
        linkage=False,
        random_state=0,
    )
    _, _, (_, released) = LOG
    # P(16 counts, each about Binomial(40, 1/2), take 2 values or fewer) < 1e-6
    assert len(np.unique(released.toarray(), axis=0)) > 2


@pytest.mark.no_cover
def test_bags_tokens_and_texts_are_the_same_documents(synthetic):
    embedding, documents, authors, topics = few(synthetic)
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
            cv=2,
            adversaries={"t": (bayes(), "topic")},
        )
        for kind in kinds
    ]
    assert len({report.results["noisy"][0] for report in reports}) == 1
    assert reports[0].results["noisy"][0] > 0.9


def test_default_adversaries_and_topics_left_out(synthetic):
    embedding, documents, authors, _ = few(synthetic)
    perturber = DPWordPerturber(embedding, epsilon=5.0, document_length=12)
    options = {"cv": 2, "linkage": False}
    report = obfuscation_report(
        documents, authors, None, perturber, trained_on="releases", **options
    )
    names = report.results["adversary"].tolist()
    assert names == ["SRauth", "DRauth", "linear author", "channel author"]
    assert np.isnan(report.results["chance_from_other"]).all()
    assert report.strongest(target="topic") == {}
    full = small(few(synthetic), adversaries=None, trained_on="originals", **options)
    assert {"SRtopic", "linear topic", "channel topic"} <= set(
        full.results["adversary"]
    )
    assert full.strongest(target="topic")["clean"] > 0.9


def test_names_kept_in_clear_give_the_author_away():
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(60)]
    embedding = WordEmbedding(words, rng.normal(size=(60, 4)))
    authors = np.repeat(["ann", "bob"], 15)
    hero = {"ann": "Severus", "bob": "Bella"}
    texts = [" ".join([hero[a], *rng.choice(words, 20)]) for a in authors]
    accuracy = {}
    for oov in ("keep", "drop"):
        perturber = DPWordPerturber(
            embedding,
            epsilon=1e-3,
            document_length=20,
            oov=oov,
            output="text",
            lowercase=False,
        )
        options = {"cv": 2, "linkage": False, "random_state": 0}
        report = obfuscation_report(texts, authors, None, perturber, **options)
        accuracy[oov] = report.strongest()["noisy"]
        said = any("clear; names" in warning for warning in report.warnings)
        assert said == (oov == "keep")
    assert accuracy["keep"] == 1.0
    assert accuracy["drop"] < 0.9


def test_groups_stay_together(synthetic):
    groups = np.repeat(np.arange(16), 3)
    LOG.clear()
    small(
        synthetic,
        groups=groups,
        cv=4,
        trained_on="originals",
        adversaries={"spy": (Spy(), "author")},
        linkage=False,
    )
    rows = {row.tobytes(): i for i, row in enumerate(_bags(synthetic))}
    for known, held in LOG[::3]:
        sides = [
            {groups[rows[row.tobytes()]] for row in side.toarray()}
            for side in (known, held)
        ]
        assert not sides[0] & sides[1]


def _bags(synthetic):
    preparer = DocumentPreparer(synthetic[0], output="bow", stop_words=None)
    return preparer.fit_transform(synthetic[1]).toarray()


@pytest.mark.no_cover
def test_names_of_adversaries_are_explained_and_progress_is_shown(synthetic, capsys):
    embedding, documents, authors, _ = few(synthetic)
    perturber = DPWordPerturber(embedding, epsilon=10.0, document_length=12)
    options = {"trained_on": "originals", "cv": 2, "linkage": False}
    report = obfuscation_report(
        documents, authors, None, perturber, verbose=2, **options
    )
    assert "attacks: " in capsys.readouterr().err
    for view in (str(report), report._repr_html_()):
        for name in ("SR: ", "DRauth: ", "linear: "):
            assert view.count(name) == 1
        assert "DRtopic: " not in view  # nobody asked for topics
    own = small(few(synthetic), **options)
    assert capsys.readouterr().err == ""
    assert "SR: " not in str(own)


def test_words_and_documents_side_by_side(synthetic):
    """Both kinds of release in one report; the adversary knows the law of each."""
    embedding, documents, _, topics = synthetic
    texts, topics = [" ".join(words[:15]) for words in documents[:28]], topics[:28]
    public = DPDocumentReplacer(texts[:8], public_labels=topics[:8], epsilon=24.0)
    words = DPWordPerturber(embedding, epsilon=5.0, document_length=12)
    report = obfuscation_report(
        texts[8:], topics[8:], topics[8:], [words, public], cv=2, random_state=0
    )
    r = report.results
    assert r["noise"][-1] == "DPDocumentReplacer"
    assert np.isnan(r["words_changed"][r["release"] == 1]).all()
    assert report.exponents[1] == 24.0
    assert report.linkages[1].rows[0].adversary == "likelihood"
    # of two groups by topic, e^24 : 1 of the stand-ins are of the topic of the document
    of_channel = (r["release"] == 1) & (r["adversary"] == "channel topic")
    assert r["noisy"][of_channel & (r["trained_on"] == "originals")] == 1.0
    for view in (str(report), report._repr_html_()):
        assert "DPDocumentReplacer" in view
        assert "nan" not in view
    report.plot(kind="trade-off")
    assert "Where no bound is stated" in " ".join(str(report).split())
    alone = obfuscation_report(
        texts[8:], topics[8:], None, public, cv=2, trained_on="originals"
    )
    assert "bounds what any adversary finds" in " ".join(str(alone).split())
    assert "may find them" not in " ".join(str(alone).split())
    both = [words, public.set_params(epsilon=4.0)]
    report = obfuscation_report(
        texts[8:], topics[8:], None, both, cv=2, trained_on="originals", linkage=False
    )
    (little,) = [w for w in report.warnings if "Little is promised" in w]
    assert "(The release with ε = 5, λ = 0.5): the odds" in little  # of words alone
    assert "unknown of the words" not in alone.plot().ax_.get_title()
    public.set_params(output="index")
    with pytest.raises(InvalidParameterError, match="must release texts"):
        obfuscation_report(texts[8:], topics[8:], None, public)
    with pytest.raises(InvalidParameterError, match="got a matrix of numbers"):
        obfuscation_report(np.eye(8), topics[:8], None, public)


def test_known_whole_and_through_the_noise(synthetic):
    """Bayes with the law of the noise is ChannelNaiveBayes fitted on whole texts.

    Its law is simulated once for all splits; here it is exact, whatever is at hand.
    """
    embedding, documents, authors, _ = synthetic
    perturber = DPWordPerturber(
        embedding, epsilon=4.0, document_length=6, mechanism="exponential"
    )
    halves = [(np.arange(0, 48, 2), np.arange(1, 48, 2))]
    seen: list = []

    class Watched(ChannelNaiveBayes):
        def predict(self, X):
            answers = super().predict(X)
            seen.append((self, X))
            return answers

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skdptext.attacks._trials.ChannelNaiveBayes", Watched)
        report = obfuscation_report(
            documents, authors, None, perturber, cv=halves, trained_on="originals",
            linkage=False, random_state=0,
        )  # fmt: skip
    bags = DocumentPreparer(embedding, output="bow", stop_words=None)
    originals = bags.fit_transform(documents)
    (model, released) = seen[-1]
    assert (released.sum(axis=1) == 6).all()
    again = ChannelNaiveBayes(perturber, n_draws=20)
    again.fit(originals[halves[0][0]], authors[halves[0][0]])
    answers = again.predict(released)
    np.testing.assert_array_equal(answers, model.predict(released))
    expected = (answers == authors[halves[0][1]]).mean()
    r = report.results
    line = np.flatnonzero(r["adversary"] == "channel author")
    assert r["noisy"][line] == expected


def test_results_of_the_attack_make_the_same_report(synthetic):
    """An attack that was done is reported as one that the report does."""
    embedding, documents, authors, topics = few(synthetic)
    perturber = DPWordPerturber(embedding, epsilon=10.0, document_length=12)
    attack = {
        "adversaries": {"a": (bayes(), "author"), "t": (bayes(), "topic")},
        "trained_on": "originals",
        "cv": 2,
        "n_releases": 2,
        "random_state": 0,
    }
    done = attribution_attack(documents, authors, topics, perturber, **attack)
    reports = (
        obfuscation_report(done, linkage=False),
        obfuscation_report(
            documents, authors, topics, perturber, linkage=False, **attack
        ),
    )
    assert repr(reports[0]) == repr(reports[1])
    assert reports[0].n_releases == 2
    for ignored in ({"authors": authors}, {"cv": 3}):
        with pytest.raises(InvalidParameterError, match="documents must be documents"):
            obfuscation_report(done, **ignored)
