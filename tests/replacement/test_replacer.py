"""DPDocumentReplacer: what it releases, and how it behaves as an estimator."""

from __future__ import annotations

import pickle
import threading
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin, clone
from sklearn.cluster import DBSCAN, KMeans
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from skdptext import DPDocumentReplacer
from skdptext.embeddings import one_hot_embedding
from tests.expected import no_warning, refusals, refused
from tests.replacement.conftest import ALL_WORDS, texts_of

SEED = 2**100 + 17


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


# -- what is released ----------------------------------------------------------------


@pytest.mark.parametrize("labelled", [False, True])
def test_stand_ins_are_public_documents_of_the_groups(public, private, labelled):
    texts, topics = public
    groups = {"public_labels": topics} if labelled else {"n_groups": 3}
    replacer = DPDocumentReplacer(texts, epsilon=100.0, **groups)
    released = replacer.fit_transform(private[0])
    assert set(released) <= set(texts)
    topic = dict(zip(texts, topics, strict=True))
    assert np.mean([topic[t] for t in released] == private[1]) > 0.9
    of_public = replacer.groups_[replacer.public_groups_]
    if labelled:
        assert of_public.tolist() == topics.tolist()
    np.testing.assert_array_equal(replacer.groups_of(texts), of_public)


def test_fit_reads_no_document(replacer):
    assert replacer.fit((1 / 0 for _ in range(1)), object()).transform([]) == []


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
    vectors = replacer.grouper_[0].transform(texts)
    assert released["bow"].dtype == np.int64
    for output, rows in (("bow", counts), ("vector", vectors)):
        np.testing.assert_array_equal(released[output].toarray(), rows[index].toarray())
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


def test_frames_keep_the_name_and_the_index(replacer, private):
    X = pd.Series(private[0], index=range(5, 29), name="said")
    released = replacer.set_output(transform="pandas").fit_transform(X)
    assert released.columns.tolist() == ["said"]
    assert replacer.get_feature_names_out(["said"]).tolist() == ["said"]
    assert released.index.tolist() == X.index.tolist()
    replacer.set_output(transform="polars").set_params(output="group")
    released = replacer.fit_transform(pl.Series("text", private[0]))
    assert isinstance(released, pl.DataFrame)
    assert released.columns == ["text"]


def test_what_is_set_after_fit_changes_no_promise(replacer, private):
    claim = replacer.fit().guarantee().epsilon
    replacer.set_params(n_groups=2, public_documents=["a b", "c d"])
    assert replacer.guarantee().epsilon == claim
    assert len(replacer.transform(private[0])) == len(private[0])
    replacer.set_params(epsilon=0.1)
    for ask in (replacer.guarantee, lambda: replacer.transform(private[0])):
        with refused("^epsilon was changed after fit, call fit again.$"):
            ask()


# -- public labels -------------------------------------------------------------------


def test_all_labels_weigh_the_same(public):
    """However rare: half of the texts of a rare topic were answered as another."""
    texts, topics = public
    rare, often = np.flatnonzero(topics == "pets"), np.flatnonzero(topics != "pets")
    rows = np.concatenate([rare[:2], np.tile(often, 20)])
    texts, topics = [texts[i] for i in rows], topics[rows]
    replacer = DPDocumentReplacer(texts, public_labels=topics).fit()
    asked, of = texts_of(600, 8)
    assert (replacer.groups_of(asked) == of)[of == "pets"].mean() > 0.95


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("missing", "given"), [(None, False), (np.nan, False), (pd.NA, False), (None, True)]
)
def test_documents_without_a_label_are_assigned_one(missing, given):
    """They are stand-ins like the others, and teach the classifier nothing."""
    texts, topics = texts_of(90, 3)
    labels = [*topics[:24], *[missing] * 66]
    grouper = make_pipeline(CountVectorizer(), MultinomialNB()) if given else None
    replacer = DPDocumentReplacer(texts, grouper, public_labels=labels).fit()
    few = DPDocumentReplacer(texts[:24], grouper, public_labels=topics[:24]).fit()
    groups = replacer.groups_[replacer.public_groups_]
    assert groups[:24].tolist() == topics[:24].tolist()
    assert groups[24:].tolist() == few.groups_of(texts[24:]).tolist()
    asked = texts_of(50, 4)[0]
    assert replacer.groups_of(asked).tolist() == few.groups_of(asked).tolist()
    released = replacer.set_params(output="index").transform(asked * 10)
    # 500 draws of 90: that none of 66 is drawn has a chance of 10^-280
    assert released.max() >= 24


