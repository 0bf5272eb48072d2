"""The compiled loops give what NumPy gives, and step aside where they cannot."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from ot.lp import emd_wrap
from ot.lp.emd_wrap import emd_c

from skdptext.transport import WordBags, as_word_bags, pair_distance
from tests.transport.inside import (
    AskedDistance,
    LoweredTable,
    as_matrix,
    ask_python,
    bound_loops,
    dual_bounds,
    exact_loops,
    kernels_module,
    load_kernels,
    padded_width,
    pair_problem,
    relaxed_bounds,
    run_solver,
    solver_address,
    solver_module,
    sources_digest,
)

N_WORDS = 30


class Stages(NamedTuple):
    """The steps of the compiled search up to the exact problems."""

    relax_query: Any
    fill_costs: Any
    sample_query: Any
    extend_potentials: Any
    tighten_query: Any


# The same functions, as Python runs them: what coverage sees, and a check that the
# promises made to the compiler hide nothing.
PLAIN = Stages(
    bound_loops.relax_query,
    bound_loops.fill_costs,
    bound_loops.sample_query,
    bound_loops.extend_potentials,
    bound_loops.tighten_query,
)
PLAIN_KERNELS = kernels_module.Kernels(
    exact_loops.looped_costs, exact_loops.make_block(7)
)


@cache
def compiled(function):
    """As the search has it; numba knows the helpers once the kernels are there."""
    load_kernels()
    # numba looks for changes in the file of the function, not in those of its helpers
    kept = Path(bound_loops.__file__).parent / "__pycache__" / f"{sources_digest():x}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba.config, "CACHE_DIR", str(kept))
        return numba.njit(cache=True, fastmath={"nnan", "nsz"})(function)


@cache
def compiled_stages():
    return Stages(*map(compiled, PLAIN))


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
    place, own = places(words, ids)
    matrix = as_matrix(local, len(words))
    return {
        "relaxed": relaxed_bounds(costs, weights, own, matrix, matrix.tocsc()),
        "dual": dual_bounds(costs.T, weights, place, local, np.arange(len(bags))),
    }


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
    np.testing.assert_allclose(found["relaxed"], want["relaxed"], rtol=0, atol=1e-12)
    # the better of two orders, of which `dual_bounds` is one
    assert (found["dual"] >= want["dual"] - 1e-6).all()
    exact = [
        pair_distance(*query.row(0), *bags.row(i), vectors) for i in range(len(bags))
    ]
    exact = np.ldexp(exact, -LoweredTable(vectors, bags.ids).exponent)
    for name, bounds in found.items():
        assert (bounds <= exact + 1e-12).all(), name
    assert (found["softened"] >= found["rows"] - 1e-6).all()
    return found, exact


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.sampled_from([1e-30, 1e-3, 1.0, 1e4, 1e37]),
    st.booleans(),
)
def test_bounds_are_those_of_numpy_and_below_the_distance(seed, dim, scale, lattice):
    check_stages(compiled_stages(), *setting(seed, dim, scale, lattice))


@pytest.mark.parametrize("lattice", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_uncompiled_too(seed, lattice):
    vectors, bags, query = setting(seed, 3, 1.0, lattice)
    found, _ = check_stages(PLAIN, vectors, bags, query)
    from_machine = kernel_stages(compiled_stages(), vectors, bags, query)
    for name in ("relaxed", "dual", "rows"):
        np.testing.assert_allclose(found[name], from_machine[name], rtol=0, atol=1e-12)
    # float32 sums in another order, on the way to potentials
    np.testing.assert_allclose(found["softened"], from_machine["softened"], atol=1e-4)


def test_softened_bounds_are_worth_having():
    gaps = np.zeros(2)
    for seed in range(20):
        found, exact = check_stages(compiled_stages(), *setting(seed, 20, 1.0, False))
        gaps += [(exact - found[name]).sum() for name in ("dual", "softened")]
    assert gaps[1] < 0.6 * gaps[0]


def test_nothing_left_to_move():
    vectors = np.eye(N_WORDS, dtype=np.float32)
    _, bags, _ = setting(0, 1, 1.0, False)
    same = WordBags(*(np.asarray(part) for part in (bags.starts[:2], *bags.row(0))))
    for kernels in (PLAIN, compiled_stages()):
        found, exact = check_stages(kernels, vectors, bags, same)
        assert exact[0] == 0
        assert all(np.isfinite(bounds).all() for bounds in found.values())


@settings(max_examples=60, deadline=None)
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
    want = pair_problem(*pair)
    small = n * m * dim < 500
    for find in (exact_loops.looped_pair_problem, exact_loops.gathered_problem):
        for function in (compiled(find), find) if small else (compiled(find),):
            given = pair[:4] + problem_costs(find, bags, vectors, small)
            for got, part in zip(function(*given), want, strict=True):
                assert np.array_equal(got, part)
    distance = exact_loops.looped_distance
    for function in (compiled(distance), distance) if small else (compiled(distance),):
        assert_distance(function(solver_address(), *pair), pair)


def assert_distance(found, pair):
    """The same to the last bit; none where this POT cannot be called by address."""
    want = pair_distance(*pair)
    a, b, _ = pair_problem(*pair)
    if solver_address() or min(len(a), len(b)) < 2:
        assert found == want
    else:
        assert np.isnan(found)


def problem_costs(find, bags, vectors, small):
    """What a problem is made from, after the bags."""
    if find is exact_loops.looped_pair_problem:
        return (vectors,)
    points = vectors.astype(np.float64)
    ids, others = bags.row(0)[0], bags.row(1)[0]
    costs = exact_loops.looped_costs
    costs = costs if small else compiled(costs)
    return costs(points[ids], points[others].T.copy()), np.arange(len(others))


@pytest.mark.parametrize("size", [(2, 3), (31, 33), (45, 40)])
def test_reduced_costs_too(size):
    """From 1,024 costs on they are reduced before they are solved."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(sum(size), 5)).astype(np.float32)
    x, y = (rng.dirichlet(np.ones(n)) for n in size)
    pair = np.arange(size[0]), x, np.arange(size[0], sum(size)), y, vectors
    for function in (
        compiled(exact_loops.looped_distance),
        exact_loops.looped_distance,
    ):
        assert_distance(function(solver_address(), *pair), pair)


