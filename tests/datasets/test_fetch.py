"""Downloads against a server of our own: what is kept, and what is not."""

import gzip
import io
import zipfile

import pytest
from local_server import (
    SMS,
    SMS_ZIP,
    TWEETS,
    LocalServer,
    fetch_small,
    good,
    status,
    truncated,
    zipped,
)

from skdptext.datasets import fetch_disaster_tweets, fetch_sms_spam
from tests.memory import traced_memory

pytestmark = pytest.mark.usefixtures("small_sets")


# -- what works ------------------------------------------------------------------


def test_good_file_is_fetched_once(server, tmp_path):
    server.script = [good()]
    sms = fetch_small(server, tmp_path)
    assert sms.data == ["See you at 8", "WIN £900 now!\tcall", "one\x85message"]
    assert sms.target.tolist() == [0, 1, 0]
    assert sms.target_names == ["ham", "spam"]
    assert sms.frame is None
    assert "Almeida" in sms.DESCR
    assert [path.name for path in tmp_path.iterdir()] == ["sms_spam.tsv"]
    again = fetch_small(server, tmp_path, download_if_missing=False)
    assert again.data == sms.data
    assert server.hits == 1


@pytest.mark.parametrize(
    "body",
    [
        SMS.encode(),
        gzip.compress(SMS.encode()),
        zipped("smsspam/SMSSpamCollection", SMS),
        SMS.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + SMS.encode(),
        SMS.removesuffix("\n").encode(),
    ],
    ids=["plain", "gzip", "zip with folder", "crlf", "bom", "no last newline"],
)
def test_any_wrapping_of_the_same_records_is_good(server, tmp_path, body):
    server.script = [good(body)]
    assert len(fetch_small(server, tmp_path).data) == 3
    assert len(fetch_small(server, tmp_path).data) == 3
    assert server.hits == 1


def test_tweets_keep_the_columns_that_are_there(server, tmp_path):
    server.script = [good(zipped("train.csv", TWEETS))]
    kwargs = {"url": server.url, "data_home": tmp_path}
    tweets = fetch_disaster_tweets(**kwargs)
    assert tweets.data == ["Forest fire\nnear, us ", "What a blaze of a song"]
    assert tweets.target.tolist() == [1, 0]
    assert tweets.target_names == ["not disaster", "disaster"]
    assert tweets.id.tolist() == [1, 4]
    assert tweets.keyword == ["fire", ""]
    assert tweets.location == ["Rome, Italy", ""]
    framed = fetch_disaster_tweets(as_frame=True, **kwargs)
    columns = ["text", "id", "keyword", "location", "target"]
    assert list(framed.frame.columns) == columns
    assert framed.data.tolist() == tweets.data
    assert server.hits == 1


@pytest.mark.parametrize("damage", [b"", SMS.encode()[:-9], b"\xff\xfe", b"junk\n"])
def test_a_damaged_cache_is_fetched_anew(server, tmp_path, damage, logged):
    server.script = [good()]
    (tmp_path / "sms_spam.tsv").write_bytes(damage)
    with pytest.raises(OSError, match=r"no valid copy at .*download_if_missing=False"):
        fetch_small(server, tmp_path, download_if_missing=False)
    assert server.hits == 0
    assert len(fetch_small(server, tmp_path).data) == 3
    assert server.hits == 1
    assert "is damaged" in " ".join(logged)
    assert (tmp_path / "sms_spam.tsv").read_bytes() == SMS.encode()


# -- what fails ------------------------------------------------------------------


