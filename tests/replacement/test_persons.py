"""Authors as the unit: one answer for a whole collection, its law, and mistakes."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skdptext import DPDocumentReplacer
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.replacement import _answers
from tests.expected import no_warning, refusals
from tests.laws import assert_counts, largest_loss

SEED = 2**100 + 17
N = 2000  # collections of each drawn law
# Three groups, of two, two and one public documents.
PUBLIC = ["cat dog", "dog paw", "tea milk", "milk cake", "star moon"]
LABELS = ["pets", "pets", "food", "food", "sky"]
EPSILON = 1.2
COLLECTIONS = {
    "mostly pets": ["cat", "dog", "tea"],
    "food": ["tea", "milk", "cake"],
    "a tie": ["star", "tea", "cat"],  # food comes first
    "equal texts": ["cat", "cat", "cat"],
    "other pets": ["cat", "dog", "paw"],
}
GROUPS = [1, 0, 0, 1, 1]  # of food, pets and sky


class OfFirstWord(ClassifierMixin, BaseEstimator):
    """The label of the public text that has a text's first word; quick to ask."""

    def fit(self, X, y):
        pairs = zip(X, y.tolist(), strict=True)
        self.label_ = {word: label for text, label in pairs for word in text.split()}
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.array([self.label_.get(text.partition(" ")[0], "sky") for text in X])


def replacer(kind=DPDocumentReplacer, **options):
    options = {"epsilon": EPSILON, "output": "index", **options}
    return kind(PUBLIC, OfFirstWord(), public_labels=LABELS, **options).fit()


def law(group, n_documents):
    """Pr of every sequence of public documents that may answer a collection.

    From the mechanism as it is stated, not from the code: one randomized response, and
    then independent documents of the noisy group.
    """
    members = {0: [2, 3], 1: [0, 1], 2: [4]}
    total = math.exp(EPSILON) + 2
    shares: Counter[tuple[int, ...]] = Counter()
    for noisy, documents in members.items():
        kept = (math.exp(EPSILON) if noisy == group else 1) / total
        for answers in itertools.product(documents, repeat=n_documents):
            shares[answers] += kept / len(documents) ** n_documents
    return shares


def drawn(source, documents, n=N, ids=False):
    """How often each sequence answers a collection, of n authors who all have it."""
    X = list(documents) * n
    authors = np.repeat([f"author {i}" for i in range(n)], len(documents))
    given = {"document_ids": range(len(X))} if ids else {}
    released = source.transform(X, authors=authors, **given)
    return released.reshape(n, len(documents))


def counts(sequences, shares):
    found = Counter(map(tuple, sequences.tolist()))
    assert set(found) <= set(shares)
    return np.array([found[z] for z in shares]), np.array(list(shares.values()))


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("noise", "name"),
    [
        *((SEED, name) for name in COLLECTIONS),
        (None, "a tie"),
        (None, "equal texts"),
        ("generator", "other pets"),
        ("generator", "equal texts"),
    ],
)
def test_the_law_of_a_collection(noise, name):
    """Chi-square at α = 1e-6, over all sequences of three stand-ins."""
    state = np.random.default_rng(3) if noise == "generator" else noise
    source = replacer(random_state=state)
    group = GROUPS[list(COLLECTIONS).index(name)]
    shares = law(group, 3)
    assert sum(shares.values()) == pytest.approx(1)
    for ids in (False, True):
        assert_counts(*counts(drawn(source, COLLECTIONS[name], ids=ids), shares))


def test_any_two_collections_differ_by_epsilon_at_most():
    """ε is attained, and is what the guarantee says."""
    guarantee = replacer().guarantee(unit="person")
    assert (guarantee.unit, guarantee.epsilon) == ("person", EPSILON)
    for (i, x), (j, y) in itertools.product(enumerate(COLLECTIONS), repeat=2):
        one, two = law(GROUPS[i], 3), law(GROUPS[j], 3)
        claim = guarantee.exponent(COLLECTIONS[x], COLLECTIONS[y])
        assert claim == (EPSILON if GROUPS[i] != GROUPS[j] else 0.0)
        assert largest_loss(one, two) == pytest.approx(claim)
    # whereas documents that answer one by one cost ε each
    assert replacer().guarantee().compose(3).epsilon == pytest.approx(3 * EPSILON)


