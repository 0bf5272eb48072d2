"""Every bound is below the distance, at any scale of the vectors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from skdptext.transport import WordBags, as_word_bags, pair_distance
from skdptext.transport import _carried as carried_module
from skdptext.transport._bags import as_matrix
from skdptext.transport._bounds import (
    LoweredTable,
    dual_bounds,
    match_residuals,
    relaxed_bounds,
    residual_relaxed_bounds,
    sinkhorn_bounds,
)
from skdptext.transport._carried import carried_bounds, query_potentials
from skdptext.transport._index import table_columns


def stages(bags, queries, vectors):
    """All bounds and the distances, of every query to every bag."""
    words, columns = np.unique(bags.ids, return_inverse=True)
    local = WordBags(bags.starts, columns, bags.weights)
    table = LoweredTable(vectors, words)
    query_words, places = np.unique(queries.ids, return_inverse=True)
    costs = table.distances(query_words)
    local_queries = WordBags(queries.starts, places, queries.weights)
    positions = np.full((len(queries), len(words)), -1)
    for i in range(len(queries)):
        for place, word in enumerate(queries.row(i)[0]):
            positions[i, words == word] = place
    query, bag = np.divmod(np.arange(len(queries) * len(bags)), len(bags))
    matrix = as_matrix(local, len(words))
    found = {name: np.empty(len(query)) for name in ("relaxed", "each", "carried")}
    for i in range(len(queries)):
        rows, masses = local_queries.row(i)
        own = table_columns(words, queries.row(i)[0])
        at = slice(i * len(bags), (i + 1) * len(bags))
        found["relaxed"][at] = relaxed_bounds(
            costs[rows], masses, own, matrix, matrix.tocsc()
        )
    rows, columns, a, b = match_residuals(local_queries, query, positions, local, bag)
    cube = costs[rows[:, None, :], columns]
    found["residual"], *least = residual_relaxed_bounds(cube, a, b)
    found["dual"], alpha, beta = dual_bounds(cube, a, b, *least)
    found["sinkhorn"] = sinkhorn_bounds(cube, a, b, alpha, beta)
    potentials = query_potentials(cube, beta)
    for i in range(len(queries)):
        rows, masses = local_queries.row(i)
        at = slice(i * len(bags), (i + 1) * len(bags))
        some = np.random.default_rng(i).permutation(len(bags))
        few = potentials[: len(rows), at][:, some[:3]].T
        for name, limit in {"each": -np.inf, "carried": np.inf}.items():
            found[name][at.start + some] = carried_bounds(
                costs[rows], masses, positions[i], local, some, few, limit
            )
    exact = [
        pair_distance(*queries.row(i), *bags.row(j), vectors)
        for i, j in zip(query, bag, strict=True)
    ]
    return found, np.ldexp(exact, -table.exponent)


@pytest.fixture(autouse=True, scope="module")
def small_parts():
    """Few bags are worth the better bound, and they are many runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(carried_module, "_WORTH_GATHERING", 0)
        patch.setattr(carried_module, "COSTS_AT_ONCE", 60)
        yield


def random_bags(rng, n, n_words, most):
    rows = np.zeros((n, n_words))
    for row in rows:
        size = rng.integers(1, most + 1)
        row[rng.choice(n_words, size, replace=False)] = rng.integers(1, 4, size)
    return as_word_bags(sp.csr_array(rows))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.sampled_from([1e-30, 1e-18, 1e-3, 1.0, 1e4, 1e18, 1e37]),
    st.booleans(),
)
def test_bounds_never_exceed_the_distance(seed, dim, scale, lattice):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(30, dim))
    if lattice:  # ties and equal vectors
        vectors = np.round(vectors)
    vectors = (vectors * scale).astype(np.float32)
    bags, queries = random_bags(rng, 12, 30, 7), random_bags(rng, 3, 30, 7)
    found, exact = stages(bags, queries, vectors)
    for name, bounds in found.items():
        assert (bounds <= exact + 1e-12).all(), name


def test_bounds_are_worth_having():
    # Each stage closes more of the gap, or the search would solve everything.
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(100, 20)).astype(np.float32)
    bags, queries = random_bags(rng, 60, 100, 10), random_bags(rng, 10, 100, 10)
    found, exact = stages(bags, queries, vectors)
    share = {name: bounds.sum() / exact.sum() for name, bounds in found.items()}
    assert share["relaxed"] < share["residual"] < share["dual"]
    assert share["dual"] > 0.98
    assert share["sinkhorn"] > 0.98
    # from the potentials of three other bags: all of them together say more
    assert share["relaxed"] < share["each"] < share["carried"] < share["dual"]


def test_all_words_shared_gives_zero():
    bags = as_word_bags(sp.csr_array(np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]])))
    vectors = np.eye(3, dtype=np.float32)
    found, exact = stages(bags, bags, vectors)
    assert not exact.any()
    for bounds in found.values():
        assert (bounds <= 0).all()
        assert np.isfinite(bounds).all()


@pytest.mark.parametrize("dim", [1, 50, 300])
@pytest.mark.parametrize("spread", [0.0, 1e-4, 1.0])
def test_table_is_below_the_true_distances_and_close(dim, spread):
    rng = np.random.default_rng(dim)
    base = rng.normal(size=dim)
    vectors = (base + spread * rng.normal(size=(60, dim))).astype(np.float32)
    table = LoweredTable(vectors, np.arange(60))
    low = np.ldexp(table.distances(np.arange(60)).astype(np.float64), table.exponent)
    true = cdist(vectors.astype(np.float64), vectors.astype(np.float64))
    assert (low <= true).all()
    norm = np.linalg.norm(vectors, axis=1).max()
    assert (true**2 - low**2).max() <= (4 * dim + 80) * 2.0**-24 * norm**2 * 2


def test_unlowered_float32_would_break_a_bound():
    # The mistake that the lowering prevents: far from the origin, a plain float32
    # product puts some pairs of words farther apart than they are.
    rng = np.random.default_rng(0)
    vectors = (100 + 0.01 * rng.normal(size=(40, 50))).astype(np.float32)
    norms = (vectors * vectors).sum(axis=1)
    plain = np.sqrt(np.maximum(norms[:, None] + norms - 2 * vectors @ vectors.T, 0))
    true = cdist(vectors.astype(np.float64), vectors.astype(np.float64))
    assert (plain > true + 1e-3).any()
    table = LoweredTable(vectors, np.arange(40))
    low = np.ldexp(table.distances(np.arange(40)).astype(np.float64), table.exponent)
    assert (low <= true).all()


def test_table_of_zero_vectors():
    table = LoweredTable(np.zeros((3, 2), dtype=np.float32), np.arange(3))
    assert not table.distances(np.array([0, 2])).any()


def test_nothing_to_bound():
    empty = np.empty((2, 3, 0), dtype=np.float32)
    a, b = np.empty((2, 0)), np.empty((3, 0))
    assert len(sinkhorn_bounds(empty, a, b, a, b)) == 0
