"""DocumentPreparer: what the papers do to a text, and what the perturber does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import get_tags

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.preprocessing import DocumentPreparer
from tests.expected import leaks_allowed, refusals

# the example of the 2019 paper, section 2
PRESIDENT = "The President greets the press in Chicago"
WORDS = ["president", "greets", "press", "Chicago", "tea"]
TABLE = WordEmbedding(WORDS, np.eye(5))

# far apart beside the noise, so that the perturber changes nothing
STILL = {"epsilon": 1e6, "lam": 0.0}

tokens = st.text(alphabet="aB' .,", max_size=4)
documents = st.lists(st.lists(tokens, max_size=8), min_size=1, max_size=4)


def test_the_example_of_the_paper():
    assert DocumentPreparer().fit_transform([PRESIDENT]) == [
        ["president", "greets", "press", "chicago"]
    ]
    assert DocumentPreparer(TABLE).fit_transform([PRESIDENT, "Tea; coffee!"]) == [
        ["president", "greets", "press", "Chicago"],
        ["tea"],
    ]
    as_text = DocumentPreparer(output="text").fit_transform([PRESIDENT, "", "the"])
    assert as_text == ["president greets press chicago", "", ""]


@pytest.mark.no_cover
@settings(max_examples=50)
@given(documents, st.booleans(), st.sampled_from([None, "english", ["a", "b"]]))
def test_without_embedding_it_is_scikit_learns_analyzer(tokens, lowercase, stop):
    texts = [" ".join(document) for document in tokens]
    pattern = r"\b\w+\b"
    analyze = CountVectorizer(
        lowercase=lowercase, stop_words=stop, token_pattern=pattern
    ).build_analyzer()
    preparer = DocumentPreparer(
        lowercase=lowercase, stop_words=stop, token_pattern=pattern
    )
    assert preparer.transform(texts) == [analyze(text) for text in texts]
    stop_words = CountVectorizer(stop_words=stop).get_stop_words() or ()
    folded = [[t.lower() if lowercase else t for t in doc] for doc in tokens]
    assert preparer.transform(iter(tokens)) == [
        [t for t in doc if t not in stop_words] for doc in folded
    ]


@pytest.mark.parametrize("output", ["bow", "tokens", "text"])
@pytest.mark.parametrize("stop_words", [None, "english"])
@pytest.mark.filterwarnings(
    "ignore::skdptext.exceptions.PrivacyLeakWarning",
    "ignore::skdptext.exceptions.OutOfVocabularyWarning",
)
def test_is_what_a_perturber_does_without_its_noise(output, stop_words):
    texts = [PRESIDENT, "chicago TEA, Tea and cofe", ["Press", "the", "Tea"]]
    counts = np.array([[1, 0, 2, 0, 0], [0, 0, 0, 0, 3]])
    perturber = DPWordPerturber(
        TABLE, document_length=2, output=output, stop_words=stop_words, **STILL
    )
    preparer = DocumentPreparer.from_perturber(perturber)
    for X in (texts, counts):
        expected, got = perturber.fit_transform(X), preparer.fit_transform(X)
        if output == "bow":
            expected, got = expected.toarray().tolist(), got.toarray().tolist()
        assert got == expected


@leaks_allowed
def test_unknown_words():
    texts = ["tea, Cofe", "zzz zzz"]
    assert DocumentPreparer(TABLE).transform(texts) == [["tea"], []]
    keep = DocumentPreparer(TABLE, oov="keep", output="text")
    assert keep.transform(texts) == ["tea cofe", "zzz zzz"]
    assert keep.set_params(lowercase=False).transform(texts) == ["tea Cofe", "zzz zzz"]
    perturber = DPWordPerturber(TABLE, oov="keep", output="text", **STILL)
    again = DocumentPreparer.from_perturber(perturber, document_length=1)
    assert again.transform(texts) == ["tea", "zzz"]
    with pytest.raises(InvalidParameterError, match="document 0 holds 1 unknown"):
        DocumentPreparer(TABLE, oov="error").transform(texts)


def test_lengths_say_how_far_one_can_cut():
    texts = [PRESIDENT, "tea and tea", ["tea", "zzz", "the", "press", "press"]]
    preparer = DocumentPreparer(TABLE, document_length=1)
    assert preparer.lengths(texts).tolist() == [4, 2, 3]
    assert DocumentPreparer().lengths(texts).tolist() == [4, 2, 4]
    assert preparer.lengths([[2, 0, 1, 0, 0], [0, 0, 0, 0, 0]]).tolist() == [3, 0]
    assert preparer.lengths([]).tolist() == []
    shortest = preparer.lengths(texts).min()
    preparer.set_params(document_length=shortest)
    assert [len(words) for words in preparer.transform(texts)] == [2, 2, 2]
    assert preparer.transform([[2, 0, 1, 0, 0]]) == [["president", "president"]]
    with pytest.raises(InvalidParameterError, match="2 of 3 are shorter"):
        preparer.set_params(document_length=4).transform(texts)


def test_sampled_words_follow_their_frequencies():
    """2018, section 5.2: three quarters of the words are "tea"."""
    n = 40_000
    preparer = DocumentPreparer(
        document_length=n, resize="sample", random_state=5, output="text"
    )
    text = preparer.transform(["tea press tea tea", "tea press"])
    share = [document.split().count("tea") / n for document in text]
    # 6 standard errors: false alarm 2e-9 each
    assert abs(share[0] - 0.75) < 6 * np.sqrt(0.75 * 0.25 / n)
    assert abs(share[1] - 0.5) < 6 * np.sqrt(0.25 / n)
    assert preparer.transform(["tea press"] * 2) == preparer.transform(
        ["tea press"] * 2
    )
    first, second = preparer.transform(["tea press"] * 2)
    assert first != second  # a stream for all documents
    fresh = clone(preparer).set_params(random_state=None)
    assert fresh.transform(["tea press"]) != fresh.transform(["tea press"])


def test_sampling_from_a_document_without_words():
    preparer = DocumentPreparer(
        TABLE, document_length=30, resize="sample", output="bow", random_state=0
    )
    bags = preparer.transform(["", "tea"])
    assert bags.sum(axis=1).tolist() == [[30], [30]]
    assert bags[1, 4] == 30
    assert (bags[0].toarray() > 0).sum() > 1
    with pytest.raises(InvalidParameterError, match="1 of 2 have none, first docu"):
        preparer.set_params(embedding=None, output="text").transform(["tea", "the"])


def test_words_with_a_vector_from_subwords():
    """As the nearest word of the table, which a mechanism knows."""
    from gensim.models import FastText

    sentences = [["singing", "ringing", "king"], ["bird", "birds", "word"]] * 40
    model = FastText(
        sentences, vector_size=8, min_count=1, epochs=3, bucket=500, seed=1, workers=1
    )
    table = WordEmbedding.from_gensim(model)
    text = ["king swinging king"]
    preparer = DocumentPreparer(table)
    near = np.linalg.norm(table.vectors - table.infer("swinging"), axis=1).argmin()
    assert preparer.transform(text) == [["king", table.words[near], "king"]]
    bag = preparer.set_params(output="bow").transform(text).toarray()[0]
    expected = np.zeros(len(table))
    expected[table.find(["king"])] = 2
    expected[near] += 1
    np.testing.assert_array_equal(bag, expected)


def test_one_hot_and_columns_of_data_frames():
    preparer = DocumentPreparer("one-hot", document_length=2)
    assert preparer.transform([[0, 2, 1]]) == [["x1", "x1"]]
    frame = pd.DataFrame([[0, 1, 1, 0, 0]], columns=WORDS)
    assert DocumentPreparer(TABLE).transform(frame) == [["greets", "press"]]
    with pytest.raises(InvalidParameterError, match="column 0 is named 'tea'"):
        DocumentPreparer(TABLE).transform(frame[WORDS[::-1]])
    series = pd.Series([PRESIDENT], index=[7])
    assert DocumentPreparer().transform(series) == DocumentPreparer().transform(
        [PRESIDENT]
    )


def test_seed_of_a_perturber_is_not_taken_along():
    perturber = DPWordPerturber(TABLE, random_state=3, stop_words=["tea"])
    preparer = DocumentPreparer.from_perturber(perturber, output="text")
    assert preparer.random_state is None
    assert preparer.embedding is TABLE
    assert (preparer.stop_words, preparer.output) == (["tea"], "text")
    with pytest.raises(InvalidParameterError, match="must be a word perturber"):
        DocumentPreparer.from_perturber(TABLE)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"embedding": "glove"}, "embedding must be a WordEmbedding"),
        ({"document_length": 0}, "document_length must be an integer >= 1"),
        ({"resize": "pad"}, "resize must be one of"),
        ({"oov": "guess"}, "oov must be one of"),
        ({"output": "list"}, "output must be one of"),
        ({"output": "bow"}, 'output="bow" needs an embedding'),
        ({"embedding": TABLE, "output": "bow", "oov": "keep"}, 'output="bow" needs'),
        ({"lowercase": 1}, "lowercase must be True or False"),
        ({"stop_words": "french"}, "stop_words must be None"),
        ({"random_state": -1}, "random_state must be None"),
    ],
)
def test_bad_parameters(params, message):
    preparer = DocumentPreparer(**params)
    for use in (preparer.fit, preparer.transform, preparer.lengths):
        with pytest.raises(InvalidParameterError, match=message):
            use([PRESIDENT])


@refusals(
    ("a text", "got a single str"),
    ([3], "got an int as document 0"),
    ([["a", None]], "every token must be a str, got None as token 1 of document 0"),
    ([[1, 2]], "embedding must be given for a count matrix"),
)
def test_bad_documents(X):
    DocumentPreparer().transform(X)


def test_bad_counts():
    with pytest.raises(InvalidParameterError, match="whole-number"):
        DocumentPreparer(TABLE).transform([[0.5, 0, 0, 0, 0]])
    with pytest.raises(InvalidParameterError, match="it has 2 columns"):
        DocumentPreparer(TABLE).transform([[1, 0]])
    with pytest.raises(InvalidParameterError, match="needs a count matrix"):
        DocumentPreparer("one-hot").transform(["text"])


def test_scikit_learns_conventions():
    preparer = DocumentPreparer(TABLE, resize="sample", stop_words=["a"])
    tags = get_tags(preparer)
    assert not tags.requires_fit
    assert tags.input_tags.string
    assert tags.input_tags.two_d_array
    assert tags.non_deterministic
    assert not get_tags(DocumentPreparer()).input_tags.two_d_array
    assert not get_tags(preparer.set_params(random_state=0)).non_deterministic
    with config_context(transform_output="pandas"):
        assert preparer.fit_transform(["a tea"]) == [["tea"]]
