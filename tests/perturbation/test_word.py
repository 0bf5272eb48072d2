"""DPWordPerturber: inputs, outputs, single words, scikit-learn's conventions."""

from __future__ import annotations

import pickle
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.mechanisms import Exponential
from tests.expected import refusals, refused

# So large an epsilon that no word moves.
FAITHFUL = 1e9
DOCUMENTS = ["w1 w2, w3!", "W4 unknown w5 w5"]
TOKENS = [["w1", "w2", "w3"], ["w4", "w5", "w5"]]


# -- inputs --------------------------------------------------------------------


@pytest.mark.parametrize(
    "documents",
    [
        DOCUMENTS,
        np.array(DOCUMENTS),
        np.array(DOCUMENTS, dtype=object),
        pd.Series(DOCUMENTS),
        pl.Series(DOCUMENTS),
        TOKENS,
        [np.array(tokens) for tokens in TOKENS],
        tuple(map(tuple, TOKENS)),
        (text for text in DOCUMENTS),
        pa.array(DOCUMENTS),
        pa.array(TOKENS),
    ],
    ids=lambda d: type(d).__module__ + "." + type(d).__name__,
)
def test_kinds_of_documents(faithful, documents):
    assert faithful().transform(documents) == TOKENS


class Document(list):
    """Weak references can be made of it."""


@pytest.mark.parametrize("random_state", [None, 0])
def test_a_generator_is_streamed(faithful, random_state):
    made = []

    def stream():
        for _ in range(3000):
            document = Document(["w1", "w2"])
            made.append(weakref.ref(document))
            assert sum(each() is not None for each in made[-9:]) <= 3
            yield document

    assert len(faithful(random_state=random_state).transform(stream())) == 3000


def test_count_matrices_and_bags(faithful, small_embedding):
    counts = CountVectorizer(vocabulary=small_embedding.words).fit_transform(DOCUMENTS)
    expected = counts.toarray()
    for X in (
        DOCUMENTS,
        counts,
        sp.coo_array(counts),
        sp.csc_matrix(counts),
        expected,
        expected.astype(float),
        expected.tolist(),
        pd.DataFrame(expected, columns=list(small_embedding.words)),
        pl.DataFrame(expected),
    ):
        noisy = faithful(output="bow").fit(X).transform(X)
        np.testing.assert_array_equal(noisy.toarray(), expected)
        assert isinstance(noisy, sp.csr_matrix)
        assert noisy.dtype == np.int64
        assert noisy.has_canonical_format
    assert counts.nnz == (expected > 0).sum()  # the input is left as it was


@pytest.mark.no_cover
def test_strings_are_cut_as_scikit_learn_cuts_them(built_in):
    texts = [getattr(np.linalg, name).__doc__ for name in np.linalg.__all__[::4]]
    for options in (
        {},
        {"stop_words": "english"},
        {"lowercase": False, "token_pattern": r"[A-Za-z]+"},
        {"tokenizer": str.split, "token_pattern": None},
    ):
        analyze = CountVectorizer(**options).build_analyzer()
        perturber = DPWordPerturber(
            built_in, epsilon=FAITHFUL, output="tokens", **options
        ).fit(texts)
        expected = []
        for text in texts:
            ids = built_in.find(analyze(text))
            expected.append([built_in.words[i] for i in ids if i >= 0])
        assert perturber.transform(texts) == expected


def test_stop_words_leave_token_lists_too(faithful):
    perturber = faithful(stop_words=["w2", "w5"])
    assert perturber.transform(TOKENS) == [["w1", "w3"], ["w4"]]
    assert perturber.transform([["W2", "W3"]]) == perturber.transform(["W2 W3"])
    exact = faithful(stop_words=["w2"], lowercase=False)
    assert exact.transform([["W2", "w2"]]) == exact.transform(["W2 w2"]) == [["w2"]]


def test_words_are_found_in_any_case():
    table = WordEmbedding(["Paris", "rome"], [[0.0, 1.0], [1.0, 0.0]])
    perturber = DPWordPerturber(table, epsilon=FAITHFUL, output="text").fit([])
    for lowercase in (True, False):
        perturber.set_params(lowercase=lowercase)
        assert perturber.transform(["PARIS Rome paris"]) == ["Paris rome Paris"]


# -- outputs -------------------------------------------------------------------


def test_outputs_agree_under_a_seed(small_embedding):
    outputs = {
        kind: DPWordPerturber(
            small_embedding, epsilon=1.0, output=kind, random_state=5
        ).fit_transform(DOCUMENTS)
        for kind in ("bow", "tokens", "text")
    }
    assert outputs["text"] == [" ".join(words) for words in outputs["tokens"]]
    vectorizer = CountVectorizer(vocabulary=small_embedding.words, analyzer=list)
    counts = vectorizer.fit_transform(outputs["tokens"])
    assert (counts != outputs["bow"]).nnz == 0
    assert outputs["tokens"] != TOKENS


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("output", ["bow", "tokens", "text"])
def test_no_documents_and_empty_ones(faithful, output, n):
    perturber, empty = faithful(output=output), [""] * n
    noisy = perturber.transform(empty)
    assert noisy.shape == (n, 200) if output == "bow" else len(noisy) == n
    assert perturber.known_words(empty) == [[]] * n


# -- single words ----------------------------------------------------------------


