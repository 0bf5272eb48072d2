"""Releases follow the exact law of their noise, in whichever way they are made."""

import numpy as np
import pytest

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.base import NoiseRun
from tests.expected import leaks_allowed
from tests.laws import assert_counts, catches, nearest_on_a_line

pytestmark = [leaks_allowed, pytest.mark.no_cover]
PLACES = [0.0, 0.5, 0.7, 2.0, 3.1]
LINE = WordEmbedding(list("abcde"), [[place] for place in PLACES])
WAYS = [
    {},  # fresh noise
    {"random_state": 3},  # a stream for each document
    {"random_state": np.random.default_rng(3)},
    {"document_length": 32, "resize": "sample"},
    {"n_jobs": 2},
    {"n_jobs": 2, "random_state": 3},
]
# by place, as a generator prints its address, which differs between workers
in_every_way = pytest.mark.parametrize("way", WAYS, ids=range(len(WAYS)))


def released(way, word):
    """Counts of what one word becomes."""
    perturber = DPWordPerturber(
        LINE, epsilon=1.5, lam=0.0, **({"document_length": 8} | way)
    ).fit([])
    documents = [[LINE.words[word]] * 8] * 1500
    bags = perturber.transform(documents, document_ids=range(1500))
    return np.ravel(bags.sum(axis=0))


@in_every_way
def test_released_words_follow_the_law_of_the_noise(way):
    law = nearest_on_a_line(PLACES, 1.5)
    for word in (1, 3):
        assert_counts(released(way, word), law[word])


# Mistakes of the release itself, whose only public method does all of it.


def no_noise(draws):
    return tuple(np.zeros_like(part) for part in draws)


def used_again(draws):
    """One in two hundred draws serves all of them."""
    few = -(-len(draws[0]) // 200)
    return tuple(np.resize(part[:few], part.shape) for part in draws)


def in_clear(draws):
    """One word in twenty is released as it is."""
    return tuple((part.T * (np.arange(len(part)) % 20 > 0)).T for part in draws)


@pytest.mark.parametrize("mistake", [no_noise, used_again, in_clear])
@in_every_way
def test_a_release_with_wrong_noise_is_caught(monkeypatch, way, mistake):
    draws = NoiseRun._draws
    monkeypatch.setattr(NoiseRun, "_draws", lambda *a: map(mistake, draws(*a)))
    law = nearest_on_a_line(PLACES, 1.5)
    assert any(catches(assert_counts, released(way, w), law[w]) for w in (1, 3))
