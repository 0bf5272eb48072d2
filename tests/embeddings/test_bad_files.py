"""Broken files: a clear error that says where, and no table."""

from __future__ import annotations

import gzip
import re
import struct
import zipfile

import numpy as np
import pytest
from gensim.test.utils import datapath

from skdptext import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from tests.memory import traced_memory


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


def test_a_repetition_names_both_lines(tmp_path):
    assert "line 1;" in refused(tmp_path / "t.txt", b"a 1\nb 2\na 3\n", ", line 3")


def test_text_before_n_words_is_checked(tmp_path):
    refused(tmp_path / "t.txt", b"a 1 2\nb 1\nc 1 2\n", ", line 2", n_words=3)
    refused(tmp_path / "t.txt", b"9 1\na 1\nb 1\n", ", line 3", n_words=3)


def binary(*rows, header=None):
    content = (header or f"{len(rows)} 2\n").encode()
    for word, *vector in rows:
        content += word + b" " + struct.pack(f"<{len(vector)}f", *vector)
    return content


A = (b"a", 1, 2)


@pytest.mark.parametrize(
    "contents",
    [
        [b"", b"\x80\x81\x82\x83" * 50, b"canary 0.1 0.2\n"],
        [b"0 2\n", b"2 0\n", b"2 99999999999\na ", b"2 " + b"9" * 5000 + b"\na "],
        [binary(A, header="2 2\n"), binary(A, header=f"{10**12} 2\n")],
        [binary(A, (b"b", 3)), binary(A, header="2 2\n") + b"canary", binary(A, A)],
        [binary(A, (b"b", float("nan"), 2)), binary(A, (b"canary\xff", 1, 2))],
        [b"1 2\n" + b"x" * (3 << 20)],
        [b"\xba\x16\x4f\x2f\x0c\x00\x00\x00" + bytes(100)],  # a fastText model
    ],
    ids=["no header", "sizes", "words", "cut", "values", "endless", "fastText"],
)
def test_binary(tmp_path, contents):
    for content in contents:
        refused(tmp_path / "t.bin", content)
        refused(tmp_path / "t.bin.gz", gzip.compress(content))


def test_a_fasttext_model_is_told_how_to_be_read():
    with pytest.raises(InvalidParameterError, match="load_facebook_model"):
        WordEmbedding.load(datapath("lee_fasttext_new.bin"))


@pytest.mark.parametrize("suffix", [".vec", ".bin"])
def test_broken_gzip(tmp_path, suffix):
    vectors = np.random.default_rng(0).normal(size=(2000, 20))
    path = tmp_path / f"t{suffix}.gz"
    WordEmbedding([f"w{i}" for i in range(2000)], vectors).save(path)
    whole, middle = path.read_bytes(), path.stat().st_size // 2
    flipped = whole[:middle] + bytes(99) + whole[middle + 99 :]
    for content in (flipped, whole[:middle], whole[:-8] + bytes(8), b"not gzip"):
        refused(path, content)


WORDS, EYE = np.array(["a", "b"]), np.eye(2)


@pytest.mark.parametrize(
    "arrays",
    [
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
        {"buckets": np.ones((4, 3))},
        {"buckets": np.array([[1, 2], [np.nan, 1]])},
        {"buckets": EYE, "lengths": (6, 3)},
        {"buckets": EYE, "lengths": (3, 6, 9)},
        {"buckets": EYE, "lengths": ("x", "y")},
    ],
)
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz(tmp_path, arrays, save):
    arrays = {"words": WORDS, "vectors": EYE, "lengths": (3, 6)} | arrays
    names = {"buckets": "subword_buckets", "lengths": "subword_lengths"}
    held = {names.get(k, k): v for k, v in arrays.items() if v is not None}
    save(tmp_path / "t.npz", **held)
    refused(tmp_path / "t.npz", (tmp_path / "t.npz").read_bytes())


def npy_header(shape, descr="<f4", text=None):
    """Start of an npy file that says so."""
    text = text or repr({"descr": descr, "fortran_order": False, "shape": shape})
    header = text.encode("latin-1").ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header


@pytest.mark.parametrize("name", ["words", "vectors"])
@pytest.mark.parametrize(
    "member",
    [
        npy_header((2, 10**20)),
        npy_header((2, -1)),
        npy_header((2, 1000)),
        npy_header((2, 1), "<V0"),
        npy_header((2,), "<U1") + b"\xff" * 8,  # no characters
        npy_header(0, text="(" * 100),
        npy_header(0, text=f"{'9' * 5000}"),
        b"\x93NUMPY\x01\x00\xff\xff{",
        b"canary",
    ],
)
def test_broken_members_of_npz(tmp_path, name, member):
    path = tmp_path / "t.npz"
    np.savez(path, words=WORDS, vectors=EYE)
    with zipfile.ZipFile(path) as good:
        members = {each: good.read(each) for each in good.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, content in {**members, f"{name}.npy": member}.items():
            archive.writestr(each, content)
    refused(path, path.read_bytes())


def test_broken_zips(tmp_path):
    path = tmp_path / "t.npz"
    WordEmbedding(["a", "b"], EYE).save(path)
    whole = path.read_bytes()
    for content in (b"", whole[: len(whole) // 2], b"PK" + bytes(50), b"canary"):
        refused(path, content)
    for i in (whole.index(b"a\0\0\0b"), whole.rindex(b"PK\x05\x06") + 16):
        refused(path, whole[:i] + b"\x07" + whole[i + 1 :])  # a word, and a place


@pytest.mark.no_cover
@pytest.mark.parametrize(("start", "line"), [(b"a ", 1), (b"2 1\na ", 2)])
def test_an_endless_line_does_not_fill_the_memory(tmp_path, start, line):
    packed = gzip.compress(start) + gzip.compress(b"0" * 10**7) * 100
    with traced_memory() as memory:
        refused(tmp_path / "t.txt.gz", packed, f", line {line}")
    assert memory.peak < 200 << 20
