"""Broken files: a clear error that says where, and no table."""

from __future__ import annotations

import gzip
import struct
import zipfile
from contextlib import contextmanager

import numpy as np
import pytest
from gensim.test.utils import datapath

from skdptext import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from tests.memory import traced_memory


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
        ("a 1 2\nb 3 x\n", "line 2: expected .* something else as number 2"),
        ("a 1 2\nb 3 4\na 5 6\n", "line 3: the word occurs already, at line 1"),
        ("3 1\na 1\nb 3\nb 5\n", "line 4: the word occurs already, at line 3"),
        (
            "a 1 2\nb nan 4\n",
            "line 2: vectors must be finite in float32, got nan",
        ),
        ("1 2\na 1 -inf\n", "line 2: vectors must be finite in float32, got -inf"),
        ("a 1 2\nb 1e39 4\n", "line 2: vectors must be finite in float32, got inf"),
        (b"a 1 2\nb\xff 3 4\n", "line 2: the word is not UTF-8"),
        (b"a 1 2\nb 3 4\xff\n", "line 2: expected .* something else as number 2"),
        ("a 1 2\nb 1_0 4\n", "line 2: expected .* something else as number 1"),
        ("1 2\na 1_0 4\n", "line 2: expected .* something else as number 1"),
        ("a 1_0 4\n", "line 1: expected .* something else as number 1"),
        ("a 1 2\rb 3 4\r", "line 1: a carriage return within the line"),
        ("2 2\ra 1 2\rb 3 4\r", "line 1: a carriage return within the line"),
        ("a 1 2\nb 3\r4\n", "line 2: a carriage return within the line"),
        (f"2 {10**11 - 1}\na 1\n", "line 1: .* 2 words of 99999999999 dimensions"),
        (f"2 {10**20}\na 1\n", "line 1: .* sizes of 1 and 21 digits"),
        (f"{10**20} 2\na 1 2\n", "line 1: .* sizes of 21 and 1 digits"),
        (f"2 {'9' * 5000}\na 1 2\n", "line 1: .* sizes of 1 and 5000 digits"),
        (f"{'9' * 5000} 2\na 1 2\n", "line 1: .* sizes of 5000 and 1 digits"),
        (f"2 {(1 << 20) + 1}\na 1\n", "line 1: .* dimensions at most 1048576"),
    ],
)
@pytest.mark.parametrize("suffix", [".txt", ".vec.gz"])
def test_text(tmp_path, text, message, suffix):
    content = text if isinstance(text, bytes) else text.encode()
    if suffix.endswith(".gz"):
        content = gzip.compress(content)
    refused(tmp_path / f"t{suffix}", content, message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a" + " 1" * ((1 << 20) + 1), "line 1: more than 1048576 numbers"),
        (b"a 1\n" + b"x" * (17 << 20), "line 2: the line is longer than 16 MiB"),
        (b"a 1\n" + b"\n" * (2 << 20), "line 1048578: more than 1 MiB of blank lines"),
    ],
)
def test_large_text(tmp_path, text, message):
    refused(tmp_path / "t.txt", text, message)


def test_gensims_file_that_is_not_utf8():
    path = datapath("pang_lee_polarity_fasttext.vec")
    with open(path, "rb") as file:
        lines = [line.decode("utf-8", "replace") for line in file]
    number = 1 + next(i for i, line in enumerate(lines) if "\ufffd" in line)
    with pytest.raises(InvalidParameterError, match=f"{path}, line {number}: .*UTF-8"):
        WordEmbedding.load(path)


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
            "word 2: the word occurs already, at word 1",
        ),
        (binary((b"a", 1, 2), (b"b", NAN, 2)), "word 2: vectors must be finite"),
        (binary((b"a", 1, 2), (b"b\xff", 1, 2)), "word 2: .* is not UTF-8"),
        (b"1 2\n" + b"x" * (3 << 20), "word 1: no space after the word in 1 MiB"),
        (b"2 99999999999\na ", "line 1: .* 2 words of 99999999999 dimensions"),
        (b"2 100000000000000000000\na ", "line 1: .* sizes of 1 and 21 digits"),
        (b"2 " + b"9" * 5000 + b"\na ", "line 1: .* sizes of 1 and 62 digits"),
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
        (
            {"words": ["a", "a"], "vectors": np.eye(2)},
            "unique, got the same at positions 0 and 1",
        ),
        (
            {"words": [["a", "b"]], "vectors": np.eye(1)},
            r"1-D array of str .* shape \(1, 2\)",
        ),
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
    # where the list of members begins, and so where each of them is
    place = whole.rindex(b"PK\x05\x06") + 16
    for offset in (0, len(whole) + 5, 2**31, 2**32 - 2):
        broken = bytearray(whole)
        broken[place : place + 4] = offset.to_bytes(4, "little")
        refused(path, bytes(broken), "cannot be read as an embedding")
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


