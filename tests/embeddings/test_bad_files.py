"""Broken files: a clear error that says where, and no table."""

from __future__ import annotations

import gzip
import pickle
import struct
import zipfile

import numpy as np
import pytest
from gensim.models import KeyedVectors
from gensim.test.utils import datapath

from skdptext import WordEmbedding
from skdptext.exceptions import InvalidParameterError


def refused(path, content, message, **options):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InvalidParameterError, match=message) as caught:
        WordEmbedding.load(path, **options)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: no vector"),
        ("\n\n", "line 1: no vector"),
        ("word\n", "line 1: no vector"),
        ("a b c\n", "line 1: no vector"),
        ("3 2\na 1 2\nb 3 4\n", "line 4: the header promises 3 words, but .* after 2"),
        ("1 2\na 1 2\nb 3 4\n", "line 3: the header promises 1 words, but more follow"),
        ("3 2\n", "line 2: the header promises 3 words, but the file ends after 0"),
        ("0 2\n", "promises 0 words of 2 dimensions; both must be at least 1"),
        ("2 0\na\nb\n", "promises 2 words of 0 dimensions"),
        (
            "9 300\nthe 0.1",
            r"line 2: expected a word and 300 numbers .*header\), got 1",
        ),
        (
            "2 2\na 1 2\nb 3\n",
            r"line 3: expected a word and 2 numbers .*header\), got 1",
        ),
        ("a 1 2\nb 3\n", r"line 2: expected .* 2 numbers \(as line 1\), got 1"),
        ("a 1 2\nb 3 4 5\n", r"line 2: expected .* 2 numbers \(as line 1\), got 3"),
        ("2 2\na 1 2\nb c 3 4 5\n", "line 3: expected .* 2 numbers .*, got 3"),
        ("a 1 2\n\nb 3 4\n", "line 2: expected .* got 0"),
        ("a 1 2\nb 3 x\n", "line 2: expected .* got 'x' among the numbers"),
        ("a 1 2\nb 3 4\na 5 6\n", "line 3: the word 'a' is there already, at line 1"),
        ("3 1\na 1\nb 3\nb 5\n", "line 4: the word 'b' is there already, at line 3"),
        (
            "a 1 2\nb nan 4\n",
            "line 2: vectors must be finite in float32, got nan .*'b'",
        ),
        ("1 2\na 1 -inf\n", "line 2: vectors must be finite in float32, got -inf"),
        ("a 1 2\nb 1e39 4\n", "line 2: vectors must be finite in float32, got inf"),
        (b"a 1 2\nb\xff 3 4\n", "line 2: the word .* is not UTF-8 .*encoding_errors="),
        (b"a 1 2\nb 3 4\xff\n", "line 2: expected .* among the numbers"),
    ],
)
@pytest.mark.parametrize("suffix", [".txt", ".vec.gz"])
def test_text(tmp_path, text, message, suffix):
    content = text if isinstance(text, bytes) else text.encode()
    if suffix.endswith(".gz"):
        content = gzip.compress(content)
    refused(tmp_path / f"t{suffix}", content, message)


def test_gensims_file_that_is_not_utf8():
    path = datapath("pang_lee_polarity_fasttext.vec")
    with open(path, "rb") as file:
        lines = [line.decode("utf-8", "replace") for line in file]
    number = 1 + next(i for i, line in enumerate(lines) if "\ufffd" in line)
    with pytest.raises(InvalidParameterError, match=f"{path}, line {number}: .*UTF-8"):
        WordEmbedding.load(path)


@pytest.mark.parametrize("errors", ["ignore", "replace"])
def test_words_made_equal_by_decoding(tmp_path, errors):
    message = f'line 3: .*encoding_errors="{errors}".*already, at line 2'
    text = b"a 1\nb\xff 2\nb\xfe 3\n"
    refused(tmp_path / "t.txt", text, message, encoding_errors=errors)


def test_text_before_n_words_is_checked(tmp_path):
    refused(tmp_path / "t.txt", "a 1 2\nb 1\nc 1 2\n", "line 2: expected", n_words=3)
    message = "line 4: the header promises 9 words"
    refused(tmp_path / "t.txt", "9 1\na 1\nb 1\n", message, n_words=3)