def test_the_best_adversary_finds_what_is_stated():
    """Whoever knows all of 5 persons' documents: Σ_z max_d Pr[z | d] / n."""
    laws = [law(group, 3) for group in GROUPS]
    best = sum(max(each[z] for each in laws) for z in laws[0]) / len(laws)
    bound = replacer().guarantee(unit="person").found_at_most(len(laws))
    p = math.exp(EPSILON) / (math.exp(EPSILON) + 2)
    assert best <= bound
    assert bound == pytest.approx(3 * p / 5)
    # no one is in the third group here: what is found is less
    assert best == pytest.approx((2 * p + (1 - p) / 2) / 5)


@pytest.mark.no_cover
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=60))
def test_the_most_frequent_group_and_ties(rows):
    """Against a slow count; of equal ones the first, in whatever order they come."""
    authors = sorted({author for author, _ in rows})
    pairs = [authors.index(author) * 7 + group for author, group in rows]
    best = _answers.most_frequent(Counter(pairs), len(authors), 7)
    for author, found in zip(authors, best, strict=True):
        own = [group for name, group in rows if name == author]
        assert found == min(set(own), key=lambda group: (-own.count(group), group))
    again = _answers.most_frequent(Counter(pairs[::-1]), len(authors), 7)
    np.testing.assert_array_equal(again, best)


# -- mistakes ------------------------------------------------------------------------


class EachRow(DPDocumentReplacer):
    """Each row answers for itself."""

    def transform(self, X, document_ids=None, authors=None):
        return super().transform(X, document_ids)


class OfItsText(DPDocumentReplacer):
    """The stand-in of a row depends on what the row says."""

    def transform(self, X, document_ids=None, authors=None):
        unique = {text: i for i, text in enumerate(dict.fromkeys(X))}
        whole = super().transform(X, None, authors)
        rows = {}
        for i, (text, author) in enumerate(zip(X, authors, strict=True)):
            rows.setdefault((author, unique[text]), whole[i])
        return np.array([rows[a, unique[t]] for t, a in zip(X, authors, strict=True)])


class FirstRow(DPDocumentReplacer):
    """An author answers with the group of the first document, not of most."""

    def transform(self, X, document_ids=None, authors=None):
        first = dict(reversed(list(zip(authors, X, strict=True))))
        return super().transform([first[a] for a in authors], None, authors)


@pytest.mark.no_cover
@pytest.mark.parametrize("mistake", [EachRow, OfItsText, FirstRow])
def test_mistakes_are_caught(mistake):
    caught = 0
    for name, group in zip(COLLECTIONS, GROUPS, strict=True):
        try:
            sequences = drawn(replacer(mistake), COLLECTIONS[name])
            assert_counts(*counts(sequences, law(group, 3)))
        except AssertionError:
            caught += 1
    assert caught


# -- answers that can be repeated ----------------------------------------------------


def test_a_collection_is_answered_the_same_in_any_order_and_with_any_others():
    source = replacer(random_state=SEED)
    X = np.array(["cat", "tea", "milk", "star", "cat", "paw"])
    authors, ids = np.array([7, 7, 7, 3, 3, 7]), np.arange(6) * 5
    first = source.transform(X, authors=authors)
    own = np.flatnonzero(authors == 7)
    alone = source.transform(X[own], authors=[7.0] * 4)
    np.testing.assert_array_equal(alone, first[own])
    order = np.array([5, 3, 2, 1, 4, 0])
    again = source.transform(X[order], authors=pd.Series(authors[order]))
    for author in (3, 7):  # the rows of an author change places: nothing else does
        np.testing.assert_array_equal(
            again[authors[order] == author], first[authors == author]
        )
    by_id = source.transform(X, ids.tolist(), authors)
    again = source.transform(X[order], ids[order].tolist(), authors[order])
    np.testing.assert_array_equal(again, by_id[order])


CHANGES = {
    "an edit within the group": ["cat", "dog", "paw"],
    "an edit to another group": ["tea", "milk", "cake"],
    "one more of the same": ["cat", "cat", "dog", "tea"],
    "one less": ["cat", "dog"],
    "the same text twice": ["cat", "cat", "tea"],
}


def assert_independent(one, two, moved=False):
    """As many answers of N persons are equal as of independent ones (α = 1e-6)."""
    e = math.exp(EPSILON)
    p = np.array([1, e, 1]) / (e + 2)
    same = float(p @ (p[[1, 0, 2]] if moved else p))
    hits = int((one == two).sum())
    assert_counts(np.array([hits, N - hits]), np.array([same, 1 - same]))