# -- made to harm: in bounded time and memory ------------------------------------------


@contextmanager
def memory_below(limit):
    with traced_memory() as memory:
        yield
    assert memory.peak < limit


def gzip_of(path, block, times, start=b""):
    """The same block, compressed once, as many members of one gzip file."""
    packed = gzip.compress(block)
    path.write_bytes(gzip.compress(start) + packed * times)


def test_a_gzip_of_three_billion_newlines(tmp_path):
    path = tmp_path / "t.txt.gz"
    gzip_of(path, b"\n" * 10**7, 300)
    message = "line 1048577: more than 1 MiB of blank lines"
    with memory_below(64 << 20), pytest.raises(InvalidParameterError, match=message):
        WordEmbedding.load(path)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("name", "start", "block", "message"),
    [
        ("t.txt.gz", b"a ", b"0" * 10**7, "line 1: the line is longer than 16 MiB"),
        ("t.vec.gz", b"2 1\na ", b"0" * 10**7, "line 2: the line is longer than"),
        ("t.txt.gz", b"a 1\rb", b"2\r" * 10**7, "line 1: a carriage return within"),
        ("t.bin.gz", b"9 1000000\n", b" \n" * 10**7, "word 2: the word occurs already"),
    ],
)
def test_endless_lines(tmp_path, name, start, block, message):
    gzip_of(tmp_path / name, block, 100, start)
    with memory_below(200 << 20), pytest.raises(InvalidParameterError, match=message):
        WordEmbedding.load(tmp_path / name)


@pytest.mark.no_cover
def test_a_compressed_file_that_fills_the_memory(tmp_path):
    vector = gzip.compress(bytes(4_000_000))
    rows = b"".join(gzip.compress(b"w%d " % i) + vector for i in range(30))
    (tmp_path / "t.bin.gz").write_bytes(gzip.compress(b"30 1000000\n") + rows)
    message = r"word 1\d: the file expands more than 200-fold"
    with memory_below(200 << 20), pytest.raises(InvalidParameterError, match=message):
        WordEmbedding.load(tmp_path / "t.bin.gz")


def npy_header(shape, descr="<f4", text=None):
    """Start of an npy file that says so."""
    text = text or repr({"descr": descr, "fortran_order": False, "shape": shape})
    header = text.encode("latin-1").ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (npy_header((2, 99999999999)), "vectors.npy promises a shape"),
        (npy_header((2, 10**20)), "vectors.npy promises a shape"),
        (npy_header((2, -1)), "vectors.npy promises a shape"),
        (npy_header((2, -(2**62), -4)), "vectors.npy promises a shape"),
        (npy_header((2, 2**10, 2**54)), "vectors.npy promises a shape"),
        (npy_header((2, 1000)), "vectors.npy is cut short"),
        (npy_header((2, 1), "<V0"), "vectors.npy is of dtype"),
        (npy_header((2, 1), "<f99"), "vectors.npy has a broken npy header"),
        (npy_header(0, text="{[]: 1}"), "vectors.npy has a broken npy header"),
        (npy_header(0, text="(" * 100), "vectors.npy has a broken npy header"),
        (
            npy_header(0, text="{'descr': " + 3 * "'"),
            "vectors.npy has a broken npy header",
        ),
        (npy_header(0, text="-" * 9000), "vectors.npy has a broken npy header"),
        (npy_header(0, text=f"{'9' * 5000}"), "vectors.npy has a broken npy header"),
        (b"\x93NUMPY\x01\x00\xff\xff{", "vectors.npy has a broken npy header"),
        (b"\x93NUMPY\x01\x00", "vectors.npy has a broken npy header"),
    ],
)
def test_broken_npy_headers(tmp_path, vectors, message, compression):
    path = tmp_path / "t.npz"
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("words.npy", npy(tmp_path / "x", np.array(["a", "b"])))
        archive.writestr("vectors.npy", vectors + bytes(8 if "cut" in message else 0))
    with memory_below(64 << 20):
        refused(path, path.read_bytes(), message)


