"""The compiled loops give what NumPy gives, and step aside where they cannot."""

from __future__ import annotations

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from ot.lp import emd_wrap
from ot.lp.emd_wrap import emd_c

from skdptext.neighbors import compile_search
from skdptext.transport import BagBlock, WordBags, as_word_bags, take_bags
from skdptext.utils import LoadedOnce, Threads
from tests.transport.inside import (
    PLAIN_KERNELS,
    PLAIN_LOOPS,
    CompiledBounds,
    IndexedBags,
    PlainBounds,
    bounds_for,
    exact_module,
    index_module,
    kernels_module,
    load_bounds,
    load_kernels,
    loops_module,
    random_bags,
    run_solver,
    solver_address,
    solver_module,
)

N_WORDS = 30


# -- bounds --------------------------------------------------------------------------


def setting(seed, dim, scale, lattice, n_queries=10):
    """Bags, and more queries than are bounded at once."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(N_WORDS, dim))
    if lattice:  # ties, equal vectors, costs of 0
        vectors = np.round(vectors)
    vectors = (vectors * scale).astype(np.float32)
    bags, queries = (
        random_bags(rng, 12, N_WORDS, 20),
        random_bags(rng, n_queries, N_WORDS, 20),
    )
    return IndexedBags(bags, N_WORDS, vectors), queries


def check_bounds(loops, index, queries):
    """Every bound is at most the distance; the slack, and the bounds, of all pairs."""
    every = np.arange(len(index.bags))
    ours, plain = CompiledBounds(index, queries, loops), PlainBounds(index, queries)
    block = BagBlock(index.bags, index.vectors, load_kernels())
    by_query = []
    for i in range(len(queries)):
        exact = block.distances(queries.row(i))
        exact = np.ldexp(exact, -index.table.exponent)
        relaxed = ours.relax(i).copy()
        want = plain.relax(i)
        np.testing.assert_allclose(relaxed, want, rtol=1e-5, atol=1e-6)
        both = []
        for engine in (ours, plain):
            others = np.where(every < 9, relaxed, np.float32(9.0))
            order, bounds = engine.sample(others, 9)
            assert (np.diff(bounds) >= 0).all()
            assert np.array_equal(np.sort(order), every[:9])
            assert np.array_equal(np.isinf(others), every < 9)
            both.append(bounds[order.argsort()])
        sampled, one = both
        # the better of two orders, of which NumPy takes one
        assert (sampled >= one - 1e-6).all()
        rows = ours.tighten(every, -np.inf)
        soft = ours.tighten(every, np.inf)
        assert (soft >= rows - 1e-6).all()
        assert (relaxed[every[:9]] >= 0).all()
        for bounds in (relaxed, np.append(sampled, rows[9:]), rows, soft):
            assert (bounds <= exact + 1e-11).all()
        by_query.append([exact, np.append(sampled, rows[9:]), soft])
    return np.array(by_query)


@pytest.mark.no_cover
@settings(max_examples=30)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.sampled_from([1e-30, 1e-3, 1.0, 1e4, 1e37]),
    st.booleans(),
)
def test_bounds_are_those_of_numpy_and_below_the_distance(
    compiled, seed, dim, scale, lattice
):
    check_bounds(compiled, *setting(seed, dim, scale, lattice))


@pytest.mark.no_cover
@pytest.mark.parametrize("lattice", [False, True])
def test_uncompiled_too(compiled, lattice):
    """A check that the promises made to the compiler hide nothing."""
    problem = setting(3, 3, 1.0, lattice)
    plain = check_bounds(PLAIN_LOOPS, *problem)
    machine = check_bounds(compiled, *problem)
    np.testing.assert_allclose(plain[:, 1], machine[:, 1], rtol=0, atol=1e-5)
    # float32 sums in another order, on the way to potentials
    np.testing.assert_allclose(plain[:, 2], machine[:, 2], atol=1e-4)


@pytest.mark.no_cover
def test_softened_bounds_are_worth_having(compiled):
    gaps = np.zeros(2)
    for seed in range(5):
        exact, dual, soft = check_bounds(
            compiled, *setting(seed, 20, 1.0, False)
        ).transpose(1, 0, 2)
        gaps += (exact - dual)[:, :9].sum(), (exact - soft)[:, :9].sum()
    assert gaps[1] < 0.6 * gaps[0]


@pytest.mark.parametrize("start", [0, 4])
def test_first_bounds_are_the_better_of_both_ends(compiled, monkeypatch, start):
    """Of pairs of queries; bags that are no queries keep theirs."""
    monkeypatch.setattr(index_module, "_TILE", 3)
    index, _ = setting(1, 5, 1.0, False)
    every, itself = np.arange(12), np.arange(start, 12)
    queries = take_bags(index.bags, itself)
    for loops in (PLAIN_LOOPS, compiled):
        alone = CompiledBounds(index, index.bags, loops)
        there = np.array([alone.relax(i).copy() for i in every])
        assert not np.allclose(there, there.T)
        want = np.where(np.outer(every >= start, every >= start), there.T, there)
        both = CompiledBounds(index, queries, loops, itself=itself)
        with Threads(2) as threads:
            more = CompiledBounds(index, queries, loops, threads, itself)
        for engine in (both, more):
            bounds = [engine.relax(i) for i in range(len(queries))]
            assert np.array_equal(bounds, np.maximum(there, want)[start:])


def test_long_bags_round_no_bound_up(compiled):
    """Thousands of float32 additions, where all words are equally far."""
    n = 3000
    vectors = np.eye(1, 4, dtype=np.float32).repeat(n, 0)
    vectors[n // 2 :] = [0, 1, 0, 0]
    words = np.arange(n)
    half = np.random.default_rng(0).dirichlet(np.ones(n // 2))
    bags = WordBags(np.array([0, n // 2]), words[: n // 2], half)
    queries = WordBags(np.array([0, n // 2]), words[n // 2 :], half[::-1].copy())
    index = IndexedBags(bags, n, vectors)
    bound = np.ldexp(
        CompiledBounds(index, queries, compiled).relax(0), index.table.exponent
    )
    assert np.sqrt(2) - 1e-2 < bound[0] <= np.sqrt(2)


@pytest.mark.no_cover
def test_nothing_left_to_move(compiled):
    index, _ = setting(0, 5, 1.0, False)
    for loops in (PLAIN_LOOPS, compiled):
        bounds = check_bounds(loops, index, take_bags(index.bags, np.arange(4)))
        assert np.isfinite(bounds).all()
        assert (bounds[np.arange(4), :, np.arange(4)] <= 0).all()


# -- POT's solver --------------------------------------------------------------------


def test_failures_of_the_solver_are_no_distances(monkeypatch):
    """For masses that differ the solver says 0: code 0, cost 0."""
    masses = np.array([0.5, 0.5]), np.array([0.5, 0.5])
    room = loops_module.Solution(
        np.zeros((2, 2)), np.zeros(2), np.zeros(2), np.zeros(1)
    )
    arrays = np.eye(2), room
    assert run_solver(solver_address(), masses[0], 2 * masses[1], *arrays) == 0
    assert run_solver(solver_address(), *masses, *arrays) == (solver_address() != 0)
    # no address, as with POT 0.9.5 and 0.9.6, which do not have this function
    assert np.isnan(loops_module.looped_cost(0, *masses, np.eye(2)))


def test_no_address_is_called_by_compiled_code():
    kernels = load_kernels()
    if kernels is None:
        assert not solver_address()
        return
    bags = as_word_bags(sp.csr_array(np.eye(4)[:2] + np.eye(4)[2:]))
    out = np.zeros(2)
    costs = 1 - np.eye(4)[[0, 2]], bags.ids
    kernels.block(0, *bags.row(0), bags.arrays, costs, 0, out)
    assert out[0] == 0
    assert np.isnan(out[1])


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

    def solve(address, a, b, costs, out):
        plan, _, _, cost = out
        plan[:], cost[0], _, _, code = emd_c(a, b, costs, 0, 1)
        if what == "cost" and len(a) == 12:
            cost[0] = np.nextafter(cost[0], 9.0)
        if what == "plan" and len(a) == 12:
            plan[0] = plan[0, ::-1]
        return 3 if what == "code" else code

    monkeypatch.setattr(solver_module, "run_solver", solve)
    assert solver_module._is_emd_c(7) == (what == "nothing")


# -- loading -------------------------------------------------------------------------


@pytest.fixture
def uncompiled(monkeypatch):
    """A numba that compiles nothing; the keyword arguments it is called with."""
    load_kernels()  # those that stay are compiled
    asked = []

    def njit(**options):
        asked.append(options)
        return lambda function: function

    monkeypatch.setattr(numba, "njit", njit)
    return asked


def test_without_numba_there_are_no_loops(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert load_kernels.__wrapped__() is None
    assert load_bounds.__wrapped__() is None


def test_without_the_solver_there_are_no_kernels(uncompiled, monkeypatch):
    monkeypatch.setattr(kernels_module, "solver_address", lambda: 0)
    assert load_kernels.__wrapped__() is None


def test_compiled_once_cached_and_without_the_lock(uncompiled):
    assert load_kernels() is load_kernels()
    assert load_kernels.__wrapped__() == (PLAIN_KERNELS if solver_address() else None)
    assert load_bounds.__wrapped__() == PLAIN_LOOPS
    assert all(options["cache"] and options["nogil"] for options in uncompiled)
    assert len(uncompiled) == 3 + 3 * bool(solver_address())


@pytest.mark.parametrize("what", ["word_costs", "transport_cost"])
def test_distances_that_differ_by_a_bit_are_not_used(uncompiled, what, monkeypatch):
    plain = getattr(exact_module, what)
    monkeypatch.setattr(
        exact_module, what, lambda *args: np.nextafter(plain(*args), np.inf)
    )
    assert load_kernels.__wrapped__() is None


def test_the_trial_has_costs_to_reduce_words_to_share_and_lone_words():
    vectors, one, bags = kernels_module._trial()
    problems = [
        exact_module.pair_problem(one.row(0), bags.row(i), vectors) for i in range(4)
    ]
    assert problems[0][2].size >= loops_module.WORTH_REDUCING
    assert len(np.intersect1d(one.ids, bags.row(0)[0])) > 9
    assert min(problems[-1][2].shape) == 1


def test_all_that_is_compiled_is_in_one_file():
    """numba's cache looks at the file of a function, and at no other."""
    source = Path(loops_module.__file__).read_text()
    assert "skdptext" not in source.split('"""', 2)[2]


