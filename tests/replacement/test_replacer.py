"""DPDocumentReplacer: what it releases, and how it behaves as an estimator."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin, clone
from sklearn.cluster import DBSCAN, KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import (
    CountVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, normalize

from skdptext import DPDocumentReplacer
from skdptext.documents import topic_encoder
from skdptext.embeddings import one_hot_embedding
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.replacement import PublicDocuments, _groups
from skdptext.replacement._public import document_bytes
from skdptext.replacement._topics import NearestCentre
from tests.expected import no_warning, refusals, refused
from tests.replacement.conftest import WORDS, texts_of

SEED = 2**100 + 17
ALL_WORDS = [word for words in WORDS.values() for word in words]


class Fixed(ClusterMixin, BaseEstimator):
    """Groups texts by a rule; nothing is learned."""

    def __init__(self, rule):
        self.rule = rule

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def predict(self, X):
        return self.rule(X)


def by_length(X):
    return np.array([len(text) % 2 for text in X])


@pytest.mark.parametrize("labelled", [False, True])
def test_stand_ins_are_public_documents_of_the_groups(public, private, labelled):
    texts, topics = public
    groups = {"public_labels": topics} if labelled else {"n_groups": 3}
    replacer = DPDocumentReplacer(texts, epsilon=100.0, **groups)
    released = replacer.fit_transform(private[0])
    assert set(released) <= set(texts)
    topic = dict(zip(texts, topics, strict=True))
    assert np.mean([topic[t] for t in released] == private[1]) > 0.9
    if labelled:
        assert replacer.groups_.tolist() == ["food", "pets", "sky"]
        of_public = replacer.groups_[replacer.public_groups_]
        assert of_public.tolist() == topics.tolist()
    np.testing.assert_array_equal(
        replacer.groups_of(texts), replacer.groups_[replacer.public_groups_]
    )


def test_fit_reads_no_document(replacer):
    class Untouchable:
        def __getattribute__(self, name):
            raise AssertionError(name)

    replacer.fit(Untouchable(), Untouchable())
    assert replacer.transform([]) == []


def test_outputs_are_forms_of_one_answer(public, private):
    texts, topics = public
    embedding = one_hot_embedding(ALL_WORDS)
    grouper = make_pipeline(TfidfVectorizer(vocabulary=ALL_WORDS), LogisticRegression())
    replacer = DPDocumentReplacer(
        texts, grouper, public_labels=topics, embedding=embedding, random_state=SEED
    )
    released = {
        output: replacer.set_params(output=output).fit().transform(private[0])
        for output in ("text", "bow", "vector", "group", "index")
    }
    index = released["index"]
    assert released["text"] == [texts[i] for i in index]
    assert released["group"].tolist() == topics[index].tolist()
    counts = CountVectorizer(vocabulary=ALL_WORDS).transform(texts)
    assert sp.issparse(released["bow"])
    assert released["bow"].dtype == np.int64
    np.testing.assert_array_equal(released["bow"].toarray(), counts[index].toarray())
    vectors = replacer.grouper_[0].transform(texts)
    np.testing.assert_array_equal(
        released["vector"].toarray(), vectors[index].toarray()
    )
    # without another fit, too
    for output, expected in released.items():
        now = replacer.set_params(output=output).transform(private[0])
        if sp.issparse(expected):
            now, expected = now.toarray(), expected.toarray()
        np.testing.assert_array_equal(now, expected)
    names = {"bow": ALL_WORDS, "vector": ALL_WORDS, "group": ["group"]}
    for output, expected in names.items():
        replacer.set_params(output=output)
        assert replacer.get_feature_names_out().tolist() == expected
    dense = DPDocumentReplacer(texts, n_groups=3, output="vector", random_state=SEED)
    assert dense.fit_transform(private[0]).shape == (24, 10)


def test_frames_keep_the_name_and_the_index(replacer, private):
    X = pd.Series(private[0], index=range(5, 29), name="text")
    released = replacer.set_output(transform="pandas").fit_transform(X)
    assert released.columns.tolist() == ["text"]
    assert released.index.tolist() == X.index.tolist()
    replacer.set_output(transform="polars").set_params(output="group")
    released = replacer.fit_transform(pl.Series("text", private[0]))
    assert isinstance(released, pl.DataFrame)
    assert released.columns == ["text"]


def test_token_lists_and_generators_are_read(public, private):
    texts, topics = public
    options = {"public_labels": topics, "random_state": SEED, "output": "index"}
    replacer = DPDocumentReplacer(texts, **options).fit()
    first = replacer.transform(private[0])
    np.testing.assert_array_equal(replacer.transform(iter(private[0])), first)
    tokens = DPDocumentReplacer([t.split() for t in texts], **options).fit()
    np.testing.assert_array_equal(tokens.public_groups_, replacer.public_groups_)
    assert tokens.set_params(output="text").transform([["cat"]])[0] in texts
    assert tokens.groups_of([["cat", "paw"], []])[0] == "pets"


# -- public labels -------------------------------------------------------------------


def test_all_labels_weigh_the_same(public):
    """However rare: half of the texts of a rare topic were answered as another."""
    texts, topics = public
    rows = np.concatenate([np.flatnonzero(topics == "pets")[:2], np.arange(30)])
    often = np.flatnonzero(topics[rows] != "pets")
    rows = np.concatenate([rows[topics[rows] == "pets"][:2], np.tile(rows[often], 20)])
    texts, topics = [texts[i] for i in rows], topics[rows]
    model = make_pipeline(
        TfidfVectorizer(sublinear_tf=True),
        LogisticRegression(C=10.0, class_weight="balanced", max_iter=1000),
    )
    asked = texts_of(600, 8)[0]
    replacer = DPDocumentReplacer(texts, public_labels=topics).fit()
    own = model.fit(texts, topics).predict(asked)
    np.testing.assert_array_equal(replacer.groups_of(asked), own)
    unbalanced = model.set_params(logisticregression__class_weight=None)
    assert (unbalanced.fit(texts, topics).predict(asked) != own).sum() > 20


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("missing", "given"), [(None, False), (np.nan, False), (pd.NA, False), (None, True)]
)
def test_documents_without_a_label_are_assigned_one(missing, given):
    """They are stand-ins like the others, and teach the classifier nothing."""
    texts, topics = texts_of(90, 3)
    without = np.arange(90) >= 24
    labels = [missing if no else t for no, t in zip(without, topics, strict=True)]
    grouper = make_pipeline(CountVectorizer(), MultinomialNB()) if given else None
    replacer = DPDocumentReplacer(texts, grouper, public_labels=labels).fit()
    few = DPDocumentReplacer(texts[:24], grouper, public_labels=topics[:24]).fit()
    assert replacer.groups_.tolist() == ["food", "pets", "sky"]
    groups = replacer.groups_[replacer.public_groups_]
    assert groups[:24].tolist() == topics[:24].tolist()
    assert groups[24:].tolist() == few.groups_of(texts[24:]).tolist()
    assert np.mean(groups == topics) > 0.9
    asked = texts_of(50, 4)[0]
    assert replacer.groups_of(asked).tolist() == few.groups_of(asked).tolist()
    released = replacer.set_params(output="index").transform(asked * 10)
    # 500 draws of 90: that none of 66 is drawn has a chance of 10^-280
    assert released.max() >= 24
    for again in (clone(replacer).fit(), pickle.loads(pickle.dumps(replacer))):
        details = (
            again.release_details()["public"],
            replacer.release_details()["public"],
        )
        assert details[0] == details[1]
        again.transform(asked)


@pytest.mark.no_cover
def test_which_documents_are_labelled_makes_another_grouping():
    """Else two groupings would share noise, and an adversary could compare them."""
    texts, topics = texts_of(30, 3)
    labels = [[*topics[:20], *[None] * 10], [*topics[:19], None, topics[19]]]
    labels[1] += [None] * 9
    marks = {
        DPDocumentReplacer(texts, public_labels=given)
        .fit()
        .release_details()["public"]["fingerprint"]
        for given in (*labels, topics)
    }
    assert len(marks) == 3


# -- public parts are shared ---------------------------------------------------------


def test_public_documents_are_held_once(public):
    replacer = DPDocumentReplacer(public[0], n_groups=3).fit()
    documents = replacer.public_documents
    assert list(documents) == public[0]
    assert documents[-1] == public[0][-1]
    for other in (
        clone(replacer),
        copy.deepcopy(replacer),
        clone(replacer).fit(),
    ):
        assert other.public_documents is documents
    assert repr(replacer).count("public documents") == 1
    assert public[0][0] not in repr(replacer)
    elsewhere = PublicDocuments(public[0])
    assert elsewhere == documents
    assert hash(elsewhere) == hash(documents)
    assert elsewhere != PublicDocuments(public[0][::-1])
    assert elsewhere != public[0]


def test_public_documents_come_back_as_they_were():
    documents = ["", "é \ud800", ["a", "b c"], [], "l[]"]
    held = PublicDocuments(documents)
    assert list(held) == documents
    assert held[1:3] == documents[1:3]
    assert PublicDocuments(["ab", "c"]) != PublicDocuments(["a", "bc"])
    with pytest.raises(IndexError):
        held[5]


def test_a_pickle_holds_the_documents(public):
    replacer = DPDocumentReplacer(public[0], n_groups=3, random_state=SEED).fit()
    other = pickle.loads(pickle.dumps(replacer))
    assert other.public_documents == replacer.public_documents
    assert other.transform(["a cat"]) == replacer.transform(["a cat"])


class Counting(ClassifierMixin, BaseEstimator):
    """A user's own classifier, which counts its fits and what it reads in them."""

    fits: ClassVar[list[int]] = []
    read: ClassVar[list[int]] = []

    def __init__(self, words=lambda text: text.split(), random_state=None):
        self.words = words
        self.random_state = random_state

    def fit(self, X, y):
        self.fits.append(len(X))
        self.classes_ = np.unique(y)
        of = {c: set() for c in self.classes_}
        for text, label in zip(X, y, strict=True):
            of[label] |= set(self.words(text))
        self.of_ = of
        return self

    def predict(self, X):
        self.read.append(len(X))
        return np.array(
            [max(self.of_, key=lambda c: len(self.of_[c] & set(t.split()))) for t in X]
        )


