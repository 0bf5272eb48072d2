"""The four corpora: documents to release, what to learn from them, and public text."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from functools import cache

import numpy as np
from experiments.obfuscation.corpora import FANDOMS, Problem, fan_fiction
from real_data import DATA, absent
from sklearn.model_selection import train_test_split

from skdptext import WordEmbedding
from skdptext.datasets import (
    fetch_disaster_tweets,
    fetch_sms_spam,
    load_docstring_embedding,
    load_docstrings,
)

N_WORDS = 3000  # of each embedding, the most frequent ones
MAX_DOCUMENTS = 1000  # of each half of a corpus
GOOGLE, FICTION = "googlenews_8k_300d.npz", "pan19_fanfiction_en.jsonl.gz"
AUTHORED = ("fan fiction", "docstrings")


@dataclass(frozen=True)
class Corpus:
    """Documents in two halves, to train and to test with."""

    name: str
    train: list[str]
    test: list[str]
    labels: dict[str, tuple[np.ndarray, np.ndarray]]  # "topic", "author": the halves'
    length: int  # words of each release
    embedding: str


def names() -> list[str]:
    """The corpora that can be had here; what is missing is said."""
    have_table = not absent(GOOGLE)
    files = {
        "SMS": "sms_spam.tsv.gz",
        "tweets": "disaster_tweets.csv.gz",
        "fan fiction": FICTION,
    }
    there = [name for name, file in files.items() if have_table and not absent(file)]
    return [*there, "docstrings"]


@cache
def embedding(name: str) -> WordEmbedding:
    """One of the two embeddings, cut to its most frequent words."""
    if name == "docstrings":
        return load_docstring_embedding().restrict(N_WORDS)
    return WordEmbedding.load(DATA / GOOGLE).restrict(N_WORDS)


@cache
def corpus(name: str) -> Corpus:
    """One of the corpora."""
    if name == "docstrings":
        found = load_docstrings(remove=["examples", "headers", "names"])
        labels = {"topic": found.target, "author": found.author}
        return _halves(name, found.data, labels, 40, "docstrings")
    if name == "fan fiction":
        return _fan_fiction()
    os.environ["SKDPTEXT_DATA"] = str(DATA)
    found = (fetch_sms_spam if name == "SMS" else fetch_disaster_tweets)()
    return _halves(name, found.data, {"topic": found.target}, 10, "google")


@cache
def prior(name: str) -> np.ndarray:
    """How frequent the words of an embedding are in public text, one added to each.

    The text is the training half of the docstrings, or fan fiction by authors who are
    in neither half; without that file, all words count alike.
    """
    table = embedding(name)
    if name == "docstrings":
        texts = corpus(name).train
    else:
        texts = [] if absent(FICTION) else _stories().training
    counts = Counter(word for text in texts for word in text.lower().split())
    found = np.array([counts[word] + 1.0 for word in table.words])
    return found / found.sum()


def _halves(
    name: str,
    texts: list[str],
    labels: dict[str, np.ndarray],
    length: int,
    table: str,
) -> Corpus:
    """A random half to train with and a random half to test with, by the topic."""
    rows = np.arange(len(texts))
    train, test = train_test_split(
        rows, test_size=0.5, stratify=labels["topic"], random_state=0
    )
    train, test = train[:MAX_DOCUMENTS], test[:MAX_DOCUMENTS]
    return Corpus(
        name,
        [texts[i] for i in train],
        [texts[i] for i in test],
        {kind: (of[train], of[test]) for kind, of in labels.items()},
        length,
        table,
    )


@cache
def _stories() -> Problem:
    return fan_fiction(DATA / FICTION, "five fandoms", FANDOMS)


def _fan_fiction() -> Corpus:
    """Pieces of 200 words: of an author's known text, and of what came last."""
    found = _stories()
    train, train_rows = _pieces(found.known)
    test, test_rows = _pieces(found.snippets)
    labels = {
        "topic": (found.known_topic[train_rows], found.topic[test_rows]),
        "author": (found.known_author[train_rows], found.author[test_rows]),
    }
    return Corpus("fan fiction", train, test, labels, 100, "google")


def _pieces(texts: list[str], n_words: int = 200) -> tuple[list[str], np.ndarray]:
    pieces, rows = [], []
    for i, text in enumerate(texts):
        words = text.split()
        for start in range(0, len(words) - n_words + 1, n_words):
            pieces.append(" ".join(words[start : start + n_words]))
            rows.append(i)
    return pieces, np.array(rows)
