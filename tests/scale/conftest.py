"""One release, its documents, and the hash that every engine must come to."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.release import DocumentRelease, ReleaseKey
from tests.releases import secrets_of, write_key

N = 400


@pytest.fixture(scope="session")
def release(tmp_path_factory):
    """400 words in 10 dimensions, a key in a file, texts of 6 words."""
    folder = tmp_path_factory.mktemp("release")
    vectors = np.random.default_rng(0).normal(size=(N, 10))
    WordEmbedding([f"word{i}" for i in range(N)], vectors).save(folder / "words.npz")
    embedding = WordEmbedding.load(folder / "words.npz")
    write_key(folder / "key")
    perturber = DPWordPerturber(
        embedding, epsilon=3.0, document_length=6, resize="sample", output="text"
    )
    return DocumentRelease(perturber, ReleaseKey(f"file:{folder / 'key'}"), "scale")


@pytest.fixture(scope="session")
def documents():
    """Of 150 different texts, some null."""
    rng = np.random.default_rng(1)
    texts = [
        " ".join(f"word{i}" for i in rng.integers(0, N, rng.integers(1, 9)))
        for _ in range(150)
    ] * 3
    texts[17] = None
    return pa.table({"id": [f"document {i}" for i in range(N)], "text": texts[:N]})


@pytest.fixture(scope="session")
def source(documents, tmp_path_factory):
    path = tmp_path_factory.mktemp("documents") / "in.parquet"
    parquet.write_table(documents, path, row_group_size=50)
    return path


@pytest.fixture(scope="session")
def expected(release, documents):
    return digest(release(documents))


def digest(table):
    """Of ids and words; which rows, and in which order, engines are free in."""
    rows = sorted((row["id"], row["text"]) for row in table.to_pylist())
    assert len(rows) == N
    return hashlib.sha256(repr(rows).encode()).hexdigest()


def files_with_the_key(release, *folders):
    """Files that hold the key or the seed derived from it, as bytes or as digits."""
    forms, holders = secrets_of(release), []
    for folder in folders:
        for path in Path(folder).rglob("*"):
            if path.is_file() and os.access(path, os.R_OK):
                held = path.read_bytes()
                if any(form in held for form in forms):
                    holders.append(path)
    return holders
