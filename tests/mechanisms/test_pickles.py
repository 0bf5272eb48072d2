"""What a prepared mechanism takes per word in a pickle, and that nothing is lost."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from skdptext import WordEmbedding, mechanisms
from skdptext.mechanisms import (
    Directional,
    Exponential,
    MahalanobisNoise,
    RandomizedResponse,
    Ranked,
    SensitiveWords,
    TopicResponse,
    WordClasses,
    WordLists,
    WordMechanism,
)


def third(embedding):
    return embedding.words[::3]


# A mechanism, which may depend on the embedding, and the most bytes per word. Ids take
# 2 bytes here, where there are at most 65,536 of them, labels of classes 1, normalisers
# and weights 8 each.
KINDS = {
    "noise": (MahalanobisNoise(), 0),
    "Vickrey": (MahalanobisNoise(second=0.4), 0),
    "directions": (Directional(), 0),
    "directions by angle": (Directional("purkayastha"), 0),
    "randomized response": (RandomizedResponse(), 0),
    "half": (Exponential("half"), 0),
    "half, capped": (Exponential("half", 1.0, sampler="lazy"), 0),
    "exact": (Exponential(), 8),
    "balanced": (Exponential("balanced"), 16),
    "tight": (Exponential("tight"), 16),
    "ranks": (Ranked(), 0),
    "ranks of Vickrey": (Ranked(MahalanobisNoise(second=0.4)), 0),
    "list": (WordLists(), 2),
    "lists": (WordLists(3), 6),
    "random lists": (WordLists(2, order="random"), 4),
    "list given": (
        lambda embedding: WordLists(order=np.arange(len(embedding), dtype="i4")),
        2 + 4,
    ),
    # a rate per class
    "classes": (WordClasses(), 1 + 8 / 20),
    "labels": (
        lambda embedding: WordClasses(np.arange(len(embedding), dtype="i4") % 200),
        1 + 4,
    ),
    # per word of the list: the word, its id, normaliser and weight
    "sensitive": (lambda embedding: SensitiveWords(words=third(embedding)), 8 + 1),
    "sensitive, half": (
        lambda embedding: SensitiveWords(Exponential("half"), words=third(embedding)),
        16 / 3 + 1,
    ),
    "topics": (
        lambda embedding: TopicResponse(np.ones((len(embedding), 2))),
        16,
    ),
    "sensitive, tight": (
        lambda embedding: SensitiveWords(Exponential("tight"), words=third(embedding)),
        32 / 3 + 1,
    ),
}
SMALL, LARGE = 1000, 4000


@pytest.fixture(scope="module")
def embeddings(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("embeddings"), np.random.default_rng(0)
    for n in (SMALL, LARGE):
        vectors = rng.normal(size=(n, 3)) * 10
        vectors[5] = vectors[3]
        words = [f"word{i:05d}" for i in range(n)]
        WordEmbedding(words, vectors).save(folder / f"{n}.npz")
    return [
        WordEmbedding.load(folder / f"{n}.npz", by_address=True) for n in (SMALL, LARGE)
    ]


def prepared(name, embedding):
    mechanism, _ = KINDS[name]
    if not isinstance(mechanism, WordMechanism):
        mechanism = mechanism(embedding)
    return mechanism.prepare(embedding, 20.0, 0.5)


def uses(channel, rng):
    """What a release and a guarantee ask a channel for, all from the same numbers."""
    n = len(channel.embedding)
    words = rng.integers(0, n, 50)
    x, y = rng.integers(0, n, (2, 10))
    y[5:8] = x[5:8]
    x[:2], y[:2] = [3, 5], [5, 3]  # equal vectors
    found = [channel.apply(words, channel.draw(rng, 50)), channel.exponents(x, y)]
    if channel.law().log_proba is not None:
        found.append(channel.law().log_proba(x[:5]))
    return [*found, np.frombuffer(channel.fingerprint, np.uint8)]


@pytest.mark.parametrize("name", KINDS)
def test_pickles_are_small_and_nothing_is_lost(name, embeddings):
    sizes = []
    for embedding in embeddings:
        channel = prepared(name, embedding)
        unused = pickle.loads(pickle.dumps(channel))
        expected = uses(channel, np.random.default_rng(1))
        held = pickle.dumps(channel)  # nor does it grow with use
        sizes.append(len(held))
        for again in (unused, pickle.loads(held), pickle.loads(pickle.dumps(unused))):
            found = uses(again, np.random.default_rng(1))
            for ours, theirs in zip(found, expected, strict=True):
                np.testing.assert_array_equal(ours, theirs)
                assert ours.dtype == theirs.dtype
    # the rest does not depend on the number of words
    assert (sizes[1] - sizes[0]) / (LARGE - SMALL) < KINDS[name][1] + 0.1
    assert sizes[0] - KINDS[name][1] * SMALL < (2e5 if "directions" in name else 3e3)


def test_all_mechanisms_are_listed(embeddings):
    found = {type(prepared(name, embeddings[0]).mechanism) for name in KINDS}
    offered = [getattr(mechanisms, name) for name in mechanisms.__all__]
    assert found == {
        kind
        for kind in offered
        if isinstance(kind, type) and WordMechanism in kind.__mro__[1:]
    }


@pytest.mark.parametrize("name", ["lists", "list given", "classes", "labels"])
def test_attributes_arrive_as_they_were(name, embeddings):
    channel = prepared(name, embeddings[1])
    again = pickle.loads(pickle.dumps(channel))
    names = ("labels", "rates") if "la" in name else ("lists", "places")
    for attribute in names:
        ours, theirs = getattr(again, attribute), getattr(channel, attribute)
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