@pytest.fixture
def counting():
    Counting.fits.clear()
    Counting.read.clear()
    return Counting


def test_only_equal_groupers_share_a_fit(counting):
    """Another parameter, function, class, text or label is another grouper."""
    texts, topics = texts_of(30, 14)

    def first(text):
        return text.split()[:1]

    def groups(grouper, texts=texts, labels=topics):
        return DPDocumentReplacer(texts, grouper, public_labels=labels).fit()

    groups(Counting())
    for other in (Counting(random_state=1), Counting(words=first)):
        n = len(counting.fits)
        groups(other)
        groups(clone(other))
        assert len(counting.fits) == n + 1
    n = len(counting.fits)
    groups(Counting(), texts[::-1])
    groups(Counting(), labels=topics[::-1])
    assert len(counting.fits) == n + 2
    # a class of the same name, as after an edit in a notebook
    new = type("Counting", (Counting,), {"predict": lambda s, X: ["food", "pets"][:1]})
    new.__module__, new.__qualname__ = Counting.__module__, Counting.__qualname__
    with pytest.raises(InvalidParameterError, match="one label per document"):
        groups(new())
    # what holds a thing that cannot be pickled is like no other
    n = len(counting.fits)
    for _ in range(2):
        groups(Counting(words=Held()))
    assert len(counting.fits) == n + 2
    # also where joblib's hash would leave out what comes after it, which differs
    for n_words in (1, 2):
        groups(Counting(words=Locked(n_words)))
    assert len(counting.fits) == n + 4