def test_which_documents_are_labelled_makes_another_grouping():
    """Else two groupings would share noise, and an adversary could compare them."""
    texts, topics = texts_of(30, 3)
    some = [*topics[:20], *[None] * 10], [*topics[:19], None, topics[19], *[None] * 9]
    made = [DPDocumentReplacer(texts, public_labels=x).fit() for x in (topics, *some)]
    assert len({each.guarantee().parts[0].grouping for each in made}) == 3


# -- the default groups --------------------------------------------------------------


@pytest.mark.no_cover
@pytest.mark.parametrize(("size", "n_groups"), [(300, 3), (40, 30)])
def test_default_groups_do_not_depend_on_others(size, n_groups):
    """Not by a bit: also documents that are as near to one centre as to another."""
    rng = np.random.default_rng(47)
    texts = [" ".join(rng.choice(ALL_WORDS, rng.integers(1, 9))) for _ in range(size)]
    replacer = DPDocumentReplacer(texts, n_groups=n_groups).fit()
    assert replacer.n_groups_ == n_groups
    asked = [f"{a} {b}" for a in ALL_WORDS for b in ALL_WORDS] + ["", "zebra"]
    together = replacer.groups_of(asked)
    np.testing.assert_array_equal(replacer.groups_of(asked[::-1])[::-1], together)
    alone = [replacer.groups_of([text])[0] for text in asked]
    np.testing.assert_array_equal(alone, together)
    # products of such numbers, and their sums, are not rounded
    for numbers in (
        replacer.grouper_[:-1].transform(asked),
        replacer.grouper_[-1].cluster_centers_,
    ):
        np.testing.assert_array_equal(numbers * 2**20 % 1, 0)
        assert np.abs(numbers).max() < 1 + 1e-5


# -- groupers of a user's own --------------------------------------------------------


def test_a_fitted_grouper_is_used_and_said(public, private):
    texts, topics = public
    grouper = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, topics)
    own = grouper.predict(private[0]).tolist()
    replacer = DPDocumentReplacer(texts, grouper).fit()
    assert replacer.groups_of(private[0]).tolist() == own
    assert "was already fitted" in str(replacer.guarantee())
    frozen = DPDocumentReplacer(texts, FrozenEstimator(grouper), output="vector")
    again = clone(frozen).fit()
    assert again.groups_of(private[0]).tolist() == own
    assert again.transform(private[0]).shape[0] == 24


@pytest.mark.no_cover
@pytest.mark.parametrize("within", [False, True])
def test_a_grouper_that_is_fitted_again_changes_no_release(public, private, within):
    """Nor what is frozen in one that was given unfitted."""
    texts, topics = public
    owned = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, topics)
    grouper = owned
    if within:
        grouper = make_pipeline(FrozenEstimator(owned[:-1]), KMeans(3, n_init=3))
    replacer = DPDocumentReplacer(texts, grouper).fit()
    before = replacer.groups_of(private[0])
    owned.fit(private[0], np.random.default_rng(3).permutation(private[1]))
    np.testing.assert_array_equal(replacer.groups_of(private[0]), before)


class HoldsWord(ClassifierMixin, BaseEstimator):
    """Agrees with its likes on public documents, and not on others."""

    def __init__(self, word="a"):
        self.word = word

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.array(["yes" if self.word in x.split() else "no" for x in X])


@pytest.mark.parametrize("fitted", [False, True])
def test_groupers_that_agree_on_public_documents_share_no_noise_and_no_bound(fitted):
    public, labels = ["p one", "p two", "q one", "q two"], ["no", "yes"] * 2
    asked = {"X": ["c"] * 400, "document_ids": range(400)}
    options = {"public_labels": labels, "output": "group", "random_state": SEED}
    answers, guarantees = [], []
    for word in "ab":
        grouper = HoldsWord(word)
        if fitted:
            grouper = FrozenEstimator(grouper.fit(public, labels))
        replacer = DPDocumentReplacer(public, grouper, epsilon=1.0, **options).fit()
        again = clone(replacer).fit()
        answers.append(replacer.transform(**asked))
        np.testing.assert_array_equal(again.transform(**asked), answers[-1])
        guarantees.append(replacer.set_params(epsilon=20.0).fit().guarantee())
    # "c" is in one group of both: independent answers differ in 39 of 100, and by
    # chance in fewer than 20 of 100 once in 10^14
    assert np.mean(answers[0] != answers[1]) > 0.2
    both = guarantees[0].compose(guarantees[1])
    # "a b", "a", "b" and "c" lie in four different pairs of groups
    assert both.found_at_most(4) > 0.99