@pytest.mark.parametrize("code", [0x110000, 0xFFFFFFFF, 0xD800, 0xDFFF])
@pytest.mark.parametrize("order", "<>")
def test_words_of_numbers_that_are_no_characters(tmp_path, code, order):
    words = npy_header((2,), f"{order}U1") + struct.pack(f"{order}2I", 97, code)
    vectors = npy(tmp_path / "x", np.eye(2, dtype="f4"))
    content = npz_with(tmp_path / "t.npz", words=words, vectors=vectors)
    refused(tmp_path / "t.npz", content, "words.npy holds numbers that are not charact")


@pytest.mark.no_cover
def test_words_padded_to_gigabytes(tmp_path):
    """Many empty words of a million characters: the second ends the reading.

    A reader that went on would come to where the file is broken, and say so.
    """
    path = tmp_path / "t.npz"
    size = 1 << 20
    words = npy_header((30,), f"<U{size}")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("words.npy", "w") as member:
            member.write(words)
            for _ in range(30):
                member.write(bytes(4 * size))
        archive.writestr("vectors.npy", npy(tmp_path / "x", np.zeros((30, 1))))
    content = path.read_bytes()
    half = len(content) // 2
    noise = np.random.default_rng(0).bytes(64)
    broken = content[:half] + noise + content[half + len(noise) :]
    with memory_below(64 << 20):
        refused(path, broken, "unique, got the same at positions 0 and 1")


def test_vectors_that_fill_the_memory(tmp_path):
    path = tmp_path / "t.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("vectors.npy", "w") as member:
            member.write(npy_header((2, 1 << 19), "<f8"))
            for _ in range(20):
                member.write(bytes(1 << 22))
        archive.writestr("words.npy", npy(tmp_path / "x", np.array(["a", "b"])))
    with memory_below(64 << 20):
        refused(path, path.read_bytes(), "vectors.npy expands more than 200-fold")


def edited(content, what, *edits):
    """A zip with fields of its two headers of one member overwritten."""
    content = bytearray(content)
    for signature, shift, value in edits:
        start = content.index(what, content.index(signature)) - (
            30 if signature == b"PK\3\4" else 46
        )
        content[start + shift : start + shift + len(value)] = value
    return bytes(content)


def test_odd_zips(tmp_path):
    path = tmp_path / "t.npz"
    words = npy(tmp_path / "x", np.array(["a", "b"]))
    vectors = npy(tmp_path / "x", np.eye(2, dtype="f4"))
    good = npz_with(path, words=words, vectors=vectors)
    local, central = b"PK\3\4", b"PK\1\2"
    name = b"vectors.npy"
    u4 = struct.Struct("<I").pack
    for content, message in [
        (edited(good, name, (central, 8, b"\1")), "vectors.npy is encrypted"),
        (edited(good, name, (local, 6, b"\1"), (central, 8, b"\1")), "is encrypted"),
        (edited(good, name, (central, 10, b"\x0e")), "but not by deflate"),
        (edited(good, name, (central, 10, b"\x63")), "but not by deflate"),
        (edited(good, name, (central, 24, u4(1 << 30))), "vectors.npy is cut short"),
        (
            edited(good, name, (central, 20, u4(1 << 30)), (central, 24, u4(1 << 30))),
            "vectors.npy is cut short",
        ),
        (edited(good, name, (central, 42, u4(len(good) - 9))), "vectors.npy is cut"),
        (edited(good, name, (central, 42, u4(3))), "cannot be read as an embedding"),
    ]:
        refused(path, content, message)
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("words.npy", words)
            archive.writestr("vectors.npy", vectors)
        refused(path, path.read_bytes(), "but not by deflate")
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(match="Duplicate"):
        archive.writestr("words.npy", words)
    refused(path, path.read_bytes(), "words.npy occurs twice")
