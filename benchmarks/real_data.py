"""Where the benchmarks find the shared real data, its texts, and its largest table."""

from __future__ import annotations

import gzip
import json
import os
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from skdptext import WordEmbedding
from skdptext.datasets import (
    fetch_disaster_tweets,
    fetch_sms_spam,
    load_docstring_embedding,
    load_docstrings,
)

DATA = Path(
    os.environ.get("SKDPTEXT_TEST_DATA")
    or Path(__file__).resolve().parents[2] / "shared" / "data"
)
SMS, TWEETS = "sms_spam.tsv.gz", "disaster_tweets.csv.gz"
STORIES = "pan19_fanfiction_en.jsonl.gz"
W2V = "w2v_news_fiction_30k_300d.npz"
GOOGLE, GLOVE = "googlenews_8k_300d.npz", "glove_6B_13k_50d.npz"


def absent(*names: str) -> list[str]:
    """Those of the named files that are not there, which is said."""
    missing = [name for name in names if not (DATA / name).exists()]
    if missing:
        print(f"Left out, for {DATA} lacks {', '.join(missing)}.")
    return missing


def load_table() -> WordEmbedding:
    """The largest table."""
    return WordEmbedding.load(DATA / W2V)


def numbered_words(vectors: np.ndarray) -> WordEmbedding:
    """An embedding of words that are called w0, w1, …"""
    return WordEmbedding([f"w{i}" for i in range(len(vectors))], vectors)


def labelled(name: str) -> Any:
    """Texts with their topics: docstrings without names, SMS, or tweets."""
    if name == "docstrings":
        return load_docstrings(remove=["examples", "headers", "names"])
    os.environ["SKDPTEXT_DATA"] = str(DATA)
    return (fetch_sms_spam if name == "SMS" else fetch_disaster_tweets)()


def read_sms() -> tuple[list[str], np.ndarray]:
    """Messages, and whether each is spam."""
    corpus = labelled("SMS")
    return corpus.data, corpus.target


def read_tweets() -> tuple[list[str], np.ndarray]:
    """Tweets, and whether each is of a disaster."""
    corpus = labelled("tweets")
    return corpus.data, corpus.target


def read_docstrings() -> tuple[list[str], np.ndarray]:
    """Docstrings, and their topics."""
    corpus = labelled("docstrings")
    return corpus.data, corpus.target


def read_stories() -> list[dict[str, Any]]:
    """Fan fiction of PAN 2019: "text", "author", "topic", "problem" and "split"."""
    with gzip.open(DATA / STORIES, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def distinct_stories() -> list[dict[str, Any]]:
    """The same, each text once.

    Problems repeat texts under other names: who wrote the same text is one author, and
    it belongs to one topic. Each has the last of its names, so that target fandoms,
    which are masked, stand for the fandoms that they are.
    """
    by_text: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in read_stories():
        by_text[row["text"]].append(row)
    for key in ("author", "topic"):
        known_as: dict[str, str] = {}

        def last(name: str, known_as: dict[str, str] = known_as) -> str:
            while name in known_as:
                name = known_as[name]
            return name

        for rows in by_text.values():
            names = sorted({last(row[key]) for row in rows if row[key] is not None})
            known_as.update((name, names[-1]) for name in names[:-1])
        for rows in by_text.values():
            names = [last(row[key]) for row in rows if row[key] is not None]
            rows[0] = rows[0] | {key: names[0] if names else None}
    return [rows[0] for rows in by_text.values()]


@cache
def vectors(name: str) -> WordEmbedding:
    """The embedding of a corpus: its own for docstrings, else Google News."""
    if name == "docstrings":
        return load_docstring_embedding()
    return WordEmbedding.load(DATA / GOOGLE)


def pieces(texts: list[str], n_words: int = 200) -> tuple[list[str], np.ndarray]:
    """Pieces of texts, and the rows of these; what is left of a text is left out."""
    snippets, rows = [], []
    for i, text in enumerate(texts):
        words = text.split()
        for start in range(0, len(words) - n_words + 1, n_words):
            snippets.append(" ".join(words[start : start + n_words]))
            rows.append(i)
    return snippets, np.array(rows, int)