class Held:
    """Cannot be pickled."""

    def __call__(self, text):
        return text.split()

    def __reduce__(self):
        raise TypeError

    def __deepcopy__(self, memo):
        return self


class Locked:
    def __init__(self, n_words):
        self.parts = [threading.Lock(), n_words]

    def __call__(self, text):
        return text.split()[: self.parts[1]]

    def __deepcopy__(self, memo):
        return self


def test_a_fitted_grouper_is_looked_at_once_until_it_is_fitted_again(counting):
    texts, topics = texts_of(30, 15)
    own = Counting().fit(texts, topics)
    for epsilon in (1.0, 2.0):
        DPDocumentReplacer(texts, FrozenEstimator(own), epsilon=epsilon).fit()
    assert counting.read.count(30) == 1
    own.fit(texts[:20], topics[:20])
    DPDocumentReplacer(texts, FrozenEstimator(own)).fit()
    assert counting.read.count(30) == 2


# -- groupers ------------------------------------------------------------------------


def test_a_fitted_grouper_is_used_and_said(public, private):
    texts, topics = public
    grouper = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, topics)
    replacer = DPDocumentReplacer(texts, grouper).fit()
    assert replacer.grouper_ is not grouper  # a copy, which nobody fits again
    assert (
        replacer.groups_of(private[0]).tolist() == grouper.predict(private[0]).tolist()
    )
    assert "was given fitted" in str(replacer.guarantee())
    # a clone of it is fitted anew, unless it is frozen
    assert (
        clone(replacer).set_params(public_labels=topics).fit().grouper_ is not grouper
    )
    frozen = DPDocumentReplacer(texts, FrozenEstimator(grouper), output="vector")
    again = clone(frozen).fit()
    assert again.groups_of(private[0]).tolist() == grouper.predict(private[0]).tolist()
    assert frozen.fit().transform(private[0]).shape[0] == 24
    own = DPDocumentReplacer(texts, public_labels=topics).fit()
    assert "was given fitted" not in str(own.guarantee())


