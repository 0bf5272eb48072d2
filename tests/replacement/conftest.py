"""Public and private documents of three topics, small enough to enumerate."""

from __future__ import annotations

import numpy as np
import pytest

from skdptext import DPDocumentReplacer

WORDS = {
    "pets": ["cat", "dog", "paw", "fur"],
    "food": ["tea", "milk", "cake", "bread"],
    "sky": ["star", "moon", "cloud", "rain"],
}
ALL_WORDS = [word for words in WORDS.values() for word in words]


def texts_of(n, seed):
    """(texts, topics): sentences of six words of a topic and two of any."""
    rng = np.random.default_rng(seed)
    topics = rng.permutation(np.resize(list(WORDS), n))
    return [
        " ".join([*rng.choice(WORDS[topic], 6), *rng.choice(ALL_WORDS, 2)])
        for topic in topics
    ], topics


@pytest.fixture(scope="session")
def public():
    return texts_of(30, 0)


@pytest.fixture(scope="session")
def private():
    return texts_of(24, 1)


@pytest.fixture
def replacer(public):
    texts, topics = public
    return DPDocumentReplacer(texts, public_labels=topics, epsilon=1.5)
