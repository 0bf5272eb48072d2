"""The public sets: what is downloaded and kept, what is refused, the real files."""

import gzip
import hashlib
import io
import zipfile

import pytest

# The checksums in it are those of the real sets, which a test cannot do without.
from skdptext.datasets import _public_sets, fetch_disaster_tweets, fetch_sms_spam

# U+0085 ends a line for str.splitlines, and must not for us.
SMS = "ham\tSee you at 8\nspam\tWIN £900 now!\tcall\nham\tone\x85message\n"
TWEETS = (
    "id,keyword,location,text,target\n"
    '1,fire,"Rome, Italy","Forest fire\nnear, us ",1\n'
    "4,,,What a blaze of a song,0\n"
)
PLAIN = 'id,text,target\n1,"Forest fire\nnear, us ",1\n4,What a blaze of a song,0\n'


def zipped(member, content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("readme.txt", "about")
        archive.writestr(member, content)
    return buffer.getvalue()


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty folder; small tables stand for the real sets."""
    for name, table in (("_SMS", SMS), ("_TWEETS", PLAIN)):
        digest = hashlib.sha256(table.encode()).hexdigest()
        small = getattr(_public_sets, name)._replace(sha256=digest)
        monkeypatch.setattr(_public_sets, name, small)
    monkeypatch.delenv("SKDPTEXT_DATA", raising=False)
    monkeypatch.setenv("SKDPTEXT_CACHE", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def web(home, monkeypatch):
    """What each address serves, or the error that it ends in; and who asked."""
    serves, asked = {}, []

    def get(self, url, output_file, pooch):
        asked.append(url)
        content = serves.get(url, ConnectionError("no route"))
        if isinstance(content, Exception):
            raise content
        output_file.write(content)

    monkeypatch.setattr("pooch.HTTPDownloader.__call__", get)
    serves[_public_sets._SMS.url] = zipped("SMSSpamCollection", SMS)
    serves[_public_sets._TWEETS.url] = zipped("train.csv", TWEETS)
    return serves, asked


SMS_TEXTS = ["See you at 8", "WIN £900 now!\tcall", "one\x85message"]
TWEET_TEXTS = ["Forest fire\nnear, us ", "What a blaze of a song"]


@pytest.mark.parametrize(
    ("fetch", "texts", "target", "names", "columns"),
    [
        (fetch_sms_spam, SMS_TEXTS, [0, 1, 0], "ham|spam", "text|target"),
        (fetch_disaster_tweets, TWEET_TEXTS, [1, 0], "not disaster|disaster",
         "text|id|target"),
    ],
)  # fmt: skip
def test_a_set_is_downloaded_once(home, web, fetch, texts, target, names, columns):
    first = fetch()
    framed = fetch(download_if_missing=False, as_frame=True)
    assert first.data == framed.data.tolist() == texts
    assert first.target.tolist() == framed.target.tolist() == target
    assert first.target_names == names.split("|")
    assert list(framed.frame.columns) == columns.split("|")
    assert first.DESCR
    assert len(web[1]) == len(list(home.iterdir())) == 1


@pytest.mark.parametrize(
    "served",
    [
        zipped("SMSSpamCollection", SMS.replace("8", "9")),
        zipped("other", SMS),
        zipped("SMSSpamCollection", SMS)[:40],
        ConnectionError("no route"),
    ],
    ids=["a letter", "no member", "cut", "offline"],
)
def test_what_to_put_where_if_a_download_fails(home, web, served):
    web[0][_public_sets._SMS.url] = served
    with pytest.raises(OSError, match="Put SMSSpamCollection") as error:
        fetch_sms_spam()
    assert str(home) in str(error.value)
    assert list(home.iterdir()) == []


def test_no_download_where_it_is_forbidden_and_no_other_file(home, web):
    with pytest.raises(OSError, match=r"not to be downloaded\. Put train\.csv"):
        fetch_disaster_tweets(download_if_missing=False)
    home.mkdir(exist_ok=True)
    (home / "train.csv").write_text(TWEETS.replace("song,0", "song,1"))
    with pytest.raises(OSError, match=r"train\.csv is not the Disaster tweets"):
        fetch_disaster_tweets()
    assert web[1] == []


@pytest.mark.parametrize("variable", ["SKDPTEXT_DATA", "SKDPTEXT_CACHE"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sms_spam.tsv", SMS),
        ("sms_spam.tsv.gz", SMS),
        ("SMSSpamCollection", "\ufeff" + SMS.replace("\n", "\r\n")),
        ("disaster_tweets.csv", PLAIN),
        ("disaster_tweets.csv.gz", PLAIN),
        ("train.csv", TWEETS),
    ],
)
def test_files_in_a_folder(web, tmp_path, monkeypatch, variable, name, text):
    monkeypatch.setenv(variable, str(tmp_path))
    is_sms, packed = "s" in name.lower()[:1], name.endswith(".gz")
    fetch = fetch_sms_spam if is_sms else fetch_disaster_tweets
    content = gzip.compress(text.encode()) if packed else text.encode()
    (tmp_path / name).write_bytes(content)
    assert fetch().target.tolist() == ([0, 1, 0] if is_sms else [1, 0])
    (tmp_path / name).write_bytes(content[:9] if packed else content[:-9])
    with pytest.raises((OSError, EOFError)):
        fetch()
    assert web[1] == []


def test_checksums_are_those_of_the_sets_of_the_paper(data_file, monkeypatch):
    for fetch, name, n, positive in (
        (fetch_sms_spam, "sms_spam.tsv.gz", 5574, 747),
        (fetch_disaster_tweets, "disaster_tweets.csv.gz", 7613, 3271),
    ):
        monkeypatch.setenv("SKDPTEXT_DATA", str(data_file(name).parent))
        texts, target = fetch(return_X_y=True)
        assert (len(texts), target.sum()) == (n, positive)
