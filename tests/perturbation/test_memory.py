"""Memory does not grow with the number of documents, beyond what is released."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context

from skdptext import DPWordPerturber, WordEmbedding
from tests.memory import peak_beyond_output

MB = 2**20


@pytest.fixture(scope="module")
def table():
    """Few words, so that the search is quick; many dimensions, so that noise is big."""
    vectors = np.random.default_rng(0).normal(size=(16, 300))
    return WordEmbedding([f"w{i}" for i in range(16)], vectors)


class Document(list):
    """Three words; it counts how many of its kind are alive, and were at the most."""

    alive = most = 0

    def __init__(self, *words):
        super().__init__(words)
        Document.alive += 1
        Document.most = max(Document.most, Document.alive)

    def __del__(self):
        Document.alive -= 1


def stream(n):
    """Documents that are made when they are asked for."""
    return (Document(f"w{i % 16}", "w1", "w2") for i in range(n))


@pytest.mark.parametrize(
    ("working_memory", "n_documents"),
    [(16, 2_500), (32, 5_000)],
)
def test_peak_keeps_to_working_memory(table, working_memory, n_documents):
    """Noise for 7,500 words at once would be 18 MB, for 15,000 twice that."""
    perturber = DPWordPerturber(table, lam=0.0).fit([])
    with config_context(working_memory=working_memory):
        peak = peak_beyond_output(perturber, stream(n_documents))
    assert peak < working_memory * MB


@pytest.mark.parametrize("random_state", [None, 0])
def test_a_generator_is_streamed(table, random_state):
    Document.most = Document.alive
    perturber = DPWordPerturber(table, lam=0.0, random_state=random_state).fit([])
    assert perturber.transform(stream(3000)).shape == (3000, 16)
    assert Document.most <= 3
