"""When loops are compiled, what is kept, and what is not trusted."""

from __future__ import annotations

import subprocess
import sys

import numba
import numpy as np
import pytest

from tests.transport.inside import (
    exact_loops,
    kernels_module,
    load_kernels,
    pair_problem,
    solver_address,
)
from tests.transport.test_wmd_compiled import PLAIN_KERNELS


@pytest.fixture
def uncompiled(monkeypatch):
    """A numba that compiles nothing; the keyword arguments it is called with."""
    load_kernels()  # those that stay are compiled
    asked = []

    def njit(**options):
        asked.append(options)
        return lambda function: function

    monkeypatch.setattr(numba, "njit", njit)
    monkeypatch.setattr(
        numba.extending, "register_jitable", lambda **options: lambda function: function
    )
    monkeypatch.setattr(kernels_module, "_register", lambda: None)
    monkeypatch.setattr(exact_loops, "make_block", lambda digest: PLAIN_KERNELS.block)
    return asked


def test_without_numba_there_are_no_kernels(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert load_kernels.__wrapped__() is None


def test_without_the_solver_there_are_no_kernels(uncompiled, monkeypatch):
    monkeypatch.setattr(kernels_module, "solver_address", lambda: 0)
    assert load_kernels.__wrapped__() is None


def test_compiled_once_cached_and_without_the_lock(uncompiled):
    assert load_kernels() is load_kernels()
    assert load_kernels.__wrapped__() == (PLAIN_KERNELS if solver_address() else None)
    assert all(options["cache"] and options["nogil"] for options in uncompiled)
    assert len(uncompiled) == (2 if solver_address() else 0)


@pytest.mark.parametrize("what", ["word_costs", "pair_distance"])
def test_distances_that_differ_by_a_bit_are_not_used(uncompiled, what, monkeypatch):
    plain = getattr(kernels_module._exact, what)
    monkeypatch.setattr(
        kernels_module._exact, what, lambda *args: np.nextafter(plain(*args), np.inf)
    )
    assert load_kernels.__wrapped__() is None


def test_what_is_kept_on_disk_knows_its_sources(tmp_path):
    other = tmp_path / "loops.py"
    digests = []
    for text in ("a", "b", "a"):
        other.write_text(text)
        digests.append(kernels_module.sources_digest(str(other)))
    assert digests[0] == digests[2] != digests[1]


def test_the_trial_has_costs_to_reduce_words_to_share_and_lone_words():
    vectors, one, bags = kernels_module.trial()
    problems = [
        pair_problem(*one.row(0), *bags.row(i), vectors) for i in range(len(bags))
    ]
    assert problems[0][2].size >= kernels_module._exact.WORTH_REDUCING
    assert len(np.intersect1d(one.ids, bags.row(0)[0])) > 9
    assert min(problems[-1][2].shape) == 1


def test_the_block_is_that_of_these_sources():
    found = load_kernels()
    if found is None:
        assert not solver_address()
        return
    vectors, one, bags = kernels_module.trial()
    costs = kernels_module._exact.word_costs(vectors, one.ids, bags.ids)
    entries = bags.starts, bags.ids, bags.weights, np.arange(len(bags.ids)), costs
    out = np.empty(len(bags))
    digest = found.block(kernels_module.solver_address(), *one.row(0), *entries, 0, out)
    assert digest == kernels_module.sources_digest()


def test_many_threads_may_come_first(compiled):
    # numba refuses to learn a function twice.
    code = """
import threading
from skdptext.transport._compiled_cascade import load_search

barrier, found = threading.Barrier(4), []

def come():
    barrier.wait()
    found.append(load_search())

threads = [threading.Thread(target=come) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert len(found) == 4 and None not in found
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
