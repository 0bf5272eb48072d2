"""Fetch the two public data sets of the 2020 paper."""

import csv
import gzip
import io
import os
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from skdptext.datasets._base import data_home, text_bunch
from skdptext.utils import check_option


class _PublicSet(NamedTuple):
    """A table in a zip archive on the web, with its checksum."""

    title: str
    url: str
    member: str  # the table in the archive
    file: str  # name of the kept file; `member` or a suffix .gz are also found
    plain: Callable[[str], str]  # extracts the part of the table with the checksum
    sha256: str
    about: str


def _three_columns(text: str) -> str:
    """Extract the columns that every copy of the tweets has."""
    table = io.StringIO()
    writer = csv.DictWriter(
        table, ("id", "text", "target"), extrasaction="ignore", lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(csv.DictReader(io.StringIO(text)))
    return table.getvalue()


_SMS = _PublicSet(
    title="SMS Spam Collection",
    url="https://archive.ics.uci.edu/static/public/228/sms+spam+collection.zip",
    member="SMSSpamCollection",
    file="sms_spam.tsv",
    plain=str,
    sha256="7d039a24a6083ed9ef0f806ebad56bbb976e3aeb8de05669173bfdc4996c239d",
    about="""\
SMS Spam Collection: 5,574 English text messages, 4,827 legitimate ("ham") and 747
"spam", collected by Tiago A. Almeida and José María Gómez Hidalgo. UCI Machine Learning
Repository, https://doi.org/10.24432/C5CC84. The SMSSpam set of Xu et al. (2020).
""",
)

# Kaggle requires an account. This copy of its archive belongs to a public course.
_TWEETS = _PublicSet(
    title="Disaster tweets",
    url="https://storage.googleapis.com/ztm_tf_course/nlp_getting_started.zip",
    member="train.csv",
    file="disaster_tweets.csv",
    plain=_three_columns,
    sha256="b5976ab9e5448b9dd24881165256a77d972fc530496aaca015b6c4d380d25b5c",
    about="""\
Disaster tweets: 7,613 English tweets, 3,271 about a real disaster. Collected by
figure-eight, published as the training set of the Kaggle competition
nlp-getting-started, whose terms apply: do not redistribute. The Twitter set of Xu et
al. (2020). Some contain remains of characters that were lost before publication.
""",
)


def fetch_sms_spam(
    *,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Fetch the SMS Spam Collection: 5,574 text messages, ham or spam.

    A file ``sms_spam.tsv``, ``sms_spam.tsv.gz`` or ``SMSSpamCollection`` is read from
    the folder of the environment variable ``SKDPTEXT_DATA``, if it is set and has one,
    or else from that of ``SKDPTEXT_CACHE``, by default your cache folder. If there is
    none, the archive of UCI (200 kB) is downloaded and its file is kept in the latter.
    The SHA-256 is checked each time.

    Parameters
    ----------
    download_if_missing : bool, default=True
        If False, raise an error instead of downloading.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Give data and target as pandas Series, and both as `frame`.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        Dictionary-like object with the attributes

        data : list of str
            The messages.
        target : ndarray of shape (5574,), int
            0 for ham, 1 for spam.
        target_names : list of str
            ``["ham", "spam"]``.
        frame : DataFrame or None
            With `as_frame`: columns text and target.
        DESCR : str
            Description of the set.
    (data, target) : tuple if `return_X_y`
        Messages and labels.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule.
    OSError
        If the set is missing and could not or must not be downloaded, or is not the
        expected one. It says where to put which file.

    References
    ----------
    .. [1] Almeida, T. A., Gómez Hidalgo, J. M. and Yamakami, A. (2011). Contributions
       to the study of SMS spam filtering: new collection and results. DocEng '11.

    Examples
    --------
    >>> from skdptext.datasets import fetch_sms_spam
    >>> sms = fetch_sms_spam()  # doctest: +SKIP
    >>> sms.target_names[sms.target[0]]  # doctest: +SKIP
    'ham'
    """
    text = _read(_SMS, download_if_missing)
    rows = [line.partition("\t") for line in text.removesuffix("\n").split("\n")]
    return text_bunch(
        [message for _, _, message in rows],
        np.array([label == "spam" for label, _, _ in rows], dtype=np.intp),
        {},
        return_X_y,
        as_frame,
        target_names=["ham", "spam"],
        DESCR=_SMS.about,
    )


def fetch_disaster_tweets(
    *,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Fetch the disaster tweets: 7,613 tweets, about a real disaster or not.

    A file ``disaster_tweets.csv``, ``disaster_tweets.csv.gz`` or Kaggle's ``train.csv``
    is read from the folder of the environment variable ``SKDPTEXT_DATA``, if it is set
    and has one, or else from that of ``SKDPTEXT_CACHE``, by default your cache folder.
    If there is none, a copy of Kaggle's archive at a public course is downloaded,
    because Kaggle requires an account. Ids, texts and labels are kept in the latter
    folder. Their SHA-256 is checked each time.

    Parameters
    ----------
    download_if_missing : bool, default=True
        If False, raise an error instead of downloading.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Give data and target as pandas Series, and all columns as `frame`.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        Dictionary-like object with the attributes

        data : list of str
            The tweets.
        target : ndarray of shape (7613,), int
            1 for a tweet about a real disaster, else 0.
        target_names : list of str
            ``["not disaster", "disaster"]``.
        id : ndarray of shape (7613,), int
            Kaggle's number of each tweet.
        frame : DataFrame or None
            With `as_frame`: columns text, id and target.
        DESCR : str
            Description of the set.
    (data, target) : tuple if `return_X_y`
        Tweets and labels.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule.
    OSError
        If the set is missing and could not or must not be downloaded, or is not the
        expected one. It says where to put which file.

    Examples
    --------
    >>> from skdptext.datasets import fetch_disaster_tweets
    >>> tweets = fetch_disaster_tweets()  # doctest: +SKIP
    >>> tweets.target_names[tweets.target[0]]  # doctest: +SKIP
    'disaster'
    """
    text = _read(_TWEETS, download_if_missing)
    rows = list(csv.DictReader(io.StringIO(text)))
    ids = np.array([int(row["id"]) for row in rows])
    return text_bunch(
        [row["text"] for row in rows],
        np.array([row["target"] == "1" for row in rows], dtype=np.intp),
        {"id": ids},
        return_X_y,
        as_frame,
        target_names=["not disaster", "disaster"],
        DESCR=_TWEETS.about,
        id=ids,
    )


def _read(public: _PublicSet, download: bool) -> str:
    """Read the text of the table from a folder, or else from the web."""
    check_option("download_if_missing", download)
    home = data_home()
    folders = Path(os.environ.get("SKDPTEXT_DATA") or home).expanduser(), home
    names = public.file, f"{public.file}.gz", public.member
    paths = [folder / name for folder in folders for name in names]
    path = next(filter(Path.is_file, paths), None)
    remedy = f"Put {public.member}, which is in {public.url}, into {home}."
    if path is None and not download:
        raise OSError(f"{public.title} is missing and not to be downloaded. {remedy}")
    try:
        # A file of the user always comes before the network.
        path = path or _download(public, home)
    except Exception as error:  # network, archive and pooch raise many kinds of errors
        problem = f"{public.title} could not be downloaded ({error}). {remedy}"
        raise OSError(problem) from error
    content = path.read_bytes()
    text = _text(public, gzip.decompress(content) if path.suffix == ".gz" else content)
    # The checksum is of the decoded text, because copies differ in line ends, byte
    # order marks, compression and further columns.
    if sha256(text.encode()).hexdigest() != public.sha256:
        raise OSError(f"{path} is not the {public.title}: delete it. {remedy}")
    return text


def _text(public: _PublicSet, content: bytes) -> str:
    text = content.decode("utf-8-sig", errors="replace")
    return public.plain(text.replace("\r\n", "\n"))


def _download(public: _PublicSet, home: Path) -> Path:
    """Download the table; pooch keeps the file only if it has the checksum."""
    import pooch

    def save_table(url: str, output_file: str, _: Any) -> None:
        archive = io.BytesIO()
        pooch.HTTPDownloader()(url, archive, None)
        with zipfile.ZipFile(archive) as files:
            table = _text(public, files.read(public.member))
        Path(output_file).write_bytes(table.encode())

    path = pooch.retrieve(
        public.url, public.sha256, fname=public.file, path=home, downloader=save_table
    )
    return Path(path)