@pytest.fixture(scope="module")
def answered():
    """Releases under one secret, by a replacer that is not to be changed."""
    source = replacer(random_state=SEED, output="group")
    before = drawn(source, COLLECTIONS["mostly pets"])[:, 0]
    return source, before


@pytest.mark.no_cover
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_collection_is_answered_anew(answered, change):
    """The number of equal answers is that of independent ones (α = 1e-6).

    If what does not change the group repeated the answer, a change of the answer would
    prove one of the group, and no ε would hold for both releases.
    """
    source, before = answered
    moved = change == "an edit to another group"
    assert_independent(drawn(source, CHANGES[change])[:, 0], before, moved)


@pytest.mark.no_cover
def test_an_answer_kept_for_author_and_group_is_caught(answered, monkeypatch):
    """The mistake, seeded: derived from the author, whatever the documents say."""
    monkeypatch.setattr(_answers, "document_bytes", lambda document: b"")
    source, _ = answered
    one, two = (drawn(source, edit) for edit in (["cat", "dog", "tea"], ["cat"] * 3))
    np.testing.assert_array_equal(one[:, 0], two[:, 0])


def test_authors_with_equal_documents_are_answered_independently():
    source = replacer(random_state=SEED, output="group")
    released = drawn(source, ["cat", "cat"], n=200)
    assert len(set(released[:, 0])) == 3
    assert (released[:, 0] == released[:, 1]).all()
    with no_warning():
        source.transform(["cat", "cat"], authors=["a", "b"])
    small = replacer(random_state=5)
    with pytest.warns(PrivacyLeakWarning, match="below 2\\^64"):
        small.transform(["cat"], authors=["a"])
    said = " ".join(str(source.guarantee(unit="person")).split())
    assert "a person with the same documents gets the same answer" in said
    assert "which documents are equal" not in said


# -- the promise ---------------------------------------------------------------------


def test_the_guarantee_of_a_person():
    guarantee = replacer().guarantee(unit="person")
    assert guarantee.epsilon_of(10) == (EPSILON, 0.0)
    both = guarantee.compose(replacer().guarantee())
    assert [each.unit for each in both.guarantees] == ["person", "document"]
    assert both.epsilon_of(n_documents=3) == (pytest.approx(4 * EPSILON), 0.0)


@refusals(
    ("cat", ["tea"], "x and y must be lists.*got 0 and 1"),
    (["cat"], ["tea", "cat"], "lists of equally many documents.*got 1 and 2"),
    ([], [], "one or more"),
    never="paw",
)
def test_bad_collections(x, y):
    replacer().guarantee(unit="person").exponent(x, y)


@refusals(
    ({"authors": ["a"]}, "authors must hold one author per document, got 1 for more"),
    ({"authors": list("aba")}, r"authors must hold one author per .* \(2\), got more"),
    ({"authors": [2.0**60, 2.0]}, "authors must be told apart"),
    ({"authors": ["ann", " "]}, "no blank names, .* got one for document 1"),
    ({"document_ids": ["x"], "authors": ["a", "b"]}, "document_ids must hold one id"),
    ({"document_ids": ["ann", "ann"]}, "pass authors instead"),
    never="paw",
)
def test_bad_authors_and_ids(given):
    replacer().transform(["cat paw", "tea"], **given)


@refusals(*((bad, "authors must") for bad in (["a"], ["a", None], ["a", ["b"]])))
def test_bad_authors_of_files(authors):
    replacer().person_answers(["cat paw", "tea"], authors)


def test_routing_of_authors():
    X, authors = ["cat", "dog", "tea", "milk"] * 5, ["a", "b"] * 10
    source = replacer(random_state=SEED, output="text")
    expected = source.transform(X, authors=authors)
    with config_context(enable_metadata_routing=True):
        asked = clone(source).set_transform_request(authors=True)
        pipeline = make_pipeline(FunctionTransformer(), asked).fit(X)
        assert pipeline.transform(X, authors=authors) == expected
    assert clone(source).fit_transform(X, authors=authors) == expected
    assert source.transform(iter(X), authors=iter(authors)) == expected
    assert source.transform([], authors=[]) == []