class HoldsWord(ClassifierMixin, BaseEstimator):
    """Agrees with its likes on public documents, and not on others."""

    def __init__(self, word="a"):
        self.word = word

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.array(["yes" if self.word in x.split() else "no" for x in X])


def test_groupers_that_agree_on_public_documents_share_no_noise_and_no_bound():
    public, labels = ["p one", "p two", "q one", "q two"], ["no", "yes"] * 2
    ids = list(range(400))
    answers, guarantees = [], []
    for word in "ab":
        replacer = DPDocumentReplacer(
            public,
            HoldsWord(word),
            public_labels=labels,
            epsilon=1.0,
            output="group",
            random_state=2**100,
        ).fit()
        again = clone(replacer).fit()
        answers.append(replacer.transform(["c"] * 400, document_ids=ids))
        assert list(again.transform(["c"] * 400, document_ids=ids)) == list(answers[-1])
        guarantees.append(replacer.set_params(epsilon=20.0).fit().guarantee())
    # "c" is in one group of both: independent answers differ in 39 of 100, and by
    # chance in fewer than 20 of 100 once in 10^14
    assert np.mean(np.array(answers[0]) != np.array(answers[1])) > 0.2
    both = guarantees[0].compose(guarantees[1])
    # "a b", "a", "b" and "c" lie in four different pairs of groups
    assert both.found_at_most(4) > 0.99


def test_a_grouper_is_the_same_in_another_process(public):
    grouper = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(*public)
    here = DPDocumentReplacer(public[0], grouper).fit().release_details()
    sent = pickle.loads(pickle.dumps(grouper))
    sent.steps[0][1]._stop_words_id = 17  # an address of the other process
    there = DPDocumentReplacer(public[0], sent).fit().release_details()
    assert here["noise_fingerprint"] == there["noise_fingerprint"]


@pytest.mark.no_cover
def test_a_search_groups_and_is_the_same_whenever_it_is_fitted(public, private):
    """Its records of folds and times are none of its answers."""
    chain = make_pipeline(TfidfVectorizer(), LogisticRegression())
    search = GridSearchCV(chain, {"logisticregression__C": [1.0, 10.0]}, cv=2)
    replacers = []
    for _ in range(2):
        _groups._memo._made.clear()  # as in another process
        replacer = DPDocumentReplacer(public[0], search, public_labels=public[1])
        replacers.append(replacer.fit())
    assert all(r.grouper_.best_estimator_ is not None for r in replacers)
    assert replacers[0].grouper_.refit_time_ != replacers[1].grouper_.refit_time_
    first, second = (r.release_details()["noise_fingerprint"] for r in replacers)
    assert first == second
    own = search.fit(*public).predict(private[0])
    assert replacers[0].groups_of(private[0]).tolist() == own.tolist()


@refusals(
    (LogisticRegression(), False, "public_labels must be given for a classifier"),
    (DummyClassifier(), False, "public_labels must be given for a classifier"),
    (KMeans(2), False, "grouper must learn from public_documents, but its fit"),
    (make_pipeline(Normalizer(), KMeans(2)), False, "but its fit failed with Value"),
    (KNeighborsClassifier(), True, "from public_documents and public_labels, but"),
)
def test_what_a_grouper_cannot_learn_from_is_named(public, grouper, labelled):
    labels = public[1] if labelled else None
    DPDocumentReplacer(public[0], grouper, public_labels=labels).fit()


def test_a_grouper_fitted_on_the_documents_to_release_is_refused(public, private):
    encoder = topic_encoder(public[0], 2)
    grouper = make_pipeline(encoder, KMeans(3, n_init=3, random_state=0))
    grouper.fit(private[0])
    replacer = DPDocumentReplacer(public[0], grouper).fit()
    with pytest.raises(InvalidParameterError, match="it was fitted on them"):
        replacer.transform(private[0])
    replacer.transform(private[0][:5])  # which it cannot know
    DPDocumentReplacer(public[0], clone(grouper)).fit().transform(private[0])


