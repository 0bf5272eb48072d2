"""Distances to a block of bags are those of its pairs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from skdptext.transport import BagBlock, as_word_bags, pair_distance
from tests.transport.inside import exact_module, random_rows

N_WORDS = 90


@settings(max_examples=25)
@given(
    st.integers(0, 2**32 - 1),
    st.booleans(),
    st.sampled_from([2, 9, 60]),
    st.sampled_from([1e-30, 1.0, 1e18]),
)
def test_to_the_last_bit(seed, lattice, most, scale):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(N_WORDS, 7)) * scale
    if lattice:  # ties, equal vectors, costs of 0
        vectors = np.round(vectors / scale) * scale
    vectors = vectors.astype(np.float32)
    rows = random_rows(rng, 10, N_WORDS, most)
    rows[5], rows[6] = rows[0], 3 * rows[1]  # nothing is left to move
    bags = as_word_bags(sp.csr_array(rows))
    wanted = [
        [pair_distance(bags.row(i), bags.row(j), vectors) for j in range(10)]
        for i in range(2)
    ]
    assert wanted[0][0] == wanted[0][5] == 0
    block = BagBlock(bags, vectors)
    for i in range(2):
        assert block.distances(bags.row(i)).tolist() == wanted[i]
        assert block.distances(bags.row(i), first=7).tolist() == wanted[i][7:]


def test_a_failure_of_the_solver_is_told(monkeypatch):
    bags = as_word_bags(sp.csr_array(np.eye(2) + 1))
    monkeypatch.setattr(
        exact_module,
        "solver",
        lambda: lambda *_: (None, 0.0, np.zeros(2), np.zeros(2), 0),
    )
    x = as_word_bags(sp.csr_array(np.array([[0.0, 0.0, 1.0, 1.0]]))).row(0)
    block = BagBlock(bags, np.eye(4, dtype=np.float32))
    with pytest.raises(RuntimeError, match="code 0 instead of 1"):
        block.distances(x)
