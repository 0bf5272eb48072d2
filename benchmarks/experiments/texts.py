"""Texts and vectors that several experiments read."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import numpy as np
from real_data import DATA, GOOGLE

from skdptext import WordEmbedding
from skdptext.datasets import (
    fetch_disaster_tweets,
    fetch_sms_spam,
    load_docstring_embedding,
    load_docstrings,
)


@cache
def vectors(name: str) -> WordEmbedding:
    """The embedding of a corpus: its own for docstrings, else Google News."""
    if name == "docstrings":
        return load_docstring_embedding()
    return WordEmbedding.load(DATA / GOOGLE)


def labelled(name: str) -> Any:
    """Texts with their topics: docstrings without names, SMS, or tweets."""
    if name == "docstrings":
        return load_docstrings(remove=["examples", "headers", "names"])
    os.environ["SKDPTEXT_DATA"] = str(DATA)
    return (fetch_sms_spam if name == "SMS" else fetch_disaster_tweets)()


def pieces(texts: list[str], n_words: int = 200) -> tuple[list[str], np.ndarray]:
    """Pieces of texts, and the rows of these; what is left of a text is left out."""
    snippets, rows = [], []
    for i, text in enumerate(texts):
        words = text.split()
        for start in range(0, len(words) - n_words + 1, n_words):
            snippets.append(" ".join(words[start : start + n_words]))
            rows.append(i)
    return snippets, np.array(rows, int)
