"""What is run: tables, texts, ε, λ, repeats; in full, and small for a test."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from experiments.paper import published
from real_data import DATA

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.datasets import (
    fetch_disaster_tweets,
    fetch_sms_spam,
    load_docstring_embedding,
    load_docstrings,
)

URL = re.compile(r"https?://\S+")
# Of all noise: other integers would do, and give other draws.
SEED = 2020


@dataclass(frozen=True)
class Trial:
    """Classification of a set through the noise of a table."""

    epsilons: tuple[float, ...]
    lams: tuple[float, ...]
    # random splits, with noise of their own
    repeats: int


@dataclass(frozen=True)
class TableSpec:
    """A table of word vectors, and what is run with it."""

    title: str
    file: str | None
    # whose numbers ours stand beside
    paper: str
    # ε beyond the paper's, where the paper's leave too little
    more_epsilons: tuple[float, ...] = ()
    # random words, for what is asked of a sample
    n_sampled: int = 2000
    # by name of the set; empty: no classification with this table
    trials: Mapping[str, Trial] = field(default_factory=dict)
    # with Word Mover's neighbours, and at equal N_w: long
    main: bool = False


@dataclass(frozen=True)
class Plan:
    """The whole of a run."""

    tables: Mapping[str, TableSpec]
    epsilons: tuple[float, ...] = published.EPSILONS
    lams: tuple[float, ...] = published.LAMS
    claimed: tuple[float, ...] = published.CLAIMED
    n_draws: int = published.N_DRAWS
    # of N_w/100, at which λ are compared at equal empirical privacy
    equal_shares: tuple[float, ...] = (0.25, 0.75)
    equal_lams: tuple[float, ...] = (0.0, 0.5, 1.0)
    # of the comparisons beside figures 6 and 7
    few_repeats: int = 3
    # the paired test: the experiment anew, on a random sample of the words
    n_replicates: int = 10
    quick: bool = False
    _tables: dict[str, Vocabulary] = field(default_factory=dict)

    @cached_property
    def sets(self) -> dict[str, tuple[list[str], np.ndarray]]:
        """Texts and 0/1 labels of both sets; links are cut from the tweets."""
        if self.quick:
            texts, topics = load_docstrings(
                topics=["clustering", "linear algebra"], return_X_y=True
            )
            short = [" ".join(text.split()[:20]) for text in texts[::2]]
            labels = (np.asarray(topics[::2]) == topics[0]).astype(int)
            return {"Docstrings": (short, labels)}
        os.environ.setdefault("SKDPTEXT_DATA", str(DATA))
        sets = {}
        for name, fetch in (
            ("SMS spam", fetch_sms_spam),
            ("Disaster tweets", fetch_disaster_tweets),
        ):
            texts, labels = fetch(return_X_y=True)
            sets[name] = ([URL.sub(" ", text) for text in texts], np.asarray(labels))
        return sets

    def vocabulary(self, table: str) -> Vocabulary:
        """The table, cut to the words of the sets; loaded once."""
        if table not in self._tables:
            file = self.tables[table].file
            whole = (
                load_docstring_embedding().restrict(2000)
                if file is None
                else WordEmbedding.load(DATA / file)
            )
            self._tables[table] = Vocabulary(whole, self.sets)
        return self._tables[table]


class Vocabulary:
    """A table cut to the words that occur, as the paper's was, and the texts in it."""

    def __init__(
        self, whole: WordEmbedding, sets: dict[str, tuple[list[str], np.ndarray]]
    ) -> None:
        self.whole = whole
        perturber = DPWordPerturber(whole).fit([])
        # every text as the list of its known words, spelt as the table spells them
        self.documents = {
            name: perturber.known_words(texts) for name, (texts, _) in sets.items()
        }
        present = {w for docs in self.documents.values() for doc in docs for w in doc}
        self.embedding = whole.restrict([w for w in whole.words if w in present])

    @property
    def fingerprint(self) -> str:
        return self.embedding.fingerprint.hex()[:16]

    def sample(self, n: int) -> list[str]:
        """A random sample of the words, always the same."""
        order = np.random.default_rng(SEED).permutation(len(self.embedding))
        return self.embedding.word_array[np.sort(order[:n])].tolist()

    def perturber(self, epsilon: float, lam: float, **options) -> DPWordPerturber:
        options = {"document_length": 1, **options}
        perturber = DPWordPerturber(self.embedding, epsilon=epsilon, lam=lam, **options)
        return perturber.fit([])


FULL = Plan(
    {
        "googlenews": TableSpec(
            "Google News word2vec",
            "googlenews_8k_300d.npz",
            "fastText",
            more_epsilons=(80.0,),
            trials={
                "SMS spam": Trial((*published.EPSILONS, 80.0), published.LAMS, 5),
                "Disaster tweets": Trial(
                    (*published.EPSILONS, 80.0), published.LAMS, 5
                ),
            },
            main=True,
        ),
        "glove": TableSpec(
            "GloVe 6B",
            "glove_6B_13k_50d.npz",
            "GloVe",
        ),
        "w2v": TableSpec(
            "word2vec of news and fiction",
            "w2v_news_fiction_30k_300d.npz",
            "fastText",
            more_epsilons=(80.0, 160.0, 320.0),
            n_sampled=1000,
        ),
    }
)

QUICK = Plan(
    {
        "docstrings": TableSpec(
            "Docstrings",
            None,
            "fastText",
            n_sampled=50,
            trials={"Docstrings": Trial((5.0, 40.0), (0.0, 0.5, 1.0), 2)},
            main=True,
        )
    },
    lams=(0.0, 0.5, 1.0),
    n_draws=20,
    equal_shares=(0.5,),
    equal_lams=(0.0, 1.0),
    n_replicates=3,
    few_repeats=2,
    quick=True,
)
