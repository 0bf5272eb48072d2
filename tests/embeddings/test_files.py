"""Reading and writing: every format gives back what went in."""

from __future__ import annotations

import gzip
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from gensim.test.utils import datapath
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from skdptext import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from tests.memory import mapped_file, mappings

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


@cache  # to check a strategy takes longer than to draw from it
def words_of(suffix):
    forbidden = "" if suffix == ".npz" else " \t\n\r\x0b\x0c"
    characters = st.characters(exclude_categories=["Cs"], exclude_characters=forbidden)
    word = st.text(characters, min_size=1, max_size=6)
    if suffix == ".npz":
        word = word.filter(lambda text: not text.endswith("\0"))
    return st.lists(word, min_size=1, max_size=6, unique=True)


@cache
def vectors_of(n_words, dim):
    finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
    return hnp.arrays(np.float32, (n_words, dim), elements=finite)


@st.composite
def tables(draw, suffix):
    words = draw(words_of(suffix))
    return WordEmbedding(words, draw(vectors_of(len(words), draw(st.integers(1, 4)))))


@pytest.mark.no_cover
@pytest.mark.parametrize("suffix", [s for s in SUFFIXES if ".vec" not in s])
@given(data=st.data())
@settings(max_examples=40)
def test_round_trip_is_exact(suffix, data):
    """Of each format; .vec is another name of .txt."""
    table = data.draw(tables(suffix))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{suffix}"
        table.save(path)
        assert_same(WordEmbedding.load(path), table)
        n = data.draw(st.integers(1, len(table)))
        assert_same(WordEmbedding.load(path, n), table.restrict(n))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_n_words_is_a_cap(suffix, tmp_path):
    FIXED.save(tmp_path / f"t{suffix}")
    read = WordEmbedding.load(tmp_path / f"t{suffix}", n_words=99)
    assert_same(read, FIXED)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_equal_tables_give_equal_files(suffix, tmp_path):
    for name in "ab":
        FIXED.save(tmp_path / f"{name}{suffix}")
    one, two = (tmp_path / f"{name}{suffix}" for name in "ab")
    assert one.read_bytes() == two.read_bytes()


def test_suffix_in_capitals_and_str_paths(tmp_path):
    FIXED.save(str(tmp_path / "t.VEC.GZ"))
    assert_same(WordEmbedding.load(str(tmp_path / "t.VEC.GZ")), FIXED)
    assert gzip.decompress((tmp_path / "t.VEC.GZ").read_bytes()).startswith(b"5 2\nde ")


@pytest.mark.parametrize(("suffix", "binary"), [(".txt", False), (".bin", True)])
def test_gensim_reads_what_is_written(suffix, binary, tmp_path):
    FIXED.save(tmp_path / f"t{suffix}")
    keyed = KeyedVectors.load_word2vec_format(tmp_path / f"t{suffix}", binary=binary)
    assert_same(WordEmbedding.from_gensim(keyed), FIXED)


@pytest.mark.parametrize(
    ("suffix", "options"),
    [
        (".txt", {}),
        (".vec", {"write_header": False}),
        (".bin", {"binary": True}),
        (".txt.gz", {}),
        (".gz", {}),
        (".bin.gz", {"binary": True}),
    ],
)
def test_what_gensim_writes_is_read(suffix, options, tmp_path):
    keyed = KeyedVectors(vector_size=FIXED.dim)
    keyed.add_vectors(list(FIXED.words), FIXED.vectors)
    keyed.save_word2vec_format(str(tmp_path / f"t{suffix}"), **options)
    read = WordEmbedding.load(tmp_path / f"t{suffix}")
    assert read.words == FIXED.words
    np.testing.assert_array_equal(read.vectors, FIXED.vectors)


@pytest.mark.parametrize(
    ("name", "shape", "binary"),
    [
        ("lee_fasttext.vec", (1762, 10), False),
        ("crime-and-punishment.vec", (291, 5), False),
        ("high_precision.kv.txt", (2, 2), False),
        ("euclidean_vectors.bin", (2747, 10), True),
        ("high_precision.kv.bin", (2, 2), True),
    ],
)
def test_gensims_own_files_are_read_as_gensim_does(name, shape, binary):
    table = WordEmbedding.load(datapath(name))
    keyed = KeyedVectors.load_word2vec_format(datapath(name), binary=binary)
    assert table.vectors.shape == shape
    assert list(table.words) == keyed.index_to_key
    np.testing.assert_array_equal(table.vectors, keyed.vectors)


# -- text ---------------------------------------------------------------------------


def read_text(tmp_path, text, name="t.txt", **options):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return WordEmbedding.load(path, **options)


def test_glove_has_no_header():
    table = WordEmbedding.load(datapath("test_glove.txt"))
    assert table.vectors.shape == (76, 50)
    assert table["the"][:2].tolist() == np.float32([0.418, 0.24968]).tolist()


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
        ("2 1\na 1\nb 3\n", "a|b", [[1], [3]]),
        ("1 1\na 1\n", "a", [[1]]),
        ("5 3\n7 4\n9 1\n", "5|7|9", [[3], [4], [1]]),  # one dimension, no header
        ("5 300\nx 4.5\ny 1\nz 1\n", "5|x|y|z", [[300], [4.5], [1], [1]]),
        ("5 3.0\n7 4\n", "5|7", [[3], [4]]),
        ("2 3\n7 4 5 6\n8 4 5 6\n", "7|8", [[4, 5, 6], [4, 5, 6]]),
        ("a 1e-3 -2E+1\n", "a", [[1e-3, -20]]),
        ("1999 1 2\n2000 3 4\n", "1999|2000", [[1, 2], [3, 4]]),
        ("\u00a0 1 2\n\u2028 3 4\n", "\u00a0|\u2028", [[1, 2], [3, 4]]),
    ],
)
def test_text_layouts(tmp_path, text, words, vectors):
    table = read_text(tmp_path, text)
    assert table.words == tuple(words.split("|"))
    np.testing.assert_array_equal(table.vectors, np.float32(vectors))


