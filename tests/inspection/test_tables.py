"""Tables that print, and one of nearest words."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from skdptext import WordEmbedding
from skdptext.inspection import TextTable, nearest_words_table
from tests.expected import refusals

LINE = WordEmbedding(["cat", "dog", "tea", "hat"], [[0.0], [1.0], [9.0], [0.0]])


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
