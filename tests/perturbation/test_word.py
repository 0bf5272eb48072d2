"""DPWordPerturber: inputs, outputs, lengths, unknown words."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from threadpoolctl import ThreadpoolController

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.exceptions import (
    InvalidParameterError,
    OutOfVocabularyWarning,
    PrivacyLeakWarning,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:document_length is None:skdptext.exceptions.PrivacyLeakWarning"
)

# So large an epsilon that no word moves: shows what happens beside the noise.
FAITHFUL = 1e9
DOCUMENTS = ["w1 w2, w3!", "W4 unknown w5 w5"]
TOKENS = [["w1", "w2", "w3"], ["w4", "w5", "w5"]]


@pytest.fixture
def faithful(small_embedding):
    def make(**params):
        params = {"epsilon": FAITHFUL, "output": "tokens"} | params
        return DPWordPerturber(small_embedding, **params).fit([])

    return make


# -- inputs --------------------------------------------------------------------


@pytest.mark.parametrize(
    "documents",
    [
        DOCUMENTS,
        tuple(DOCUMENTS),
        np.array(DOCUMENTS),
        np.array(DOCUMENTS, dtype=object),
        pd.Series(DOCUMENTS),
        pl.Series(DOCUMENTS),
        pl.DataFrame({"text": DOCUMENTS})["text"],
        TOKENS,
        [np.array(tokens) for tokens in TOKENS],
        [tuple(tokens) for tokens in TOKENS],
    ],
    ids=lambda d: type(d).__module__ + "." + type(d).__name__,
)
def test_kinds_of_documents(faithful, documents):
    assert faithful().transform(documents) == TOKENS


def test_generators_are_not_consumed_by_fit(faithful):
    documents = (text for text in DOCUMENTS)
    perturber = faithful()
    assert perturber.fit(documents).transform(documents) == TOKENS


def test_count_matrices(faithful, small_embedding):
    counts = CountVectorizer(vocabulary=small_embedding.words).fit_transform(DOCUMENTS)
    expected = counts.toarray()
    for X in (
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
    assert counts.nnz == (expected > 0).sum()  # the input is left as it was


def test_bow_is_canonical_integer_csr_aligned_with_count_vectorizer(small_embedding):
    perturber = DPWordPerturber(small_embedding, epsilon=2.0).fit(DOCUMENTS)
    noisy = perturber.transform(DOCUMENTS)
    assert isinstance(noisy, sp.csr_matrix)
    assert noisy.dtype == np.int64
    assert noisy.shape == (2, len(small_embedding))
    assert noisy.has_canonical_format
    assert noisy.sum(axis=1).ravel().tolist() == [[3, 3]]
    assert perturber.get_feature_names_out().tolist() == list(small_embedding.words)


def test_strings_are_cut_as_scikit_learn_cuts_them(sms, google_8k):
    texts = sms[0][:300]
    for options in (
        {},
        {"stop_words": "english"},
        {"lowercase": False, "token_pattern": r"[A-Za-z]+"},
        {"tokenizer": str.split, "token_pattern": None},
    ):
        analyze = CountVectorizer(**options).build_analyzer()
        perturber = DPWordPerturber(
            google_8k, epsilon=FAITHFUL, output="tokens", **options
        ).fit(texts)
        expected = []
        for text in texts:
            ids = google_8k.find(analyze(text))
            expected.append([google_8k.words[i] for i in ids if i >= 0])
        assert perturber.transform(texts) == expected


def test_stop_words_leave_token_lists_too(faithful):
    assert faithful(stop_words=["w2", "w5"]).transform(TOKENS) == [["w1", "w3"], ["w4"]]


def test_numpy_strings_are_strings(faithful):
    perturber = faithful(random_state=0)
    documents = [[np.str_(word) for word in tokens] for tokens in TOKENS]
    noisy = perturber.transform(documents)
    assert noisy == TOKENS
    assert {type(word) for words in noisy for word in words} == {str}
    noisy = DPWordPerturber(perturber.embedding, epsilon=1.0, random_state=0).fit([])
    assert (noisy.transform(documents) != noisy.transform(TOKENS)).nnz == 0


def test_words_are_found_in_any_case():
    table = WordEmbedding(["Paris", "rome"], [[0.0, 1.0], [1.0, 0.0]])
    perturber = DPWordPerturber(table, epsilon=FAITHFUL, output="text").fit([])
    texts = ["PARIS Rome paris"]
    assert perturber.transform(texts) == ["Paris rome Paris"]
    perturber.set_params(lowercase=False)
    assert perturber.transform(texts) == ["Paris rome Paris"]


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


def test_order_of_words_is_kept(faithful):
    tokens = [[f"w{i}" for i in np.random.default_rng(0).permutation(200)]]
    assert faithful().transform(tokens) == tokens


@pytest.mark.parametrize("documents", [["", "   ", "..."], [[], ["zzz"]], [""]])
def test_documents_without_words(small_embedding, documents):
    perturber = DPWordPerturber(small_embedding).fit(documents)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutOfVocabularyWarning)
        assert perturber.transform(documents).nnz == 0


def test_no_documents(small_embedding):
    assert DPWordPerturber(small_embedding).fit([]).transform([]).shape == (0, 200)
    tokens = DPWordPerturber(small_embedding, output="tokens").fit([])
    assert tokens.transform([]) == tokens.known_words([]) == []


def test_one_hot_words_are_equally_likely_substitutes():
    X = np.array([[4000, 0, 0, 0]])
    perturber = DPWordPerturber("one-hot", epsilon=1.0, lam=0.0, random_state=0)
    noisy = perturber.fit_transform(X).toarray()[0]
    assert noisy.sum() == 4000
    assert noisy[0] > noisy[1:].max()
    spread = noisy[1:].std() / np.sqrt(noisy[1:].mean())
    assert spread < 4  # Poisson-like around one mean
    perturber.fit(pd.DataFrame(X, columns=list("abcd")))
    assert perturber.get_feature_names_out().tolist() == list("abcd")


def test_known_words_are_what_gets_noise(faithful):
    assert faithful().known_words(DOCUMENTS) == TOKENS
    assert faithful(document_length=2).known_words(DOCUMENTS) == [
        ["w1", "w2"],
        ["w4", "w5"],
    ]


# -- lengths -------------------------------------------------------------------


def test_truncate_takes_the_first_words(faithful):
    perturber = faithful(document_length=2)
    assert perturber.transform(DOCUMENTS) == [["w1", "w2"], ["w4", "w5"]]


def test_truncate_counts_the_documents_that_are_too_short(small_embedding):
    perturber = DPWordPerturber(small_embedding, document_length=4)
    documents = [["w1"] * 4, ["w1"] * 3, ["w1"] * 5, ["w1", "zzz", "w2", "w3"]]
    with pytest.raises(
        InvalidParameterError, match=r"2 of 4 are shorter, first document 1.*sample"
    ):
        perturber.fit(documents).transform(documents)
    counts = np.zeros((3, 200), dtype=int)
    counts[1, 7] = 4
    with pytest.raises(InvalidParameterError, match="2 of 3 are shorter"):
        perturber.transform(counts)


@pytest.mark.filterwarnings("ignore::skdptext.exceptions.OutOfVocabularyWarning")
@settings(deadline=None, max_examples=30)
@given(
    lengths=st.lists(st.integers(0, 12), min_size=1, max_size=6),
    length=st.integers(1, 9),
    seed=st.sampled_from([None, 3]),
)
def test_size_never_tells_under_sample(small_embedding, lengths, length, seed):
    """Empty documents, unknown words, short and long ones: all N words."""
    documents = [[f"w{i}" for i in range(n)] + ["unknown"] for n in lengths]
    perturber = DPWordPerturber(
        small_embedding,
        document_length=length,
        resize="sample",
        output="tokens",
        random_state=seed,
    ).fit(documents)
    noisy = perturber.transform(documents)
    assert [len(words) for words in noisy] == [length] * len(lengths)
    assert all(word in small_embedding for words in noisy for word in words)


def test_sample_draws_from_the_document_by_frequency(faithful):
    perturber = faithful(document_length=3000, resize="sample", random_state=1)
    (words,) = perturber.transform([["w1", "w2", "w2", "w2"]])
    assert set(words) == {"w1", "w2"}
    # Binomial(3000, 3/4): 8 standard deviations, alpha < 1e-14
    assert abs(words.count("w2") - 2250) < 8 * np.sqrt(3000 * 3 / 16)


def test_sample_without_known_words_draws_from_the_vocabulary(faithful):
    perturber = faithful(document_length=20_000, resize="sample", random_state=1)
    with pytest.warns(OutOfVocabularyWarning):
        (words,) = perturber.transform([["zzz"]])
    counts = np.unique(words, return_counts=True)[1]
    assert len(counts) == 200
    from scipy.stats import chisquare

    assert chisquare(counts).pvalue > 1e-6


def test_lengths_are_said_to_leak_unless_fixed(small_embedding):
    with pytest.warns(PrivacyLeakWarning, match="number of words of each document"):
        DPWordPerturber(small_embedding).fit(DOCUMENTS)
    perturber = DPWordPerturber(small_embedding, document_length=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        perturber.fit(DOCUMENTS).transform(DOCUMENTS)


# -- unknown words ---------------------------------------------------------------


def test_oov_error_names_the_first_words(small_embedding):
    perturber = DPWordPerturber(small_embedding, oov="error").fit(DOCUMENTS)
    with pytest.raises(InvalidParameterError, match=r"document 1 .*\['unknown'\]"):
        perturber.transform(DOCUMENTS)


def test_oov_keep_releases_in_clear_and_says_so(small_embedding):
    perturber = DPWordPerturber(
        small_embedding, epsilon=FAITHFUL, oov="keep", output="text"
    )
    with pytest.warns(PrivacyLeakWarning, match="released in clear"):
        perturber.fit(DOCUMENTS)
    documents = ["Alice met w1, Alice left w2"]
    with pytest.warns(OutOfVocabularyWarning, match="4 of 6 words"):
        assert perturber.transform(documents) == ["alice met w1 alice left w2"]
    for output in ("bow", "tokens"):
        with pytest.raises(InvalidParameterError, match='output must be "text"'):
            clone(perturber).set_params(output=output).fit(DOCUMENTS)


def test_oov_keep_counts_kept_words_in_the_length(small_embedding):
    perturber = DPWordPerturber(
        small_embedding, epsilon=FAITHFUL, oov="keep", output="text", document_length=2
    )
    with pytest.warns(PrivacyLeakWarning):
        noisy = perturber.fit_transform(["Alice w1 w2", "w3 w4 Bob"])
    assert noisy == ["alice w1", "w3 w4"]


def test_fasttext_gives_unknown_words_a_vector():
    from gensim.models import FastText

    sentences = [["running", "runner", "walk", "walker", "talking"]] * 50
    model = FastText(sentences, vector_size=8, min_count=1, workers=1, seed=1, epochs=5)
    embedding = WordEmbedding.from_gensim(model)
    perturber = DPWordPerturber(
        embedding, epsilon=FAITHFUL, lam=0.0, output="tokens"
    ).fit([])
    # "" has no subwords, and is dropped
    (noisy,) = perturber.transform([["walk", "runners", "", "walk"]])
    distance = np.linalg.norm(embedding.vectors - model.wv["runners"], axis=1)
    assert noisy == ["walk", embedding.words[distance.argmin()], "walk"]


# -- single words ----------------------------------------------------------------


def test_perturb_words(small_embedding):
    perturber = DPWordPerturber(small_embedding, epsilon=1.0).fit([])
    noisy = perturber.perturb_words(["w1", "w2", "w1"], n_draws=50)
    assert noisy.shape == (3, 50)
    assert set(noisy.ravel()) <= set(small_embedding.words)
    assert (noisy[0] != noisy[2]).any()
    assert perturber.perturb_words(["w1"]).shape == (1, 1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("w1", "iterable of str, got 'w1'"),
        (b"w1", "iterable of str"),
        (3, "iterable of str, got 3"),
        (["w1", 2], "words must be str, got 2"),
        (["w1", "zzz", "yyy"], r"got 2 unknown, first \['zzz', 'yyy'\]"),
    ],
)
def test_perturb_words_refuses(small_embedding, words, message):
    perturber = DPWordPerturber(small_embedding).fit([])
    with pytest.raises(InvalidParameterError, match=message):
        perturber.perturb_words(words)


@pytest.mark.parametrize("n_draws", [0, -1, 2.5, "many", True])
def test_perturb_words_refuses_draws(small_embedding, n_draws):
    perturber = DPWordPerturber(small_embedding).fit([])
    with pytest.raises(InvalidParameterError, match="n_draws must be an integer >= 1"):
        perturber.perturb_words(["w1"], n_draws)


# -- scikit-learn's conventions ---------------------------------------------------


def test_not_fitted(small_embedding):
    perturber = DPWordPerturber(small_embedding)
    for call in (
        lambda: perturber.transform(DOCUMENTS),
        lambda: perturber.perturb_words(["w1"]),
        lambda: perturber.guarantee(),
        lambda: perturber.get_feature_names_out(),
    ):
        with pytest.raises(NotFittedError):
            call()


def test_noise_parameters_cannot_change_behind_fit(small_embedding):
    perturber = DPWordPerturber(small_embedding, epsilon=5.0).fit([])
    perturber.set_params(epsilon=50.0)
    with pytest.raises(InvalidParameterError, match=r"epsilon must not change after"):
        perturber.transform(DOCUMENTS)
    assert perturber.fit([]).guarantee().epsilon == 50.0


def test_clones_share_the_table(small_embedding):
    perturber = DPWordPerturber(small_embedding).fit([])
    assert clone(perturber).embedding is small_embedding
    assert perturber.embedding_ is small_embedding


def test_fit_sets_what_it_documents(small_embedding):
    perturber = DPWordPerturber(small_embedding, lam=0.3).fit(DOCUMENTS)
    assert perturber.n_features_in_ == 200
    assert np.trace(perturber.covariance_) == pytest.approx(8)
    M = 0.3 * perturber.covariance_ + 0.7 * np.eye(8)
    np.testing.assert_allclose(perturber.noise_factor_ @ perturber.noise_factor_, M)


def test_fit_learns_nothing_from_the_documents(small_embedding):
    first = DPWordPerturber(small_embedding).fit(["w1 w2"])
    second = DPWordPerturber(small_embedding).fit([["w9"] * 100])
    assert vars(first).keys() == vars(second).keys()
    for name in ("covariance_", "noise_factor_", "_half_norms"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_verbose_shows_progress(small_embedding, capsys):
    DPWordPerturber(small_embedding, verbose=1).fit_transform(DOCUMENTS)
    assert "2/2" in capsys.readouterr().err
    DPWordPerturber(small_embedding).fit_transform(DOCUMENTS)
    assert capsys.readouterr().err == ""


# -- memory and threads -----------------------------------------------------------


def peak_beyond_output(perturber, documents):
    tracemalloc.start()
    try:
        noisy = perturber.transform(documents)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak - sum(a.nbytes for a in (noisy.data, noisy.indices, noisy.indptr))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_memory_keeps_to_working_memory(google_8k, n_jobs):
    """64 MB for 20 and for 200 documents, and for one as long as those together."""
    words = google_8k.word_array[np.arange(20_000) % len(google_8k)].tolist()
    long = [words]
    many = [words[i : i + 100] for i in range(0, 20_000, 100)]
    perturber = DPWordPerturber(google_8k, epsilon=10.0, n_jobs=n_jobs).fit([])
    with config_context(working_memory=64):
        peaks = [peak_beyond_output(perturber, d) for d in (many[:20], many, long)]
    assert max(peaks) < 64 * 2**20


def test_threads_of_the_product_are_left_as_they_were(small_embedding):
    def threads():
        return [lib["num_threads"] for lib in ThreadpoolController().info()]

    before = threads()
    for n_jobs in (None, 1, 2):
        DPWordPerturber(small_embedding, n_jobs=n_jobs).fit([]).transform([["w1"] * 9])
    assert threads() == before
