"""Fixtures shared by all tests."""

from __future__ import annotations

import csv
import gzip
import os

# Before SciPy is imported: scikit-learn's array API check needs it, and would skip.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

from pathlib import Path

import hypothesis
import numpy as np
import pytest

from skdptext import WordEmbedding

# How long an example takes says nothing about the code on a busy machine.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

# ../shared/data beside the checkout, or wherever SKDPTEXT_TEST_DATA points.
_DATA = Path(
    os.environ.get("SKDPTEXT_TEST_DATA", Path(__file__).parents[2] / "shared" / "data")
)


@pytest.fixture(scope="session")
def data_file():
    """Path of a file of the shared real data; skips where the data is absent."""

    def find(name: str) -> Path:
        path = _DATA / name
        if not path.exists():
            if "SKDPTEXT_TEST_DATA" in os.environ:
                pytest.fail(f"SKDPTEXT_TEST_DATA has no {name}: {path}")
            pytest.skip(f"real data not here: {path} (set SKDPTEXT_TEST_DATA)")
        return path

    return find


@pytest.fixture(scope="session")
def load_table(data_file):
    """Real embedding of the shared data by file name, loaded once."""
    tables: dict[str, WordEmbedding] = {}

    def load(name: str) -> WordEmbedding:
        if name not in tables:
            tables[name] = WordEmbedding.load(data_file(name))
        return tables[name]

    return load


@pytest.fixture(scope="session")
def w2v_30k(load_table):
    return load_table("w2v_news_fiction_30k_300d.npz")


@pytest.fixture(scope="session")
def google_8k(load_table):
    return load_table("googlenews_8k_300d.npz")


@pytest.fixture(scope="session")
def glove_13k(load_table):
    return load_table("glove_6B_13k_50d.npz")


@pytest.fixture(scope="session")
def sms(data_file):
    """(texts, labels) of the SMS spam collection; labels are "ham" and "spam"."""
    with gzip.open(data_file("sms_spam.tsv.gz"), "rt", encoding="utf-8") as file:
        pairs = [line.rstrip("\n").split("\t", 1) for line in file]
    labels, texts = zip(*pairs, strict=True)
    return list(texts), np.array(labels)


@pytest.fixture(scope="session")
def tweets(data_file):
    """(texts, labels) of the disaster tweets; labels are 0 and 1."""
    path = data_file("disaster_tweets.csv.gz")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], np.array([int(r["target"]) for r in rows])


@pytest.fixture(scope="session")
def small_embedding():
    """200 words in 8 dimensions, anisotropic, for tests of logic rather than size."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(200, 8)) * np.linspace(0.3, 2.0, 8)
    return WordEmbedding([f"w{i}" for i in range(200)], vectors)