def test_a_grouper_fitted_on_public_documents_is_not_taken_for_another(public):
    """Where as many documents to release fall into the same groups."""
    encoder = topic_encoder(public[0], 2)
    grouper = make_pipeline(encoder, KMeans(3, n_init=3, random_state=0))
    DPDocumentReplacer(public[0], grouper.fit(public[0])).fit().transform(public[0])


@refusals(
    (lambda X: np.arange(len(X)) % 2, "each document by itself"),
    (lambda X: np.array([(len(t) + len(X)) % 2 for t in X]), "each document by itself"),
    (lambda X: np.argsort(np.argsort(X)) % 3, "each document by itself"),
    (lambda X: np.zeros(len(X) + 1), "one label per document"),
    (lambda X: np.zeros((len(X), 2)), "one label per document"),
    (lambda X: np.zeros(len(X)), "at least 2 groups"),
    (lambda X: [np.nan if "cat" in t else 1.0 for t in X], "got NaN"),
    (lambda X: [None] * len(X), "text or numbers, got object"),
    (lambda X: [1 / len(t) for t in X], "failed on an empty document"),
    (lambda X: [[len(t) % 2, 2][not t] for t in X], "an empty document to a group"),
    (lambda X: [int(t[:1] > "h") + 2 * (t == "\ufffd") for t in X], "unknown words"),
)
def test_groupers_that_void_the_promise_are_refused(public, rule):
    DPDocumentReplacer(public[0], Fixed(rule)).fit()


class OfBatch(Fixed):
    """Groups by a number that is worked out with the others of the batch."""

    def predict(self, X):
        return self.rule(np.array([float(len(text)) for text in X]), self)


def counted(x, grouper):
    grouper.calls_ = getattr(grouper, "calls_", 0) + 1
    return (x + grouper.calls_) % 2


# Numbers of characters of the texts, to groups
DEPEND_ON_THE_BATCH = {
    "scaled by the largest": lambda x, _: x > 0.8 * x.max(),
    "centred on the batch": lambda x, _: x > x.mean(),
    "rank in the batch": lambda x, _: x.argsort().argsort() >= len(x) / 2,
    "int8 of one scale per batch": lambda x, _: np.rint(127 * x / x.max()) % 2,
    "beside the first row": lambda x, _: x > x[0],
    "beside the row before": lambda x, _: x > np.roll(x, 1),
    "size of the batch": lambda x, _: (x + len(x)) % 2,
    "logarithm of the size": lambda x, _: (x + np.log(len(x))) % 8 > 4,
    "number of the call": counted,
    "by chance": lambda x, _: np.random.default_rng().random(len(x)) < 0.5,
    "a duplicate is another group": lambda x, _: np.isin(
        np.arange(len(x)), np.unique(x, return_index=True)[1]
    ),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("size", [30, 300])
@pytest.mark.parametrize("rule", DEPEND_ON_THE_BATCH.values(), ids=DEPEND_ON_THE_BATCH)
def test_groupers_for_which_others_matter_do_not_pass_fit(rule, size):
    texts = texts_of(size, 5)[0]
    with pytest.raises(InvalidParameterError, match="each document by itself"):
        DPDocumentReplacer(texts, OfBatch(rule)).fit()


class Normalised(Fixed):
    """Scales a batch by what exceeds the public documents: they do not show it."""

    def predict(self, X):
        sizes = np.array([float(len(text)) for text in X])
        return np.rint(sizes / max(1.0, sizes.max(initial=0) / 1000)) % 2


@pytest.mark.parametrize("n", [1, 20, 101, 2000])
def test_groupers_for_which_others_matter_are_refused_in_transform(public, n):
    """Those who hide it on the public documents; one document of 3,000 letters."""
    replacer = DPDocumentReplacer(public[0], Normalised(None), output="index").fit()
    texts = [f"{'x' * (i % 50)} text" for i in range(n)]
    replacer.transform(texts)
    texts[n // 2] = "y" * 3000
    if n == 1:  # there are no others
        replacer.transform(texts)
        return
    with pytest.raises(InvalidParameterError, match="each document by itself") as error:
        replacer.transform(texts)
    assert "yyy" not in str(error.value)


@pytest.mark.no_cover
def test_a_grouper_that_is_fitted_again_changes_no_release(public, private):
    """Nor what is frozen in one that was given unfitted."""
    texts, topics = public
    scrambled = np.random.default_rng(3).permutation(topics)
    for wrapped in (False, True):
        owned = make_pipeline(TfidfVectorizer(), LogisticRegression())
        owned.fit(texts, topics)
        grouper = owned
        if wrapped:
            grouper = make_pipeline(FrozenEstimator(owned[:-1]), KMeans(3, n_init=3))
        replacer = DPDocumentReplacer(texts, grouper).fit()
        before = replacer.groups_of(private[0])
        owned.fit(private[0], np.resize(scrambled, len(private[0])))
        np.testing.assert_array_equal(replacer.groups_of(private[0]), before)


def test_a_fitted_grouper_that_cannot_be_copied_is_refused(public):
    grouper = Fixed(by_length).fit(public[0])
    grouper.lock_ = threading.Lock()
    with pytest.raises(InvalidParameterError, match=r"can be copied.*TypeError"):
        DPDocumentReplacer(public[0], grouper).fit()


def test_default_centres_are_those_of_k_means_row_by_row():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 7))
    ours, theirs = NearestCentre(5, random_state=0), KMeans(5, random_state=0)
    together = ours.fit(X).predict(X)
    np.testing.assert_array_equal(together, theirs.fit(X).predict(X))
    # rows that are equally far from two centres, but for rounding
    a, b = ours.cluster_centers_[:2]
    normal = rng.standard_normal((500, 7))
    normal -= np.outer(normal @ (a - b), a - b) / ((a - b) @ (a - b))
    ties = (a + b) / 2 + 0.01 * normal
    together = ours.predict(ties)
    assert len(np.unique(together)) > 1
    alone = [ours.predict(row[None])[0] for row in ties]
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(together[::-1], ours.predict(ties[::-1]))