@refusals(
    ("w1", "iterable of str, got a str of 2"),
    (["w1", 2], "words must be str, got an int at position 1"),
    (["w1", "zzz", "yyy"], "got 2 unknown, the first at position 1"),
)
def test_perturb_words_refuses(small_embedding, words):
    perturber = DPWordPerturber(small_embedding).fit([])
    perturber.perturb_words(words)


# -- scikit-learn's conventions ---------------------------------------------------


@pytest.mark.parametrize("change", [{"epsilon": 50.0}, {"lam": 0.6}])
def test_noise_parameters_cannot_change_behind_fit(small_embedding, change):
    perturber = DPWordPerturber(small_embedding, epsilon=5.0).fit([])
    perturber.set_params(**change)
    for call in (perturber.guarantee, lambda: perturber.transform(DOCUMENTS)):
        with refused("was changed after fit"):
            call()
    guarantee = perturber.fit([]).guarantee()
    assert guarantee.epsilon == change.get("epsilon", 5.0)


def test_a_mechanism_is_the_one_of_fit(small_embedding):
    mechanism = Exponential()
    perturber = DPWordPerturber(
        small_embedding, mechanism=mechanism, document_length=2, resize="truncate",
        random_state=2**100,
    ).fit([])  # fmt: skip
    documents = [["w1", "w2"]] * 20
    noisy, claim = perturber.transform(documents), perturber.guarantee().epsilon
    mechanism.calibration = "half"
    for _ in range(2):
        assert (perturber.transform(documents) != noisy).nnz == 0
        assert perturber.guarantee().epsilon == claim
        perturber.set_params(mechanism=None)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"stop_words": ["w2"]}, [["w1", "w3"], ["w4", "w5", "w5"]]),
        ({"token_pattern": r"w\d", "lowercase": False}, [TOKENS[0], ["w5", "w5"]]),
        ({"document_length": 2, "resize": "truncate"}, [["w1", "w2"], ["w4", "w5"]]),
    ],
)
def test_how_documents_are_read_may_change_after_fit(faithful, changed, expected):
    perturber = pickle.loads(pickle.dumps(faithful()))
    assert perturber.transform(DOCUMENTS) == TOKENS
    perturber.set_params(**changed)
    assert perturber.transform(DOCUMENTS) == expected
    assert perturber.known_words(DOCUMENTS) == expected


# -- tables ----------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["text", "tokens"])
def test_documents_come_as_they_were_given(faithful, output):
    texts = pd.Series(["w1 w2", "w3"], index=[7, 9], name="body")
    perturber = faithful(output=output)
    plain = perturber.transform(texts)
    assert isinstance(plain, list)
    for table in (
        pd.DataFrame({"said": texts}),
        pl.DataFrame({"said": texts.tolist()}),
        texts.to_numpy(dtype=object)[:, None],
        pa.table({"said": texts.tolist()}),
    ):
        released = perturber.fit(table).transform(table)
        assert released.shape == (2, 1)
        assert released[:, 0].tolist() == plain
    assert perturber.get_feature_names_out(["said"]).tolist() == ["said"]
    for kind, series in (("pandas", texts), ("polars", pl.Series("body", texts))):
        frame = clone(perturber.set_output(transform=kind)).fit_transform(series)
        assert (list(frame.columns), frame["body"].to_list()) == (["body"], plain)
    perturber.set_output(transform="pandas")
    assert perturber.transform(texts).index.tolist() == [7, 9]


def test_bags_are_sparse_columns_in_pandas_and_refused_in_polars(faithful):
    texts = pd.Series(["w1 w2 w1", "w3"], index=[7, 9])
    perturber = faithful(output="bow")
    plain = perturber.transform(texts).toarray()
    frame = perturber.set_output(transform="pandas").transform(texts)
    assert frame.columns.tolist() == perturber.get_feature_names_out().tolist()
    assert frame.index.tolist() == [7, 9]
    assert all(isinstance(kind, pd.SparseDtype) for kind in frame.dtypes)
    np.testing.assert_array_equal(frame.to_numpy(), plain)
    # the bags are read again, as a count matrix
    np.testing.assert_array_equal(perturber.fit(frame).transform(frame), plain)
    perturber.set_output(transform="polars")
    with refused('must not be transform="polars"'):
        perturber.transform(texts)


def test_one_hot_learns_its_words():
    X = pd.DataFrame([[4000, 0, 0, 0]], columns=list("abcd"))
    perturber = DPWordPerturber("one-hot", epsilon=1.0, lam=0.0).fit(X)
    assert perturber.transform(X).sum() == 4000
    assert perturber.get_feature_names_out().tolist() == list("abcd")
    assert np.trace(perturber.covariance_) == pytest.approx(4)
    np.testing.assert_allclose(perturber.noise_factor_, np.eye(4))


def test_overwriting_what_was_learned_does_not_change_the_noise(small_embedding):
    options = {"document_length": 3, "random_state": 2**70}
    perturber = DPWordPerturber(small_embedding, **options).fit([])
    # arrays of a pickle can be written to
    perturber = pickle.loads(pickle.dumps(perturber))
    texts = [["w1", "w2", "w3"]]
    before = perturber.transform(texts)
    perturber.noise_factor_[:] = 0.0
    assert (perturber.transform(texts) != before).nnz == 0
