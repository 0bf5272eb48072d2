"""The compiled loops give what NumPy gives, and step aside where they cannot."""

from __future__ import annotations

import sys

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from skdptext.transport import (
    LoweredTable,
    WordBags,
    as_word_bags,
    dual_bounds,
    load_kernels,
    match_residuals,
    padded_width,
    pair_distance,
    pair_problem,
    relaxed_bounds,
    residual_relaxed_bounds,
)
from skdptext.transport import _compiled as loops
from skdptext.transport import _compiled_duals as duals
from skdptext.transport import _compiled_exact as exact_loops
from skdptext.transport import _kernels as kernels_module

N_WORDS = 30
# The same functions, as Python runs them: what coverage sees, and a check that the
# promises made to the compiler hide nothing.
PLAIN = kernels_module.Kernels(
    loops.relax_query,
    loops.fill_costs,
    duals.sample_query,
    duals.extend_potentials,
    duals.tighten_query,
    exact_loops.looped_pair_problem,
    exact_loops.looped_costs,
    exact_loops.gathered_problem,
)


def random_bags(rng, n, most):
    rows = np.zeros((n, N_WORDS))
    for row in rows:
        size = rng.integers(1, most + 1)
        row[rng.choice(N_WORDS, size, replace=False)] = rng.integers(1, 4, size)
    return as_word_bags(sp.csr_array(rows))


def setting(seed, dim, scale, lattice, n_bags=12, most=20):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(N_WORDS, dim))
    if lattice:  # ties, equal vectors, costs of 0
        vectors = np.round(vectors)
    vectors = (vectors * scale).astype(np.float32)
    return vectors, random_bags(rng, n_bags, most), random_bags(rng, 1, most)


def places(words, query_ids):
    place = np.full(len(words), -1, np.int32)
    own = np.full(len(query_ids), -1)
    for i, word in enumerate(query_ids):
        place[words == word] = i
        own[i : i + 1] = np.append(np.flatnonzero(words == word), -1)[0]
    return place, own


def numpy_stages(vectors, bags, query):
    words, columns = np.unique(bags.ids, return_inverse=True)
    local = WordBags(bags.starts, columns, bags.weights)
    ids, weights = query.row(0)
    costs = LoweredTable(vectors, words).distances(ids)
    place, _ = places(words, ids)
    one = WordBags(query.starts, np.arange(len(ids)), weights)
    zeros, all_bags = np.zeros(len(bags), np.intp), np.arange(len(bags))
    found = {"relaxed": relaxed_bounds(costs, weights, place, local)}
    rows, cols, a, b = match_residuals(one, zeros, place[None], local, all_bags)
    cube = costs[rows[:, None, :], cols]
    _, *least = residual_relaxed_bounds(cube, a, b)
    found["dual"] = dual_bounds(cube, a, b, *least)[0]
    return found


def kernel_stages(kernels, vectors, bags, query):
    words, columns = np.unique(bags.ids, return_inverse=True)
    ids, weights = query.row(0)
    products = LoweredTable(vectors, words).products(ids)
    place, own = places(words, ids)
    entries = bags.starts, columns, bags.weights
    lengths = products[0], np.arange(len(ids)), *products[1:]
    found = {"relaxed": np.full(len(bags), np.nan)}
    kernels.relax_query(*lengths, weights, own, *entries, found["relaxed"])
    masses = np.zeros(padded_width(len(ids)))
    masses[: len(ids)] = weights
    filled = np.zeros(len(words), np.uint8)
    local = np.full((len(words), len(masses)), np.nan, np.float32)
    rows = np.arange(len(bags))
    for some in (rows[:3], rows):  # what is filled stays
        kernels.fill_costs(*lengths, *entries[:2], some, filled, local)
    assert (filled == 2).all()
    sets = local, masses, place, *entries, rows
    found["dual"] = np.full(len(bags), np.nan)
    potentials = np.full((len(bags), len(masses)), np.nan, np.float32)
    kernels.sample_query(*sets, found["dual"], potentials)
    beta = np.full(len(words), np.nan, np.float32)
    some = potentials[:3]
    kernels.extend_potentials(local, filled, some, beta)
    carried = (local[:, None, :] - some).min(axis=2).max(axis=1)
    assert np.array_equal(beta, np.clip(carried, -2, 2))
    for name, limit in (("rows", -np.inf), ("softened", np.inf)):
        found[name] = np.full(len(bags), np.nan)
        kernels.tighten_query(*sets, limit, beta, found[name])
    return found


