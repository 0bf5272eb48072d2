"""What is run: vectors, texts, ε, λ, repeats; in full, and small for a test."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from experiments.paper.published import EPSILONS, LAMS, N_DRAWS
from real_data import DATA, GLOVE, GOOGLE, W2V, read_sms, read_tweets

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.datasets import load_docstring_embedding, load_docstrings

# Of all noise: other integers would do, and give other draws.
SEED = 2020


class Vectors(NamedTuple):
    """A table of word vectors, and what is run with it."""

    title: str
    file: str | None  # none: the built-in ones
    paper: str  # whose numbers ours are compared with
    more_epsilons: tuple[float, ...] = ()  # where the paper's leave too little
    n_sampled: int = 2000  # random words


VECTORS = {
    "googlenews": Vectors("Google News word2vec", GOOGLE, "fastText", (80.0,)),
    "glove": Vectors("GloVe 6B", GLOVE, "GloVe"),
    "w2v": Vectors(
        "word2vec of news and fiction", W2V, "fastText", (80.0, 160.0, 320.0), 1000
    ),
    "docstrings": Vectors("Docstrings", None, "fastText", (), 50),
}


@dataclass(frozen=True)
class Plan:
    """The whole of a run. Classifiers are tried with the first table of vectors."""

    vectors: tuple[str, ...] = ("googlenews", "glove", "w2v")
    sets: tuple[str, ...] = ("SMS spam", "Disaster tweets")
    lams: tuple[float, ...] = LAMS
    n_draws: int = N_DRAWS
    # random splits of the sets, with noise of their own
    repeats: int = 5
    epsilons: tuple[float, ...] = (*EPSILONS, 80.0)
    # the same where the least and the largest λ leave this share of words unchanged
    equal_repeats: int = 3
    shares: tuple[float, ...] = (0.25, 0.75)
    # of the paired test: the experiment again
    n_replicates: int = 10


FULL = Plan()
QUICK = Plan(("docstrings",), ("Docstrings",), (0.0, 0.5, 1.0), 20, 2, (5.0, 40.0), 2,
             (0.5,), 3)  # fmt: skip


@cache
def texts_of(name: str) -> tuple[list[str], np.ndarray]:
    """Texts without links, and 0/1 labels."""
    if name == "Docstrings":
        texts, topics = load_docstrings(
            topics=["clustering", "linear algebra"], return_X_y=True
        )
        short = [" ".join(text.split()[:20]) for text in texts[::2]]
        return short, (np.asarray(topics[::2]) == topics[0]).astype(int)
    texts, labels = read_sms() if name == "SMS spam" else read_tweets()
    return [re.sub(r"https?://\S+", " ", text) for text in texts], np.asarray(labels)


class Vocabulary:
    """A table cut to the words that occur, as the paper's was, and the texts in it."""

    def __init__(self, plan: Plan, vectors: str) -> None:
        spec = VECTORS[vectors]
        whole = (
            load_docstring_embedding().restrict(2000)
            if spec.file is None
            else WordEmbedding.load(DATA / spec.file)
        )
        perturber = DPWordPerturber(whole).fit([])
        # every text as the list of its known words, spelt as the table spells them
        self.documents = {
            name: perturber.known_words(texts_of(name)[0]) for name in plan.sets
        }
        present = {w for docs in self.documents.values() for doc in docs for w in doc}
        self.embedding = whole.restrict([w for w in whole.words if w in present])
        # a random sample of the words, always the same
        order = np.random.default_rng(SEED).permutation(len(self.embedding))
        sampled = np.sort(order[: spec.n_sampled])
        self.sample = self.embedding.word_array[sampled].tolist()
        rows, columns = self.embedding.vectors.shape
        self.title = f"{spec.title}, {rows:,} × {columns}"

    def perturber(self, epsilon: float, lam: float, **options) -> DPWordPerturber:
        options = {"document_length": 1, **options}
        perturber = DPWordPerturber(self.embedding, epsilon=epsilon, lam=lam, **options)
        return perturber.fit([])


@cache
def vocabulary(plan: Plan, vectors: str) -> Vocabulary:
    return Vocabulary(plan, vectors)
