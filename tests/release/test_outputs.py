"""Outputs are there complete or not at all, and one process writes them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from unittest.mock import Mock

import pytest

from skdptext.release import claimed
from tests.expected import refused

FORK = multiprocessing.get_context("fork")


def test_files_and_folders_appear_in_the_end(tmp_path):
    before = os.umask(0o027)
    try:
        with claimed(tmp_path / "a", tmp_path / "b") as (file, folder):
            file.write_text("one")
            folder.mkdir()
            assert not (tmp_path / "a").exists()
    finally:
        os.umask(before)
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o750


def fill(place, fault=None):
    with claimed(place / "a", place / "b") as (file, folder):
        file.touch()
        if fault is not None:
            folder.mkdir()
            (folder / "part").touch()
            raise fault


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), OSError(28, "full"), None])
def test_a_failure_deletes_what_it_made_and_nothing_else(tmp_path, fault):
    """Without a fault, the second is not made: the first one goes again."""
    (tmp_path / "beside").touch()
    with pytest.raises((KeyboardInterrupt, OSError)):
        fill(tmp_path, fault)
    assert os.listdir(tmp_path) == ["beside"]


@pytest.mark.parametrize("kind", ["file", "folder", "dangling link"])
def test_what_is_there_is_refused_and_stays(tmp_path, kind):
    place = tmp_path / "out"
    {"file": place.touch, "folder": place.mkdir}.get(
        kind, lambda: place.symlink_to("gone")
    )()
    with refused("out must be new"), claimed(tmp_path / "other", place):
        pytest.fail("it was written over")
    assert os.listdir(tmp_path) == ["out"]


def test_what_appears_meanwhile_stays(tmp_path):
    with refused("out must be new"), claimed(tmp_path / "out") as (file,):
        file.touch()
        (tmp_path / "out").write_text("theirs")
    assert (tmp_path / "out").read_text() == "theirs"


@pytest.mark.parametrize("theirs", ["out", ".out.lock"])
def test_what_another_made_before_the_lock_is_refused_on_entry(
    tmp_path, monkeypatch, theirs
):
    """It wrote the place, or it gave up its lock, and a third process has a new one."""

    def lock(*_):
        (tmp_path / theirs).unlink(missing_ok=True)
        (tmp_path / theirs).touch()

    monkeypatch.setattr("fcntl.flock", lock)
    with refused("out must be"), claimed(tmp_path / "out"):
        pytest.fail("two at once")


def test_places_that_cannot_be_written_to(tmp_path):
    (tmp_path / "file").touch()
    for place in (tmp_path / "none" / "out", tmp_path / "file" / "out"):
        with refused("out must be in a folder that can be written to"), claimed(place):
            pytest.fail("there is no such place")
    with refused("out must be new"), claimed("/"):
        pytest.fail("it has no name")


def hold(place, entered):
    with claimed(place) as (file,):
        file.touch()
        entered.set()
        signal.pause()


def test_a_claim_ends_with_its_process(tmp_path):
    entered = FORK.Event()
    process = FORK.Process(target=hold, args=(tmp_path / "out", entered), daemon=True)
    process.start()
    assert entered.wait(60)
    with refused("no other process is writing"), claimed(tmp_path / "out"):
        pytest.fail("two at once")
    process.kill()
    process.join()
    assert all(name.startswith(".") for name in os.listdir(tmp_path))
    with claimed(tmp_path / "out") as (file,):
        assert not file.exists()
        file.touch()
    assert os.listdir(tmp_path) == ["out"]


def test_windows_has_a_lock_of_its_own(tmp_path, monkeypatch):
    lock = Mock(side_effect=[None, OSError("locked")])
    monkeypatch.setitem(sys.modules, "msvcrt", Mock(locking=lock))
    monkeypatch.setattr(sys, "platform", "win32")
    with claimed(tmp_path / "out") as (file,):
        with refused("no other process is writing"), claimed(tmp_path / "out"):
            pytest.fail("two at once")
        file.touch()
    assert os.listdir(tmp_path) == ["out"]
