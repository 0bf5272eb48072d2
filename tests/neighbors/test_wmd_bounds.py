"""Every bound is below the distance, at any scale of the vectors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from skdptext.neighbors import as_bags, bag_of, word_movers
from tests.neighbors.inside import embedded, random_bags, search_module


def group_of(index, queries):
    """The search of some queries, before it begins."""
    words, places = np.unique(queries.indices, return_inverse=True)
    costs = index.costs(words)
    return search_module._Group(index, queries, costs, places)


def stages(bags, queries, vectors):
    """All bounds and the distances, of every query to every bag."""
    index, n = search_module.BagIndex(bags, embedded(vectors)), bags.shape[0]
    limit, bounds = np.full(1, np.inf), {}
    together = group_of(index, queries)
    every = np.arange(queries.shape[0])
    bounds["relaxed"] = together._left.copy()
    dual, asked = together._bounds(
        np.repeat(every, n), np.tile(np.arange(n), len(every))
    )
    bounds["dual"], asked = dual.reshape(-1, n), asked.reshape(len(every), n, -1)
    together._left[:] = -np.inf
    together._share(asked[:, : 1 + n // 2].mean(axis=1))
    bounds["shared"] = together._left
    for name, options in (("alone", ()), ("softened", (limit,))):
        bounds[name] = [
            group_of(index, queries[[i]])._bounds(
                0 * np.arange(n), np.arange(n), *options
            )[0]
            for i in every
        ]
    exact = [
        [word_movers(bag_of(queries, i), bag_of(bags, j), vectors) for j in range(n)]
        for i in every
    ]
    return {name: np.array(part) for name, part in bounds.items()}, np.ldexp(
        exact, -index.exponent
    )


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


def costs_between(vectors):
    """The costs of a search in which every word occurs, and their scale."""
    every = as_bags(sp.csr_array(np.ones((1, len(vectors)))))
    index = search_module.BagIndex(every, embedded(vectors))
    low = index.costs(np.arange(len(vectors))).astype(np.float64)
    return np.ldexp(low, index.exponent)


@pytest.mark.parametrize("dim", [1, 50, 300])
@pytest.mark.parametrize("spread", [0.0, 1e-4, 1.0])
def test_costs_are_below_the_true_distances_and_close(dim, spread):
    rng = np.random.default_rng(dim)
    base = rng.normal(size=dim)
    vectors = (base + spread * rng.normal(size=(60, dim))).astype(np.float32)
    low = costs_between(vectors)
    true = cdist(vectors.astype(np.float64), vectors.astype(np.float64))
    assert (low <= true).all()
    norm = np.linalg.norm(vectors, axis=1).max()
    assert (true**2 - low**2).max() <= (4 * dim + 80) * 2.0**-24 * norm**2 * 2


def test_vectors_of_zeros():
    assert not costs_between(np.zeros((3, 2), dtype=np.float32)).any()


@pytest.mark.parametrize("trace", [3e-20, 3e-21])
def test_masses_that_differ_by_their_rounding_are_no_distance(trace):
    # One side may keep a trace of mass where the other keeps none.
    bags, queries = (sp.csr_array([[1.0, mass]]) for mass in (1e-20, trace))
    index = search_module.BagIndex(bags, embedded([[0.0], [1.0]]))
    for limits in (None, np.full(1, np.inf)):
        bounds, _ = group_of(index, queries)._bounds(*np.zeros((2, 1), int), limits)
        assert -1e-5 < bounds[0] <= 0
