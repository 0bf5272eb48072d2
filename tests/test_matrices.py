"""Matrices that hide, point out of themselves or explode, at every door of the table.

And sparse results: arrays or matrices, as scikit-learn's configuration asks.
"""

from __future__ import annotations

import contextlib
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from skdptext import (
    DPDocumentReplacer,
    DPWordPerturber,
    WMDKNNClassifier,
    WordEmbedding,
)
from skdptext.exceptions import InvalidParameterError
from skdptext.metrics import pairwise_word_movers_distances
from skdptext.neighbors import WMDNeighbors, WMDNeighborsTransformer
from skdptext.preprocessing import TopicWordSelector
from tests.expected import refused
from tests.memory import traced_memory
from tests.public_calls import BAGS, CALLS, TEXTS, TOPICS, WORDS, released

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")

TABLE = WordEmbedding(["cat", "dog", "tea"], [[0.0], [1.0], [9.0]])
GOOD = np.array([[2, 1, 0], [0, 1, 3]])


def broken(make, counts, row, column):
    X = make(counts)
    if make in (sp.coo_array, sp.coo_matrix):
        X.row[0], X.col[0] = row, column
    else:
        X.indices[0] = column
    return X


def pointing_on(counts):
    X = sp.csr_array(counts)
    X.indptr[-1] = 40
    return X


BAD = {
    "masked": lambda x: np.ma.array(x, mask=x > 1),
    "masked, nothing hidden": np.ma.array,
    "masked rows": lambda x: [np.ma.array(row, mask=row > 1) for row in x],
    "csr -1": lambda x: broken(sp.csr_array, x, 0, -1),
    "csr_matrix -1": lambda x: broken(sp.csr_matrix, x, 0, -1),
    "csr far out": lambda x: broken(sp.csr_array, x, 0, 10**6),
    "csc -1": lambda x: broken(sp.csc_array, x, 0, -1),
    "csc far out": lambda x: broken(sp.csc_array, x, 0, 10**6),
    "coo row -1": lambda x: broken(sp.coo_array, x, -1, 0),
    "coo column -1": lambda x: broken(sp.coo_matrix, x, 0, -1),
    "csr that points on": pointing_on,
}


# They read no matrix, or it is an estimator of the user's that does.
UNREAD = {
    ("audit_training", "X"),
    ("DPDocumentReplacer.fit", "X"),
    ("WordReconstructionAttack.fit", "X"),
}


@cache
def doors():
    """Each parameter that reads a matrix, dense and sparse: its call, good counts."""
    found = {}
    for call in CALLS.values():
        for name, valid in call.given().items():
            counts = np.atleast_2d(valid) if isinstance(valid, np.ndarray) else BAGS
            unread = (call.function.__qualname__, name) in UNREAD or name == "self"
            if unread or (name == "y" and counts is BAGS):
                continue
            with contextlib.suppress(Exception):
                for each in (counts, sp.csr_array(counts)):
                    call({**call.given(), name: each})
                found[f"{call} {name}"] = call, name, counts
    return found


@pytest.mark.no_cover
def test_doors_of_all_kinds_open():
    opened = {door.rpartition(".")[2] for door in doors()}
    assert opened >= {"fit X", "transform X", "predict X", "kneighbors X", "prepare X"}
    assert opened >= {
        "word_movers_distance x",
        "density_statistics X",
        "copied released",
    }
    assert len(doors()) >= 30


@pytest.mark.no_cover
@pytest.mark.parametrize("kind", BAD)
def test_refused_before_anything_reads_it(kind):
    passed = {}
    for door, (call, name, counts) in doors().items():
        try:
            call({**call.given(), name: BAD[kind](counts)})
            passed[door] = "read"
        except InvalidParameterError as error:
            if "masked" not in str(error) and "well-formed" not in str(error):
                passed[door] = str(error)
    assert passed == {}


def perturber(**options):
    return DPWordPerturber(TABLE, epsilon=1e6, lam=0.0, **options)


def test_duplicates_are_summed():
    twice = sp.csr_array(
        (np.array([1, 1, 1, 1, 2, 1]), [0, 0, 1, 2, 2, 1], [0, 3, 6]), shape=(2, 3)
    )
    assert not twice.has_canonical_format
    before = twice.copy()
    assert np.array_equal(perturber().fit(twice).transform(twice).toarray(), GOOD)
    assert np.array_equal(perturber().fit([]).prepare(twice).toarray(), GOOD)
    assert pairwise_word_movers_distances(twice, GOOD, embedding=TABLE).trace() == 0
    model = WMDKNNClassifier(TABLE, n_neighbors=1).fit(twice, [0, 1])
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


# -- sparse results ----------------------------------------------------------------


def seeded():
    return released(random_state=0)


MADE = {
    "perturber": lambda: seeded().transform(TEXTS),
    "before the noise": lambda: seeded().prepare(TEXTS),
    "replacer": lambda: (
        DPDocumentReplacer(
            TEXTS, n_groups=2, output="bow", embedding=WORDS, random_state=0
        )
        .fit()
        .transform(["another text", "and one more"])
    ),
    "selector": lambda: TopicWordSelector(n_words=1, tuned_on="public").fit_transform(
        BAGS, TOPICS
    ),
    "graph": lambda: WMDNeighbors(WORDS, n_neighbors=2).fit(BAGS).kneighbors_graph(),
    "radius graph": lambda: (
        WMDNeighbors(WORDS, radius=1.0).fit(BAGS).radius_neighbors_graph()
    ),
    "transformer graph": lambda: (
        WMDNeighborsTransformer(WORDS, n_neighbors=2).fit(BAGS).transform(BAGS)
    ),
}


@pytest.fixture
def arrays():
    """What asks for sparse arrays, since scikit-learn 1.9."""
    if "sparse_interface" not in sklearn.get_config():
        pytest.skip("scikit-learn has no such configuration before 1.9")
    return {"sparse_interface": "sparray"}


@pytest.mark.parametrize("name", MADE)
def test_the_default_is_a_matrix(name):
    assert isinstance(MADE[name](), sp.csr_matrix)


@pytest.mark.parametrize("name", MADE)
def test_arrays_come_where_they_are_asked_for(arrays, name):
    matrix = MADE[name]()
    with sklearn.config_context(**arrays):
        made = MADE[name]()
    assert isinstance(made, sp.csr_array)
    assert made.dtype == matrix.dtype
    if "graph" not in name:  # which are scikit-learn's own, of wide indices
        assert made.indices.dtype == matrix.indices.dtype == np.int32
        assert made.indptr.dtype == matrix.indptr.dtype == np.int32
    np.testing.assert_array_equal(made.toarray(), matrix.toarray())


def test_what_reads_a_release_takes_either(arrays):
    def scores():
        noisy = seeded().transform(TEXTS)
        return (
            make_pipeline(seeded(), MultinomialNB())
            .fit(TEXTS, TOPICS)
            .predict_proba(BAGS),
            seeded().log_likelihood(TEXTS, noisy, random_state=0),
            WMDNeighbors(WORDS, n_neighbors=2).fit(noisy).kneighbors(BAGS)[0],
        )

    expected = scores()
    with sklearn.config_context(**arrays):
        for made, matrix in zip(scores(), expected, strict=True):
            np.testing.assert_array_equal(made, matrix)
