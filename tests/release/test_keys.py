"""A key is known by its place, and goes nowhere else."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import pickle
import stat
import zipfile
import zlib
from hashlib import shake_256

import pytest

from skdptext.exceptions import InvalidParameterError
from skdptext.release import ReleaseKey
from tests.expected import refused
from tests.releases import KEY, write_key


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
    with refused("file must be a path"):
        ReleaseKey.generate(3)


def test_the_same_key_in_a_file_or_a_variable_as_digits_or_bytes(tmp_path, monkeypatch):
    write_key(tmp_path / "bytes")
    write_key(tmp_path / "digits", f"{KEY.hex()}\n".encode())
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
    write_key(tmp_path / "key")
    key = ReleaseKey("file:key")
    assert key.source == f"file:{tmp_path / 'key'}"  # a worker may run elsewhere
    assert key.derive(b"x")
    for form in (pickle.dumps(key), repr(key).encode(), str(vars(key)).encode()):
        assert KEY[:8] not in form
        assert KEY.hex()[:16].encode() not in form
    (tmp_path / "key").unlink()
    with refused(r"There is no key file /.*key. Make it: skdptext key /"):
        pickle.loads(pickle.dumps(key)).derive(b"x")


def test_the_home_folder_is_that_of_the_one_who_names_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    key = ReleaseKey("file:~/key")
    assert key.source == f"file:{tmp_path / 'key'}"
    monkeypatch.setenv("HOME", "/elsewhere")
    assert pickle.loads(pickle.dumps(key)).source == key.source


@pytest.mark.parametrize(
    "source", ["", "key", "env:", "file:", "http:x", 3, int("7" * 30), "ab" * 32]
)
def test_other_sources_are_refused_and_not_shown(source):
    with refused('"env:NAME" or "file:PATH"') as e:
        ReleaseKey(source)
    assert "abab" not in str(e.value)
    assert "777" not in str(e.value)


@pytest.mark.parametrize(
    "content", [b"", KEY[:-1], KEY[:-1].hex().encode(), b"ab" * 31]
)
def test_short_keys_are_refused(tmp_path, content):
    write_key(tmp_path / "key", content)
    key = ReleaseKey(f"file:{tmp_path / 'key'}")
    with refused(r"at least 32 random bytes .* got \d+ in"):
        key.derive(b"x")


def test_a_variable_that_is_not_set_is_named():
    with refused(r"cannot read the key env:NO_SUCH_KEY.* is not set"):
        ReleaseKey("env:NO_SUCH_KEY").derive(b"x")


# -- keys that are none ----------------------------------------------------------------

WEAK = {
    "zeros": b"0" * 64,
    "zero bytes": bytes(32),
    "one byte": b"\xa7" * 40,
    "repeated digits": b"deadbeef" * 8,
    "half a key, twice": KEY[:16] * 2,
    "half a key, twice and more": KEY[:16] * 2 + KEY[:5],
    "counted": bytes(range(100, 140)),
    "counted down": bytes(range(200, 160, -1)),
    "counted in digits": b"0123456789abcdef" * 4,
    "a passphrase": b"correct horse battery staple, said the old man again\n",
    "a passphrase in digits": b"correct horse battery, as they say".hex().encode(),
    "base64": b"MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=",
    "few bytes": bytes([1, 2, 3, 250] * 7 + [3, 1, 2, 9, 8]),
    "one word": b"password" * 5,
    "half zeros": KEY[:16] + bytes(16),
    "counted in two bytes": b"".join(i.to_bytes(2, "little") for i in range(300, 320)),
    "a text and zeros": "für mich ganz allein".encode("latin-1") + bytes(20),
    "a text of 32 bytes, cut": ("x" * 31 + "ü").encode()[:32],
}  # fmt: skip
TEXTS = {
    "plain": "correct horse battery staple, said the old man",
    "one ü": "the grün horse has a battery staple, said I",
    "one ’": "it’s a long way home, said the old man again",
    "an emoji": "correct horse battery staple, said he 😀 and left",
    "Russian": "верная лошадь, батарея и скоба, сказал старик",
    "Chinese": "我们的秘密在山上的房子里没有人知道它在哪里的地方",
    "Japanese": "秘密の言葉はここにありますよ、だれにも言わないでください",
    "Korean": "비밀번호는 여기에 있습니다 아무에게도 말하지 마세요",
}
CODES = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
CODES += ["cp1252", "cp1251", "gb2312"]
PACKERS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zlib": zlib.compress,
}


def zipped(content):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("key", content)
    return file.getvalue()


def weak_texts():
    for name, text in TEXTS.items():
        for code in CODES:
            try:
                content = text.encode(code)
            except UnicodeEncodeError:
                continue
            for size in (32, 64, None):
                yield f"{name}, {code}, {size}", content[:size]
        for packer, pack in {**PACKERS, "zip": zipped}.items():
            yield f"{name}, {packer}", pack(text.encode())


@pytest.mark.parametrize("content", WEAK.values(), ids=WEAK)
@pytest.mark.parametrize("place", ["file", "env"])
def test_what_is_not_random_is_no_key(tmp_path, monkeypatch, content, place):
    if place == "file":
        key = ReleaseKey(f"file:{write_key(tmp_path / 'key', content)}")
    else:
        monkeypatch.setenv("WEAK_KEY", content.hex())
        key = ReleaseKey("env:WEAK_KEY")
    with refused(r"random bytes .* got ") as caught:
        key.derive(b"x")
    assert content.decode("latin-1")[:8] not in str(caught.value)


def test_a_text_is_no_key_however_it_is_written(tmp_path):
    key = ReleaseKey(f"file:{tmp_path / 'key'}")
    accepted = []
    for name, content in weak_texts():
        for written in (content, content.hex().encode()):
            write_key(tmp_path / "key", written)
            try:
                key.derive(b"x")
            except InvalidParameterError:
                continue
            accepted.append(name)
    assert not accepted


def test_a_mark_before_digits_is_none_of_them(tmp_path):
    digits = KEY.hex()
    key = ReleaseKey(f"file:{tmp_path / 'key'}")
    derived = set()
    for code in ("ascii", "utf-8-sig", "utf-16"):  # ... Notepad, PowerShell
        for text in (digits, f"  {digits.upper()}\r\n"):
            write_key(tmp_path / "key", text.encode(code))
            derived.add(key.derive(b"x"))
    assert len(derived) == 1
    write_key(tmp_path / "key", digits[:62].encode("utf-8-sig"))
    with refused(r"got 31 in"):
        key.derive(b"x")


def test_more_than_64_raw_bytes_are_a_file_and_no_key(tmp_path):
    content = shake_256(b"65 bytes").digest(65)
    key = ReleaseKey(f"file:{write_key(tmp_path / 'key', content)}")
    with refused("got 65 bytes that are no hexadecimal digits in"):
        key.derive(b"x")
    write_key(tmp_path / "key", content.hex().encode())
    assert key.derive(b"x")


@pytest.mark.no_cover
def test_keys_that_are_random_are_accepted(tmp_path, monkeypatch):
    # the same ones in each run: 2000 drawn anew would hold a refused one in 1 of 2500
    path = write_key(tmp_path / "key")
    for i in range(2000):
        content = shake_256(b"%d" % i).digest(32 + i // 80)
        if i % 2:
            with path.open("r+b") as file:  # never shorter: to empty a file is slow
                file.write(content)
            ReleaseKey(f"file:{path}").derive(b"x")
        else:
            monkeypatch.setenv("A_KEY", content.hex())
            ReleaseKey("env:A_KEY").derive(b"x")


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no modes")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o602, 0o601])
def test_a_file_that_others_can_read_is_refused_unless_allowed(tmp_path, mode):
    path = write_key(tmp_path / "key")
    path.chmod(mode)
    with refused(f"of mode {mode:04o}. Take a new"):
        ReleaseKey(f"file:{path}").derive(b"x")
    allowed = ReleaseKey(f"file:{path}", allow_shared=True)
    path.chmod(0o600)
    assert allowed.derive(b"x") == ReleaseKey(f"file:{path}").derive(b"x")


def test_a_file_of_another_user_is_refused_unless_allowed(tmp_path, monkeypatch):
    path = write_key(tmp_path / "key")
    owner = path.stat().st_uid
    # another user cannot make a file for a test
    monkeypatch.setattr(os, "getuid", lambda: owner + 1, raising=False)
    with refused("belongs to another user"):
        ReleaseKey(f"file:{path}").derive(b"x")
    assert ReleaseKey(f"file:{path}", allow_shared=True).derive(b"x")
    with refused("allow_shared must be"):
        ReleaseKey(f"file:{path}", allow_shared="yes")


def test_only_a_file_of_at_most_1_mb_is_read(tmp_path):
    large = tmp_path / "large"
    with open(write_key(large), "r+b") as file:
        file.truncate(10**12)  # takes no space
    with refused("larger than 1 MB"):
        ReleaseKey(f"file:{large}").derive(b"x")
    os.mkfifo(tmp_path / "pipe", 0o600)
    for place in (tmp_path / "pipe", "/dev/zero"):
        with refused("not a file"):
            ReleaseKey(f"file:{place}").derive(b"x")
    with refused(r"cannot read the key .*irectory"):
        ReleaseKey(f"file:{tmp_path}").derive(b"x")
