"""The folder that data are kept in, and writing there."""

import pytest

from skdptext.datasets import get_data_home
from skdptext.exceptions import InvalidParameterError


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    monkeypatch.delenv("SKDPTEXT_CACHE", raising=False)


def test_given_folder_is_made(tmp_path):
    home = tmp_path / "a" / "b"
    assert get_data_home(home) == get_data_home(str(home)) == str(home)
    assert home.is_dir()


def test_variable_names_the_folder_unless_one_is_given(tmp_path, monkeypatch):
    monkeypatch.setenv("SKDPTEXT_CACHE", str(tmp_path / "cache"))
    assert get_data_home() == str(tmp_path / "cache")
    assert get_data_home(tmp_path / "given") == str(tmp_path / "given")


@pytest.mark.parametrize("value", [None, ""])
def test_default_is_the_users_cache(tmp_path, monkeypatch, value):
    if value is not None:
        monkeypatch.setenv("SKDPTEXT_CACHE", value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path / name)
    assert get_data_home() == str(tmp_path / "skdptext")


def test_tilde_and_relative_paths(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert get_data_home("~/x") == str(tmp_path / "x")
    assert get_data_home("y") == str(tmp_path / "y")


@pytest.mark.parametrize("value", [3, b"x", "", True])
def test_what_is_no_path_is_refused(value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidParameterError, match="data_home must be the path"):
        get_data_home(value)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InvalidParameterError, match=r"data_home .* got the file"):
        get_data_home(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"
