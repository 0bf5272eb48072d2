"""What a report reads: words that are known, columns, ids, labels."""

from __future__ import annotations

import hmac

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skdptext.attacks import column_findings, known_words
from skdptext.inspection import release_report
from tests.expected import refusals, refused


@pytest.fixture(scope="module")
def texts(prose):
    """Forty distinct texts of 40 words, in which words are repeated as they are."""
    words = " ".join(dict.fromkeys(prose[0])).split()
    return [" ".join(words[i : i + 40]) for i in range(0, 1600, 40)]


def keyed(word: str) -> str:
    return hmac.new(b"a secret", word.encode(), "sha256").hexdigest()[:12]


def test_words_that_are_known_in_originals():
    clear = ["tea and milk", "milk and cake", "tea"]
    assert known_words(clear, clear) == (1.0, np.mean([1, 2 / 3, 1]))
    assert known_words(clear, ["", "tea x", "y z"])[0] == pytest.approx(1 / 6)
    # a placeholder is in a fifth of the releases or more, and is no word
    assert known_words(clear * 4, ["[NAME] tea", "[NAME] milk"] * 6)[0] == 1
    assert known_words(["!"], ["?"]) == (0.0, 0.0)


def test_a_report_on_hashed_words_and_on_what_it_cannot_read(texts):
    hashed = [" ".join(map(keyed, text.split())) for text in texts]
    for released in (hashed, [" ".join(sorted(t.split())) for t in hashed]):
        report = release_report(texts, released, random_state=0)
        assert report.unread
        assert report.scores["linkage"].low > 0.5
        assert report.verdict.result == "DOCUMENTS ARE NOT HIDDEN."
        assert report.scores["copies: spans of 5 words"].value == 0
    rng = np.random.default_rng(1)
    noise = [rng.bytes(60).hex() for _ in texts[:12]]
    report = release_report(texts[:12], noise, random_state=0)
    assert report.verdict.result == "THESE ADVERSARIES CANNOT READ THIS."
    said = " ".join(str(report).split())
    assert "Only 0 % of the words occur in the originals" in said
    assert "low scores say nothing" in said


# -- columns ---------------------------------------------------------------------------


def test_columns_that_name_rows():
    people = ["ann", "bob", "ann", "eve"]
    clear = {"id": [1, 2, 3, 4], "who": people, "age": [30, 40, 30, 50]}
    kept = {
        "number": ["1", "2", "3", "4"],  # of another name and type
        "author": ["p1", "p2", "p1", "p3"],  # a pseudonym for each
        "row": list("wxyz"),
        "kind": ["a", "a", "b", "a"],
        "same": ["q"] * 4,
    }
    rows = {c.name: c for c in column_findings(clear, kept, {"author": people})}
    assert set(rows) == {"number", "author", "row"}
    assert rows["number"][:5] == ("number", "id", 4, 4, 4)
    assert (rows["author"].original, rows["author"].renamed) == ("who", True)
    assert (rows["author"].label, rows["number"].label) == ("author", "")
    assert rows["row"].original == ""


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_data_frames_are_reported_first(texts, kind, one_adversary):
    people = [f"p{i % 3}" for i in range(9)]
    clear = kind({"body": texts[:9], "author_id": people})
    released = kind({"body": ["gone"] * 9, "author_id": people})
    report = release_report(
        clear, released, text="body", authors=people, random_state=0
    )
    said = "Authors are given away by the column 'author_id', equal in 9 of 9 rows."
    assert report.verdict[:2] == ("COLUMNS NAME THE ROWS.", said)
    assert report.to_dict()["columns"][0]["n_equal"] == 9
    # a label that is kept repeats the originals, and names no row
    report = release_report(clear, released, text="body", random_state=0)
    said = "Values are given away by the column 'author_id', equal in 9 of 9 rows."
    assert report.verdict[:2] == ("COLUMNS ARE REPEATED.", said)
    without = kind({"body": ["gone"] * 9, "kind": ["a"] * 9})
    report = release_report(clear, without, text="body", random_state=0)
    assert report.columns == []
    for name in (None, "gone"):
        with refused("text must name the column"):
            release_report(clear, released, text=name)


@pytest.mark.no_cover
@pytest.mark.parametrize("kind", [pd.DataFrame, pa.table, dict])
def test_rows_belong_together_by_ids(texts, kind):
    texts, number = texts[:12], list(range(12))
    clear = kind({"body": texts, "number": number})
    # numbers in one, text in the other, in another order
    shuffled = kind({"body": texts[::-1], "number": [str(i) for i in number[::-1]]})
    by_column, by_pair, by_order = (
        release_report(clear, shuffled, text="body", ids=ids, random_state=0)
        for ids in ("number", (number, number[::-1]), None)
    )
    for report in (by_column, by_pair):
        assert report.scores["copies: whole texts"].value == 1
        assert report.provenance.matched == "matched by id"
        assert not any("their order" in note for note in report.notes)
    assert by_order.scores["copies: whole texts"].value == 0
    assert any("Both have the column 'number'." in note for note in by_order.notes)


@refusals(
    ("gone", "ids must name a column of original and of released"),
    (7, "ids must name a column, or hold the ids"),
    ((range(39), range(40)), "got 0 that only the originals have and 1"),
    (([None, 1], [1, 1]), "got 1 missing and 0 repeated among the 2 of original"),
    ((range(4), [0, 1, 2, 2]), "0 missing and 1 repeated among the 4 of released"),
)
def test_ids_that_match_nothing_are_refused(texts, ids):
    with refused("ids must be None without original"):
        release_report(None, texts, background=texts, ids=ids)
    release_report(texts, texts, ids=ids)
