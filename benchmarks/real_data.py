"""Where the benchmarks find the shared real data, its texts, and its largest table."""

from __future__ import annotations

import csv
import gzip
import json
import os
from pathlib import Path

import numpy as np

from skdptext import WordEmbedding

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
    """The real table, or a synthetic one of its size, which is said."""
    path = DATA / W2V
    if path.exists():
        print(f"Table: {path.name}")
        return WordEmbedding.load(path)
    print("Table: synthetic, 30,000 × 300")
    vectors = np.random.default_rng(0).normal(size=(30_000, 300)) / 8
    return WordEmbedding([f"w{i}" for i in range(30_000)], vectors)


def read_sms() -> tuple[list[str], np.ndarray]:
    """Messages, and whether each is spam."""
    with gzip.open(DATA / SMS, "rt", encoding="utf-8") as file:
        pairs = [line.rstrip("\n").split("\t", 1) for line in file]
    return [text for _, text in pairs], np.array([label for label, _ in pairs])


def read_tweets() -> tuple[list[str], np.ndarray]:
    """Tweets, and whether each is of a disaster."""
    with gzip.open(DATA / TWEETS, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], np.array([row["target"] for row in rows])


def read_stories() -> list[dict[str, str]]:
    """Fan fiction of PAN 2019: "text", "author", "topic", "problem" and "split"."""
    with gzip.open(DATA / STORIES, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
