"""The public sets from a folder, their parameters, and the real files."""

import gzip
import sys

import numpy as np
import pytest
from local_server import SMS, SMS_ZIP, TWEETS, TWEETS_CORE, fetch_small, zipped

from skdptext.datasets import fetch_disaster_tweets, fetch_sms_spam
from skdptext.exceptions import InvalidParameterError

# -- a folder instead of the network ---------------------------------------------


@pytest.fixture
def folder(small_sets, tmp_path, monkeypatch):
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
    sms = fetch_small(server, tmp_path / "home")
    assert sms.target.tolist() == [0, 1, 0]
    assert server.hits == 0
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("disaster_tweets.csv.gz", gzip.compress(TWEETS_CORE.encode())),
        ("disaster_tweets.csv", TWEETS_CORE.encode()),
        ("train.csv", TWEETS.encode()),
        ("nlp-getting-started.zip", zipped("train.csv", TWEETS)),
        ("nlp_getting_started.zip", zipped("train.csv", TWEETS)),
    ],
    ids=["gz", "csv", "kaggle", "kaggle zip", "zip"],
)
def test_folder_serves_tweets(folder, name, content):
    (folder / name).write_bytes(content)
    assert fetch_disaster_tweets().target.tolist() == [1, 0]


def test_folder_without_the_file_never_downloads(server, folder, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"has none of sms_spam\.tsv\.gz") as e:
        fetch_small(server, tmp_path / "home")
    assert str(folder) in str(e.value)
    assert "SKDPTEXT_DATA" in str(e.value)
    assert server.hits == 0


def test_folder_with_another_file_of_that_name(server, folder, tmp_path):
    (folder / "sms_spam.tsv").write_text("ham\tanother\n")
    with pytest.raises(OSError, match=r"sms_spam\.tsv, in the folder.*wrong checksum"):
        fetch_small(server, tmp_path / "home")
    assert server.hits == 0


# -- parameters and the real files -----------------------------------------------


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"url": "ftp://x"}, "url must be an http:// or https:// address"),
        ({"url": 3}, "url must be .* got 3"),
        ({"download_if_missing": 1}, "download_if_missing must be True or False"),
        ({"return_X_y": None}, "return_X_y must be True or False, got None"),
        ({"as_frame": 0}, "as_frame must be True or False, got 0"),
        ({"data_home": 3}, "data_home must be the path of a folder or None, got 3"),
    ],
)
@pytest.mark.parametrize("fetcher", [fetch_sms_spam, fetch_disaster_tweets])
def test_bad_parameters(small_sets, fetcher, kwargs, message, tmp_path):
    kwargs = {"data_home": tmp_path, "url": "http://127.0.0.1:9", **kwargs}
    with pytest.raises(InvalidParameterError, match=message):
        fetcher(**kwargs)
    assert list(tmp_path.iterdir()) == []


def test_as_frame_without_pandas_fails_before_the_download(
    small_sets, server, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="as_frame=True needs pandas"):
        fetch_small(server, tmp_path, as_frame=True)
    assert server.hits == 0


def test_checksum_of_real_messages(data_file, monkeypatch, sms):
    """The registry's checksums are those of the sets of the 2020 paper."""
    monkeypatch.setenv("SKDPTEXT_DATA", str(data_file("sms_spam.tsv.gz").parent))
    data, target = fetch_sms_spam(return_X_y=True)
    assert (len(data), target.sum()) == (5574, 747)
    assert data == sms[0]
    np.testing.assert_array_equal(target, sms[1] == "spam")


def test_checksum_of_real_tweets(data_file, monkeypatch, tweets):
    path = data_file("disaster_tweets.csv.gz")
    monkeypatch.setenv("SKDPTEXT_DATA", str(path.parent))
    data, target = fetch_disaster_tweets(return_X_y=True)
    assert (len(data), target.sum()) == (7613, 3271)
    assert data == tweets[0]
    np.testing.assert_array_equal(target, tweets[1])