def check_stages(kernels, vectors, bags, query):
    want = numpy_stages(vectors, bags, query)
    found = kernel_stages(kernels, vectors, bags, query)
    for name, bounds in want.items():
        np.testing.assert_allclose(found[name], bounds, rtol=0, atol=1e-12)
    exact = [
        pair_distance(*query.row(0), *bags.row(i), vectors) for i in range(len(bags))
    ]
    exact = np.ldexp(exact, -LoweredTable(vectors, bags.ids).exponent)
    for name, bounds in found.items():
        assert (bounds <= exact + 1e-12).all(), name
    assert (found["softened"] >= found["rows"] - 1e-6).all()
    return found, exact


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.sampled_from([1e-30, 1e-3, 1.0, 1e4, 1e37]),
    st.booleans(),
)
def test_bounds_are_those_of_numpy_and_below_the_distance(seed, dim, scale, lattice):
    check_stages(load_kernels(), *setting(seed, dim, scale, lattice))


@pytest.mark.parametrize("lattice", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_uncompiled_too(seed, lattice):
    vectors, bags, query = setting(seed, 3, 1.0, lattice)
    found, _ = check_stages(PLAIN, vectors, bags, query)
    compiled = kernel_stages(load_kernels(), vectors, bags, query)
    for name in ("relaxed", "dual", "rows"):
        np.testing.assert_allclose(found[name], compiled[name], rtol=0, atol=1e-12)
    # float32 sums in another order, on the way to potentials
    np.testing.assert_allclose(found["softened"], compiled["softened"], atol=1e-4)


def test_softened_bounds_are_worth_having():
    gaps = np.zeros(2)
    for seed in range(20):
        found, exact = check_stages(load_kernels(), *setting(seed, 20, 1.0, False))
        gaps += [(exact - found[name]).sum() for name in ("dual", "softened")]
    assert gaps[1] < 0.6 * gaps[0]


def test_nothing_left_to_move():
    vectors = np.eye(N_WORDS, dtype=np.float32)
    _, bags, _ = setting(0, 1, 1.0, False)
    same = WordBags(*(np.asarray(part) for part in (bags.starts[:2], *bags.row(0))))
    for kernels in (PLAIN, load_kernels()):
        found, exact = check_stages(kernels, vectors, bags, same)
        assert exact[0] == 0
        assert all(np.isfinite(bounds).all() for bounds in found.values())


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 70),
    st.integers(1, 30),
    st.integers(1, 30),
    st.sampled_from([1e-30, 1.0, 1e18]),
    st.sampled_from([np.float32, np.float64]),
)
def test_problems_are_the_same_to_the_last_bit(seed, dim, n, m, scale, dtype):
    rng = np.random.default_rng(seed)
    vectors = (rng.normal(size=(N_WORDS, dim)) * scale).astype(dtype)
    rows = np.zeros((2, N_WORDS))
    for row, size in zip(rows, (n, m), strict=True):
        # few different weights: equal and nearly equal shares of mass
        row[rng.choice(N_WORDS, size, replace=False)] = rng.choice([1, 3, 0.3], size)
    bags = as_word_bags(sp.csr_array(rows))
    pair = *bags.row(0), *bags.row(1), vectors
    kernels = load_kernels()
    assert kernels.pair_problem is not None
    want, found = pair_problem(*pair), kernels.pair_problem(*pair)
    for got, part in zip(found, want, strict=True):
        assert np.array_equal(got, part)
    for some in (kernels, PLAIN) if n * m * dim < 500 else (kernels,):
        ids, others = bags.row(0)[0], bags.row(1)[0]
        points = vectors.astype(np.float64)
        costs = some.costs(points[ids], points[others].T.copy())
        at = np.arange(len(others))
        for got, part in zip(
            some.gathered_problem(*pair[:4], costs, at), want, strict=True
        ):
            assert np.array_equal(got, part)
    if n * m * dim < 500:
        for got, part in zip(PLAIN.pair_problem(*pair), want, strict=True):
            assert np.array_equal(got, part)
    assert pair_distance(*pair) == pair_distance(*pair, kernels.pair_problem)


# -- loading ---------------------------------------------------------------------


@pytest.fixture
def uncompiled(monkeypatch):
    """A numba that compiles nothing; the keyword arguments it is called with."""
    asked = []

    def njit(**options):
        asked.append(options)
        return lambda function: function

    monkeypatch.setattr(numba, "njit", njit)
    monkeypatch.setattr(
        numba.extending, "register_jitable", lambda **options: lambda function: function
    )
    monkeypatch.setattr(kernels_module, "_register", lambda: None)
    return asked


def test_without_numba_there_are_no_kernels(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert load_kernels.__wrapped__() is None


def test_compiled_once_cached_and_without_the_lock(uncompiled):
    assert load_kernels() is load_kernels()
    assert load_kernels.__wrapped__() == PLAIN
    assert uncompiled[0]["cache"]
    assert uncompiled[0]["nogil"]


def test_problems_that_differ_by_a_bit_are_not_used(uncompiled, monkeypatch):
    def fused(*args):
        a, b, costs = pair_problem(*args)
        return a, b, np.nextafter(costs, np.inf)

    monkeypatch.setattr(kernels_module, "pair_problem", fused)
    assert load_kernels.__wrapped__() == PLAIN._replace(pair_problem=None)
