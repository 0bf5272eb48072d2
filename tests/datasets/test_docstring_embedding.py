"""Word vectors of the docstring corpus: quality, repeatability, cache."""

import importlib.metadata
import re
import shutil
from collections import Counter
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from skdptext.datasets import (
    _docstring_embedding,
    load_docstring_embedding,
    load_docstrings,
)
from skdptext.exceptions import InvalidParameterError


@pytest.fixture(scope="module")
def trained(built_in, data_home):
    return built_in, data_home


def _nearest(embedding, word, n):
    unit = embedding.vectors / np.linalg.norm(embedding.vectors, axis=1)[:, None]
    order = np.argsort(-unit @ unit[embedding.words.index(word)])
    return [embedding.words[i] for i in order[1 : n + 1]]


def test_size(trained):
    embedding, _ = trained
    assert 5_000 < len(embedding) < 9_000
    assert embedding.dim == 100


@pytest.mark.no_cover
def test_words_are_lowercased_tokens_the_most_frequent_first(trained):
    embedding, _ = trained
    whole = " ".join(load_docstrings(near_copies=True).data).lower()
    counts = Counter(re.findall(r"\b\w\w+\b", whole))
    frequency = [counts[word] for word in embedding.words]
    assert frequency == sorted(frequency, reverse=True)
    assert frequency[-1] >= 8
    for word in embedding.words:
        assert word == word.lower()
        assert len(word) >= 2
        assert not word.isdigit()


@pytest.mark.parametrize(
    ("word", "kin"),
    [
        ("eigenvalue", {"eigenvector", "eigenvectors", "eigvals_only", "eigenvalues"}),
        ("cluster", {"clusters", "centroid", "clustering"}),
        ("fourier", {"dft", "ffts", "discrete", "transform", "irfft"}),
    ],
)
def test_neighbours_make_sense(trained, word, kin):
    embedding, _ = trained
    assert len(kin & set(_nearest(embedding, word, 10))) >= 2


def test_second_call_reads_the_same_bits_from_the_cache(trained):
    embedding, home = trained
    written = {path: path.stat().st_mtime_ns for path in home.glob("*.npz")}
    again = load_docstring_embedding(data_home=home)
    assert {path: path.stat().st_mtime_ns for path in home.glob("*.npz")} == written
    assert again.words == embedding.words
    assert again.vectors.tobytes() == embedding.vectors.tobytes()
    assert again.fingerprint == embedding.fingerprint


def test_n_words_is_a_prefix_of_the_whole(trained):
    embedding, home = trained
    part = load_docstring_embedding(n_words=500, data_home=home)
    assert part.words == embedding.words[:500]
    np.testing.assert_array_equal(part.vectors, embedding.vectors[:500])
    with pytest.raises(InvalidParameterError, match=r"n_words must be <= .*got 99999"):
        load_docstring_embedding(n_words=99_999, data_home=home)


# -- the cache, with training replaced by something quick ------------------------


@pytest.fixture(scope="module")
def trained_by_gensim():
    """What gensim was asked for; it makes three words, of a part of the corpus.

    To cut all of it into words takes half a second, each time.
    """
    calls = []

    def train(sentences, *, vector_size, min_count, **options):
        calls.append((vector_size, min_count))
        rng = np.random.default_rng([vector_size, min_count])
        vectors = rng.normal(size=(3, vector_size))
        words = SimpleNamespace(index_to_key=["of", "the", "ça"], vectors=vectors)
        return SimpleNamespace(wv=words)

    @cache
    def some(near_copies, data_home):
        corpus = load_docstrings(near_copies=near_copies)  # as kept for all tests
        return SimpleNamespace(data=corpus.data[::100])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gensim.models.Word2Vec", train)
        patch.setattr(_docstring_embedding, "load_docstrings", some)
        yield calls


@pytest.fixture
def quick(trained_by_gensim):
    """The same, of one test."""
    trained_by_gensim.clear()
    return trained_by_gensim


@pytest.fixture(scope="module")
def kept(trained_by_gensim, tmp_path_factory):
    """A small embedding, and the file that it is kept in."""
    home = tmp_path_factory.mktemp("kept")
    embedding = load_docstring_embedding(dim=4, data_home=home)
    (path,) = home.iterdir()
    return embedding, path


def test_each_parameter_and_version_has_a_file_of_its_own(quick, tmp_path, monkeypatch):
    for kwargs in ({}, {"dim": 7}, {"min_count": 3}, {}, {"dim": 7}, {"n_words": 2}):
        load_docstring_embedding(data_home=tmp_path, **kwargs)
    assert quick == [(100, 8), (7, 8), (100, 3)]
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "99")
    load_docstring_embedding(data_home=tmp_path)
    assert quick[3:] == [(100, 8)]
    assert len(list(tmp_path.iterdir())) == 4


def _flip_a_bit_of_the_vectors(path):
    with np.load(path) as file:
        vectors = file["vectors"].tobytes()
    content = bytearray(path.read_bytes())
    content[content.index(vectors)] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-100]),
        _flip_a_bit_of_the_vectors,
        lambda path: np.savez(path, words=np.array(["a"]), vectors=np.ones((1, 9))),
        lambda path: np.savez(
            path, words=np.array(["a"], dtype=object), vectors=np.ones((1, 4))
        ),
    ],
)
def test_a_damaged_file_is_made_anew(kept, quick, tmp_path, damage):
    good, path = kept
    damage(Path(shutil.copy(path, tmp_path)))
    again = load_docstring_embedding(dim=4, data_home=tmp_path)
    assert again.fingerprint == good.fingerprint
    assert quick == [(4, 8)]
    load_docstring_embedding(dim=4, data_home=tmp_path)
    assert quick == [(4, 8)]


def test_min_count_that_leaves_no_word_is_an_error(quick, tmp_path):
    with pytest.raises(InvalidParameterError, match=r"min_count must leave .* 10{7}\."):
        load_docstring_embedding(min_count=10**7, data_home=tmp_path)
    assert quick == list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_nothing(quick, tmp_path, monkeypatch):
    def full(source, target):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="disk full"):
        load_docstring_embedding(data_home=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"dim": 0}, "dim must be an integer >= 1, got 0"),
        ({"dim": 2.5}, r"dim must be an integer >= 1, got 2\.5"),
        ({"min_count": 0}, "min_count must be an integer >= 1, got 0"),
        ({"n_words": 0}, "n_words must be an integer >= 1, got 0"),
        ({"n_words": "all"}, "n_words must be an integer >= 1, got 'all'"),
    ],
)
def test_bad_parameters_come_before_any_work(quick, tmp_path, kwargs, message):
    with pytest.raises(InvalidParameterError, match=message):
        load_docstring_embedding(data_home=tmp_path, **kwargs)
    assert quick == []
    assert list(tmp_path.iterdir()) == []
