"""The two public sets of the 2020 paper."""

from __future__ import annotations

import csv
import io
import os
from typing import Any

import numpy as np

from skdptext.datasets._base import text_bunch
from skdptext.datasets._fetch import PublicSet, fetch
from skdptext.utils import check_flag, import_pandas

_SMS_DESCR = """\
SMS Spam Collection
-------------------

5,574 English text messages, 4,827 legitimate ("ham") and 747 "spam", collected by
Tiago A. Almeida and José María Gómez Hidalgo. UCI Machine Learning Repository,
https://doi.org/10.24432/C5CC84. It is the SMSSpam set of Xu et al. (2020).
"""

_TWEETS_DESCR = """\
Disaster tweets
---------------

7,613 English tweets, 3,271 about a real disaster and 4,342 not. Collected by
figure-eight, published as the training set of the Kaggle competition
nlp-getting-started, whose terms apply: do not redistribute. It is the Twitter set of
Xu et al. (2020). Some tweets hold what is left of characters that were lost before
publication.
"""


def _read_sms(text: str) -> list[dict[str, str]]:
    # Split at newlines only: messages hold other characters that end a line for str.
    lines = text.removesuffix("\n").split("\n")
    records = []
    for number, line in enumerate(lines, start=1):
        label, tab, message = line.partition("\t")
        if not tab or label not in ("ham", "spam"):
            raise ValueError(f"line {number} is not ham or spam, a tab and a text")
        records.append({"label": label, "text": message})
    return records


def _canonical_sms(records: list[dict[str, str]]) -> str:
    return "".join(f"{record['label']}\t{record['text']}\n" for record in records)


def _read_tweets(text: str) -> list[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(text, newline=""))
    try:
        missing = {"id", "text", "target"}.difference(reader.fieldnames or ())
        records = list(reader)
    except csv.Error as error:
        raise ValueError(str(error)) from error
    if missing:
        raise ValueError(f"no column {', '.join(sorted(missing))}")
    for record in records:
        if record["target"] not in ("0", "1"):
            raise ValueError(f"the target of tweet {record['id']} is not 0 or 1")
    return records


def _canonical_tweets(records: list[dict[str, str]]) -> str:
    # keyword and location are not in every copy, so they cannot be in the checksum
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["id", "text", "target"])
    writer.writerows([r["id"], r["text"], r["target"]] for r in records)
    return table.getvalue()


# The SHA-256 of the file SMSSpamCollection inside UCI's archive.
_SMS = PublicSet(
    name="SMS Spam Collection",
    cache_name="sms_spam.tsv",
    file_names=(
        "sms_spam.tsv.gz",
        "sms_spam.tsv",
        "SMSSpamCollection",
        "sms+spam+collection.zip",
    ),
    member="SMSSpamCollection",
    url="https://archive.ics.uci.edu/static/public/228/sms+spam+collection.zip",
    sha256="7d039a24a6083ed9ef0f806ebad56bbb976e3aeb8de05669173bfdc4996c239d",
    read=_read_sms,
    canonical=_canonical_sms,
)

# Kaggle asks for an account; this copy of its archive is that of a public course.
_TWEETS = PublicSet(
    name="Disaster tweets",
    cache_name="disaster_tweets.csv",
    file_names=(
        "disaster_tweets.csv.gz",
        "disaster_tweets.csv",
        "train.csv",
        "nlp-getting-started.zip",
        "nlp_getting_started.zip",
    ),
    member="train.csv",
    url="https://storage.googleapis.com/ztm_tf_course/nlp_getting_started.zip",
    sha256="b5976ab9e5448b9dd24881165256a77d972fc530496aaca015b6c4d380d25b5c",
    read=_read_tweets,
    canonical=_canonical_tweets,
)


def fetch_sms_spam(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
    url: str | None = None,
) -> Any:
    """Fetch the SMS Spam Collection: 5,574 text messages, ham or spam.

    The 200 kB archive is downloaded once and kept in the data home. Where it comes
    from does not matter: the SHA-256 of the messages and labels themselves is checked
    each time they are read. If the environment variable ``SKDPTEXT_DATA`` is set, the
    folder it names is used instead and nothing is downloaded; it should hold
    ``sms_spam.tsv.gz``, ``sms_spam.tsv``, ``SMSSpamCollection`` or
    ``sms+spam+collection.zip``.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder to keep the data in, see `get_data_home`.
    download_if_missing : bool, default=True
        If False, raise an error instead of downloading.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Give data and target as pandas Series, and both as `frame`.
    url : str, default=None
        Where to download from. None: the UCI repository.

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
        expected one. `ConnectionError` for the network, `FileNotFoundError` for the
        folder of ``SKDPTEXT_DATA``. Nothing is left half-written.

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
    return_X_y = check_flag("return_X_y", return_X_y)
    if check_flag("as_frame", as_frame):
        import_pandas("as_frame=True")  # before the work, not after it
    records = fetch(
        _SMS,
        url=url,
        data_home=data_home,
        download_if_missing=download_if_missing,
    )
    return text_bunch(
        [record["text"] for record in records],
        np.array([record["label"] == "spam" for record in records], dtype=np.intp),
        columns={},
        return_X_y=return_X_y,
        as_frame=as_frame,
        target_names=["ham", "spam"],
        DESCR=_SMS_DESCR,
    )


def fetch_disaster_tweets(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
    url: str | None = None,
) -> Any:
    """Fetch the disaster tweets: 7,613 tweets, about a real disaster or not.

    Kaggle, the source, serves the file to its members only, so the default is a copy
    of the archive at a public course. Any copy will do: the SHA-256 of ids, texts and
    labels is checked each time they are read. If the environment variable
    ``SKDPTEXT_DATA`` is set, the folder it names is used instead and nothing is
    downloaded; it should hold ``disaster_tweets.csv.gz``, ``disaster_tweets.csv``,
    Kaggle's ``train.csv`` or ``nlp-getting-started.zip``.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder to keep the data in, see `get_data_home`.
    download_if_missing : bool, default=True
        If False, raise an error instead of downloading.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Give data and target as pandas Series, and all columns as `frame`.
    url : str, default=None
        Where to download from. None: the public copy.

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
        keyword, location : list of str
            Only if the copy has these columns: a word of the tweet, and the place that
            its author gave; "" where missing. The checksum does not cover them.
        frame : DataFrame or None
            With `as_frame`: columns text, id, keyword and location if there, target.
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
        expected one. `ConnectionError` for the network, `FileNotFoundError` for the
        folder of ``SKDPTEXT_DATA``. Nothing is left half-written.

    Examples
    --------
    >>> from skdptext.datasets import fetch_disaster_tweets
    >>> tweets = fetch_disaster_tweets()  # doctest: +SKIP
    >>> tweets.target_names[tweets.target[0]]  # doctest: +SKIP
    'disaster'
    """
    return_X_y = check_flag("return_X_y", return_X_y)
    if check_flag("as_frame", as_frame):
        import_pandas("as_frame=True")  # before the work, not after it
    records = fetch(
        _TWEETS,
        url=url,
        data_home=data_home,
        download_if_missing=download_if_missing,
    )
    columns: dict[str, Any] = {"id": np.array([int(r["id"]) for r in records])}
    for name in ("keyword", "location"):
        if name in records[0]:
            columns[name] = [record[name] for record in records]
    return text_bunch(
        [record["text"] for record in records],
        np.array([record["target"] == "1" for record in records], dtype=np.intp),
        columns=columns,
        return_X_y=return_X_y,
        as_frame=as_frame,
        target_names=["not disaster", "disaster"],
        DESCR=_TWEETS_DESCR,
        **columns,
    )
