"""What a prepared mechanism adds per word to the pickle of its embedding."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from skdptext import WordEmbedding
from skdptext.mechanisms import TableMechanism
from tests.mechanism_forms import forms

# The most bytes per word, where it is more than none: the normalisers.
BYTES = {"exact": 8, "capped": 8}
SMALL, LARGE = 360, 1200


@pytest.fixture(scope="module")
def embeddings():
    rng, embeddings = np.random.default_rng(0), []
    for n in (SMALL, LARGE):
        vectors = rng.normal(size=(n, 3)) * 10
        vectors[5] = vectors[3]
        words = [f"word{i:05d}" for i in range(n)]
        embeddings.append(WordEmbedding(words, vectors))
    return embeddings


def prepared(name, embedding):
    return forms()[name].prepare(embedding, 20.0, 0.5)


def uses(channel, rng):
    """What a release and a guarantee ask a channel for, all from the same numbers."""
    n = len(channel.embedding)
    words = rng.integers(0, n, 50)
    x, y = rng.integers(0, n, (2, 10))
    y[5:8] = x[5:8]
    x[:2], y[:2] = [3, 5], [5, 3]  # equal vectors
    answers = [channel.apply(words, channel.draw(rng, 50)), channel.exponents(x, y)]
    if isinstance(channel, TableMechanism):
        answers.append(channel.log_proba(x[:5]))
    return [*answers, np.frombuffer(channel.fingerprint, np.uint8)]


@pytest.mark.no_cover
@pytest.mark.parametrize("name", sorted(forms()))
def test_pickles_are_small_and_nothing_is_lost(name, embeddings):
    sizes = []
    for embedding in embeddings:
        channel = prepared(name, embedding)
        unused = pickle.loads(pickle.dumps(channel))
        expected = uses(channel, np.random.default_rng(1))
        held = pickle.dumps(channel)  # nor does it grow with use
        sizes.append(len(held) - len(pickle.dumps(embedding)))
        for again in (unused, pickle.loads(held), pickle.loads(pickle.dumps(unused))):
            answers = uses(again, np.random.default_rng(1))
            for ours, theirs in zip(answers, expected, strict=True):
                np.testing.assert_array_equal(ours, theirs)
                assert ours.dtype == theirs.dtype
    # the rest does not depend on the number of words
    each = BYTES.get(name, 0)
    assert (sizes[1] - sizes[0]) / (LARGE - SMALL) < each + 0.1
    assert sizes[0] - each * SMALL < 3e3
