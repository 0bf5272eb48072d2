"""A key is known by its place, and goes nowhere else."""

from __future__ import annotations

import os
import pickle
import stat

import pytest

from skdptext.release import ReleaseKey
from tests.expected import refused
from tests.releases import KEY, write_key


def test_a_generated_key_has_256_bits_and_is_for_its_owner(tmp_path, monkeypatch):
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
    monkeypatch.setattr("secrets.token_hex", {}.popitem)
    with pytest.raises(TypeError):
        ReleaseKey.generate(tmp_path / "third")
    assert not (tmp_path / "third").exists()


def test_the_same_key_in_a_file_or_a_variable(tmp_path, monkeypatch):
    write_key(tmp_path / "digits")
    write_key(tmp_path / "lines", f"{KEY.hex().upper()}\r\n".encode())
    monkeypatch.setenv("THE_KEY", KEY.hex())
    sources = ["env:THE_KEY", *(f"file:{tmp_path / x}" for x in ("digits", "lines"))]
    assert len({ReleaseKey(source).derive(b"noise") for source in sources}) == 1


def test_only_the_place_travels(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_key(tmp_path / "key")
    monkeypatch.setenv("HOME", str(tmp_path))
    key = ReleaseKey("file:key")  # a worker may run elsewhere, as somebody else
    assert key.source == ReleaseKey("file:~/key").source == f"file:{tmp_path / 'key'}"
    assert key.derive(b"x")
    for form in (pickle.dumps(key), repr(key).encode(), str(vars(key)).encode()):
        assert KEY[:8] not in form
        assert KEY.hex()[:16].encode() not in form
    (tmp_path / "key").unlink()
    with refused("cannot read the key .* No such file.* skdptext key FILE"):
        pickle.loads(pickle.dumps(key)).derive(b"x")
    with refused(r"cannot read the key env:NO_SUCH_KEY.* is not set"):
        ReleaseKey("env:NO_SUCH_KEY").derive(b"x")


@pytest.mark.parametrize(
    "source", ["", "key", "env:", "file:", "http:x", 3, int("7" * 30), "ab" * 32]
)
def test_other_sources_are_refused_and_not_shown(source):
    with refused('"env:NAME" or "file:PATH"') as e:
        ReleaseKey(source)
    assert "abab" not in str(e.value)
    assert "777" not in str(e.value)


DIGITS = KEY.hex().encode()
NO_KEYS = {
    "nothing": b"",
    "raw bytes": KEY,
    "a digit less": DIGITS[:-1],
    "two keys": DIGITS + b"\n" + DIGITS,
    "spaces and more behind": DIGITS + b" " * 99 + b"more",
    "a passphrase": b"correct horse battery staple, said the old man, and once more so",
    "base64": b"MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=",
    "0x": b"0x" + DIGITS[2:],
    "another alphabet": "\u0661".encode() * 64,
    "UTF-16": KEY.hex().encode("utf-16"),
    "a mark before": KEY.hex().encode("utf-8-sig"),
}


@pytest.mark.parametrize("content", NO_KEYS.values(), ids=NO_KEYS)
def test_what_is_not_64_hexadecimal_digits_is_no_key(tmp_path, monkeypatch, content):
    keys = [ReleaseKey(f"file:{write_key(tmp_path / 'key', content)}")]
    if b"\0" not in content:  # which no variable can hold
        monkeypatch.setenv("NO_KEY", os.fsdecode(content))
        keys.append(ReleaseKey("env:NO_KEY"))
    for key in keys:
        with refused("key must be 64 hexadecimal digits drawn at random") as caught:
            key.derive(b"x")
        assert content.decode("latin-1")[:8] not in str(caught.value) or not content


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no modes")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_file_that_others_can_read_is_refused(tmp_path, mode):
    path = write_key(tmp_path / "key")
    path.chmod(mode)
    with refused(f"got one of mode {mode:04o}"):
        ReleaseKey(f"file:{path}").derive(b"x")


def test_a_file_of_another_user_is_refused(tmp_path, monkeypatch):
    path = write_key(tmp_path / "key")
    owner = path.stat().st_uid
    # another user cannot make a file for a test
    monkeypatch.setattr(os, "getuid", lambda: owner + 1, raising=False)
    with refused(f"and user {owner}"):
        ReleaseKey(f"file:{path}").derive(b"x")


def test_only_a_file_is_read_and_little_of_it(tmp_path):
    large = tmp_path / "large"
    with open(write_key(large), "r+b") as file:
        file.truncate(10**12)  # takes no space
    with refused("64 hexadecimal digits"):
        ReleaseKey(f"file:{large}").derive(b"x")
    os.mkfifo(tmp_path / "pipe", 0o600)
    for place in (tmp_path / "pipe", "/dev/zero", tmp_path):
        with refused("not a file"):
            ReleaseKey(f"file:{place}").derive(b"x")