@pytest.mark.parametrize("name", ["pretrained.vec"])
def test_gensims_file_that_is_shorter_than_it_says(name):
    with pytest.raises(InvalidParameterError, match=r"promises 3 words, .* after 1"):
        WordEmbedding.load(datapath(name))


def binary(*rows, header=None):
    header = header or f"{len(rows)} 2\n"
    content = header.encode()
    for word, *vector in rows:
        content += word + b" " + struct.pack(f"<{len(vector)}f", *vector)
    return content


NAN = float("nan")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not word2vec binary, which starts with a line of two integers"),
        (b"\x80\x81\x82\x83" * 50, "not word2vec binary"),
        (b"the 0.1 0.2\n", "not word2vec binary"),
        (b"0 2\n", "promises 0 words"),
        (b"2 0\n", "words of 0 dimensions"),
        (
            binary((b"a", 1, 2), header="2 2\n"),
            "word 2: .* promises 2 words, .* after 1",
        ),
        (binary((b"a", 1, 2)) + b"b " + bytes(8), "word 2: .* but more follow"),
        (
            binary((b"a", 1, 2), (b"b", 3)),
            "word 2: the file ends within the vector of 2",
        ),
        (
            binary((b"a", 1, 2), header="2 2\n") + b"bcd",
            "word 2: .* ends within the word",
        ),
        (
            binary((b"a", 1, 2), (b"a", 1, 2)),
            "word 2: .*'a' is there already, at word 1",
        ),
        (binary((b"a", 1, 2), (b"b", NAN, 2)), "word 2: vectors must be finite"),
        (binary((b"a", 1, 2), (b"b\xff", 1, 2)), "word 2: .* is not UTF-8"),
        (b"1 2\n" + b"x" * (3 << 20), "word 1: no space after the word in 1 MiB"),
    ],
)
@pytest.mark.parametrize("suffix", [".bin", ".bin.gz"])
def test_binary(tmp_path, content, message, suffix):
    if suffix.endswith(".gz"):
        content = gzip.compress(content)
    refused(tmp_path / f"t{suffix}", content, message)


def test_binary_may_end_vectors_with_a_newline(tmp_path):
    content = b"2 1\na " + struct.pack("<f", 1) + b"\nb " + struct.pack("<f", 2) + b"\n"
    (tmp_path / "t.bin").write_bytes(content)
    assert WordEmbedding.load(tmp_path / "t.bin").words == ("a", "b")


def test_a_header_cannot_claim_memory(tmp_path):
    message = "word 2: the header promises 1000000000000 words"
    content = binary((b"a", 1, 2), header=f"{10**12} 2\n")
    refused(tmp_path / "t.bin", content, message)
    message = "line 3: the header promises 1000000000000 words"
    refused(tmp_path / "t.txt", f"{10**12} 2\na 1 2\n", message)


@pytest.mark.parametrize("name", ["lee_fasttext_new.bin", "lee_fasttext.bin"])
def test_a_fasttext_model_is_recognised(name):
    with pytest.raises(InvalidParameterError, match="load_facebook_model"):
        WordEmbedding.load(datapath(name))


