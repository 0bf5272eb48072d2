"""Every bound is below the distance, at any scale of the vectors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from skdptext.transport import WordBags, as_word_bags, pair_distance
from tests.transport.inside import (
    LoweredTable,
    as_matrix,
    bounds_module,
    dual_bounds,
    random_bags,
    relaxed_bounds,
    shared_bounds,
)


def stages(bags, queries, vectors):
    """All bounds and the distances, of every query to every bag."""
    words, columns = np.unique(bags.ids, return_inverse=True)
    local = WordBags(bags.starts, columns, bags.weights)
    table = LoweredTable(vectors, words)
    matrix = as_matrix(local, len(words))
    bounds = {"relaxed": [], "dual": [], "shared": [], "softened": []}
    for i in range(len(queries)):
        ids, masses = queries.row(i)
        costs = table.distances(ids)
        place = np.full(len(words), -1)
        for at, word in enumerate(ids):
            place[words == word] = at
        own = np.full(len(ids), -1)
        own[place[place >= 0]] = np.flatnonzero(place >= 0)
        bounds["relaxed"].append(
            relaxed_bounds(costs, masses, own, matrix, matrix.tocsc())
        )
        order = np.random.default_rng(i).permutation(len(bags))
        dual = np.empty(len(bags))
        softened = np.empty(len(bags))
        given = costs.T, masses, place, local, order
        dual[order], alpha = dual_bounds(*given)
        bounds["dual"].append(dual)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bounds_module, "_SHORT", 0)  # so short bags are not softened
            softened[order] = dual_bounds(*given, np.inf, float(costs.mean()))[0]
        bounds["softened"].append(softened)
        asked = alpha[: 1 + i].mean(axis=0)
        bounds["shared"].append(shared_bounds(costs, masses, asked, matrix))
    exact = [
        pair_distance(queries.row(i), bags.row(j), vectors)
        for i in range(len(queries))
        for j in range(len(bags))
    ]
    bounds = {name: np.concatenate(parts) for name, parts in bounds.items()}
    return bounds, np.ldexp(exact, -table.exponent)


@settings(max_examples=30)
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
    bags, queries = random_bags(rng, 8, 30, 7), random_bags(rng, 2, 30, 7)
    by_stage, exact = stages(bags, queries, vectors)
    for name, bounds in by_stage.items():
        assert (bounds <= exact + 1e-11).all(), name


def test_bounds_are_worth_having():
    # Each stage closes more of the gap, or the search would solve everything.
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(100, 20)).astype(np.float32)
    bags, queries = random_bags(rng, 60, 100, 10), random_bags(rng, 10, 100, 10)
    by_stage, exact = stages(bags, queries, vectors)
    share = {name: bounds.sum() / exact.sum() for name, bounds in by_stage.items()}
    assert share["relaxed"] < 0.95
    assert share["dual"] > 0.98
    assert share["softened"] > 0.99


def test_all_words_shared_gives_zero():
    bags = as_word_bags(sp.csr_array(np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]])))
    vectors = np.eye(3, dtype=np.float32)
    by_stage, exact = stages(bags, bags, vectors)
    assert not exact.any()
    for bounds in by_stage.values():
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


def test_masses_that_differ_by_their_rounding_are_no_distance():
    # One side may keep a trace of mass where the other keeps none.
    bag = WordBags(np.array([0, 2]), np.array([0, 1]), np.array([1.0, 1e-20]))
    costs = np.float32([[0.0, 1.0], [1.0, 0.0]])
    for trace in (3e-20, 3e-21):
        query = np.array([1.0, trace])
        bound, _ = dual_bounds(costs, query, np.array([0, 1]), bag, np.array([0]))
        assert -1e-6 < bound[0] <= 0
