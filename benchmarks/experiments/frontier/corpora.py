"""Public and protected parts of four corpora, with nothing on both sides.

Near-copies are taken out first: of documents that share half of their words, one stays.
Of fan fiction, which has no others, equal texts are; it is divided by authors, too.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from itertools import compress

import numpy as np
from experiments.obfuscation.corpora import FANDOMS
from experiments.texts import labelled, pieces, vectors
from real_data import (
    DATA,
    GLOVE,
    GOOGLE,
    SMS,
    STORIES,
    TWEETS,
    absent,
    distinct_stories,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import chi2

from skdptext import WordEmbedding

N_WORDS = 2000  # of each embedding, for releases by words
FEWEST = 3  # pieces of another fandom, of which groups are made
MOST = {"public": 4000, "protected": 1000}
FILES = {
    "fan fiction": (STORIES, GOOGLE, GLOVE),
    "docstrings": (GLOVE,),
    "SMS": (SMS, GOOGLE, GLOVE),
    "tweets": (TWEETS, GOOGLE, GLOVE),
}
MODULES = "docstrings by module"  # twenty topics
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
    story: np.ndarray | None = None  # that a protected document is a piece of


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
        list(compress(whole.public, inside)),
        whole.public_topic[inside],
        list(compress(whole.protected, asked)),
        whole.topic[asked],
        list(compress(whole.public, ~inside)),
        elsewhere_topic=whole.public_topic[~inside],
    )


@cache
def embedding(name: str) -> WordEmbedding:
    """The most frequent words of a corpus's embedding."""
    return vectors(name).restrict(N_WORDS)


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
def glove() -> WordEmbedding:
    """13,000 words of GloVe, 50 dimensions."""
    return WordEmbedding.load(DATA / GLOVE)


@cache
def _labelled(name: str) -> tuple[list[str], np.ndarray]:
    corpus = labelled("docstrings" if name == MODULES else name)
    if name == MODULES:
        module = np.array([".".join(which.split(".")[:2]) for which in corpus.names])
        often = [which for which, _ in Counter(module).most_common(20)]
        rows = np.flatnonzero(np.isin(module, often))
        texts, topics = [corpus.data[i] for i in rows], module[rows]
    elif name == "docstrings":
        texts, topics = corpus.data, np.array(corpus.target_names)[corpus.target]
    else:
        topics = np.array(corpus.target).astype(str)
        texts = [re.sub(r"https?://\S+", " ", text) for text in corpus.data]
    rows = without_near_copies(texts)
    return [texts[i] for i in rows], topics[rows]


def without_near_copies(texts: list[str], shared: float = 0.5) -> np.ndarray:
    """Rows of texts of which no two share half of their words (Jaccard)."""
    bags = CountVectorizer(binary=True, dtype=np.int32).fit_transform(texts)
    sizes = np.asarray(bags.sum(axis=1)).ravel()
    first = np.zeros(len(texts), dtype=bool)
    for row in np.flatnonzero(sizes >= 3):
        both = (bags[: row + 1] @ bags[row].T).tocoo()
        union = sizes[both.row] + sizes[row] - both.data
        first[row] = not (first[both.row] & (both.data >= shared * union)).any()
    return np.flatnonzero(first)


# -- fan fiction ---------------------------------------------------------------------


_lines = cache(distinct_stories)


def _stories(rng: np.random.Generator) -> Split:
    """Five fandoms, nine authors each; half of an author's pieces are known in clear.

    Public labels come from the writers of the same fandoms who are none of these.
    Groups of other fandoms come from what half of the authors wrote elsewhere; only the
    other half is protected.
    """
    public, own = _by_writers()
    return _divided(rng, public, own, others=set())


def _by_writers() -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Texts of the five fandoms: of writers who are not named, and of nine of each."""
    lines = [line for line in _lines() if line["topic"] in FANDOMS]
    own = []
    for fandom in FANDOMS:
        here = [line for line in lines if line["topic"] == fandom]
        written = Counter(line["author"] for line in here if line["author"] is not None)
        nine = {author for author, _ in written.most_common(9)}
        own += [line for line in here if line["author"] in nine]
    return [line for line in lines if line["author"] is None], own


def stories_elsewhere(seed: int, *, of_problem: str | None = None) -> Split:
    """Fan fiction with groups of other fandoms, by writers who are not protected.

    Half of the writers of each fandom are protected, or, with `of_problem`, all nine of
    that fandom.
    """
    rng = np.random.default_rng(seed)
    public, own = _by_writers()
    protected: set[str] = set()
    for fandom in FANDOMS:
        here = sorted({line["author"] for line in own if line["topic"] == fandom})
        if of_problem is None:
            protected |= set(rng.permutation(here)[: (len(here) + 1) // 2].tolist())
        elif of_problem == fandom:
            protected |= set(here)
    others = {line["author"] for line in _lines()} - protected - {None}
    own = [line for line in own if line["author"] in protected]
    return _divided(rng, public, own, others)


def _divided(
    rng: np.random.Generator,
    public: list[dict[str, str]],
    own: list[dict[str, str]],
    others: set[str],
) -> Split:
    theirs, origin = pieces([line["text"] for line in public])
    order = rng.permutation(len(theirs))[: MOST["public"]]
    # whole texts of an author are known, or are protected
    ours, text = pieces([line["text"] for line in own])
    author = np.array([own[i]["author"] for i in text])
    topic = np.array([own[i]["topic"] for i in text])
    known = np.zeros(len(ours), dtype=bool)
    for name in np.unique(author):
        written = rng.permutation(np.unique(text[author == name]))
        known |= np.isin(text, written[: max(1, len(written) // 2)])
    rows = rng.permutation(np.flatnonzero(~known))[: MOST["protected"]]
    other = [
        line
        for line in _lines()
        if line["author"] in others and line["topic"] not in FANDOMS
    ]
    elsewhere, source = pieces([line["text"] for line in other])
    fandom = np.array([other[i]["topic"] for i in source])
    names, sizes = np.unique(fandom, return_counts=True)
    often = np.flatnonzero(np.isin(fandom, names[sizes >= FEWEST]))[: MOST["public"]]
    return Split(
        [theirs[i] for i in order],
        np.array([public[origin[i]]["topic"] for i in order]),
        [ours[i] for i in rows],
        topic[rows],
        [elsewhere[i] for i in often],
        author[rows],
        [ours[i] for i in np.flatnonzero(known)],
        author[known],
        fandom[often],
        text[rows],
    )
