"""Reading and writing: every format gives back what went in."""

from __future__ import annotations

import os
import stat
import tempfile
import zipfile
from functools import cache
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
from tests.expected import no_warning

SUFFIXES = [
    ".npz", ".txt", ".vec", ".bin", ".txt.gz", ".vec.gz", ".bin.gz"
]  # fmt: skip
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


# To check a strategy takes longer than to draw from it.
@cache
def words_of(suffix):
    """Any words; mostly of few characters, among them those that separate."""
    any_word = st.one_of(st.text(max_size=6), st.text("a1. \t\n\r\x85\0é", max_size=4))
    return st.lists(
        any_word, min_size=1, max_size=6, unique_by=lambda w: normalize("NFC", w)
    )


@cache
def vectors_of(n_words, dim):
    finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
    return hnp.arrays(np.float32, (n_words, dim), elements=finite)


@pytest.mark.no_cover
@pytest.mark.parametrize("suffix", [s for s in SUFFIXES if ".vec" not in s])
@given(data=st.data())
@settings(max_examples=60)
def test_what_is_saved_is_loaded_to_the_last_bit_or_refused(suffix, data):
    """Of each format; .vec is another name of .txt."""
    words = data.draw(words_of(suffix))
    vectors = data.draw(vectors_of(len(words), data.draw(st.integers(1, 4))))
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
    ("words", "suffixes"),
    [
        (["New York", ". . ."], [".npz", ".txt"]),
        # 66 would be a number of the vector
        (["route 66", "a\nb", "a  b", " a", ""], [".npz"]),
        (["a\0"], [".txt", ".bin"]),
        (["\ud800"], []),
    ],
)
@pytest.mark.parametrize("suffix", [".npz", ".txt", ".bin"])
def test_words_that_a_format_holds(tmp_path, words, suffixes, suffix):
    path = tmp_path / f"t{suffix}"
    for word in words:
        table = WordEmbedding(["a", word], np.eye(2))
        if suffix in suffixes:
            table.save(path)
            assert_same(WordEmbedding.load(path), table)
        else:
            path.write_bytes(b"before")
            with pytest.raises(InvalidParameterError, match="at position 1"):
                table.save(path)
            assert path.read_bytes() == b"before"
    assert len(os.listdir(tmp_path)) == 1


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".VEC.GZ", ".Bin.Gz", ".NPZ"])
def test_files_are_equal_for_equal_tables_and_n_words_is_a_cap(suffix, tmp_path):
    one, two = (tmp_path / f"{name}{suffix}" for name in "ab")
    with no_warning():
        FIXED.save(one)
        FIXED.save(str(two))
        assert_same(WordEmbedding.load(str(one), n_words=99), FIXED)
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize(
    ("suffix", "options"),
    [
        (".txt", {}),
        (".vec", {"write_header": False}),
        (".bin", {"binary": True}),
        (".txt.gz", {}),
        (".gz", {}),  # as it downloads text
        (".bin.gz", {"binary": True}),
    ],
)
def test_gensim_reads_what_we_write_and_we_what_it_writes(suffix, options, tmp_path):
    keyed = KeyedVectors(vector_size=FIXED.dim)
    keyed.add_vectors(list(FIXED.words), FIXED.vectors)
    path = str(tmp_path / f"t{suffix}")
    keyed.save_word2vec_format(path, **options)
    assert_same(WordEmbedding.load(path), FIXED)
    FIXED.save(path)
    binary = "binary" in options
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


@pytest.mark.parametrize("suffix", [".vec.gz", ".bin", ".bin.gz"])
def test_what_follows_n_words_may_be_broken(tmp_path, suffix):
    vectors = np.random.default_rng(0).normal(size=(9000, 20))
    table = WordEmbedding([f"w{i}" for i in range(9000)], vectors)
    path = tmp_path / f"t{suffix}"
    table.save(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert_same(WordEmbedding.load(path, n_words=500), table.restrict(500))


# -- npz ----------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "order"), [("f8", "C"), (">f4", "F"), ("f4", "F")])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_of_numpy_is_read(tmp_path, save, dtype, order):
    vectors = np.asarray(FIXED.vectors, dtype, order=order)
    save(tmp_path / "t.npz", words=FIXED.words, other=np.ones(3), vectors=vectors)
    for n in (None, 2):
        read = WordEmbedding.load(tmp_path / "t.npz", n)
        assert_same(read, FIXED.restrict(n or len(FIXED)))
        assert not read.vectors.flags.writeable


def test_npz_of_earlier_versions_is_read(tmp_path):
    """They aligned members by an extra field, so that vectors could be mapped."""
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        for name in ("vectors", "words"):
            info = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            info.extra = b"\x35\xd9\x0b\0" + bytes(11)
            with archive.open(info, "w", force_zip64=True) as member:
                array = np.asarray(getattr(FIXED, name))
                np.lib.format.write_array(member, array, version=(2, 0))
    assert_same(WordEmbedding.load(tmp_path / "t.npz"), FIXED)


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


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"t\.bin"):
        WordEmbedding.load(tmp_path / "t.bin")
    FIXED.save(tmp_path / "t.bin")
    before = (tmp_path / "t.bin").read_bytes()
    monkeypatch.setattr(os, "replace", lambda *_: 1 / 0)  # the last step
    with pytest.raises(ZeroDivisionError):
        FIXED.restrict(2).save(tmp_path / "t.bin")
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [before]


def test_saved_through_a_link_and_with_the_usual_rights(tmp_path):
    (tmp_path / "other").touch()
    usual = stat.S_IMODE(os.stat(tmp_path / "other").st_mode)
    FIXED.save(tmp_path / "real.npz")
    assert stat.S_IMODE(os.stat(tmp_path / "real.npz").st_mode) == usual
    (tmp_path / "link.npz").symlink_to(tmp_path / "real.npz")
    FIXED.restrict(2).save(tmp_path / "link.npz")
    assert (tmp_path / "link.npz").is_symlink()
    assert len(WordEmbedding.load(tmp_path / "real.npz")) == 2