def test_more_words_than_the_first_allocation(tmp_path):
    lines = [f"w{i} {i} {-i}" for i in range(5000)]
    table = read_text(tmp_path, "\n".join(lines))
    assert table.words == tuple(f"w{i}" for i in range(5000))
    np.testing.assert_array_equal(table.vectors[:, 0], np.arange(5000))
    np.testing.assert_array_equal(table.vectors[:, 1], -np.arange(5000))


# -- n_words does not look at the rest -----------------------------------------------


@pytest.mark.parametrize("header", [True, False])
def test_text_after_n_words_is_not_read(tmp_path, header):
    rows = "a 1 2\nb 3 4\n"
    text = ("9 2\n" if header else "") + rows + "c 5\nb 1 1\nd nan 1\n"
    assert read_text(tmp_path, text, n_words=2).words == ("a", "b")
    assert read_text(tmp_path, text, n_words=1).words == ("a",)


def test_binary_after_n_words_is_not_read(tmp_path):
    FIXED.save(tmp_path / "t.bin")
    whole = (tmp_path / "t.bin").read_bytes()
    (tmp_path / "t.bin").write_bytes(whole[: whole.index(b"3 ") + 3])
    assert_same(WordEmbedding.load(tmp_path / "t.bin", 3), FIXED.restrict(3))


@pytest.mark.parametrize("suffix", [".vec", ".bin"])
def test_compressed_after_n_words_is_not_read(tmp_path, suffix):
    vectors = np.random.default_rng(0).normal(size=(2000, 20))
    table = WordEmbedding([f"w{i}" for i in range(2000)], vectors)
    table.save(tmp_path / f"t{suffix}.gz")
    whole = (tmp_path / f"t{suffix}.gz").read_bytes()
    (tmp_path / f"t{suffix}.gz").write_bytes(whole[: len(whole) // 2])
    read = WordEmbedding.load(tmp_path / f"t{suffix}.gz", n_words=500)
    assert_same(read, table.restrict(500))


def test_compressed_npz_reads_the_first_rows_only(tmp_path):
    vectors = np.random.default_rng(0).normal(size=(5000, 20)).astype("f4")
    words = [f"w{i}" for i in range(5000)]
    np.savez_compressed(tmp_path / "t.npz", words=words, vectors=vectors)
    with zipfile.ZipFile(tmp_path / "t.npz") as archive:
        info = archive.getinfo("vectors.npy")
        end = info.header_offset + info.compress_size
    data = bytearray((tmp_path / "t.npz").read_bytes())
    data[end - 1000 : end] = bytes(1000)
    (tmp_path / "t.npz").write_bytes(data)
    read = WordEmbedding.load(tmp_path / "t.npz", n_words=100)
    np.testing.assert_array_equal(read.vectors, vectors[:100])
    with pytest.raises(InvalidParameterError, match=r"t\.npz: cannot be read"):
        WordEmbedding.load(tmp_path / "t.npz")


# -- npz ----------------------------------------------------------------------------


def test_npz_is_mapped_in_place_and_plain_numpy_reads_it(tmp_path):
    path = tmp_path / "t.npz"
    FIXED.save(path)
    table = WordEmbedding.load(path)
    assert mapped_file(table.vectors) == str(path)
    (mapping,) = mappings(table.vectors)
    assert mapping.mode == "r"
    assert mapping.offset % 64 == 0
    assert not table.vectors.flags.writeable
    with np.load(path, allow_pickle=False) as file:
        assert sorted(file) == ["vectors", "words"]
        np.testing.assert_array_equal(file["words"], FIXED.words)
        np.testing.assert_array_equal(file["vectors"], FIXED.vectors)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
    assert mapped_file(WordEmbedding.load(path, 2).vectors) == str(path)
    assert mapped_file(table.restrict(2).vectors) == str(path)


@pytest.mark.parametrize(
    "vectors",
    [
        FIXED.vectors.astype("f8"),
        FIXED.vectors.astype(">f4"),
        np.asfortranarray(FIXED.vectors),
        FIXED.vectors,
    ],
    ids=["f8", "big", "fortran", "plain"],
)
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("n_words", [None, 2])
def test_npz_of_numpy_is_read(tmp_path, save, vectors, n_words):
    save(tmp_path / "t.npz", words=FIXED.words, other=np.ones(3), vectors=vectors)
    read = WordEmbedding.load(tmp_path / "t.npz", n_words)
    assert_same(read, FIXED.restrict(n_words or len(FIXED)))


def test_npz_in_numpys_second_layout(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        for name, array in (
            ("words", np.array(FIXED.words)),
            ("vectors", FIXED.vectors),
        ):
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, array, version=(2, 0))
    assert_same(WordEmbedding.load(tmp_path / "t.npz"), FIXED)
