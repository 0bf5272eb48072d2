"""Mutated embedding files of every format: a valid table or a clear error.

`make test-fuzz`; ``SKDPTEXT_FUZZ`` is the number of files of each format. A seed and a
number make a file, so that a failure can be repeated: see `mutated`.
"""

from __future__ import annotations

import gzip
import io
import os
import resource
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

from skdptext import WordEmbedding
from skdptext.exceptions import InvalidParameterError

N_FILES = int(os.environ.get("SKDPTEXT_FUZZ", "3000"))
SEED = int(os.environ.get("SKDPTEXT_FUZZ_SEED", "0"))
# More than what Python and the libraries take: a file of 2 kB needs next to nothing.
MEMORY = 512 << 20
SECONDS = 20.0

FORMATS = [".txt", ".bin", ".txt.gz", ".bin.gz", ".npz", ".deflated.npz"]

# What headers and numbers are made into.
TOKENS = [
    b"0", b"-1", b"1", b"99999999999", b"1" + b"0" * 20, b"9" * 5000, b"1_0", b"1e999",
    b"nan", b"inf", b"\r", b"\n", b"\n\n\n", b" ", b"\t", b"\0", b"\xff",
    b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"<U9", b"|O8", b">f8", b"<f2",
    b"|V0", b"<c8", b"True", b"(", b"'", b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff",
    b"PK\x03\x04",
]  # fmt: skip


def original(form, path):
    """A good file."""
    rng = np.random.default_rng(0)
    words = ["de", "l'été", "東京", "3", "nan", *(f"word{i}" for i in range(20))]
    table = WordEmbedding(words, rng.normal(size=(len(words), 6)))
    table.save(path)
    if form == ".deflated.npz":
        np.savez_compressed(path, words=table.words, vectors=table.vectors)
    return path.read_bytes()


def mutated(rng, content):
    """One to four bits that flip, parts that are cut, repeated or made a token."""
    # headers are where most can go wrong
    early = rng.random() < 0.5
    for _ in range(rng.integers(1, 5)):
        n = len(content) + 1
        start, other = int(rng.integers(min(n, 200) if early else n)), rng.integers(n)
        part = content[start : start + int(rng.integers(1, 64))]
        parts = [
            bytes(byte ^ 1 << int(rng.integers(8)) for byte in part[:1]) + part[1:],
            rng.bytes(min(len(part), 4)) + part[4:],
            b"",
            part * int(rng.integers(2, 20)),
            content[other : other + len(part)],
            TOKENS[rng.integers(len(TOKENS))] + part[int(rng.integers(3)) :],
        ]
        rest = content[start + len(part) :] if rng.random() < 0.9 else b""
        content = content[:start] + parts[rng.integers(len(parts))] + rest
    return content


def repacked(rng, form, content):
    """Mutated before it is packed; of a zip, one member, with its checksum."""
    if form.endswith(".gz"):
        return gzip.compress(mutated(rng, gzip.decompress(content)), 1)
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(packed, "w") as new,
    ):
        chosen = rng.integers(len(old.namelist()))
        for i, info in enumerate(old.infolist()):
            member = old.read(info)
            member = mutated(rng, member) if i == chosen else member
            new.writestr(info.filename, member, info.compress_type)
    return packed.getvalue()


def is_loaded(path):
    """Whether a file gives a table; anything but that or a clear error goes up."""
    try:
        with warnings.catch_warnings(action="ignore"):
            read = WordEmbedding.load(path)
    except InvalidParameterError as error:
        if str(path) in str(error) and len(str(error)) < 2000:
            return False
        raise
    except OSError:
        return False
    assert read.vectors.shape == (len(read), read.dim)
    assert len(read) == len(set(read.words)) > 0 < read.dim
    assert {type(word) for word in read.words} == {str}
    assert (read.vectors.dtype, read.vectors.flags.writeable) == (np.float32, False)
    assert np.isfinite(read.vectors).all()
    assert read.find(list(read.words)).tolist() == list(range(len(read)))
    return True


@pytest.fixture
def limited_memory():
    """What the process holds already, and little more."""
    path = Path("/proc/self/statm")
    if not path.exists():
        pytest.skip("needs Linux to limit the memory")
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    held = int(path.read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@pytest.mark.no_cover
@pytest.mark.usefixtures("limited_memory")
@pytest.mark.parametrize("n_files", [60, pytest.param(N_FILES, marks=pytest.mark.fuzz)])
@pytest.mark.parametrize("form", FORMATS)
def test_files(form, n_files, tmp_path):
    path, loaded = tmp_path / f"t{form}", 0
    content = original(form, path)
    assert is_loaded(path)
    for i in range(n_files):
        rng = np.random.default_rng([SEED, i])
        packed = form.endswith("z") and rng.random() < 0.5
        path.write_bytes(
            repacked(rng, form, content) if packed else mutated(rng, content)
        )
        start = time.perf_counter()
        try:
            loaded += is_loaded(path)
            assert time.perf_counter() - start < SECONDS
        except BaseException as error:
            raise AssertionError(f"{form}, seed {SEED}, file {i}") from error
    print(f"{form}: {n_files} files, {loaded} loaded")
