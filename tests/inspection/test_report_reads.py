"""No code gives an all-clear: what is said of each is found, decoded, or not read."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import zlib
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skdptext.attacks import column_findings, decode
from skdptext.attacks._patterns import pattern_similarities
from skdptext.inspection import release_report
from tests.expected import refusals, refused

RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def texts(prose):
    """Forty distinct texts of 40 words, in which words are repeated as they are."""
    words = " ".join(dict.fromkeys(prose[0])).split()
    return [" ".join(words[i : i + 40]) for i in range(0, 1600, 40)]


def keyed(word: str) -> str:
    return hmac.new(b"a secret", word.encode(), "sha256").hexdigest()[:12]


def bits(text: str, zero: str, one: str) -> str:
    return "".join(f"{b:08b}" for b in text.encode()).translate({48: zero, 49: one})


def moved(text: str, start: int) -> str:
    return "".join(chr(start + b) for b in text.encode())


CODES = {
    "base64": lambda t: base64.b64encode(t.encode()).decode(),
    "hexadecimal": lambda t: t.encode().hex(),
    "base85": lambda t: base64.b85encode(zlib.compress(t.encode())).decode(),
    "hexadecimal, texts; then base64": lambda t: base64.b64encode(t.encode()).hex(),
    "base64, words": lambda t: " ".join(
        base64.b64encode(w.encode()).decode() for w in t.split()
    ),
    "decimal numbers": lambda t: " ".join(map(str, t.encode())),
    "moved characters": partial(moved, start=0xE000),
    "hidden characters": lambda t: "No word. " + moved(t, 0xE0000),
    "bits": partial(bits, zero="\u200b", one="\u200c"),
    "hidden bits": lambda t: "No word. " + bits(t, "\u200b", "\u200c"),
    "reversed": lambda t: t[::-1],
    "look-alike": lambda t: t.translate(
        str.maketrans("aeopcyx", "\u0430\u0435\u043e\u0440\u0441\u0443\u0445")
    ),
    "alphabet moved by 13": lambda t: t.translate(
        str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")
    ),
    "spaced letters": lambda t: " ".join(t.replace(" ", "/")),
    "SHA1": lambda t: hashlib.sha1(t.encode()).hexdigest(),
    "MD5": lambda t: " ".join(hashlib.md5(w.encode()).hexdigest() for w in t.split()),
}


@pytest.mark.parametrize("name", CODES)
def test_what_anybody_undoes_is_undone_and_named(texts, name):
    texts = texts[:10]
    decoded = decode(texts, [CODES[name](text) for text in texts])
    assert "; then ".join(decoded.codes).startswith(name)
    exact = [a.lower() == b.lower() for a, b in zip(texts, decoded.texts, strict=True)]
    assert np.mean(exact) > 0.9
    assert not decoded.unread


def test_what_can_be_read_is_left_alone(texts):
    other = [" ".join(reversed(text.split())) for text in texts]
    masked = [re.sub(r"\w", "x", text) for text in texts]
    assert decode(texts, masked).codes == []
    for released in (texts, other, ["[NAME] " + text for text in texts]):
        decoded = decode(texts, released)
        assert decoded.codes == []
        assert decoded.texts == released
        assert not decoded.unread


def found(original, released):
    truth = np.arange(len(original))
    scores = pattern_similarities(original, released)
    return {name: (s.argmax(axis=1) == truth).mean() for name, s in scores.items()}


@pytest.mark.no_cover
def test_patterns_find_what_no_word_does(texts):
    """Keyed hashes of words, in order or sorted; a random letter for each letter."""
    hashed = [" ".join(map(keyed, text.split())) for text in texts]
    assert found(texts, hashed)["where words repeat"] > 0.9
    late = [f"{keyed('so')} {text}" for text in hashed]
    assert found(texts, late)["how far apart words repeat"] > 0.9
    bags = [" ".join(sorted(text.split())) for text in hashed]
    assert found(texts, bags)["how often words repeat"] > 0.5
    letters = list("abcdefghijklmnopqrstuvwxyz")
    table = str.maketrans(dict(zip(letters, RNG.permutation(letters), strict=True)))
    mixed = [" ".join(RNG.permutation(text.translate(table).split())) for text in texts]
    assert found(texts, mixed)["letters that repeat in words"] > 0.9
    bytes_of = [text.translate(table).encode().hex(" ") for text in texts]
    assert max(found(texts, bytes_of).values()) > 0.9


def test_a_report_on_hashed_words_and_on_what_it_cannot_read(texts):
    hashed = [" ".join(map(keyed, text.split())) for text in texts]
    report = release_report(texts, hashed, random_state=0)
    assert report.unread
    assert report.scores["linkage"].low > 0.7
    assert report.verdict.result == "DOCUMENTS ARE NOT HIDDEN."
    rng = np.random.default_rng(1)
    noise = [rng.bytes(60).hex() for _ in texts[:12]]
    report = release_report(texts[:12], noise, random_state=0)
    assert report.verdict.result == "THESE ADVERSARIES CANNOT READ THIS."
    assert "Low scores say nothing here." in " ".join(str(report).split())


def test_a_translation_is_learned_though_a_word_is_inserted():
    """Each word by a fixed other, and one more word in front of half of them."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(200)])
    texts = [" ".join(rng.choice(words, 25)) for _ in range(120)]
    other = dict(zip(words, np.char.add("x", rng.permutation(words)), strict=True))
    released = [
        "so " * (i % 2) + " ".join(other[w] for w in text.split())
        for i, text in enumerate(texts)
    ]
    report = release_report(texts, released, random_state=0)
    by = {row.adversary: row for row in report.of("linkage")}
    assert by["translation learned from other pairs"].low > 0.9
    words = report.scores["words"]
    assert words.adversary == "translation learned from other pairs"
    (itself,) = (r for r in report.of("words") if r.adversary.endswith("itself"))
    assert words.value > 0.8 > 0.2 > itself.value
    assert report.scores["copies: spans of 5 words"].value == 0


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


@pytest.mark.no_cover
def test_labels_of_any_name(texts, one_adversary):
    ages = np.array(["old", "young"])[np.arange(40) % 2]
    marked = [f"{text}{5 * f' {age}'}" for text, age in zip(texts, ages, strict=True)]
    report = release_report(marked, marked, labels={"age": ages}, random_state=0)
    assert report.scores["age"].low > 0.6
    assert "  age  " in str(report)
