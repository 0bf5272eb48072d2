"""Releases follow the exact law of their noise, in whichever way they are made."""

from __future__ import annotations

import numpy as np
import pytest

from skdptext import DPWordPerturber, WordEmbedding
from tests.expected import leaks_allowed
from tests.laws import assert_counts, nearest_on_a_line

pytestmark = leaks_allowed
PLACES = [0.0, 0.5, 0.7, 2.0, 3.1]


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "way",
    [
        {},  # fresh noise
        {"random_state": 3},  # a stream for each document
        {"random_state": np.random.default_rng(3)},
        {"document_length": 32, "resize": "sample"},
        {"n_jobs": 2},
        {"n_jobs": 2, "random_state": 3},
    ],
    ids=str,
)
def test_released_words_follow_the_law_of_the_noise(way):
    line = WordEmbedding(list("abcde"), [[place] for place in PLACES])
    perturber = DPWordPerturber(
        line, epsilon=1.5, lam=0.0, **({"document_length": 8} | way)
    ).fit([])
    law = nearest_on_a_line(PLACES, 1.5)
    for word in (1, 3):
        documents = [[line.words[word]] * 8] * 3000
        released = perturber.transform(documents, document_ids=range(3000))
        assert_counts(np.ravel(released.sum(axis=0)), law[word])