@pytest.mark.no_cover
def test_default_groups_are_those_of_scikit_learns_steps():
    texts = texts_of(400, 3)[0]
    weights = TfidfVectorizer(sublinear_tf=True, norm=None)
    svd = TruncatedSVD(10, random_state=0)
    places = make_pipeline(weights, TfidfTransformer(), svd).fit_transform(texts)
    clusters = KMeans(6, n_init=10, random_state=0).fit(normalize(places))
    replacer = DPDocumentReplacer(texts, n_groups=6).fit()
    np.testing.assert_array_equal(replacer.public_groups_, clusters.labels_)
    unknown = replacer.grouper_.predict([[], ["zebra"], "unknown"])
    assert len(set(unknown.tolist())) == 1


def test_default_groups_do_not_depend_on_others_by_a_bit():
    """Places, and not only the nearest centre, alone, together, in another order."""
    texts = texts_of(900, 7)[0]
    encoder = DPDocumentReplacer(texts[:300], n_groups=5).fit().grouper_[0]
    asked = [f"{a} {b}" for a, b in zip(texts[300:600], texts[600:], strict=True)]
    together = encoder.transform(asked)
    np.testing.assert_array_equal(together[::-1], encoder.transform(asked[::-1]))
    alone = np.concatenate([encoder.transform([text]) for text in asked])
    np.testing.assert_array_equal(together, alone)
    many = encoder.transform(asked * 14)
    np.testing.assert_array_equal(many, np.tile(together, (14, 1)))


def test_texts_that_differ_in_a_pair_of_surrogates_only_are_two():
    pair, character = ["\ud83d\ude00"], ["\U0001f600"]
    documents = PublicDocuments([pair, character])
    assert list(documents) == [pair, character]
    assert document_bytes(pair) != document_bytes(character)


def test_what_a_grouper_says_of_private_documents_is_not_repeated(public):
    def fails(X):
        for text in X:
            if "secret" in text:
                warnings.warn(f"what a text: {text}", stacklevel=1)
                raise ValueError(f"cannot group {text!r}")
        return by_length(X)

    replacer = DPDocumentReplacer(public[0], Fixed(fails)).fit()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(InvalidParameterError, match="with ValueError") as error:
            replacer.transform(["a", "my secret"])
    assert "secret" not in str(error.value)
    assert error.value.__suppress_context__
    assert not [w for w in caught if "secret" in str(w.message)]

    elsewhere = Fixed(lambda X: [9 if "secret" in t else len(t) % 2 for t in X])
    replacer = DPDocumentReplacer(public[0], elsewhere).fit()
    with pytest.raises(InvalidParameterError, match="not for document 1") as error:
        replacer.transform(["a", "my secret"])
    assert "secret" not in str(error.value)
    assert "9" not in str(error.value)


