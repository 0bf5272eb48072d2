"""Tables that print: nearest words, nearest texts, words under noise."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.inspection import (
    TextTable,
    nearest_words_table,
    words_under_noise,
)
from tests.expected import leaks_allowed, refusals

LINE = WordEmbedding(["cat", "dog", "tea", "hat"], [[0.0], [1.0], [9.0], [0.0]])


@pytest.fixture
def perturber(small_embedding):
    return DPWordPerturber(small_embedding, document_length=3, stop_words=["w3"]).fit(
        []
    )


def test_nearest_words_are_those_of_brute_force(small_embedding):
    words = ["w5", "w0", "w5"]
    table = nearest_words_table(small_embedding, words, n_neighbors=4)
    assert table.columns == ("word", "rank", "distance", "neighbor")
    assert len(table) == 12
    rows = iter(table.rows)
    vectors = small_embedding.vectors.astype(float)
    for word in words:
        gaps = np.linalg.norm(vectors - vectors[int(word[1:])], axis=1)
        order = np.argsort(gaps)[1:5]
        for rank, i in enumerate(order, 1):
            row = next(rows)
            assert (row[0], row[1], row[3]) == (word, rank, f"w{i}")
            assert row[2] == pytest.approx(gaps[i])


def test_a_word_is_not_its_own_neighbour_but_its_twin_is():
    table = nearest_words_table(LINE, ["hat"], n_neighbors=3)
    assert [row[2:] for row in table.rows] == [(0, "cat"), (1, "dog"), (9, "tea")]


def test_words_under_noise_are_one_draw_at_every_epsilon(perturber, small_embedding):
    text = "W1 w3, zzz w2 w1!"
    table = words_under_noise(
        perturber, text, epsilons=[1e9, 5.0, 1e-9], random_state=4
    )
    assert table.columns == ("none", "ε = 1e+09", "ε = 5", "ε = 1e-09")
    before, large, _, tiny = zip(*table.rows, strict=True)
    assert before == large == ("w1", "w2", "w1")  # no stop word, no unknown one
    assert "Unchanged: 100 % at ε = 1e+09" in table.note
    # at ε → 0 only the direction of the noise counts: an outermost word
    hull = small_embedding.vectors.astype(float)
    for word in tiny:
        assert word in small_embedding
        assert np.linalg.norm(small_embedding[word]) > np.median(
            np.linalg.norm(hull, axis=1)
        )
    again = words_under_noise(
        make_pipeline(perturber, MultinomialNB()),
        ["w1", "w3", "zzz", "w2", "w1"],
        epsilons=[5.0],
        random_state=4,
    )
    assert [row[1] for row in again.rows] == [row[2] for row in table.rows]
    assert perturber.epsilon == 10.0


def test_columns_are_multiples_of_the_epsilon_of_the_perturber(perturber):
    table = words_under_noise(perturber.set_params(epsilon=3.0).fit([]), "w1 w2")
    assert table.columns == ("none", "ε = 12", "ε = 6", "ε = 3", "ε = 1.5", "ε = 0.75")


def test_a_changed_word_does_not_come_back(perturber, small_embedding):
    words = [f"w{i}" for i in range(10, 60)]
    epsilons = [40.0, 20.0, 10.0, 5.0, 2.0]
    table = words_under_noise(perturber, words, epsilons=epsilons, random_state=1)
    rows = np.array(table.rows)
    stays = rows[:, 1:] == rows[:, :1]
    assert (np.diff(stays.astype(int), axis=1) <= 0).all()
    assert 0 < stays.mean() < 1


def test_column_is_distributed_as_a_release():
    """In one dimension: Laplace noise and cells that are intervals."""
    table = WordEmbedding(["a", "b", "c"], [[0.0], [1.0], [3.0]])
    perturber = DPWordPerturber(table, epsilon=7, lam=0.0, document_length=1).fit([])
    n, epsilon = 20_000, 1.3
    rows = words_under_noise(
        perturber, ["b"] * n, epsilons=[epsilon], random_state=0
    ).rows
    got = np.array([np.mean([row[1] == w for row in rows]) for w in "abc"])
    left, right = np.exp(-epsilon * 0.5) / 2, np.exp(-epsilon * 1.0) / 2
    P = np.array([left, 1 - left - right, right])
    # 6 standard errors for each of 3 numbers: false alarm below 1e-8
    assert (np.abs(got - P) < 6 * np.sqrt(P * (1 - P) / n)).all()


def test_prints_and_shows_itself(monkeypatch):
    table = TextTable(
        "A <b>", ("name", "x"), (("<i>", 1.0), ("long name", 22.5)), "Note & end."
    )
    assert repr(table).splitlines() == [
        "A <b>",
        "",
        "name            x",
        "-----------------",
        "<i>         1.000",
        "long name  22.500",
        "",
        "Note & end.",
    ]
    view = table._repr_html_()
    assert "&lt;i&gt;" in view
    assert "<i>" not in view
    assert "Note &amp; end." in view
    frame = table.to_frame()
    assert frame.columns.tolist() == ["name", "x"]
    assert frame["x"].tolist() == [1.0, 22.5]
    bare = TextTable("T", ("a",), ())
    assert repr(bare).splitlines() == ["T", "", "a", "-"]
    assert "<p>" not in bare._repr_html_()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="needs pandas"):
        table.to_frame()


@refusals(
    ((None, ["cat"]), {}, "embedding must be a WordEmbedding"),
    ((LINE, ["cow"]), {}, "must be known to the embedding"),
    ((LINE, "cat"), {}, "words must be an iterable of str"),
    ((LINE, ["cat"]), {"n_neighbors": 0}, "n_neighbors must be an integer >= 1"),
    ((LINE, ["cat"]), {"n_neighbors": 4}, r"< the number of words \(4\), got 4"),
)
def test_bad_words(args, params):
    nearest_words_table(*args, **params)


@refusals(
    ("w1", 3.0, "epsilons must be a sequence of numbers"),
    ("w1", [3.0, 0.0], r"epsilons\[1\] must be a finite number > 0"),
    ("zzz", [3.0], "at least one word of the embedding, got a str of 3"),
    ("", [3.0], "at least one word"),
    (7, [3.0], "got an int as document 0"),
)
def test_bad_text_under_noise(perturber, text, epsilons):
    words_under_noise(perturber, text, epsilons=epsilons)


@leaks_allowed
def test_bad_perturber():
    one_hot = DPWordPerturber("one-hot").fit(np.eye(3, dtype=int))
    with pytest.raises(InvalidParameterError, match="must have a WordEmbedding"):
        words_under_noise(one_hot, "x1")
