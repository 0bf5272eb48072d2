"""A small release, and documents of every kind for it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.release import DocumentRelease, ReleaseKey
from tests.releases import write, write_key


@pytest.fixture(scope="session")
def embedding_file(tmp_path_factory):
    """60 words, three to a document's word in distance, so that most of them change."""
    path = tmp_path_factory.mktemp("embedding") / "words.npz"
    vectors = np.random.default_rng(0).normal(size=(60, 5))
    WordEmbedding([f"word{i}" for i in range(60)], vectors).save(path)
    return path


@pytest.fixture(scope="session")
def embedding(embedding_file):
    return WordEmbedding.load(embedding_file)


@pytest.fixture(scope="session")
def key_file(tmp_path_factory):
    return write_key(tmp_path_factory.mktemp("key") / "key")


@pytest.fixture(scope="session")
def make_release(embedding, key_file):
    """A release with some options changed; those of the perturber by the same name.

    Without any it is always the same one.
    """

    def make(name="a release", key=None, mechanism=None, **options):
        ours = {k: options.pop(k) for k in ("text", "id", "keep") if k in options}
        settings = {"epsilon": 2.0, "document_length": 4, "resize": "sample"}
        perturber = DPWordPerturber(
            options.pop("embedding", embedding),
            mechanism=mechanism,
            **{**settings, "output": "text", **options},
        )
        key = ReleaseKey(f"file:{key_file}") if key is None else key
        perturber.set_output(transform="pandas")  # has no effect on files
        return DocumentRelease(perturber, key, name, **ours)

    plain = make()
    return lambda *name, **options: make(*name, **options) if name or options else plain


@pytest.fixture(scope="session")
def documents():
    """300 documents, of which many are equal, some are empty and some are null."""
    rng = np.random.default_rng(1)
    texts = [
        " ".join(f"word{i}" for i in rng.integers(0, 60, rng.integers(0, 6)))
        for _ in range(100)
    ] * 3
    texts[7] = texts[150] = None
    return pa.table(
        {
            "id": [f"document {i}" for i in range(300)],
            "text": pa.array(texts, pa.string()),
            "label": pa.array(np.arange(300) % 3),
        }
    )


@pytest.fixture
def source(documents, tmp_path):
    return write(documents, tmp_path / "in.parquet")