@pytest.mark.parametrize(
    "grouper",
    [
        make_pipeline(TfidfVectorizer(), DBSCAN()),
        TfidfVectorizer(),
        make_pipeline(TfidfVectorizer(), Ridge()),
        KMeans,
        "kmeans",
        3,
    ],
)
def test_what_cannot_assign_documents_is_refused(public, grouper):
    with pytest.raises(InvalidParameterError, match="grouper must be an estimator"):
        DPDocumentReplacer(public[0], grouper).fit()


def test_groups_without_a_public_document_are_refused_with_advice(public):
    texts, topics = public
    classifier = make_pipeline(TfidfVectorizer(), LogisticRegression())
    classifier.fit([*texts, "bolt nut"], [*topics, "tools"])
    with pytest.raises(InvalidParameterError, match=r"1 of 4 have none\. Choose fewer"):
        DPDocumentReplacer(texts, classifier).fit()
    with pytest.raises(InvalidParameterError, match="Choose fewer groups"):
        DPDocumentReplacer(
            ["cat dog", "dog tea", "cat tea", "cat dog"], n_groups=4
        ).fit()


@pytest.mark.parametrize("groups", [{"n_groups": 2}, {"public_labels": [0, 1] * 3}])
@pytest.mark.parametrize("texts", [["", " "] * 3, ["?"] * 6])
def test_public_documents_without_words_are_named(texts, groups):
    with pytest.raises(InvalidParameterError, match="public_documents must differ in"):
        DPDocumentReplacer(texts, **groups).fit()


def test_a_number_of_groups_that_nothing_reads_is_refused(public):
    """A grid over it compared equal models."""
    texts, topics = public
    assert DPDocumentReplacer(texts).fit().n_groups_ == 8
    rule = r"n_groups must be None beside (grouper|public_labels), which makes the"
    for options in ({"grouper": Fixed(by_length)}, {"public_labels": topics}):
        with pytest.raises(InvalidParameterError, match=rule):
            DPDocumentReplacer(texts, n_groups=7, **options).fit()


class Fails(Fixed):
    def predict(self, X):
        if any("boom" in text for text in X):
            raise ValueError(f"cannot read {X}")
        return super().predict(X)


def test_a_document_on_which_the_grouper_fails_is_named_by_its_number():
    """In whatever block it is, and not by what it says."""
    public = ["a", "bb", "ccc", "dd"]
    texts = ["x", "yy"] * 2100 + ["boom, a secret", "x", "boom"]
    replacer = DPDocumentReplacer(public, Fails(by_length)).fit()
    with pytest.raises(InvalidParameterError, match=r"on document 4200 with") as error:
        replacer.transform(texts)
    assert "secret" not in str(error.value)
    with pytest.raises(InvalidParameterError, match="on document 1 with ValueError"):
        replacer.groups_of(["x", "boom"])
    with pytest.raises(InvalidParameterError, match="on public document 4 with"):
        DPDocumentReplacer([*public, "boom"], Fails(by_length)).fit()

    class Together(Fixed):
        def predict(self, X):
            if len(X) == 3:
                raise ValueError
            return super().predict(X)

    replacer = DPDocumentReplacer(public, Together(by_length)).fit()
    with pytest.raises(InvalidParameterError, match="documents 0 to 2 together with"):
        replacer.transform(["x", "yy", "x"])


# -- bad input -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 0}, "epsilon must be a finite number > 0, got 0"),
        ({"epsilon": -1.0}, "epsilon must be"),
        ({"epsilon": np.inf}, "epsilon must be"),
        ({"epsilon": np.nan}, "epsilon must be"),
        ({"epsilon": "4"}, "epsilon must be"),
        ({"n_groups": 1}, "n_groups must be an integer >= 2, got 1"),
        ({"n_groups": 31}, "n_groups must be at most the number of public"),
        ({"n_groups": 2.5}, "n_groups must be an integer"),
        ({"output": "tokens"}, "output must be one of"),
        ({"output": "bow"}, "embedding must be given"),
        ({"embedding": "glove"}, "embedding must be None or a WordEmbedding"),
        ({"output": "vector", "grouper": Fixed(by_length)}, "must be a pipeline"),
        ({"random_state": -1}, "random_state must be"),
        ({"random_state": "x"}, "random_state must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"verbose": -1}, "verbose must be"),
        ({"public_labels": ["a"] * 30}, "at least 2 different labels"),
        ({"public_labels": ["a"] * 30, "grouper": Fixed(by_length)}, "no classifier"),
        ({"public_labels": ["a", "b"]}, r"one label per public document \(30\)"),
        ({"public_labels": [None] * 30}, "at least 2 different labels, got 0"),
        ({"public_labels": ["a"] * 29 + [None]}, "at least 2 different labels, got 1"),
        ({"public_labels": ["a"] * 29 + [np.inf]}, "public_labels must not be missing"),
        ({"public_labels": [0, 1] * 14 + [0, -1]}, "must not be -1.*for document 29"),
        ({"public_labels": [0, None, -1.0] * 10}, "must not be -1.*for document 2"),
    ],
)
def test_bad_parameters(public, options, message):
    replacer = DPDocumentReplacer(public[0], **options)
    with pytest.raises(InvalidParameterError, match=message):
        replacer.fit()
    with pytest.raises(NotFittedError):
        replacer.transform(public[0])


