"""A key is known by its place, and goes nowhere else."""

from __future__ import annotations

import pickle
import stat

import pytest

from skdptext.exceptions import InvalidParameterError
from skdptext.release import ReleaseKey
from tests.releases import KEY


def test_a_generated_key_has_256_bits_and_is_for_its_owner(tmp_path):
    key = ReleaseKey.generate(tmp_path / "key")
    assert key == ReleaseKey(f"file:{tmp_path / 'key'}")
    text = (tmp_path / "key").read_text()
    assert len(bytes.fromhex(text)) == 32
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    other = ReleaseKey.generate(tmp_path / "other")
    assert other.derive(b"a") != key.derive(b"a") != key.derive(b"b")
    with pytest.raises(FileExistsError):
        ReleaseKey.generate(tmp_path / "key")
    assert (tmp_path / "key").read_text() == text
    with pytest.raises(InvalidParameterError, match="file must be a str or os"):
        ReleaseKey.generate(3)


def test_the_same_key_in_a_file_or_a_variable_as_digits_or_bytes(tmp_path, monkeypatch):
    (tmp_path / "bytes").write_bytes(KEY)
    (tmp_path / "digits").write_text(f"{KEY.hex()}\n")
    monkeypatch.setenv("THE_KEY", KEY.hex().upper())
    sources = [
        f"file:{tmp_path / 'bytes'}",
        f"file:{tmp_path / 'digits'}",
        "env:THE_KEY",
    ]
    assert len({ReleaseKey(source).derive(b"noise") for source in sources}) == 1
    # the bytes of a file are what they are, white space at the end included
    (tmp_path / "bytes").write_bytes(KEY + b"\n")
    derived = {ReleaseKey(source).derive(b"noise") for source in sources}
    assert len(derived) == 2


def test_only_the_place_travels(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "key").write_bytes(KEY)
    key = ReleaseKey("file:key")
    assert key.source == f"file:{tmp_path / 'key'}"  # a worker may run elsewhere
    assert key.derive(b"x")
    for form in (pickle.dumps(key), repr(key).encode(), str(vars(key)).encode()):
        assert KEY[:8] not in form
        assert KEY.hex()[:16].encode() not in form
    (tmp_path / "key").unlink()
    with pytest.raises(
        InvalidParameterError, match=r"cannot read the key file:/.*key: No such file"
    ):
        pickle.loads(pickle.dumps(key)).derive(b"x")


def test_the_home_folder_is_that_of_the_one_who_names_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    key = ReleaseKey("file:~/key")
    assert key.source == f"file:{tmp_path / 'key'}"
    monkeypatch.setenv("HOME", "/elsewhere")
    assert pickle.loads(pickle.dumps(key)).source == key.source


@pytest.mark.parametrize("source", ["", "key", "env:", "file:", "http:x", 3, "ab" * 32])
def test_other_sources_are_refused_and_not_shown(source):
    with pytest.raises(InvalidParameterError, match='"env:NAME" or "file:PATH"') as e:
        ReleaseKey(source)
    assert "abab" not in str(e.value)


@pytest.mark.parametrize(
    "content", [b"", KEY[:-1], KEY[:-1].hex().encode(), b"ab" * 31]
)
def test_short_keys_are_refused(tmp_path, content):
    (tmp_path / "key").write_bytes(content)
    key = ReleaseKey(f"file:{tmp_path / 'key'}")
    with pytest.raises(InvalidParameterError, match=r"at least 32 bytes .* got \d+ in"):
        key.derive(b"x")


def test_a_variable_that_is_not_set_is_named():
    with pytest.raises(
        InvalidParameterError, match=r"cannot read the key env:NO_SUCH_KEY.* is not set"
    ):
        ReleaseKey("env:NO_SUCH_KEY").derive(b"x")
