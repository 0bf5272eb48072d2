"""A small corpus whose authors and topics can be told, and its report."""

from __future__ import annotations

import numpy as np
from sklearn.naive_bayes import MultinomialNB

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.inspection import obfuscation_report

CLEAN = 1e9  # so much ε that no word moves


def bayes():
    return MultinomialNB()


def make_corpus():
    """48 documents on two topics, which lie 8 apart; each author likes some words."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(200, 8))
    vectors[100:, 0] += 8
    embedding = WordEmbedding([f"w{i}" for i in range(200)], vectors)
    topics, authors = np.array(["x", "y"] * 24), np.repeat(["ann", "bob", "eve"], 16)
    documents = []
    for topic, author in zip(topics, authors, strict=True):
        start = 100 * (topic == "y") + 20 * "abe".index(author[0])
        documents.append(
            [f"w{start + i}" for i in rng.integers(0, rng.choice([20, 60]), 30)]
        )
    return embedding, documents, authors, topics


def small(synthetic, perturber=None, **options):
    embedding, documents, authors, topics = synthetic
    if perturber is None:
        perturber = DPWordPerturber(
            embedding, epsilon=10.0, document_length=12, resize="truncate"
        )
    options.setdefault(
        "adversaries", {"a": (bayes(), "author"), "t": (bayes(), "topic")}
    )
    options.setdefault("random_state", 0)
    return obfuscation_report(documents, authors, topics, perturber, **options)


def few(synthetic):
    """12 words of 18 of the documents: three on each topic by each author."""
    embedding, documents, authors, topics = synthetic
    rows = np.flatnonzero(np.arange(48) % 16 < 6)
    return embedding, [documents[i][:12] for i in rows], authors[rows], topics[rows]
