"""Distances to a block of bags are those of its pairs, compiled or not."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skdptext.transport import BagBlock, as_word_bags, load_kernels, pair_distance
from skdptext.transport import _block as block_module

N_WORDS = 90


@pytest.fixture(params=["plain", "compiled", "compiled, other costs"])
def kernels(request, monkeypatch):
    found = None if request.param == "plain" else load_kernels()
    if "other" in request.param:
        found = found._replace(pair_problem=None)
    monkeypatch.setattr(block_module, "load_kernels", lambda: found)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([2, 9, 60]))
def test_to_the_last_bit(kernels, seed, lattice, most):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(N_WORDS, 7))
    if lattice:  # ties, equal vectors, costs of 0
        vectors = np.round(vectors)
    vectors = vectors.astype(np.float32)
    rows = np.zeros((14, N_WORDS))
    for row in rows:
        size = rng.integers(1, most + 1)
        row[rng.choice(N_WORDS, size, replace=False)] = rng.integers(1, 4, size)
    rows[5], rows[6] = rows[0], 3 * rows[1]  # nothing is left to move
    bags = as_word_bags(sp.csr_array(rows))
    block = BagBlock(bags, vectors)
    for i in range(4):
        found = block.distances(*bags.row(i))
        wanted = [pair_distance(*bags.row(i), *bags.row(j), vectors) for j in range(14)]
        assert np.array_equal(found, wanted)
        assert np.array_equal(block.distances(*bags.row(i), first=9), wanted[9:])
    assert block.distances(*bags.row(0))[[0, 5]].tolist() == [0.0, 0.0]
