"""An embedding that pickles as its address, and is mapped where it arrives."""

from __future__ import annotations

import copy
import gc
import pickle

import numpy as np
import pytest

from skdptext import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from tests.expected import no_warning
from tests.memory import mapped_file


def table(seed, n=50, dim=4):
    vectors = np.random.default_rng(seed).normal(size=(n, dim)).astype(np.float32)
    return WordEmbedding([f"w{i}" for i in range(n)], vectors)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table.npz"


def pickled(path, seed, **options):
    """Pickle and fingerprint of an embedding that this process no longer has."""
    table(seed).save(path)
    loaded = WordEmbedding.load(path, by_address=True, **options)
    held = pickle.dumps(loaded), loaded.fingerprint
    del loaded
    gc.collect()
    return held


def test_a_pickle_is_an_address_and_arrives_as_one_mapped_object(path):
    held, fingerprint = pickled(path, 101)
    assert len(held) < 400
    embedding = pickle.loads(held)
    assert pickle.loads(held) is embedding
    assert embedding.fingerprint == fingerprint == table(101).fingerprint
    assert mapped_file(embedding.vectors) == str(path)
    assert pickle.loads(pickle.dumps(embedding)) is embedding
    assert copy.deepcopy(embedding) is embedding
    # it stays where the task that it came with has ended
    number = id(embedding)
    del embedding
    gc.collect()
    assert id(pickle.loads(held)) == number


def test_the_number_of_words_travels_too(path):
    held, fingerprint = pickled(path, 103, n_words=20)
    assert len(pickle.loads(held)) == 20
    assert pickle.loads(held).fingerprint == fingerprint


def test_another_file_is_refused_with_both_fingerprints(path):
    held, fingerprint = pickled(path, 104)
    table(105).save(path)
    with pytest.raises(InvalidParameterError) as error:
        pickle.loads(held)
    for one in (fingerprint, table(105).fingerprint):
        assert one.hex() in str(error.value)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=f"{fingerprint.hex()} was expected"):
        pickle.loads(held)


def test_relative_paths_are_made_absolute(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    held, _ = pickled(path.name, 106)
    monkeypatch.chdir("/")
    assert mapped_file(pickle.loads(held).vectors) == str(path)


@pytest.mark.parametrize("suffix", [".txt", ".vec.gz", ".bin", ".kv", "compressed.npz"])
def test_what_cannot_be_mapped_is_refused(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    if suffix == "compressed.npz":
        np.savez_compressed(path, words=["a", "b"], vectors=np.eye(2, dtype="f4"))
    else:
        table(107).save(path)
    with pytest.raises(InvalidParameterError, match=r"path must be an \.npz .*save it"):
        WordEmbedding.load(path, by_address=True, allow_pickle=True)
    with pytest.raises(InvalidParameterError, match="by_address must be True or False"):
        WordEmbedding.load(path, by_address="yes")


def test_a_large_one_by_value_is_warned_of(path):
    with no_warning():
        pickle.dumps(table(108, n=24_000, dim=100))  # 9.6 MB
        large = table(109, n=26_000, dim=100)
        large.save(path)
        pickle.dumps(WordEmbedding.load(path, by_address=True))
    with pytest.warns(UserWarning, match=r"its 10 MB .* by_address=True") as caught:
        pickle.dumps(large)
    assert caught[0].filename == __file__