def test_many_threads_may_come_first(uncompiled, monkeypatch):
    # numba refuses to learn a function twice, which a cache alone does not prevent:
    # none may begin while another is at it.
    barrier, learnt = threading.Barrier(4), []

    @lru_cache(maxsize=1)
    def register():
        learnt.append(threading.get_ident())
        time.sleep(0.02)

    assert loops_module.register.cache_parameters() == register.cache_parameters()
    monkeypatch.setattr(loops_module, "register", register)
    monkeypatch.setattr(kernels_module, "solver_address", lambda: 0)
    names = ["load_bounds", "load_kernels"]
    for name in names:
        fresh = LoadedOnce(getattr(kernels_module, name).__wrapped__)
        monkeypatch.setattr(kernels_module, name, fresh)

    def come(name):
        barrier.wait()
        getattr(kernels_module, name)()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(come, names * 2))
    assert len(learnt) == 1


# -- when they are loaded ------------------------------------------------------------


def test_compiled_only_where_it_pays(monkeypatch):
    for load, choose, least in (
        ("load_bounds", "bounds_for", "WORTH_COMPILING_BOUNDS"),
        ("load_kernels", "kernels_for", "WORTH_COMPILING"),
    ):
        loader = LoadedOnce(lambda: "compiled")
        monkeypatch.setattr(kernels_module, load, loader)
        least = getattr(kernels_module, least)
        choose = getattr(kernels_module, choose)
        assert choose(least - 1) is None
        assert choose(least) == "compiled"
        assert choose(least - 1) == "compiled"  # now that they are there


def test_compiled_when_asked(monkeypatch):
    monkeypatch.setattr(kernels_module, "load_bounds", LoadedOnce(lambda: "compiled"))
    assert bounds_for(1) is None
    assert compile_search()
    assert bounds_for(1) == "compiled"
    monkeypatch.setattr(kernels_module, "load_bounds", LoadedOnce(lambda: None))
    assert not compile_search()


@pytest.mark.parametrize("slow", [True, False])
def test_slow_compiling_is_said_once(slow, monkeypatch, logged):
    monkeypatch.setattr(kernels_module, "_READ_IN", 0.01 if slow else 60.0)
    monkeypatch.setattr(kernels_module, "load_kernels", lambda: None)
    monkeypatch.setattr(
        kernels_module, "compile_loops", lambda _: time.sleep(0.5 if slow else 0.0)
    )
    assert load_bounds.__wrapped__() is None
    said = (
        ["Compiling the search for Word Mover's neighbours once, about 15 s."]
        if slow
        else []
    )
    assert logged == said
