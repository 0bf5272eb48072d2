"""Public and protected parts of four corpora, with nothing on both sides.

Near-copies are taken out first: of documents that share half of their words, one stays.
Fan fiction is divided by authors, too.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from experiments.obfuscation.corpora import FANDOMS
from real_data import DATA, absent
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import chi2

from skdptext import WordEmbedding
from skdptext.datasets import (
    fetch_disaster_tweets,
    fetch_sms_spam,
    load_docstring_embedding,
    load_docstrings,
)

N_WORDS = 2000  # of each embedding, for releases by words
PIECE = 200  # words of a piece of fan fiction
MOST = {"public": 4000, "protected": 1000}
FILES = {
    "fan fiction": ("pan19_fanfiction_en.jsonl.gz", "googlenews_8k_300d.npz"),
    "docstrings": (),
    "SMS": ("sms_spam.tsv.gz", "googlenews_8k_300d.npz"),
    "tweets": ("disaster_tweets.csv.gz", "googlenews_8k_300d.npz"),
}
LENGTHS = {"fan fiction": 100, "docstrings": 40, "SMS": 10, "tweets": 10}


@dataclass(frozen=True)
class Split:
    """One division of a corpus."""

    public: list[str]
    public_topic: np.ndarray
    protected: list[str]
    topic: np.ndarray
    elsewhere: list[str]  # public text of none of these topics; it may be empty
    author: np.ndarray | None = None
    # clear text that an adversary has of the protected authors, and who wrote it
    known: list[str] = field(default_factory=list)
    known_author: np.ndarray | None = None
    elsewhere_topic: np.ndarray | None = None


def names() -> list[str]:
    """The corpora that can be had here; what is missing is said."""
    return [name for name, files in FILES.items() if not absent(*files)]


def split(name: str, seed: int) -> Split:
    """A division of a corpus; equal seeds give equal ones."""
    rng = np.random.default_rng(seed)
    if name == "fan fiction":
        return _stories(rng)
    texts, topics = _labelled(name)
    order = rng.permutation(len(texts))
    half = len(order) // 2
    public, protected = order[:half][: MOST["public"]], order[half:]
    protected = protected[: MOST["protected"]]
    return Split(
        [texts[i] for i in public],
        topics[public],
        [texts[i] for i in protected],
        topics[protected],
        [],
    )


def held_out(name: str, seed: int) -> Split:
    """The same, with groups to be made from the other half of the topics."""
    whole = split(name, seed)
    names = np.unique(whole.topic)
    chosen = np.random.default_rng(seed).permutation(names)[: len(names) // 2]
    inside = np.isin(whole.public_topic, chosen)
    asked = np.isin(whole.topic, chosen)
    return Split(
        [text for text, keep in zip(whole.public, inside, strict=True) if keep],
        whole.public_topic[inside],
        [text for text, keep in zip(whole.protected, asked, strict=True) if keep],
        whole.topic[asked],
        [text for text, keep in zip(whole.public, inside, strict=True) if not keep],
        elsewhere_topic=whole.public_topic[~inside],
    )


@cache
def embedding(name: str) -> WordEmbedding:
    """The words of a corpus: its own for docstrings, else Google News."""
    if name == "docstrings":
        return load_docstring_embedding().restrict(N_WORDS)
    return WordEmbedding.load(DATA / "googlenews_8k_300d.npz").restrict(N_WORDS)


def vocabulary(name: str, split: Split) -> WordEmbedding:
    """The words that are released; those that public text says carry the topic.

    Names of persons carry the topics of fan fiction, and are no frequent words of news.
    """
    if name != "fan fiction":
        return embedding(name)
    table = vectors(name)
    counts = CountVectorizer(vocabulary=[w.lower() for w in _once(table.words)])
    bags = counts.fit_transform(split.public)
    scores = np.nan_to_num(chi2(bags, split.public_topic)[0])
    return _lowered(table).restrict(
        [counts.get_feature_names_out()[i] for i in np.argsort(-scores)[:1500]]
    )


def _once(words: tuple[str, ...]) -> list[str]:
    """Words that differ in more than capitals, the first of each."""
    return list({word.lower(): word for word in reversed(words)}.values())[::-1]


@cache
def _lowered(table: WordEmbedding) -> WordEmbedding:
    once = _once(table.words)
    rows = table.find(once)
    return WordEmbedding([word.lower() for word in once], table.vectors[rows])


@cache
def vectors(name: str) -> WordEmbedding:
    """All words of the public embedding, for encoders by mean vectors."""
    if name == "docstrings":
        return load_docstring_embedding()
    return WordEmbedding.load(DATA / "googlenews_8k_300d.npz")


@cache
def glove() -> WordEmbedding:
    """13,000 words of GloVe, 50 dimensions."""
    return WordEmbedding.load(DATA / "glove_6B_13k_50d.npz")


@cache
def _labelled(name: str) -> tuple[list[str], np.ndarray]:
    if name == "docstrings":
        found = load_docstrings(remove=["examples", "headers", "names"])
        texts, topics = found.data, np.array(found.target_names)[found.target]
    else:
        os.environ["SKDPTEXT_DATA"] = str(DATA)
        found = (fetch_sms_spam if name == "SMS" else fetch_disaster_tweets)()
        texts, topics = found.data, np.array(found.target).astype(str)
        texts = [re.sub(r"https?://\S+", " ", text) for text in texts]
    kept = without_near_copies(texts)
    return [texts[i] for i in kept], topics[kept]


def without_near_copies(texts: list[str], shared: float = 0.5) -> np.ndarray:
    """Rows of texts of which no two share half of their words (Jaccard)."""
    bags = CountVectorizer(binary=True, dtype=np.int32).fit_transform(texts)
    sizes = np.asarray(bags.sum(axis=1)).ravel()
    kept = np.zeros(len(texts), dtype=bool)
    for row in range(len(texts)):
        if sizes[row] < 3:
            continue
        both = (bags[:row] @ bags[row].T).tocoo() if row else None
        if row:
            others = both.row
            union = sizes[others] + sizes[row] - both.data
            if (kept[others] & (both.data >= shared * union)).any():
                continue
        kept[row] = True
    return np.flatnonzero(kept)


# -- fan fiction ---------------------------------------------------------------------


@cache
def _lines() -> list[dict[str, str]]:
    with gzip.open(DATA / FILES["fan fiction"][0], "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _pieces(texts: list[str]) -> list[tuple[int, str]]:
    """Numbers of texts, and pieces of them."""
    found = []
    for i, text in enumerate(texts):
        words = text.split()
        for start in range(0, len(words) - PIECE + 1, PIECE):
            found.append((i, " ".join(words[start : start + PIECE])))
    return found


def _stories(rng: np.random.Generator) -> Split:
    """Five fandoms, nine authors each; half of an author's pieces are known in clear.

    Public labels come from the writers of the same fandoms who are none of these.
    Groups of other fandoms come from what half of the authors wrote elsewhere; only the
    other half is protected.
    """
    lines = [line for line in _lines() if line["topic"] in FANDOMS]
    public = [line for line in lines if line["author"] in (None, "None")]
    own = [line for line in lines if line["author"] not in (None, "None")]
    authors = sorted({line["author"] for line in own})
    return _divided(rng, public, own, set(authors), others=set())


def stories_elsewhere(seed: int, *, of_problem: str | None = None) -> Split:
    """Fan fiction with groups of other fandoms, by writers who are not protected.

    Half of the writers of each fandom are protected, or, with `of_problem`, all nine of
    that fandom.
    """
    rng = np.random.default_rng(seed)
    lines = [line for line in _lines() if line["topic"] in FANDOMS]
    public = [line for line in lines if line["author"] in (None, "None")]
    own = [line for line in lines if line["author"] not in (None, "None")]
    protected: set[str] = set()
    for fandom in FANDOMS:
        here = sorted({line["author"] for line in own if line["topic"] == fandom})
        if of_problem is None:
            protected |= set(rng.permutation(here)[: (len(here) + 1) // 2].tolist())
        elif of_problem == fandom:
            protected |= set(here)
    others = {line["author"] for line in _lines()} - protected - {None, "None"}
    own = [line for line in own if line["author"] in protected]
    return _divided(rng, public, own, protected, others)


def _divided(
    rng: np.random.Generator,
    public: list[dict[str, str]],
    own: list[dict[str, str]],
    protected: set[str],
    others: set[str],
) -> Split:
    labelled = _pieces([line["text"] for line in public])
    order = rng.permutation(len(labelled))[: MOST["public"]]
    pieces = _pieces([line["text"] for line in own])
    author = np.array([own[i]["author"] for i, _ in pieces])
    topic = np.array([own[i]["topic"] for i, _ in pieces])
    # whole texts of an author are known, or are protected
    text = np.array([i for i, _ in pieces])
    known = np.zeros(len(pieces), dtype=bool)
    for name in np.unique(author):
        written = rng.permutation(np.unique(text[author == name]))
        known |= np.isin(text, written[: max(1, len(written) // 2)])
    rows = rng.permutation(np.flatnonzero(~known))[: MOST["protected"]]
    other = [
        line
        for line in _lines()
        if line["author"] in others and line["topic"] not in FANDOMS
    ]
    elsewhere = _pieces([line["text"] for line in other])[: MOST["public"]]
    return Split(
        [labelled[i][1] for i in order],
        np.array([public[labelled[i][0]]["topic"] for i in order]),
        [pieces[i][1] for i in rows],
        topic[rows],
        [piece for _, piece in elsewhere],
        author[rows],
        [pieces[i][1] for i in np.flatnonzero(known)],
        author[known],
        np.array([other[i]["topic"] for i, _ in elsewhere]),
    )