def test_a_grouper_is_the_same_in_another_process_and_whenever_it_is_fitted(
    public, private
):
    """Records of folds and times, and an address in memory, are none of its answers."""
    texts, topics = public
    chain = make_pipeline(TfidfVectorizer(), LogisticRegression())
    search = GridSearchCV(chain, {"logisticregression__C": [1.0, 10.0]}, cv=2)
    first, second = (
        DPDocumentReplacer(texts, search, public_labels=topics).fit() for _ in range(2)
    )
    assert first.grouper_.refit_time_ != second.grouper_.refit_time_
    own = search.fit(*public).predict(private[0])
    assert first.groups_of(private[0]).tolist() == own.tolist()
    sent = pickle.loads(pickle.dumps(chain.fit(*public)))
    sent.steps[0][1]._stop_words_id = 17  # an address of the other process
    here, there = (DPDocumentReplacer(texts, each).fit() for each in (chain, sent))
    made = (first, second, here, there)
    one, other, near, far = (x.guarantee().parts[0].grouping for x in made)
    assert (one, near) == (other, far)


@refusals(
    (LogisticRegression(), False, "grouper must allow to learn from public d"),
    (KMeans(2), False, "learn from public documents, but this failed with ValueE"),
    (LogisticRegression(), True, "learn from public documents, but this failed"),
    (make_pipeline(TfidfVectorizer(), DBSCAN()), False, "must be .* or a pipeline"),
    (make_pipeline(TfidfVectorizer(), Ridge()), False, "this failed with ValueError"),
    (KMeans, False, "grouper must be an estimator"),
    (Fixed(threading.Lock()), False, "this failed with TypeError"),
    (
        Fixed(by_length),
        True,
        "public_labels must be None unless the grouper is a classi",
    ),
)
def test_what_cannot_group_is_refused(public, grouper, labelled):
    labels = public[1] if labelled else None
    DPDocumentReplacer(public[0], grouper, public_labels=labels).fit()


@refusals(
    (lambda X: np.zeros((len(X), 2)), "a group, got shape"),
    (lambda X: np.zeros(len(X)), "grouper must make 2 to 4096 groups, got 1"),
    (lambda X: [np.nan if "cat" in t else 1.0 for t in X], "grouper must treat each"),
    (lambda X: [None] * len(X), "labels of grouper must not be missing"),
    (lambda X: [1 / len(t) for t in X], "but failed with ZeroDivisionError"),
    (lambda X: [[len(t) % 2, 2][not t] for t in X], "without known words to such a"),
    (lambda X: [int(t[:1] > "h") + 2 * (t == "\ufffd") for t in X], "without known wo"),
)
def test_groupers_that_void_the_promise_are_refused(public, rule):
    DPDocumentReplacer(public[0], Fixed(rule)).fit()


class OfBatch(Fixed):
    """Groups by the numbers of letters of the texts of a batch."""

    def predict(self, X):
        return self.rule(np.array([float(len(text)) for text in X]))


def test_a_grouper_for_which_others_matter_is_refused(public):
    """In fit; in transform one that hides it where no document has 3,000 letters.

    More of them are in tests/documents/test_alone.py.
    """
    with refused("grouper must treat each document by itself"):
        DPDocumentReplacer(texts_of(20, 5)[0], OfBatch(lambda x: x > x.mean())).fit()

    def hiding(x):
        return x > x.mean() if x.max(initial=0) > 1000 else np.rint(x) % 2 == 1

    replacer = DPDocumentReplacer(public[0], OfBatch(hiding), output="index").fit()
    texts = [f"{'x' * (i % 50)} text" for i in range(300)]
    replacer.transform(texts)
    texts[150] = "y" * 3000
    with refused("grouper must treat each document by itself") as error:
        replacer.transform(texts)
    assert "yyy" not in str(error.value)


