"""Files that are there whole or not at all, and what a killed process leaves."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading

import numpy as np
import pytest

from skdptext import WordEmbedding
from skdptext.utils import replacing


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "t.npz"
    path.write_bytes(b"old")
    return path


def test_a_write_that_fails_leaves_the_old_file(target):
    def fail():
        with replacing(target) as file:
            file.write(b"half of the n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert target.read_bytes() == b"old"
    assert os.listdir(target.parent) == [target.name]


def test_a_write_that_ends_replaces_the_old_file(target):
    with replacing(target) as file:
        file.write(b"new")
        file.flush()
        assert target.read_bytes() == b"old"
        assert len(os.listdir(target.parent)) == 2
    assert target.read_bytes() == b"new"
    assert os.listdir(target.parent) == [target.name]


def save_and_be_killed(path):
    with replacing(path) as file:
        file.write(b"half")
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.no_cover
@pytest.mark.parametrize("suffix", [".npz", ".kv", ".vec.gz"])
def test_what_a_killed_save_left_is_deleted_by_the_next(tmp_path, suffix):
    path = tmp_path / f"t[1]{suffix}"
    for _ in range(2):  # the second one deletes what the first one left
        context = multiprocessing.get_context("fork")
        process = context.Process(target=save_and_be_killed, args=(path,))
        process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL
    others = {f".t[1]{suffix}.0.tmp", f".u{suffix}.0123456789abcdef.tmp", "mine.tmp"}
    for name in others:
        (tmp_path / name).touch()
    assert len(os.listdir(tmp_path)) == 4
    WordEmbedding(["a"], np.ones((1, 2))).save(path)
    assert set(os.listdir(tmp_path)) == {path.name, *others}


def test_saves_of_the_same_file_do_not_disturb_each_other(target):
    """What another one is still writing is not taken for what a killed one left."""
    with replacing(target) as first:
        first.write(b"first")
        with replacing(target) as second:
            second.write(b"second")
        assert target.read_bytes() == b"second"
    assert target.read_bytes() == b"first"
    errors = []

    def save(i):
        try:
            for _ in range(50):
                with replacing(target) as file:
                    file.write(b"%d" % i * 1000)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=save, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(target.read_bytes()) == 1000
    assert os.listdir(target.parent) == [target.name]
