"""Public, private and test thirds of four corpora, with no text on two sides.

The rules of the default were chosen on the first three; fan fiction was held out.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

import numpy as np
from experiments.texts import labelled
from real_data import GOOGLE, SMS, STORIES, TWEETS, absent, distinct_stories

SPLITS = range(5)
HELD_OUT = "fan fiction"
FILES = {
    "SMS": (SMS, GOOGLE),
    "tweets": (TWEETS, GOOGLE),
    "docstrings": (),
    HELD_OUT: (STORIES, GOOGLE),
}
FANDOMS, BEGINNING = 5, 200  # the most frequent; words of each story
MOST = {"docstrings": 500}  # private documents


@dataclass(frozen=True)
class Case:
    """What is learned, and the goal: its share of the balanced accuracy in clear."""

    corpus: str
    epsilon: float
    authors: int | None = None  # drawn, sizes as rank^-1/2; None: a document each
    goal: float | None = None
    vectors: bool = True

    @property
    def name(self) -> str:
        by = f" by {self.authors} authors" if self.authors else ""
        return f"{self.corpus}{by}{'' if self.vectors else ', no vectors'}"


CASES = [
    Case("SMS", 0.5),
    Case("SMS", 1.0, goal=0.97),
    Case("SMS", 2.0),
    Case("SMS", 1.0, goal=0.97, vectors=False),
    Case("tweets", 0.5),
    Case("tweets", 1.0, goal=0.99),
    Case("tweets", 2.0),
    Case("tweets", 1.0, goal=0.97, vectors=False),
    Case("tweets", 1.0, 800),
    Case("tweets", 1.0, 300),
    Case("docstrings", 1.0, goal=0.73),
    Case("docstrings", 2.0),
    Case(HELD_OUT, 0.5),
    Case(HELD_OUT, 1.0, goal=0.95),
    Case(HELD_OUT, 2.0),
]


@dataclass(frozen=True)
class Split:
    """Texts and topics, as numbers, of each third."""

    public: list[str]
    public_topic: np.ndarray
    private: list[str]
    topic: np.ndarray
    test: list[str]
    test_topic: np.ndarray


def names() -> list[str]:
    """The corpora that can be had here; what is missing is said."""
    return [name for name, files in FILES.items() if not absent(*files)]


@cache
def _texts(name: str) -> tuple[list[str], np.ndarray]:
    """Each text once."""
    if name == HELD_OUT:
        return _stories()
    corpus = labelled(name)
    first = {text: i for i, text in reversed(list(enumerate(corpus.data)))}
    rows = sorted(first.values())
    texts = [re.sub(r"https?://\S+", " ", corpus.data[i]) for i in rows]
    return texts, np.unique(np.asarray(corpus.target)[rows], return_inverse=True)[1]


def _stories() -> tuple[list[str], np.ndarray]:
    """Beginnings of stories, and their fandoms; a story counts as a person."""
    stories = [story for story in distinct_stories() if story["split"] == "unknown"]
    sizes = Counter(story["topic"] for story in stories)
    known = sorted(topic for topic, _ in sizes.most_common(FANDOMS))
    chosen = [story for story in stories if story["topic"] in known]
    texts = [" ".join(story["text"].split()[:BEGINNING]) for story in chosen]
    return texts, np.array([known.index(story["topic"]) for story in chosen])


@cache
def split(name: str, seed: int) -> Split:
    """A division of a corpus; equal seeds give equal ones."""
    texts, topics = _texts(name)
    order = np.random.default_rng(seed).permutation(len(texts))
    third = len(order) // 3
    thirds = order[:third], order[third : 2 * third], order[2 * third :]
    parts = thirds[0], thirds[1][: MOST.get(name)], thirds[2]
    given = [([texts[i] for i in rows], topics[rows]) for rows in parts]
    return Split(*given[0], *given[1], *given[2])


def drawn_authors(case: Case, n: int, rng: np.random.Generator) -> np.ndarray | None:
    """Who wrote each of n documents."""
    if case.authors is None:
        return None
    shares = np.arange(1, case.authors + 1) ** -0.5
    return rng.choice(case.authors, n, p=shares / shares.sum())
