"""DPWordPerturber: what it reads and gives back, what it says of leaks, `prepare`."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.exceptions import OutOfVocabularyWarning, PrivacyLeakWarning
from skdptext.mechanisms import Exponential
from tests.expected import leaks_allowed, no_warning, refused

DOCUMENTS = ["w1 w2, w3!", "W4 unknown w5 w5"]
TOKENS = [["w1", "w2", "w3"], ["w4", "w5", "w5"]]


@pytest.fixture
def faithful(small_embedding):
    """Perturbers with so large an epsilon that no word moves."""

    def make(**params):
        params = {"epsilon": 1e9, "output": "tokens"} | params
        return DPWordPerturber(small_embedding, **params).fit([])

    return make


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
    assert outputs["bow"].dtype == np.int64
    assert outputs["bow"].has_canonical_format
    assert outputs["tokens"] != TOKENS


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("output", ["bow", "tokens", "text"])
def test_no_documents_and_empty_ones(faithful, output, n):
    perturber, empty = faithful(output=output), [""] * n
    noisy = perturber.transform(empty)
    assert noisy.shape == (n, 200) if output == "bow" else len(noisy) == n
    assert perturber.known_words(empty) == [[]] * n


@pytest.mark.parametrize("output", ["text", "tokens"])
def test_documents_come_as_they_were_given(faithful, output):
    rows = pd.CategoricalIndex([7, 9], [7, 9, 11])  # 11 was filtered out
    texts = pd.Series(["w1 w2", "w3"], index=rows, name="body")
    perturber = faithful(output=output)
    plain = perturber.transform(texts)
    assert isinstance(plain, list)
    tokens = list(map(np.array, texts.str.split()))
    for kind in (list, np.array, pl.Series, iter, pa.array):
        assert perturber.transform(kind(texts.tolist())) == plain
    for many in (tokens, pa.array(tokens)):
        assert perturber.transform(many) == plain
    for table in (
        pd.DataFrame({"said": texts}),
        pd.DataFrame({"said": tokens}),
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
    assert perturber.transform(texts).index.categories.tolist() == [7, 9]


def test_bags_are_sparse_columns_in_pandas_and_refused_in_polars(faithful):
    texts = pd.Series(["w1 w2 w1", "w3"], index=[7, 9])
    perturber = faithful(output="bow")
    plain = perturber.transform(texts).toarray()
    frame = perturber.set_output(transform="pandas").transform(texts)
    assert frame.columns.tolist() == perturber.get_feature_names_out().tolist()
    assert frame.index.tolist() == [7, 9]
    assert all(isinstance(kind, pd.SparseDtype) for kind in frame.dtypes)
    # the bags are read again, as a count matrix
    for bags in (frame, perturber.fit(frame).transform(frame)):
        np.testing.assert_array_equal(bags.to_numpy(), plain)
    perturber.set_output(transform="polars")
    with refused('must not be transform="polars"'):
        perturber.transform(texts)


# -- what is fixed by fit --------------------------------------------------------


@pytest.mark.parametrize("change", [{"epsilon": 50.0}, {"lam": 0.6}])
def test_noise_parameters_cannot_change_behind_fit(small_embedding, change):
    perturber = DPWordPerturber(small_embedding, epsilon=5.0).fit([])
    perturber.set_params(**change)
    for call in (perturber.guarantee, lambda: perturber.transform(DOCUMENTS)):
        with refused("was changed after fit"):
            call()
    guarantee = perturber.fit([]).guarantee()
    assert guarantee.epsilon == change.get("epsilon", 5.0)


def test_the_noise_is_that_of_fit(small_embedding):
    """Whatever is set on the mechanism, or written over what was learned, since."""
    mechanism, texts = Exponential(), [["w1", "w2"]] * 20
    options = {"document_length": 2, "resize": "truncate", "random_state": 2**100}
    stated = DPWordPerturber(small_embedding, mechanism=mechanism, **options).fit([])
    shaped = DPWordPerturber(small_embedding, **options).fit([])
    shaped = pickle.loads(pickle.dumps(shaped))  # arrays of a pickle can be written to
    for perturber in (stated, shaped):
        noisy, claim = perturber.transform(texts), perturber.guarantee().epsilon
        mechanism.calibration = "half"
        if perturber is shaped:
            perturber.noise_factor_[:] = 0.0
        for _ in range(2):
            assert (perturber.transform(texts) != noisy).nnz == 0
            assert perturber.guarantee().epsilon == claim
            perturber.set_params(mechanism=None)


def test_one_hot_learns_its_words():
    X = pd.DataFrame([[4000, 0, 0, 0]], columns=list("abcd"))
    perturber = DPWordPerturber("one-hot", epsilon=1.0, lam=0.0).fit(X)
    assert perturber.transform(X).sum() == 4000
    assert perturber.get_feature_names_out().tolist() == list("abcd")
    assert np.trace(perturber.covariance_) == pytest.approx(4)
    np.testing.assert_allclose(perturber.noise_factor_, np.eye(4))


# -- lengths and leaks -----------------------------------------------------------


@pytest.mark.filterwarnings("ignore::skdptext.exceptions.OutOfVocabularyWarning")
@settings(max_examples=30)
@given(
    lengths=st.lists(st.integers(0, 12), min_size=1, max_size=6),
    length=st.integers(1, 9),
    seed=st.sampled_from([None, 3]),
)
def test_size_never_tells_under_sample(small_embedding, lengths, length, seed):
    """Empty documents, unknown words, short and long ones: all N words."""
    documents = [[f"w{i}" for i in range(n)] + ["unknown"] for n in lengths]
    options = {"document_length": length, "resize": "sample", "random_state": seed}
    perturber = DPWordPerturber(small_embedding, output="tokens", **options).fit([])
    noisy = perturber.transform(documents)
    assert [len(words) for words in noisy] == [length] * len(lengths)
    assert all(word in small_embedding for words in noisy for word in words)


ORDERED = {"document_length": 1, "resize": "truncate", "output": "text"}


@pytest.mark.parametrize(
    ("options", "leak"),
    [
        ({}, "number of words of each"),
        (ORDERED, "order of the words"),
        (ORDERED | {"output": "tokens"}, "order of the words"),
        ({"resize": "sample", "output": "text"}, "order of the words"),
        ({"oov": "keep", "output": "text"}, "released in plain text"),
        ({"document_length": 1}, None),
        ({"document_length": 1, "resize": "truncate"}, None),
        (ORDERED | {"resize": None}, None),
        (ORDERED | {"order": "keep"}, None),
    ],
    ids=str,
)
def test_leaks_are_told_at_fit_and_transform(small_embedding, options, leak):
    perturber = DPWordPerturber(small_embedding, **options)
    for call in (perturber.fit, perturber.transform):
        told = pytest.warns(PrivacyLeakWarning, match=leak) if leak else no_warning()
        with told:
            call([["w1"]])


@leaks_allowed
def test_unknown_words_are_kept_in_their_places(faithful):
    perturber = faithful(oov="keep", output="text")
    with pytest.warns(OutOfVocabularyWarning, match="4 of 6 words"):
        noisy = perturber.transform(["Alice met w1, Alice left w2"])
    assert noisy == ["alice met w1 alice left w2"]
    bags = perturber.prepare(["w1, Cofe", "zzz", ""])
    assert bags.sum() == bags[0, 1] == 1


# -- prepare: what a release reads, cuts or draws, without its noise ---------------

# the example of the 2019 paper, section 2
PRESIDENT = "The President greets the press in Chicago"
WORDS = ["president", "greets", "press", "Chicago", "tea"]


def quiet_perturber(**options):
    """Noise that changes nothing: words are far apart beside it."""
    table = WordEmbedding(WORDS, np.eye(5))
    return DPWordPerturber(table, epsilon=1e6, lam=0.0, **options).fit([])


@leaks_allowed
@pytest.mark.parametrize("length", [None, 2])
@pytest.mark.parametrize("stop_words", [None, "english", ["press"]])
def test_prepare_does_what_a_release_does_without_its_noise(length, stop_words):
    release = quiet_perturber(
        document_length=length, resize="truncate", stop_words=stop_words
    )
    texts = [PRESIDENT, "chicago TEA, Tea and cofe", ["Press", "the", "Tea", "tea"]]
    counts = np.array([[1, 0, 2, 0, 0], [0, 0, 0, 0, 3]])
    for X in (texts, counts, pd.Series(texts, index=[7, 8, 9])):
        bags, noisy = release.prepare(X), release.transform(X)
        assert bags.dtype == noisy.dtype == np.int64
        np.testing.assert_array_equal(bags.toarray(), noisy.toarray())
    with refused("column 0 is named 'tea'"):
        release.prepare(pd.DataFrame(counts, columns=WORDS[::-1]))


def test_drawn_words_follow_their_frequencies():
    """2018, section 5.2: three quarters of the words are "tea"."""
    n = 40_000
    release = quiet_perturber(document_length=n, random_state=5)
    bags = release.prepare(["tea press tea tea", "tea press", "", "unknown"])
    assert bags.sum(axis=1).ravel().tolist() == [[n] * 4]
    share = bags.toarray() / n
    # 6 standard errors: false alarm 2e-9 each
    assert abs(share[0, 4] - 0.75) < 6 * np.sqrt(0.75 * 0.25 / n)
    assert abs(share[1, 4] - 0.5) < 6 * np.sqrt(0.25 / n)
    # documents without words draw from the vocabulary
    assert (abs(share[2:] - 0.2) < 6 * np.sqrt(0.2 * 0.8 / n)).all()


def test_the_draw_is_not_that_of_a_release():
    """An integer repeats it, document by document, and shows no draw of a release."""
    release = quiet_perturber(document_length=4000, random_state=2**100)
    texts = ["tea press", "tea greets press", "tea press"]
    bags = release.prepare(texts).toarray()
    np.testing.assert_array_equal(release.prepare(texts[::-1]).toarray(), bags[::-1])
    # two draws of 4,000 words are equal with probability 0.006 each
    noisy = release.transform(texts[:2]).toarray()
    assert (noisy != bags[:2]).any()
    for state in (2**100 + 1, None):
        other = clone(release).set_params(random_state=state).fit([])
        assert (other.prepare(texts[:2]).toarray() != bags[:2]).any()
