"""Downloads against a server of our own, and files taken from a folder."""

import gzip
import hashlib
import io
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from skdptext.datasets import (
    _fetch,
    _public_sets,
    fetch_disaster_tweets,
    fetch_sms_spam,
)
from skdptext.exceptions import InvalidParameterError

# U+0085 ends a line for str.splitlines, and must not for us.
SMS = "ham\tSee you at 8\nspam\tWIN £900 now!\tcall\nham\tone\x85message\n"
TWEETS = (
    "id,keyword,location,text,target\n"
    '1,fire,"Rome, Italy","Forest fire\nnear, us ",1\n'
    "4,,,What a blaze of a song,0\n"
)
TWEETS_CORE = (
    'id,text,target\n1,"Forest fire\nnear, us ",1\n4,What a blaze of a song,0\n'
)


def _sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


def _zip(member, content, extra="readme.txt"):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(extra, "about")
        archive.writestr(member, content)
    return buffer.getvalue()


SMS_ZIP = _zip("SMSSpamCollection", SMS)


@pytest.fixture(autouse=True)
def small_sets(monkeypatch):
    """Three messages and two tweets stand for the real sets; no waiting, no proxy."""
    for name, table in (("_SMS", SMS), ("_TWEETS", TWEETS_CORE)):
        small = getattr(_public_sets, name)._replace(sha256=_sha(table))
        monkeypatch.setattr(_public_sets, name, small)
    monkeypatch.delenv("SKDPTEXT_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def waits(monkeypatch):
    waited = []
    monkeypatch.setattr(_fetch.time, "sleep", waited.append)
    return waited


class _Server(ThreadingHTTPServer):
    """Gives the answers of `script` in turn, the last one for ever."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = []
        self.hits = 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/data.zip"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        status, body, length = server.script[min(server.hits, len(server.script) - 1)]
        server.hits += 1
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def good(body=SMS_ZIP):
    return 200, body, len(body)


def status(code):
    return code, b"no", 2


def truncated(body=SMS_ZIP):
    return 200, body[: len(body) // 2], len(body)


@pytest.fixture
def server():
    with _Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def _fetch_sms(server, home, **kwargs):
    return fetch_sms_spam(url=server.url, data_home=home, **kwargs)


# -- what works ------------------------------------------------------------------


def test_good_file_is_fetched_once(server, tmp_path):
    server.script = [good()]
    sms = _fetch_sms(server, tmp_path)
    assert sms.data == ["See you at 8", "WIN £900 now!\tcall", "one\x85message"]
    assert sms.target.tolist() == [0, 1, 0]
    assert sms.target_names == ["ham", "spam"]
    assert sms.frame is None
    assert "Almeida" in sms.DESCR
    assert [path.name for path in tmp_path.iterdir()] == ["sms_spam.tsv"]
    again = _fetch_sms(server, tmp_path, download_if_missing=False)
    assert again.data == sms.data
    assert server.hits == 1


@pytest.mark.parametrize(
    "body",
    [
        SMS.encode(),
        gzip.compress(SMS.encode()),
        _zip("smsspam/SMSSpamCollection", SMS),
        SMS.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + SMS.encode(),
        SMS.removesuffix("\n").encode(),
    ],
    ids=["plain", "gzip", "zip with folder", "crlf", "bom", "no last newline"],
)
def test_any_wrapping_of_the_same_records_is_good(server, tmp_path, body):
    server.script = [good(body)]
    assert len(_fetch_sms(server, tmp_path).data) == 3
    assert len(_fetch_sms(server, tmp_path).data) == 3
    assert server.hits == 1


def test_tweets_keep_the_columns_that_are_there(server, tmp_path):
    server.script = [good(_zip("train.csv", TWEETS))]
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


def test_tweets_without_the_extra_columns(server, tmp_path):
    server.script = [good(TWEETS_CORE.encode())]
    tweets = fetch_disaster_tweets(url=server.url, data_home=tmp_path)
    assert tweets.id.tolist() == [1, 4]
    assert "keyword" not in tweets
    assert "location" not in tweets


def test_pairs_and_frames(server, tmp_path):
    server.script = [good()]
    data, target = _fetch_sms(server, tmp_path, return_X_y=True)
    assert len(data) == len(target) == 3
    assert isinstance(target, np.ndarray)
    X, y = _fetch_sms(server, tmp_path, return_X_y=True, as_frame=True)
    assert X.tolist() == data
    assert y.tolist() == target.tolist()
    assert _fetch_sms(server, tmp_path, as_frame=True).frame.shape == (3, 2)


@pytest.mark.parametrize("failure", [status(500), status(503), status(429)])
def test_a_passing_failure_is_tried_again(server, tmp_path, waits, failure):
    server.script = [failure, failure, good()]
    assert len(_fetch_sms(server, tmp_path, delay=0.5).data) == 3
    assert server.hits == 3
    assert waits == [0.5, 1.0]
    assert [path.name for path in tmp_path.iterdir()] == ["sms_spam.tsv"]


def test_a_truncated_body_is_tried_again(server, tmp_path, waits):
    server.script = [truncated(), good()]
    assert len(_fetch_sms(server, tmp_path).data) == 3
    assert server.hits == 2
    assert len(waits) == 1


@pytest.mark.parametrize("damage", [b"", SMS.encode()[:-9], b"\xff\xfe", b"junk\n"])
def test_a_damaged_cache_is_fetched_anew(server, tmp_path, damage, caplog):
    server.script = [good()]
    (tmp_path / "sms_spam.tsv").write_bytes(damage)
    with pytest.raises(OSError, match=r"no good copy at .*download_if_missing=False"):
        _fetch_sms(server, tmp_path, download_if_missing=False)
    assert server.hits == 0
    assert len(_fetch_sms(server, tmp_path).data) == 3
    assert server.hits == 1
    assert "is damaged" in caplog.text
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
    ("answer", "hits", "problem"),
    [
        (status(404), 1, "404"),
        (status(403), 1, "403"),
        (status(500), 3, "500"),
        (truncated(), 3, "IncompleteRead|Connection broken"),
    ],
    ids=["404", "403", "500", "truncated"],
)
def test_network_failures(server, tmp_path, waits, answer, hits, problem):
    server.script = [answer]
    with pytest.raises(ConnectionError, match=problem) as error:
        _fetch_sms(server, tmp_path, n_retries=2)
    assert server.hits == hits
    assert len(waits) == hits - 1
    _assert_clear(error, server, tmp_path)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (SMS.replace("8", "9").encode(), "wrong checksum: SHA-256 of its 3 records"),
        (SMS.encode()[: SMS.encode().index(b"\nham") + 1], "wrong checksum"),
        (SMS.replace("ham\tSee", "spam\tSee").encode(), "wrong checksum"),
        (b"<html>Please log in</html>", "line 1 is not ham or spam"),
        (b"", "line 1 is not ham or spam"),
        (b"\xff\xfe\xfd", "does not parse"),
        (_zip("other", SMS), "has no SMSSpamCollection, only readme.txt, other"),
        (SMS_ZIP[:40], "archive is damaged"),
        (gzip.compress(SMS.encode())[:-10], "archive is damaged"),
        (SMS_ZIP.replace(b"PK\x01\x02", b"PK\x09\x02"), "archive is damaged"),
    ],
    ids=[
        "a letter",
        "a record short",
        "a label",
        "html",
        "empty",
        "no utf-8",
        "no member",
        "cut zip",
        "cut gzip",
        "bad directory",
    ],
)
def test_wrong_content_is_not_kept_nor_asked_for_again(
    server, tmp_path, waits, body, problem
):
    server.script = [good(body)]
    with pytest.raises(OSError, match=problem) as error:
        _fetch_sms(server, tmp_path)
    assert not isinstance(error.value, ConnectionError)
    assert server.hits == 1
    assert waits == []
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


def test_nobody_listens(tmp_path, waits):
    gone = _Server()
    gone.server_close()
    with pytest.raises(ConnectionError, match="refused") as error:
        _fetch_sms(gone, tmp_path, n_retries=1, delay=3)
    assert waits == [3]
    _assert_clear(error, gone, tmp_path)


def test_a_url_that_is_none_is_not_tried_again(tmp_path, waits):
    with pytest.raises(ConnectionError, match="http://"):
        fetch_sms_spam(url="http://", data_home=tmp_path)
    assert waits == []


def test_interrupted_download_leaves_nothing(server, tmp_path, monkeypatch):
    def interrupted(self, url, output_file, pooch):
        with open(output_file, "wb") as file:
            file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr("pooch.HTTPDownloader.__call__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _fetch_sms(server, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_download_forbidden(server, tmp_path):
    with pytest.raises(OSError, match="download_if_missing=False forbids"):
        _fetch_sms(server, tmp_path, download_if_missing=False)
    assert server.hits == 0


# -- a folder instead of the network ---------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.setenv("SKDPTEXT_DATA", str(folder))
    return folder


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("sms_spam.tsv.gz", gzip.compress(SMS.encode())),
        ("sms_spam.tsv", SMS.encode()),
        ("SMSSpamCollection", SMS.encode()),
        ("sms+spam+collection.zip", SMS_ZIP),
    ],
    ids=["gz", "tsv", "uci", "zip"],  # not the bytes: they hold the time of day
)
def test_folder_serves_messages(server, folder, tmp_path, name, content):
    (folder / name).write_bytes(content)
    sms = _fetch_sms(server, tmp_path / "home")
    assert sms.target.tolist() == [0, 1, 0]
    assert server.hits == 0
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("disaster_tweets.csv.gz", gzip.compress(TWEETS_CORE.encode())),
        ("disaster_tweets.csv", TWEETS_CORE.encode()),
        ("train.csv", TWEETS.encode()),
        ("nlp-getting-started.zip", _zip("train.csv", TWEETS)),
        ("nlp_getting_started.zip", _zip("train.csv", TWEETS)),
    ],
    ids=["gz", "csv", "kaggle", "kaggle zip", "zip"],
)
def test_folder_serves_tweets(folder, name, content):
    (folder / name).write_bytes(content)
    assert fetch_disaster_tweets().target.tolist() == [1, 0]


def test_folder_without_the_file_never_downloads(server, folder, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"has none of sms_spam\.tsv\.gz") as e:
        _fetch_sms(server, tmp_path / "home")
    assert str(folder) in str(e.value)
    assert "SKDPTEXT_DATA" in str(e.value)
    assert server.hits == 0


def test_folder_with_another_file_of_that_name(server, folder, tmp_path):
    (folder / "sms_spam.tsv").write_text("ham\tanother\n")
    with pytest.raises(OSError, match=r"sms_spam\.tsv, in the folder.*wrong checksum"):
        _fetch_sms(server, tmp_path / "home")
    assert server.hits == 0


# -- parameters and the real files -----------------------------------------------


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"url": "ftp://x"}, "url must be an http:// or https:// address"),
        ({"url": 3}, "url must be .* got 3"),
        ({"n_retries": -1}, "n_retries must be an integer >= 0, got -1"),
        ({"delay": -1}, "delay must be a finite number >= 0, got -1"),
        ({"delay": float("nan")}, "delay must be a finite number >= 0, got nan"),
        ({"download_if_missing": 1}, "download_if_missing must be True or False"),
        ({"return_X_y": None}, "return_X_y must be True or False, got None"),
        ({"as_frame": 0}, "as_frame must be True or False, got 0"),
        ({"data_home": 3}, "data_home must be the path of a folder or None, got 3"),
    ],
)
@pytest.mark.parametrize("fetcher", [fetch_sms_spam, fetch_disaster_tweets])
def test_bad_parameters(fetcher, kwargs, message, tmp_path):
    kwargs = {"data_home": tmp_path, "url": "http://127.0.0.1:9", **kwargs}
    with pytest.raises(InvalidParameterError, match=message):
        fetcher(**kwargs)
    assert list(tmp_path.iterdir()) == []


def test_as_frame_without_pandas_fails_before_the_download(
    server, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="Install pandas to use as_frame=True"):
        _fetch_sms(server, tmp_path, as_frame=True)
    assert server.hits == 0


class TestRealFiles:
    """The registry's checksums are those of the sets of the 2020 paper."""

    @pytest.fixture(autouse=True)
    def small_sets(self):
        """Keep the registry as it is."""

    def test_sms(self, data_file, monkeypatch, sms):
        monkeypatch.setenv("SKDPTEXT_DATA", str(data_file("sms_spam.tsv.gz").parent))
        data, target = fetch_sms_spam(return_X_y=True)
        assert (len(data), target.sum()) == (5574, 747)
        assert data == sms[0]
        np.testing.assert_array_equal(target, sms[1] == "spam")

    def test_tweets(self, data_file, monkeypatch, tweets):
        path = data_file("disaster_tweets.csv.gz")
        monkeypatch.setenv("SKDPTEXT_DATA", str(path.parent))
        data, target = fetch_disaster_tweets(return_X_y=True)
        assert (len(data), target.sum()) == (7613, 3271)
        assert data == tweets[0]
        np.testing.assert_array_equal(target, tweets[1])