@pytest.mark.parametrize(
    ("fails", "message"),
    [(True, "with ValueError"), (False, "to a group that holds a public document")],
)
def test_what_a_grouper_says_of_private_documents_is_not_repeated(
    public, fails, message
):
    def group(X):
        secret = ["secret" in text for text in X]
        if any(secret) and fails:
            raise ValueError(f"cannot group {X!r}")
        return np.where(secret, 9, by_length(X))

    replacer = DPDocumentReplacer(public[0], Fixed(group)).fit()
    with refused(message) as error:
        replacer.transform(["a", "my secret"])
    assert "secret" not in str(error.value)
    assert "9" not in str(error.value)
    assert error.value.__suppress_context__ or not error.value.__context__


def test_groupers_that_are_no_estimators(public):
    """What has no fit is taken as it is; of what has, a copy is fitted."""

    class Fits:
        predict = staticmethod(by_length)

        def fit(self, X, y=None):
            self.seen_ = len(X)
            return self

    given = Fits()
    rule = SimpleNamespace(predict=by_length)
    taken, copied = (DPDocumentReplacer(public[0], x).fit() for x in (rule, given))
    assert "was already fitted" in str(taken.guarantee())
    assert "was already fitted" not in str(copied.guarantee())
    assert copied.grouper_.seen_ == 30
    assert not hasattr(given, "seen_")


def test_who_says_that_all_are_public_says_it_wherever_the_promise_is():
    texts = [f"a public text of {word}, of letters enough" for word in ALL_WORDS]
    replacer = DPDocumentReplacer(texts, n_groups=2, allow_shared_texts=True).fit()
    with no_warning():
        assert len(replacer.transform(texts)) == 12
    said = "Public documents may be among the documents to be released"
    for unit in ("document", "person"):
        assert said in " ".join(str(replacer.guarantee(unit)).split())
    replacer.set_params(allow_shared_texts=False)
    with refused("allow_shared_texts was changed after fit"):
        replacer.guarantee()
    assert said not in " ".join(str(replacer.fit().guarantee()).split())


# -- bad input -----------------------------------------------------------------------

OTHER = make_pipeline(TfidfVectorizer(), LogisticRegression())
OTHER.fit(["cat", "tea", "bolt"], [0, 1, 2])
EACH = Fixed(lambda X: [int(text) if text.isdigit() else 0 for text in X])


@refusals(
    ({"epsilon": 0}, "epsilon must be a finite number > 0, got 0"),
    ({"n_groups": 1}, "n_groups must be an integer >= 2, got 1"),
    ({"n_groups": 31}, "n_groups must be at most the number of public"),
    ({"n_groups": 7, "grouper": Fixed(by_length)}, "n_groups must be None with gro"),
    ({"n_groups": 7, "public_labels": [0, 1] * 15}, "n_groups must be None with pub"),
    ({"output": "bow"}, "embedding must be a WordEmbedding for"),
    ({"output": "vector", "grouper": Fixed(by_length)}, "must be a pipeline"),
    ({"public_labels": ["a", "b"]}, r"one label per public document \(30\)"),
    ({"public_labels": [None] * 30}, "at least 2 different labels, got 0"),
    (
        {"public_labels": ["a"] * 29 + [None]},
        "at least 2 different labels, got 1 class",
    ),
    ({"public_labels": [0, None, -1.0] * 10}, "public_labels must not be -1"),
    ({"grouper": OTHER}, r"1 of 3 have none\."),
    ({"public_documents": ["cat dog", "tea"] * 2, "n_groups": 4}, "have none"),
    ({"public_documents": [*map(str, range(4097))], "grouper": EACH}, "got 4097"),
    ({"public_documents": []}, "at least one document"),
    ({"public_documents": ["?", " "] * 4}, "public_documents must differ in their w"),
)
def test_bad_parameters(public, options):
    DPDocumentReplacer(**{"public_documents": public[0], **options}).fit()


@refusals(
    ("group", None, "released must hold one label per document, got None"),
    ("vector", ["secret"], "released must be numbers, got a list"),
    ("vector", np.zeros((2, 3)), "released must be a matrix of 12 columns"),
    never="secret",
)
def test_bad_releases(replacer, output, released):
    replacer.set_params(output=output).fit().log_likelihood(["a cat"], released)
