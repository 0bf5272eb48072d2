"""What a file is called, and how it is put there."""

from __future__ import annotations

import os
import stat

import numpy as np
import pytest

from skdptext import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from tests.embeddings.test_files import FIXED, SUFFIXES
from tests.expected import no_warning


@pytest.mark.parametrize("name", ["t", "t.csv", "t.npz.gz", "t.kv", "t.gz", "npz"])
def test_unknown_suffix_lists_the_known(tmp_path, name):
    # gensim's downloads end in .gz alone; nothing is written under such a name
    rule = r"path must end in one of \.txt, \.vec, \.bin, \.npz, \.txt\.gz, .* got"
    for act in (FIXED.save, *[WordEmbedding.load] * (name != "t.gz")):
        with pytest.raises(InvalidParameterError, match=rule):
            act(tmp_path / name)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("path", [None, 3, b"t.npz", ["t.npz"]])
def test_path_must_be_a_path(path):
    for act in (WordEmbedding.load, FIXED.save):
        with pytest.raises(InvalidParameterError, match=r"path must be a path, got"):
            act(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_missing_file_or_folder(tmp_path, suffix):
    with pytest.raises(FileNotFoundError, match=f"missing{suffix}"):
        WordEmbedding.load(tmp_path / f"missing{suffix}")
    with pytest.raises(FileNotFoundError):
        FIXED.save(tmp_path / "no" / f"t{suffix}")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("n_words", [0, -3, 2.5, "2", True])
def test_bad_n_words(tmp_path, n_words):
    FIXED.save(tmp_path / "t.txt")
    with pytest.raises(InvalidParameterError, match="n_words must be an integer >= 1"):
        WordEmbedding.load(tmp_path / "t.txt", n_words)


@pytest.mark.parametrize(
    ("suffix", "word", "problem"),
    [
        (".txt", "New York", "white space"),
        (".vec.gz", "a\nb", "white space"),
        (".txt", "", "is empty"),
        (".bin", "New York", "white space"),
        (".bin.gz", "a\nb", "white space"),
        (".bin", "", "is empty"),
        (".npz", "a\0", "null character"),
        (".npz", "\ud800", "UTF-8"),
        (".txt", "\ud800", "UTF-8"),
    ],
)
def test_a_word_that_the_format_cannot_hold(tmp_path, suffix, word, problem):
    table = WordEmbedding(["a", word], np.eye(2))
    (tmp_path / f"t{suffix}").write_bytes(b"before")
    with pytest.raises(InvalidParameterError, match=f"at position 1, which.*{problem}"):
        table.save(tmp_path / f"t{suffix}")
    assert (tmp_path / f"t{suffix}").read_bytes() == b"before"
    assert len(os.listdir(tmp_path)) == 1


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"t{suffix}"
    FIXED.save(path)
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)  # the last step
    with pytest.raises(OSError, match="No space left"):
        FIXED.restrict(2).save(path)
    after = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    assert after == before


def test_a_mapped_table_outlives_its_file(tmp_path):
    path = tmp_path / "t.npz"
    FIXED.save(path)
    table = WordEmbedding.load(path)
    WordEmbedding(["new"], np.full((1, 2), 9)).save(path)
    np.testing.assert_array_equal(table.vectors, FIXED.vectors)
    assert WordEmbedding.load(path).words == ("new",)


def test_saved_through_a_link_and_with_the_usual_rights(tmp_path):
    (tmp_path / "other").touch()
    usual = stat.S_IMODE(os.stat(tmp_path / "other").st_mode)
    FIXED.save(tmp_path / "real.npz")
    assert stat.S_IMODE(os.stat(tmp_path / "real.npz").st_mode) == usual
    (tmp_path / "link.npz").symlink_to(tmp_path / "real.npz")
    FIXED.restrict(2).save(tmp_path / "link.npz")
    assert (tmp_path / "link.npz").is_symlink()
    assert len(WordEmbedding.load(tmp_path / "real.npz")) == 2


def test_no_warnings_without_subwords(tmp_path):
    with no_warning():
        for suffix in SUFFIXES:
            FIXED.save(tmp_path / f"t{suffix}")
            WordEmbedding.load(tmp_path / f"t{suffix}")
