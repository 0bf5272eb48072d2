"""Word vectors of the docstring corpus: quality, repeatability, cache."""

import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.utils import Bunch

from skdptext import WordEmbedding
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


def test_words_are_lowercased_tokens_the_most_frequent_first(trained):
    embedding, _ = trained
    counts = dict.fromkeys(embedding.words, 0)
    for text in load_docstrings().data:
        for token in re.findall(r"\b\w\w+\b", text.lower()):
            if token in counts:
                counts[token] += 1
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


def test_vectors_are_raw(trained):
    embedding, _ = trained
    norms = np.linalg.norm(embedding.vectors, axis=1)
    assert np.median(norms) > 1.5
    assert norms.max() / norms.min() > 2


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


_PROBE = """
import hashlib
from skdptext.datasets import load_docstrings
from skdptext.datasets._docstring_embedding import _train
texts = load_docstrings(topics=["clustering"]).data
print(_train(texts, 20, 3).fingerprint.hex())
"""


def test_training_repeats_to_the_bit_whatever_the_hash_seed(tmp_path):
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _PROBE],
            env={"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "1", "HOME": str(tmp_path)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
    first, second = (process.communicate()[0] for process in running)
    assert len(first) == 65
    assert first == second


# -- the cache, with training replaced by something quick ------------------------


@pytest.fixture
def quick(monkeypatch):
    """Calls of `_train`, which now makes three words."""
    calls = []

    def train(texts, dim, min_count):
        calls.append((dim, min_count))
        rng = np.random.default_rng([dim, min_count])
        return WordEmbedding(["of", "the", "ça"], rng.normal(size=(3, dim)))

    monkeypatch.setattr(_docstring_embedding, "_train", train)
    monkeypatch.setattr(_docstring_embedding, "load_docstrings", lambda: Bunch(data=[]))
    return calls


def test_each_parameter_and_version_has_a_file_of_its_own(quick, tmp_path, monkeypatch):
    for kwargs in ({}, {"dim": 7}, {"min_count": 3}, {}, {"dim": 7}, {"n_words": 2}):
        load_docstring_embedding(data_home=tmp_path, **kwargs)
    assert quick == [(100, 8), (7, 8), (100, 3)]
    monkeypatch.setattr(
        _docstring_embedding, "library_versions", lambda: [("numpy", "99")]
    )
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
        lambda path: path.write_bytes(b""),
        _flip_a_bit_of_the_vectors,
        lambda path: path.write_bytes(b"PK\x03\x04 no more"),
        lambda path: np.savez(path, words=np.array(["a"])),
        lambda path: np.savez(path, words=np.array(["a"]), vectors=np.ones((2, 4))),
        lambda path: np.savez(path, words=np.array(["a"]), vectors=np.ones((1, 9))),
        lambda path: np.savez(
            path, words=np.array(["a"], dtype=object), vectors=np.ones((1, 4))
        ),
    ],
)
def test_a_damaged_file_is_made_anew(quick, tmp_path, damage):
    good = load_docstring_embedding(dim=4, data_home=tmp_path)
    (path,) = tmp_path.iterdir()
    damage(path)
    again = load_docstring_embedding(dim=4, data_home=tmp_path)
    assert again.fingerprint == good.fingerprint
    assert len(quick) == 2
    load_docstring_embedding(dim=4, data_home=tmp_path)
    assert len(quick) == 2


def test_a_failed_write_leaves_nothing(quick, tmp_path, monkeypatch):
    def full(source, target):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="disk full"):
        load_docstring_embedding(data_home=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_min_count_that_leaves_no_word_is_an_error():
    with pytest.raises(InvalidParameterError, match=r"min_count must leave .*got 9"):
        _docstring_embedding._train(["a few words only"], 4, 9)


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