@refusals(
    (None, "got None"),
    ("a secret", "got a str of 8 characters"),
    (b"secret", "got a bytes"),
    ([], "at least one document"),
    (["secret", None], "each document of public_documents .* None as document 1"),
    (["secret", 3.0], "a float as document 1"),
    ([["secret", 3]], "an int as token 1 of document 0 of public_documents"),
    (iter(["secret"]), "must be a list of documents"),
    (np.eye(3), "got a count matrix"),
    (sp.eye(3), "got a count matrix"),
    ({"secret": 1}, "got a dict"),
    (7, "got an int"),
    never="secret",
)
def test_bad_public_documents(documents):
    DPDocumentReplacer(documents).fit()


@refusals(
    ("a secret", "got a single str"),
    (None, "got None"),
    (["secret", None], "None as document 1"),
    (["secret", 3], "an int as document 1"),
    ([["secret", 3]], "token 1 of document 0"),
    (np.eye(3), "got a count matrix"),
    never="secret",
)
def test_bad_documents(replacer, X):
    replacer.fit().transform(X)


def test_bad_ids(replacer):
    replacer.fit()
    for ids, message in (
        (["a"], "one id per document"),
        (["a", "a"], "must differ"),
        (["a", None], "must be str, int or bytes"),
        ("ab", "iterable of str, int or bytes"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            replacer.transform(["x", "y"], document_ids=ids)


def test_what_is_set_after_fit_changes_no_promise(replacer, private):
    claim = replacer.fit().guarantee().epsilon
    replacer.set_params(n_groups=2, public_documents=["a b", "c d"])
    assert replacer.guarantee().epsilon == claim
    for again in (pickle.loads(pickle.dumps(replacer)), copy.deepcopy(replacer)):
        assert len(again.transform(private[0])) == len(private[0])
    replacer.set_params(epsilon=0.1)
    for ask in (replacer.guarantee, lambda: replacer.transform(private[0])):
        with refused("^epsilon was changed after fit, call fit again.$"):
            ask()


def test_public_documents_among_the_private_ones_are_seen(replacer, public, private):
    replacer.fit()
    with no_warning():
        replacer.transform(private[0])
        replacer.transform(["a cat"])
    copied = f"{public[0][3].upper()} ."
    with pytest.warns(PrivacyLeakWarning, match="^1 of 30 public texts is among"):
        replacer.transform([copied, "a cat", "a dog"])
    texts = ["ok", "yes", *public[0]]
    short = DPDocumentReplacer(texts, n_groups=2).fit()
    with no_warning():
        short.transform(["ok", "a cat", "a dog", "tea"])  # by chance


def test_groupers_that_are_no_estimators(public):
    """What has no fit is taken as it is; what has, tells by its attributes."""

    class Rule:
        def predict(self, X):
            return by_length(X)

    class Fits(Rule):
        def fit(self, X, y=None):
            self.seen_ = len(X)
            return self

    replacer = DPDocumentReplacer(public[0], Rule()).fit()
    assert replacer.n_groups_ == 2
    assert "was given fitted" in str(replacer.guarantee())
    given = Fits()
    replacer = DPDocumentReplacer(public[0], given).fit()
    assert replacer.grouper_.seen_ == 30
    assert not hasattr(given, "seen_")  # a copy is fitted
    assert "was given fitted" not in str(replacer.guarantee())
    fitted = Fits().fit(public[0])
    assert DPDocumentReplacer(public[0], fitted).fit().grouper_.seen_ == fitted.seen_


def test_as_many_groups_as_documents_hide_nothing():
    texts = [f"w{i}" for i in range(4097)]
    numbers = Fixed(lambda X: [int(t[1:]) if t[1:] else 0 for t in X])
    with pytest.raises(InvalidParameterError, match="at most 4096 groups, got 4097"):
        DPDocumentReplacer(texts, numbers).fit()
