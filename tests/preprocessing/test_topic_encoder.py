"""TopicEncoder against correspondence analysis written out, and on real text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skdptext.exceptions import InvalidParameterError
from skdptext.preprocessing import TopicEncoder
from tests.expected import refusals

TEXTS = ["cat and dog", "dog and cat and dog", "tea and milk", "milk and tea", "and"]


def by_eigenvalues(counts, k):
    """Principal coordinates of the rows, from distances of their profiles.

    Greenacre's definition: chi-squared distances between row profiles, by classical
    scaling with the masses of the rows.
    """
    P = counts / counts.sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    profiles = P / r[:, None]
    centred = (profiles - c) / np.sqrt(c)
    inner = centred @ centred.T
    values, axes = np.linalg.eigh(np.sqrt(r)[:, None] * inner * np.sqrt(r))
    values, axes = values[::-1][:k], axes[:, ::-1][:, :k]
    return np.sqrt(values), axes * np.sqrt(values) / np.sqrt(r)[:, None]


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    return rng.poisson(rng.gamma(0.3, 2.0, size=(60, 40))) + np.eye(60, 40, dtype=int)


@pytest.mark.parametrize("dense", [0, 10**9], ids=["iterated", "in full"])
def test_rows_are_principal_coordinates_of_unit_length(counts, monkeypatch, dense):
    monkeypatch.setattr("skdptext.documents._topic_encoder._DENSE", dense)
    encoder = TopicEncoder(5, min_df=1)
    placed = encoder.fit_transform(sp.csr_array(counts))
    values, exact = by_eigenvalues(counts.astype(float), 5)
    np.testing.assert_allclose(encoder.singular_values_, values, rtol=1e-8)
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    signs = np.sign((placed * exact).sum(axis=0))
    np.testing.assert_allclose(placed, exact * signs, atol=1e-7)
    np.testing.assert_allclose(encoder.transform(counts), placed, atol=1e-12)
    # a supplementary row is the mean of its words' standard coordinates
    new = np.zeros((1, 40))
    new[0, [3, 7]] = 1, 2
    place = (encoder.components_[:, 3] + 2 * encoder.components_[:, 7]) / 3
    row = encoder.transform(new)[0]
    np.testing.assert_allclose(row, place / np.linalg.norm(place))
    # sizes of the documents do not matter
    np.testing.assert_allclose(encoder.transform(7 * counts), placed, atol=1e-12)


def test_words_are_counted_alike_in_texts_tokens_and_matrices():
    encoder = TopicEncoder(2, min_df=1)
    placed = encoder.fit_transform(TEXTS)
    assert encoder.words_.tolist() == ["cat", "and", "dog", "tea", "milk"]
    tokens = [text.upper().split() for text in TEXTS]
    for same in (tokens, pd.Series(TEXTS), iter(TEXTS), np.array(TEXTS)):
        np.testing.assert_array_equal(encoder.transform(same), placed)
    bags = [[text.split().count(w) for w in encoder.words_] for text in TEXTS]
    np.testing.assert_allclose(clone(encoder).fit_transform(bags), placed, atol=1e-12)
    assert encoder.get_feature_names_out().tolist() == [
        "topicencoder0",
        "topicencoder1",
    ]
    frame = clone(encoder).set_output(transform="pandas").fit_transform(TEXTS)
    np.testing.assert_array_equal(frame, placed)


@pytest.mark.no_cover
def test_documents_without_a_known_word_are_at_the_origin():
    encoder = TopicEncoder(1).fit(TEXTS)
    placed = encoder.transform(["", "zebra", "cat", [], "tea " * 100_000])
    assert placed[[0, 1, 3]].tolist() == [[0.0]] * 3
    np.testing.assert_allclose(np.abs(placed[[2, 4]]), 1)
    assert encoder.transform([]).shape == (0, 1)


@pytest.fixture(scope="module")
def encoder():
    encoder = TopicEncoder(2, token_pattern=r"\w", min_df=1)
    return encoder.fit(["a b", "b c", "c a a", "a"])


@pytest.mark.no_cover
@given(st.lists(st.text("abc ", max_size=12), max_size=6))
def test_each_document_is_placed_by_itself(encoder, documents):
    together = encoder.transform(documents)
    alone = [encoder.transform([document])[0] for document in documents]
    assert together.tolist() == [place.tolist() for place in alone]


def test_an_empty_token_is_a_word_of_its_own():
    """It was taken for the last new word of its batch, whichever document's."""
    encoder = TopicEncoder(2, min_df=1).fit(TEXTS)
    expected = encoder.transform(["cat"])
    lists = [["", "cat"], ["milk"]]
    np.testing.assert_array_equal(encoder.transform(lists)[:1], expected)
    np.testing.assert_array_equal(encoder.transform(lists[:1]), expected)
    assert "" in TopicEncoder(1, min_df=1).fit([["", "cat"], ["tea"]]).words_


