"""Ids of documents: equal documents of different ids do not share noise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from skdptext import DPWordPerturber, WordEmbedding
from tests.expected import refusals

N = 4000
WORDS = ["a"] * N


@pytest.fixture
def perturber():
    table = WordEmbedding(["a", "b"], [[0.0], [1.0]])
    return DPWordPerturber(
        table, epsilon=0.5, lam=0.0, output="tokens", document_length=N,
        resize="truncate", random_state=2**100,
    ).fit([])  # fmt: skip


def agreement(one, two):
    return np.mean(np.array(one) == np.array(two))


@pytest.mark.parametrize("ids", [["x", "y"], [1, 2], [b"1", b"2"], [1, "1"]])
def test_equal_documents_of_different_ids_get_independent_noise(perturber, ids):
    one, two = perturber.transform([WORDS] * 2, document_ids=ids)
    stays = 1 - math.exp(-0.25) / 2
    expected = stays**2 + (1 - stays) ** 2
    deviation = math.sqrt(expected * (1 - expected) / N)
    assert abs(agreement(one, two) - expected) < 6 * deviation
    # the release is repeatable, with any other documents
    assert perturber.transform([WORDS], document_ids=ids[:1])[0] == one
    assert perturber.transform([WORDS] * 2, document_ids=ids[::-1]) == [two, one]
    # and an edited document has other noise under the same id
    edited = perturber.transform([[*WORDS, "a"]], document_ids=ids[:1])[0]
    assert abs(agreement(edited, one) - expected) < 6 * deviation


@refusals(
    ("ab", "document_ids must be an iterable of str, int or bytes, got str"),
    (3, "must be an iterable .* got int"),
    ([1.5, 2], "must be str, int or bytes, got float at position 0"),
    ([1, None], "got NoneType at position 1"),
    ([1, True], "got bool at position 1"),
    (["a", "a"], "must differ, .* positions 0 and 1 hold the same"),
    (["a"], "must hold one id per document [(]2[)], got 1"),
    (["a", "b", "c"], "must hold one id per document [(]2[)], got 3"),
)
@pytest.mark.parametrize("random_state", [None, 2**100])
def test_bad_ids(perturber, random_state, ids):
    perturber.set_params(random_state=random_state).fit([])
    perturber.transform([WORDS, WORDS], document_ids=ids)