@pytest.mark.parametrize("suffix", [".vec", ".bin"])
def test_broken_gzip(tmp_path, suffix):
    vectors = np.random.default_rng(0).normal(size=(2000, 20))
    path = tmp_path / f"t{suffix}.gz"
    WordEmbedding([f"w{i}" for i in range(2000)], vectors).save(path)
    whole = path.read_bytes()
    place = r"(line|word) \d{3,4}: the compressed file is cut short or broken"
    refused(path, whole[: len(whole) // 2], place)
    middle = len(whole) // 2
    refused(
        path, whole[:middle] + bytes(99) + whole[middle + 99 :], r"(line|word) \d+:"
    )
    refused(path, whole[:-8] + bytes(8), "the compressed file is cut short or broken")
    refused(path, b"not gzip", "the compressed file is cut short or broken")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (
            {"vectors": np.eye(2)},
            r"needs arrays named 'words' and 'vectors', has \['vec",
        ),
        ({"words": ["a"]}, r"needs arrays named .* has \['words'\]"),
        ({"words": ["a", "b", "c"], "vectors": np.eye(2)}, "has 3 words but 2 vectors"),
        ({"words": np.array(["a", "b"], object), "vectors": np.eye(2)}, "object array"),
        ({"words": ["a", "b"], "vectors": np.eye(2).astype(object)}, "object array"),
        ({"words": [b"a", b"b"], "vectors": np.eye(2)}, r"array of str .*, got \|S1"),
        ({"words": [1, 2], "vectors": np.eye(2)}, "array of str .*, got int64"),
        ({"words": "a", "vectors": np.eye(2)}, "single number, not an array"),
        ({"words": ["a", "a"], "vectors": np.eye(2)}, "unique, got 'a' at positions 0"),
        ({"words": [["a", "b"]], "vectors": np.eye(1)}, "words must be str, got"),
        ({"words": ["a", "b"], "vectors": np.ones(2)}, "must be of shape"),
        ({"words": ["a", "b"], "vectors": np.ones((2, 0), "f4")}, "must be of shape"),
        (
            {"words": np.array([], "U1"), "vectors": np.ones((0, 2))},
            "at least one word",
        ),
        ({"words": ["a", "b"], "vectors": np.float32([[1], [NAN]])}, r"row 1 \('b'\)"),
        ({"words": ["a", "b"], "vectors": np.eye(2) * 1j}, "real numbers"),
    ],
)
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz(tmp_path, arrays, message, save):
    save(tmp_path / "t.npz", **arrays)
    refused(tmp_path / "t.npz", (tmp_path / "t.npz").read_bytes(), message)


def npz_with(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path.read_bytes()


def npy(path, array, version=None):
    with open(path, "wb") as file:
        np.lib.format.write_array(file, array, version=version)
    return path.read_bytes()


def test_broken_npz(tmp_path):
    path = tmp_path / "t.npz"
    WordEmbedding(["a", "b"], np.eye(2)).save(path)
    whole = path.read_bytes()
    for content in (b"", whole[: len(whole) // 2], b"PK" + bytes(50)):
        refused(path, content, "cannot be read as an embedding")
    words, vectors = (
        npy(tmp_path / "x", a) for a in (np.array(["a"]), np.ones((1, 9)))
    )
    single = npy(tmp_path / "x", np.ones((1, 9), "f4"))
    strange = npy(tmp_path / "x", np.ones((1, 9), "f4"), version=(3, 0))
    for broken, message in [
        (vectors[:-8], "vectors.npy is cut short"),
        (single[:-8], "vectors.npy is cut short"),
        (strange, r"unknown npy version \(3, 0\)"),
        (b"junk", "cannot be read as an embedding"),
    ]:
        refused(path, npz_with(path, words=words, vectors=broken), message)


def test_kv(tmp_path):
    path = tmp_path / "t.kv"
    refused(path, b"", "cannot be read as gensim KeyedVectors")
    refused(path, b"no pickle", "cannot be read as gensim KeyedVectors")
    refused(path, pickle.dumps({"words": 1}), "cannot be read as gensim KeyedVectors")
    WordEmbedding(["a", "b"], np.eye(2)).save(path)
    whole = path.read_bytes()
    refused(path, whole[:-20], "cannot be read as gensim KeyedVectors")
    path.write_bytes(whole)
    np.save(tmp_path / "t.kv.vectors.npy", np.eye(3, dtype="f4"))
    refused(path, whole, "holds 2 words but 3 vectors")
    (tmp_path / "t.kv.vectors.npy").write_bytes(b"junk")
    refused(path, whole, "cannot be read as gensim KeyedVectors")
    (tmp_path / "t.kv.vectors.npy").unlink()
    with pytest.raises(FileNotFoundError, match=r"t\.kv\.vectors\.npy"):
        WordEmbedding.load(path)
    keyed = KeyedVectors(vector_size=2)
    keyed.add_vectors(["a", "b"], np.float32([[1, 2], [NAN, 1]]))
    keyed.save(str(path))
    refused(path, path.read_bytes(), r"finite in float32, got nan in row 1 \('b'\)")