def test_failures_of_the_solver_are_no_distances(monkeypatch):
    """For masses that differ the solver says 0: code 0, cost 0."""
    masses = np.array([0.5, 0.5]), np.array([0.5, 0.5])
    arrays = np.eye(2), np.zeros((2, 2)), np.zeros(2), np.zeros(2), np.zeros(1)
    assert run_solver(solver_address(), masses[0], 2 * masses[1], *arrays) == 0
    assert run_solver(solver_address(), *masses, *arrays) == (solver_address() != 0)
    monkeypatch.setattr(exact_loops, "run_solver", lambda *_: 0)
    assert np.isnan(exact_loops.looped_cost(0, *masses, np.eye(2)))


def test_no_address_is_called():
    """As with POT 0.9.5 and 0.9.6, which do not have this function."""
    masses = np.array([0.5, 0.5]), np.array([0.5, 0.5])
    cost = exact_loops.looped_cost
    assert np.isnan(cost(0, *masses, np.eye(2)))
    assert np.isnan(compiled(cost)(0, *masses, np.eye(2)))


def test_an_address_is_that_of_the_solver(monkeypatch):
    find = solver_address.__wrapped__
    assert find() == solver_address()
    with monkeypatch.context() as patch:
        patch.setattr(solver_module, "_NAMES", ("_Z8EMD_wrapi",))
        assert find() == 0
    with monkeypatch.context() as patch:
        patch.setattr(emd_wrap, "__file__", "nowhere.so")
        assert find() == 0


@pytest.mark.parametrize("what", ["nothing", "cost", "code", "plan"])
def test_a_function_with_other_results_is_not_used(what, monkeypatch):
    """The name may be the same, and the results may not."""

    def solve(address, a, b, costs, plan, alpha, beta, cost):
        plan[:], cost[0], _, _, code = emd_c(a, b, costs, 0, 1)
        if what == "cost" and len(a) == 12:
            cost[0] = np.nextafter(cost[0], 9.0)
        if what == "plan" and len(a) == 12:
            plan[0] = plan[0, ::-1]
        return 3 if what == "code" else code

    monkeypatch.setattr(solver_module, "run_solver", solve)
    assert solver_module._is_emd_c(7) == (what == "nothing")


def test_errors_come_back_from_python():
    def fail(query, bag):
        raise ValueError(f"{query} {bag}")

    asked = AskedDistance(fail)
    assert np.isnan(ask_python(asked.address, 3, 4))
    assert str(asked.error) == "3 4"
    answered = AskedDistance(lambda query, bag: query / bag)
    assert ask_python(answered.address, 3, 4) == 0.75
    assert answered.error is None


# -- loading ---------------------------------------------------------------------
