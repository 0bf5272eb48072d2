"""Every format gives back what went in; what is broken is refused, by its line."""

from __future__ import annotations

import gzip
import os
import re
import stat
import struct
import tempfile
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from skdptext import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from tests.memory import traced_memory

FIXED = WordEmbedding(
    ["de", "l'été", "東京", "3", "nan"],
    np.array(
        [[0.1, -0.0], [1e-45, 3e38], [1 / 3, -7], [2, 3], [1.17549435e-38, 1]], "f4"
    ),
)


def assert_same(one, other):
    assert one.words == other.words
    np.testing.assert_array_equal(  # as bits: -0.0 is not 0.0
        one.vectors.view(np.uint32), other.vectors.view(np.uint32)
    )
    assert one.fingerprint == other.fingerprint


# Any words; mostly of few characters, among them those that separate.
any_words = st.lists(
    st.text(max_size=6) | st.text("a1. \t\n\r\x85\0é", max_size=4),
    min_size=1,
    max_size=6,
    unique_by=lambda w: normalize("NFC", w),
)
finite = st.floats(width=32, allow_nan=False, allow_infinity=False)


@pytest.mark.no_cover
@pytest.mark.parametrize("suffix", [".npz", ".txt", ".bin", ".txt.gz", ".bin.gz"])
@given(data=st.data())
@settings(max_examples=60)
def test_what_is_saved_is_loaded_to_the_last_bit_or_refused(suffix, data):
    """Of each format; .vec is another name of .txt."""
    words, dim = data.draw(any_words), data.draw(st.integers(1, 4))
    vectors = data.draw(hnp.arrays(np.float32, (len(words), dim), elements=finite))
    table = WordEmbedding(words, vectors)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{suffix}"
        try:
            table.save(path)
        except InvalidParameterError:
            assert os.listdir(folder) == []
            assert any(not w.isprintable() or " " in w or not w for w in table.words)
            return
        assert_same(WordEmbedding.load(path), table)
        n = data.draw(st.integers(1, len(table)))
        assert_same(WordEmbedding.load(path, n), table.restrict(n))


@pytest.mark.parametrize(
    ("word", "suffixes"),
    [
        ("New York", [".npz", ".txt"]),
        ("route 66", [".npz"]),  # 66 would be a number of the vector
        ("", [".npz", ".bin"]),
        ("\n", [".npz"]),
        ("a\0", [".txt", ".bin"]),
        ("a\tb", [".npz", ".bin"]),
        ("\ud800", []),
    ],
)
@pytest.mark.parametrize("suffix", [".npz", ".txt", ".bin"])
def test_words_that_a_format_holds(tmp_path, word, suffixes, suffix):
    path, table = tmp_path / f"t{suffix}", WordEmbedding(["a", word], np.eye(2))
    path.write_bytes(b"before")
    if suffix in suffixes:
        table.save(path)
        assert_same(WordEmbedding.load(path), table)
    else:
        with pytest.raises(InvalidParameterError, match="at position 1"):
            table.save(path)
        assert path.read_bytes() == b"before"
    assert len(os.listdir(tmp_path)) == 1


# gensim downloads text under names that end in .gz alone
@pytest.mark.parametrize(
    "suffix", [".txt", ".vec", ".bin", ".txt.gz", ".gz", ".bin.gz"]
)
def test_gensim_reads_what_we_write_and_we_what_it_writes(suffix, tmp_path):
    keyed = KeyedVectors(vector_size=FIXED.dim)
    keyed.add_vectors(list(FIXED.words), FIXED.vectors)
    path, binary = str(tmp_path / f"t{suffix}"), ".bin" in suffix
    keyed.save_word2vec_format(path, binary=binary, write_header=suffix != ".vec")
    assert_same(WordEmbedding.load(path), FIXED)
    FIXED.save(path)
    keyed = KeyedVectors.load_word2vec_format(path, binary=binary)
    assert_same(WordEmbedding.from_gensim(keyed), FIXED)


# -- text ---------------------------------------------------------------------------


def read_text(tmp_path, text, **options):
    (tmp_path / "t.txt").write_bytes(text.encode())
    return WordEmbedding.load(tmp_path / "t.txt", **options)


