"""Matrices that hide, point out of themselves or explode, at every door."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from skdptext import DPWordPerturber, WMDKNNClassifier, WordEmbedding
from skdptext.metrics import (
    density_statistics,
    pairwise_word_movers_distances,
    word_movers_distance,
    words_unchanged,
)
from skdptext.neighbors import WMDKNNRegressor, WMDNeighbors, WMDNeighborsTransformer
from skdptext.preprocessing import TopicWordSelector
from tests.expected import refused
from tests.memory import traced_memory

pytestmark = pytest.mark.filterwarnings(
    "ignore::skdptext.exceptions.PrivacyLeakWarning",
    "ignore:Your stop_words may be inconsistent",
)

TABLE = WordEmbedding(["cat", "dog", "tea"], [[0.0], [1.0], [9.0]])
GOOD = np.array([[2, 1, 0], [0, 1, 3]])
LABELS = ["a", "b"]


def broken(make, row, column):
    X = make(GOOD)
    if make in (sp.coo_array, sp.coo_matrix):
        X.row[0], X.col[0] = row, column
    else:
        X.indices[0] = column
    return X


def pointing_on():
    X = sp.csr_array(GOOD)
    X.indptr[-1] = 40
    return X


BAD = {
    "masked": lambda: np.ma.array(GOOD, mask=GOOD > 1),
    "masked, nothing hidden": lambda: np.ma.array(GOOD),
    "masked rows": lambda: [np.ma.array(row, mask=row > 1) for row in GOOD],
    "csr -1": lambda: broken(sp.csr_array, 0, -1),
    "csr_matrix -1": lambda: broken(sp.csr_matrix, 0, -1),
    "csr far out": lambda: broken(sp.csr_array, 0, 10**6),
    "csc -1": lambda: broken(sp.csc_array, 0, -1),
    "csc far out": lambda: broken(sp.csc_array, 0, 10**6),
    "coo row -1": lambda: broken(sp.coo_array, -1, 0),
    "coo column -1": lambda: broken(sp.coo_matrix, 0, -1),
    "csr that points on": pointing_on,
}


def perturber(**options):
    return DPWordPerturber(TABLE, epsilon=1e6, lam=0.0, **options)


def classifier():
    return WMDKNNClassifier(TABLE, n_neighbors=1)


DOORS = {
    "perturber fit": lambda X: perturber().fit(X),
    "perturber transform": lambda X: perturber().fit([]).transform(X),
    "perturber cut": lambda X: perturber(document_length=1).fit([]).transform(X),
    "perturber one-hot": lambda X: DPWordPerturber("one-hot").fit(X),
    "known_words": lambda X: perturber().fit([]).known_words(X),
    "words_unchanged": lambda X: words_unchanged(perturber().fit([]), X),
    "prepare": lambda X: perturber().fit([]).prepare(X),
    "classifier fit": lambda X: classifier().fit(X, LABELS),
    "classifier predict": lambda X: classifier().fit(GOOD, LABELS).predict(X),
    "regressor fit": lambda X: WMDKNNRegressor(TABLE, n_neighbors=1).fit(X, [1, 2]),
    "neighbors fit": lambda X: WMDNeighbors(TABLE).fit(X),
    "radius": lambda X: WMDNeighbors(TABLE).fit(GOOD).radius_neighbors(X, 1.0),
    "graph": lambda X: WMDNeighborsTransformer(TABLE, n_neighbors=1).fit_transform(X),
    "kneighbors": lambda X: classifier().fit(GOOD, LABELS).kneighbors(X),
    "selector fit": lambda X: TopicWordSelector(n_words=1).fit(X, LABELS),
    "selector": lambda X: TopicWordSelector(n_words=1).fit(GOOD, LABELS).transform(X),
    "pairwise": lambda X: pairwise_word_movers_distances(X, embedding=TABLE),
    "pairwise Y": lambda X: pairwise_word_movers_distances(GOOD, X, embedding=TABLE),
    "one distance": lambda X: word_movers_distance(X, X, TABLE),
    "density": lambda X: density_statistics(TABLE, X),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("door", DOORS)
def test_refused_before_anything_reads_it(door, kind):
    X = BAD[kind]()
    with refused(r"masked|well-formed"):
        DOORS[door](X)


@pytest.mark.parametrize("door", DOORS)
def test_every_door_opens(door):
    rows = 1 if door == "one distance" else 2
    DOORS[door](GOOD[:rows])
    DOORS[door](sp.csr_array(GOOD[:rows]))


def test_duplicates_are_summed():
    twice = sp.csr_array(
        (np.array([1, 1, 1, 1, 2, 1]), [0, 0, 1, 2, 2, 1], [0, 3, 6]), shape=(2, 3)
    )
    assert not twice.has_canonical_format
    before = twice.copy()
    assert np.array_equal(perturber().fit(twice).transform(twice).toarray(), GOOD)
    assert np.array_equal(perturber().fit([]).prepare(twice).toarray(), GOOD)
    assert pairwise_word_movers_distances(twice, GOOD, embedding=TABLE).trace() == 0
    model = classifier().fit(twice, LABELS)
    assert model.kneighbors(GOOD)[0].sum() == 0
    assert twice.nnz == before.nnz  # and nothing was tidied behind its back


# -- counts ------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 2, 3, 7])
def test_counts_are_cut_to_the_first_words_of_the_row(length):
    counts = np.random.default_rng(0).poisson(3.0, (50, 3))
    counts = counts[counts.sum(axis=1) >= length]
    expected = np.zeros_like(counts)
    for i, row in enumerate(counts):
        np.add.at(expected[i], np.repeat(np.arange(3), row)[:length], 1)
    short = perturber(document_length=length, resize="truncate").fit([])
    cut = short.prepare(sp.csr_array(counts))
    np.testing.assert_array_equal(cut.toarray(), expected)
    assert (cut.data > 0).all()


def test_huge_counts_are_refused():
    X = np.array([[1, 0, 0], [2 * 10**8, 5, 0]])
    too_many = r"at most 100000000 words per document.*in row 1"
    with traced_memory() as memory, refused(too_many):
        perturber().fit([]).transform(X)
    assert memory.peak < 20e6
    with refused("at most 100000000 words"):
        perturber().fit([]).prepare(X)


# -- tokens ------------------------------------------------------------------------


@pytest.mark.parametrize("stop_words", [None, ["the"]])
@pytest.mark.parametrize(
    ("cut", "message"),
    [
        (lambda t: [w.encode() for w in t.split()], "a bytes as token 0 of document 1"),
        (lambda t: [*t.split(), 7], "an int as token . of document 1"),
        (lambda t: [t.split()], "a list as token 0 of document 1"),
        (lambda t: [*t.split(), None], "None as token . of document 1"),
        (lambda t: t, "return a list of str, got a str of 7 char.* for document 1"),
        (lambda t: t.encode(), "return a list of str, got a bytes for document 1"),
        (lambda t: np.array(t), "return a list of str, got a ndarray for document 1"),
        (lambda t: None, "return a list of str, got None for document 1"),
    ],
)
def test_tokenizers_that_give_no_words(cut, message, stop_words):
    release = perturber(
        tokenizer=lambda t: cut(t) if t == "the cat" else ["cat"], stop_words=stop_words
    ).fit([])
    for call in (release.transform, release.prepare):
        with refused(message):
            call(["tea", "the cat"])


@pytest.mark.parametrize(
    "cut", [str.split, lambda t: tuple(t.split()), lambda t: iter(t.split()),
            lambda t: np.array(t.split()), lambda t: map(np.str_, t.split())]
)  # fmt: skip
def test_tokenizers_that_give_words(cut):
    release = perturber(tokenizer=cut, stop_words=["the"]).fit([])
    for call in (release.transform, release.prepare):
        assert call(["The cat"]).toarray().tolist() == [[1, 0, 0]]