def test_rare_words_are_left_out_by_a_rule_for_the_size():
    def words(n, **options):
        texts = [f"w{i % 3} w{i % 4} " + "rare " * (i < 4) for i in range(n)]
        return set(TopicEncoder(2, **options).fit(texts).words_)

    assert "rare" in words(40)  # in 4 of 40
    assert "rare" not in words(60)
    assert "rare" in words(60, min_df=4)


@pytest.mark.no_cover
def test_topics_of_real_text_are_found(prose):
    texts, topics = prose
    texts = [
        " ".join(texts[i + j : i + 20 : 2]) for i in range(0, 1200, 20) for j in (0, 1)
    ]
    topics = topics.reshape(-1, 20)[:, :2].ravel()
    half = len(texts) // 2
    model = make_pipeline(TopicEncoder(), LogisticRegression())
    model.fit(texts[:half], topics[:half])
    assert model.score(texts[half:], topics[half:]) > 0.75
    encoder = model[0]
    np.testing.assert_allclose(
        np.linalg.norm(encoder.transform(texts), axis=1).round(12), 1
    )


def test_a_refused_fit_leaves_the_encoder_as_it_was():
    encoder = TopicEncoder(1).fit(TEXTS)
    before = encoder.transform(TEXTS)
    with pytest.raises(InvalidParameterError):
        encoder.fit(["same", "same"])
    np.testing.assert_array_equal(encoder.transform(TEXTS), before)
    encoder.fit([[1, 0, 2], [0, 1, 0]])
    assert not hasattr(encoder, "words_")
    encoder.fit(TEXTS)
    assert not hasattr(encoder, "n_features_in_")


@refusals(
    ({"n_components": 0}, TEXTS, "n_components must be an integer >= 1, got 0"),
    ({"n_components": 2.5}, TEXTS, "n_components must be an integer"),
    ({"min_df": 0}, TEXTS, "min_df must be an integer >= 1, got 0"),
    ({"min_df": 6}, TEXTS, "words of at least 6 of them"),
    ({"lowercase": 3}, TEXTS, "lowercase must be"),
    ({"token_pattern": "("}, TEXTS, "token_pattern must be"),
    ({}, "a secret text", "got a single str"),
    ({}, [], "at least one document"),
    ({}, ["", ""], "documents that differ"),
    ({}, ["secret", "secret"], "documents that differ"),
    ({}, ["secret", None], "None as document 1"),
    ({}, [["secret", 3]], "int as token 1 of document 0"),
    ({}, [[1.0, -1.0]], "non-negative"),
    ({}, None, "got None"),
    never="secret",
)
def test_bad_input(options, X):
    TopicEncoder(**options).fit(X)


def test_use_before_and_beside_fit():
    encoder = TopicEncoder().fit(TEXTS)
    with pytest.raises(InvalidParameterError, match="texts or lists of words"):
        encoder.transform([[1, 2, 3]])
    with pytest.raises(InvalidParameterError, match="as document 1"):
        encoder.transform(["a", 3])
    with pytest.raises(InvalidParameterError, match="count matrix"):
        TopicEncoder().fit(np.eye(4)).transform(TEXTS)