@pytest.mark.parametrize(
    ("text", "words", "vectors"),
    [
        ("a 1 2\nb 3 4\n", "a|b", [[1, 2], [3, 4]]),
        ("2 2\na 1 2 \nb 3 4 \n", "a|b", [[1, 2], [3, 4]]),  # fastText
        ("2 2\r\na 1 2\r\nb 3 4\r\n", "a|b", [[1, 2], [3, 4]]),
        ("a\t1\t2\nb\t3\t4", "a|b", [[1, 2], [3, 4]]),
        ("\ufeffa 1 2\nb 3 4\n\n \n", "a|b", [[1, 2], [3, 4]]),
        ("\ufeff1 2\na 1 2\n", "a", [[1, 2]]),
        (". . . 1 2\nat a@b.c 3 4\n", ". . .|at a@b.c", [[1, 2], [3, 4]]),
        ("5 3.0\n7 4\n", "5|7", [[3], [4]]),
        ("a 1e-3 -2E+1\n", "a", [[1e-3, -20]]),
        ("1999 1 2\n2000 3 4\n", "1999|2000", [[1, 2], [3, 4]]),
        ("\u00a0 1 2\n\u2028 3 4\n", "\u00a0|\u2028", [[1, 2], [3, 4]]),
    ],
)
def test_text_layouts(tmp_path, text, words, vectors):
    table = read_text(tmp_path, text)
    assert table.words == tuple(words.split("|"))
    np.testing.assert_array_equal(table.vectors, np.float32(vectors))


# -- n_words does not look at the rest -----------------------------------------------


@pytest.mark.parametrize("header", ["9 2\n", ""])
def test_text_after_n_words_is_not_read(tmp_path, header):
    text = header + "a 1 2\nb 3 4\nc 5\nb 1 1\nd nan 1\n"
    for n in (1, 2):
        assert len(read_text(tmp_path, text, n_words=n)) == n
    refused(tmp_path / "t.txt", text.encode(), r", line [34]", n_words=3)
    refused(tmp_path / "t.txt", b"9 1\na 1\nb 1\n", ", line 3", n_words=3)


# -- npz ----------------------------------------------------------------------------


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_of_numpy_is_read(tmp_path, save):
    for dtype, order in (("f8", "C"), (">f4", "F"), ("f4", "F")):
        vectors = np.asarray(FIXED.vectors, dtype, order=order)
        save(tmp_path / "t.npz", words=FIXED.words, other=np.ones(3), vectors=vectors)
        for n in (None, 2):
            read = WordEmbedding.load(tmp_path / "t.npz", n)
            assert_same(read, FIXED.restrict(n or len(FIXED)))


# -- paths --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["t", "t.csv", "t.npz.gz", "npz", None, 3, b"t"])
def test_unknown_suffixes_and_what_is_no_path(tmp_path, name):
    path = tmp_path / name if isinstance(name, str) else name
    for act in (FIXED.save, WordEmbedding.load):
        with pytest.raises(InvalidParameterError, match="path must"):
            act(path)
    with pytest.raises(InvalidParameterError, match="n_words must be an integer >= 1"):
        WordEmbedding.load(tmp_path / "t.txt", n_words=0)
    assert os.listdir(tmp_path) == []


def test_saved_through_a_link_and_with_the_usual_rights(tmp_path):
    (tmp_path / "other").touch()
    usual = stat.S_IMODE(os.stat(tmp_path / "other").st_mode)
    FIXED.save(tmp_path / "real.npz")
    assert stat.S_IMODE(os.stat(tmp_path / "real.npz").st_mode) == usual
    (tmp_path / "link.npz").symlink_to(tmp_path / "real.npz")
    FIXED.restrict(2).save(tmp_path / "link.npz")
    assert (tmp_path / "link.npz").is_symlink()
    assert len(WordEmbedding.load(tmp_path / "real.npz")) == 2


# -- broken files: an error that says where, and no table ------------------------------


def refused(path, content, where=r"(, line \d+)?", **options):
    """What the error says, which names the file and quotes nothing of it."""
    path.write_bytes(content)
    with pytest.raises(InvalidParameterError) as caught:
        WordEmbedding.load(path, **options)
    message = str(caught.value)
    assert re.match(f"{re.escape(str(path))}{where}: ", message)
    assert "canary" not in message.replace(str(path), "")
    assert len(message) < 400
    return message


TEXTS = {  # by fault: the line that the message names, and files
    "no vector": (1, ["", "\n\n", "canary\n", "canary b c\n", "\n\na 1 2\n"]),
    "sizes": (1, ["0 2\n", "3 2\n", "2 0\na\nb\n"]),
    "words promised": (3, ["1 2\na 1 2\ncanary 3 4\n", "9 1\na 1\ncanary 3\n"]),
    "words promised, and too many": (2, [f"2 {10**20}\na 1\n", f"{10**12} 2\na 1 2\n"]),
    "sizes, though they may be a word": (2, ["5 3\n7 4\n9 1\n", "9 300\nthe 0.1"]),
    "a number fewer or more": (2, ["a 1 2\ncanary 3\n", "a 1 2\ncanary 3 4 5\n"]),
    "and with a header": (3, ["2 2\na 1 2\ncanary 3\n", "2 2\na 1 2\nb a 3 4 5\n"]),
    "no number": (2, ["a 1 2\nb 3 canary\n", "a 1 2\nb 1_0 4\n", "1 1\na 1_0\n"]),
    "not finite": (2, ["a 1 2\nb nan 4\n", "1 2\na 1 -inf\n", "a 1 2\nb 1e39 4\n"]),
    "after a blank line": (3, ["a 1 2\n\nb 1e39 4\n", "3 2\na 1 2\ncanary 3 4\n"]),
    "not UTF-8": (2, [b"a 1 2\ncanary\xff 3 4\n", b"a 1 2\nb 3 4\xff\n"]),
    "lines end otherwise": (1, ["a 1 2\rcanary 3 4\r", "2 2\ra 1 2\rcanary 3 4\r"]),
    "blanks": (1, ["a  b 1 2\n", "a\tb 1 2\n", " a 1 2\n", "a 1_0 4\n"]),
    "a word twice": (3, ["a 1 2\nb 3 4\na 5 6\n", "3 1\na 1\na 3\nb 5\n"]),
}


