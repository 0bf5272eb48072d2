"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import threading

import pytest

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


def test_saves_of_the_same_file_do_not_disturb_each_other(target):
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
