"""The four corpora: documents to release, what to learn from them, and public text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache

import numpy as np
from experiments.obfuscation.corpora import FANDOMS, Problem, fan_fiction
from real_data import GOOGLE, SMS, STORIES, TWEETS, absent, labelled, pieces, vectors
from sklearn.model_selection import train_test_split

from skdptext import WordEmbedding

N_WORDS = 3000  # of each embedding, the most frequent ones
MAX_DOCUMENTS = 1000  # of each half of a corpus


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
    files = {"SMS": SMS, "tweets": TWEETS, "fan fiction": STORIES}
    there = [name for name, file in files.items() if not absent(GOOGLE, file)]
    return [*there, "docstrings"]


@cache
def embedding(name: str) -> WordEmbedding:
    """One of the two embeddings, cut to its most frequent words."""
    return vectors(name).restrict(N_WORDS)


@cache
def corpus(name: str) -> Corpus:
    """One of the corpora."""
    if name == "fan fiction":
        return _fan_fiction()
    corpus = labelled(name)
    if name == "docstrings":
        labels = {"topic": corpus.target, "author": corpus.author}
        return _halves(name, corpus.data, labels, 40, "docstrings")
    return _halves(name, corpus.data, {"topic": corpus.target}, 10, "google")


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
        texts = [] if absent(STORIES) else _stories().training
    counts = Counter(word for text in texts for word in text.lower().split())
    frequency = np.array([counts[word] + 1.0 for word in table.words])
    return frequency / frequency.sum()


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
    return fan_fiction("five fandoms", FANDOMS)


def _fan_fiction() -> Corpus:
    """Pieces of 200 words: of an author's known text, and of what came last."""
    stories = _stories()
    train, train_rows = pieces(stories.known)
    test, test_rows = pieces(stories.snippets)
    labels = {
        "topic": (stories.known_topic[train_rows], stories.topic[test_rows]),
        "author": (stories.known_author[train_rows], stories.author[test_rows]),
    }
    return Corpus("fan fiction", train, test, labels, 100, "google")