def _assert_clear(error, server, tmp_path):
    message = str(error.value)
    assert server.url in message
    assert str(tmp_path / "sms_spam.tsv") in message
    assert "SKDPTEXT_DATA" in message
    assert "sms_spam.tsv.gz" in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (status(404), "404"),
        (status(500), "500"),
        (truncated(), "IncompleteRead|Connection broken"),
    ],
    ids=["404", "500", "truncated"],
)
def test_network_failures(server, tmp_path, answer, problem):
    server.script = [answer]
    with pytest.raises(ConnectionError, match=problem) as error:
        fetch_small(server, tmp_path)
    assert server.hits == 1
    _assert_clear(error, server, tmp_path)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (SMS.replace("8", "9").encode(), "wrong checksum: SHA-256 of its 3 records"),
        (b"<html>Please log in</html>", "line 1 is not ham or spam"),
        (b"\xff\xfe\xfd", "does not parse"),
        (zipped("other", SMS), "has no SMSSpamCollection, only readme.txt, other"),
        (SMS_ZIP[:40], "archive is damaged"),
        (gzip.compress(SMS.encode())[:-10], "archive is damaged"),
        (SMS_ZIP.replace(b"PK\x01\x02", b"PK\x09\x02"), "archive is damaged"),
    ],
    ids=[
        "a letter",
        "html",
        "no utf-8",
        "no member",
        "cut zip",
        "cut gzip",
        "bad directory",
    ],
)
def test_wrong_content_is_not_kept(server, tmp_path, body, problem):
    server.script = [good(body)]
    with pytest.raises(OSError, match=problem) as error:
        fetch_small(server, tmp_path)
    assert not isinstance(error.value, ConnectionError)
    assert server.hits == 1
    _assert_clear(error, server, tmp_path)


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("id,text\n1,a\n", "no column target"),
        ("", "no column id, target, text"),
        ("id,text,target\n1,a,2\n", "target of tweet 1 is not 0 or 1"),
        ("id,text,target\n1\n", "target of tweet 1 is not 0 or 1"),
        ("id,text,target\n1,b,1\n", "wrong checksum"),
        ("id,text,target\n1,a,1,9\n", "wrong checksum"),
        (f'id,text,target\n1,"{"a" * 200_000}",1\n', "field larger than field limit"),
    ],
    ids=["no target", "empty", "target 2", "short row", "text", "long row", "huge"],
)
def test_wrong_tables_of_tweets(server, tmp_path, table, problem):
    server.script = [good(table.encode())]
    with pytest.raises(OSError, match=problem):
        fetch_disaster_tweets(url=server.url, data_home=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nobody_listens(tmp_path):
    gone = LocalServer()
    gone.server_close()
    with pytest.raises(ConnectionError, match="refused") as error:
        fetch_small(gone, tmp_path)
    _assert_clear(error, gone, tmp_path)


def test_a_url_that_is_none(tmp_path):
    with pytest.raises(ConnectionError, match="http://"):
        fetch_sms_spam(url="http://", data_home=tmp_path)


def test_interrupted_download_leaves_nothing(server, tmp_path, monkeypatch):
    def interrupted(self, url, output_file, pooch):
        output_file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr("pooch.HTTPDownloader.__call__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch_small(server, tmp_path)
    assert list(tmp_path.iterdir()) == []


# -- more than there can be ------------------------------------------------------


CAP = 1 << 27  # the largest file, download, or content of an archive


def zip_of(content, method=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method, compresslevel=1) as archive:
        archive.writestr("SMSSpamCollection", content)
    return buffer.getvalue()


def encrypted(archive):
    """Its member marked as encrypted, in both headers."""
    data = bytearray(archive)
    data[6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    return bytes(data)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("body", "problem"),
    [
        # 640 MiB, member after member
        (lambda: gzip.compress(bytes(CAP >> 3)) * 40, "it has more than 128 MiB"),
        (lambda: zip_of(bytes(CAP + 1)), "it has more than 128 MiB"),
        (lambda: zip_of(SMS, zipfile.ZIP_LZMA), "compression is not allowed"),
        (lambda: encrypted(zip_of(SMS)), "the archive is damaged: .* encrypted"),
    ],
    ids=["gzip", "zip", "lzma", "encrypted"],
)
def test_sizes_are_capped_and_odd_zips_refused(
    server, tmp_path, body, problem, monkeypatch
):
    body = body()  # not at each collection of the tests
    server.script = [good(body)]
    with traced_memory() as memory, pytest.raises(OSError, match=problem) as error:
        fetch_small(server, tmp_path)
    assert memory.peak < 4 * CAP
    _assert_clear(error, server, tmp_path)
    if "MiB" in problem:  # what is found in a folder is unpacked by the same lines
        return
    (tmp_path / "sms+spam+collection.zip").write_bytes(body)
    monkeypatch.setenv("SKDPTEXT_DATA", str(tmp_path))
    with pytest.raises(OSError, match=problem):
        fetch_sms_spam()


def test_a_cached_file_that_grew_is_fetched_anew(server, tmp_path, logged, monkeypatch):
    server.script = [good()]
    grown = tmp_path / "sms_spam.tsv"
    with grown.open("wb") as file:
        file.truncate(4 * CAP)
    assert len(fetch_small(server, tmp_path).data) == 3
    assert "it has more than 128 MiB" in " ".join(logged)
    with grown.open("wb") as file:
        file.truncate(4 * CAP)
    monkeypatch.setenv("SKDPTEXT_DATA", str(tmp_path))
    with pytest.raises(OSError, match="it has more than 128 MiB"):
        fetch_sms_spam()