@pytest.mark.parametrize("fault", TEXTS)
def test_text(tmp_path, fault):
    line, texts = TEXTS[fault]
    for text in texts:
        content = text if isinstance(text, bytes) else text.encode()
        refused(tmp_path / "t.txt", content, f", line {line}")
        refused(tmp_path / "t.vec.gz", gzip.compress(content), f", line {line}")


def binary(*rows, header=None):
    content = (header or f"{len(rows)} 2\n").encode()
    for word, *vector in rows:
        content += word + b" " + struct.pack(f"<{len(vector)}f", *vector)
    return content


A = (b"a", 1, 2)
BINARY = {
    "no header": [b"", b"\x80\x81\x82\x83" * 50, b"canary 0.1 0.2\n"],
    "sizes": [b"0 2\n", b"2 0\n", b"2 99999999999\na ", b"2 " + b"9" * 5000 + b"\na "],
    "words": [binary(A, header="2 2\n"), binary(A, header=f"{10**12} 2\n")],
    "cut": [binary(A, (b"b", 3)), binary(A, header="2 2\n") + b"canary"],
    "twice": [binary(A, A)],
    "values": [binary(A, (b"b", float("nan"), 2)), binary(A, (b"canary\xff", 1, 2))],
    "endless": [b"1 2\n" + b"x" * (3 << 20)],
    "fastText": [b"\xba\x16\x4f\x2f\x0c\x00\x00\x00" + bytes(100)],
}


@pytest.mark.parametrize("fault", BINARY)
def test_binary(tmp_path, fault):
    for content in BINARY[fault]:
        refused(tmp_path / "t.bin", content)
        refused(tmp_path / "t.bin.gz", gzip.compress(content))


WORDS, EYE = np.array(["a", "b"]), np.eye(2)
ARRAYS = [
    {"words": None},
    {"vectors": None},
    {"words": ["a", "b", "canary"]},
    {"words": np.array(["a", "canary"], object)},
    {"words": [b"a", b"canary"]},
    {"words": [1, 2]},
    {"words": "canary"},
    {"words": ["canary", "canary"]},
    {"words": [["a", "b"]], "vectors": np.eye(1)},
    {"words": np.array([], "U1"), "vectors": np.ones((0, 2))},
    {"vectors": np.ones(2)},
    {"vectors": np.float32([[1], [np.nan]])},
    {"subword_buckets": np.ones((4, 3))},
    {"subword_buckets": np.array([[1, 2], [np.nan, 1]])},
    {"subword_buckets": EYE, "subword_lengths": (6, 3)},
    {"subword_buckets": EYE, "subword_lengths": (3, 6, 9)},
    {"subword_buckets": EYE, "subword_lengths": ("x", "y")},
]


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz(tmp_path, save):
    for arrays in ARRAYS:
        held = {"words": WORDS, "vectors": EYE, "subword_lengths": (3, 6)} | arrays
        save(tmp_path / "t.npz", **{k: v for k, v in held.items() if v is not None})
        refused(tmp_path / "t.npz", (tmp_path / "t.npz").read_bytes())


@pytest.mark.no_cover
@pytest.mark.parametrize(("start", "line"), [(b"a ", 1), (b"2 1\na ", 2)])
def test_an_endless_line_does_not_fill_the_memory(tmp_path, start, line):
    packed = gzip.compress(start) + gzip.compress(b"0" * 10**7) * 100
    with traced_memory() as memory:
        refused(tmp_path / "t.txt.gz", packed, f", line {line}")
    assert memory.peak < 200 << 20


def test_what_a_header_promises_does_not_fill_the_memory(tmp_path):
    promising = binary(A, header=f"{10**8} 2\n")
    with traced_memory() as memory:
        refused(tmp_path / "t.bin", promising)
        refused(tmp_path / "t.bin.gz", gzip.compress(promising))
    assert memory.peak < 100 << 20
