"""Mutated embedding files of every format: a valid table or a clear error.

`make test-fuzz`; ``SKDPTEXT_FUZZ`` is the number of files of each format. A seed and a
number make a file, so that a failure can be repeated: see `mutated`.
"""

from __future__ import annotations

import gzip
import io
import os
import resource
import tempfile
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

from skdptext import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from tests.processes import run_python

pytestmark = pytest.mark.fuzz

N_FILES = int(os.environ.get("SKDPTEXT_FUZZ", "3000"))
SEED = int(os.environ.get("SKDPTEXT_FUZZ_SEED", "0"))
# More than what Python and the libraries take: a file of 2 kB needs next to nothing.
MEMORY = 512 << 20
SECONDS = 20.0

FORMATS = [
    ".txt", ".vec", ".bin", ".txt.gz", ".vec.gz", ".bin.gz", ".npz", ".deflated.npz",
]  # fmt: skip

# What headers and numbers are made into.
TOKENS = [
    b"0", b"-1", b"1", b"99999999999", b"1" + b"0" * 20, b"9" * 5000, b"1_0", b"1e999",
    b"nan", b"inf", b"\r", b"\n", b"\n\n\n", b" ", b"\t", b"\0", b"\xff",
    b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"<U9", b"|O8", b">f8", b"<f2",
    b"|V0", b"<c8", b"True", b"(", b"'", b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff",
    b"PK\x03\x04",
]  # fmt: skip


def table():
    rng = np.random.default_rng(0)
    words = ["de", "l'été", "東京", "3", "nan", *(f"word{i}" for i in range(20))]
    return WordEmbedding(words, rng.normal(size=(len(words), 6)))


def original(form, folder):
    """Bytes of a good file."""
    path = folder / f"good{form}"
    if form == ".deflated.npz":
        np.savez_compressed(path, words=table().words, vectors=table().vectors)
    else:
        table().save(path)
    return path.read_bytes()


def mutated(rng, content):
    """One to four bit flips, cuts, splices, repetitions or edits of numbers."""
    content = bytearray(content)
    # headers are where most can go wrong
    early = rng.random() < 0.5
    for _ in range(rng.integers(1, 5)):
        n = len(content)
        if n == 0:
            break
        start = int(rng.integers(min(n, 200) if early else n))
        stop = min(n, start + int(rng.integers(1, 64)))
        match rng.integers(8):
            case 0:
                content[start] ^= 1 << int(rng.integers(8))
            case 1:
                content[start] = int(rng.integers(256))
            case 2:
                del content[start:]
            case 3:
                del content[start:stop]
            case 4:
                content[start:start] = content[start:stop] * int(rng.integers(1, 20))
            case 5:
                other = int(rng.integers(n))
                content[start:stop] = content[other : other + stop - start]
            case 6:
                token = TOKENS[rng.integers(len(TOKENS))]
                content[start : start + int(rng.integers(0, 3))] = token
            case 7:
                size = min(n, start + 4)
                content[start:size] = rng.bytes(size - start)
    return bytes(content)


def mutated_file(rng, form, content):
    """A mutated file; half of those that are packed are mutated before that."""
    if rng.random() < 0.5:
        if form.endswith(".gz"):
            return gzip.compress(mutated(rng, gzip.decompress(content)), 1)
        if form.endswith(".npz"):
            return rezipped(rng, content)
    return mutated(rng, content)


def rezipped(rng, content):
    """One member mutated, with a checksum that is right again."""
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(packed, "w") as new,
    ):
        chosen = rng.integers(len(old.namelist()))
        for i, info in enumerate(old.infolist()):
            member = old.read(info)
            new.writestr(
                info.filename,
                mutated(rng, member) if i == chosen else member,
                info.compress_type,
            )
    return packed.getvalue()


def check_table(read):
    """What every table is."""
    assert len(read) == len(set(read.words)) == len(read.vectors) > 0
    assert {type(word) for word in read.words} == {str}
    assert read.vectors.dtype == np.float32
    assert read.vectors.ndim == 2
    assert read.dim > 0
    assert np.isfinite(read.vectors).all()
    assert not read.vectors.flags.writeable
    assert read.find(list(read.words)).tolist() == list(range(len(read)))
    assert len(read.fingerprint) == 32


def try_one(path):
    """Whether a file gives a table; anything but that or a clear error goes up."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_table(WordEmbedding.load(path))
    except InvalidParameterError as error:
        message = str(error)
    except OSError:
        return False
    else:
        return True
    assert str(path) in message
    assert len(message) < 2000
    return False


def run(form, n_files, seed):
    """In a process of its own, whose memory is limited: see `test_files`."""
    loaded, slowest = 0, 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        content = original(form, folder)
        path = folder / f"t{form}"
        path.write_bytes(content)
        assert try_one(path)  # also imports what is imported late
        used = int(Path("/proc/self/statm").read_text().split()[0]) * 4096
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        for i in range(n_files):
            rng = np.random.default_rng([seed, i])
            path.write_bytes(mutated_file(rng, form, content))
            start = time.perf_counter()
            try:
                loaded += try_one(path)
            except BaseException as error:
                raise AssertionError(f"{form}, seed {seed}, file {i}") from error
            slowest = max(slowest, time.perf_counter() - start)
            assert slowest < SECONDS, f"{form}, seed {seed}, file {i}"
    print(f"{form}: {n_files} files, {loaded} loaded, {n_files - loaded} refused, ")
    print(f"slowest {slowest:.3f} s")


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="needs Linux to limit the memory"
)
@pytest.mark.parametrize("form", FORMATS)
def test_files(form, tmp_path):
    command = f"import test_fuzz; test_fuzz.run({form!r}, {N_FILES}, {SEED})"
    folder = str(Path(__file__).parent)
    paths = os.pathsep.join([folder, str(Path(folder).parent)])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = run_python("-c", command, cwd=tmp_path, env=environment)
    print(done.stdout.replace("\n", ""))
