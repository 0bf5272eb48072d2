"""The exact distance of a pair, against other solvers."""

from __future__ import annotations

import numpy as np
import ot
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from skdptext.neighbors import as_bags, bag_of, word_movers
from tests.neighbors.inside import distance_module

N_WORDS = 8
# Distances are rounded to 42 binary digits, so that equal ones tie.
ROUNDED = 2**-42
seeds = st.integers(0, 2**32 - 1)


def few_weights(rng, n):
    """Rows of weights that often are 0 or equal, and never all 0."""
    rows = rng.choice([0.0, 0.0, 1.0, 2.0, 3.0, 0.5, 1e-3], (n, N_WORDS))
    rows[np.arange(n), rng.integers(0, N_WORDS, n)] += 1
    return rows


def bags_of(*rows):
    return as_bags(sp.csr_array(np.array(rows, dtype=float)))


def distance(rows, vectors):
    bags = bags_of(*rows)
    return word_movers(bag_of(bags, 0), bag_of(bags, 1), vectors)


@pytest.mark.no_cover
@settings(max_examples=200)
@given(seeds, st.sampled_from(["few", "long", "line", "one"]))
def test_equals_ot_emd2(seed, kind):
    # From a thousand pairs of words on, the solver is given reduced costs.
    rng = np.random.default_rng(seed)
    x, y = few_weights(rng, 2)
    if kind != "few":
        x, y = rng.integers(1, 4, (2, 73)) / 1.0
        x[40:] = y[:40] = 0
    vectors = {
        "line": rng.integers(0, 5, size=(73, 1)),
        "one": np.full((73, 300), 1 / 3),
    }.get(kind, rng.normal(size=(len(x), 20)))
    got = distance([x, y], vectors)
    x, y, costs = x / x.sum(), y / y.sum(), cdist(vectors, vectors)
    want = ot.emd2(x[x > 0], y[y > 0], costs[x > 0][:, y > 0])
    assert got == pytest.approx(want, rel=ROUNDED, abs=1e-12)
    assert kind != "one" or got == 0.0


@pytest.mark.parametrize("scale", [1e-30, 1e-15, 1e-8, 1.0, 1e8, 1e18])
def test_does_not_depend_on_the_unit(scale):
    # The solver alone returns a wrong plan, and code 1, for costs near 1e-15.
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows = rng.random((2, 21))
        rows[0, 12:] = rows[1, :12] = 0
        vectors = rng.normal(size=(21, 5))
        got = distance(rows, vectors * scale) / scale
        assert got == pytest.approx(distance(rows, vectors), rel=1e-12)


def test_masses_over_many_magnitudes():
    rng = np.random.default_rng(1)
    for _ in range(100):
        rows = 10.0 ** rng.uniform(-17, 3, size=(2, 12))
        rows[0, :6] = rows[1, 6:] = 0
        got = distance(rows, rng.normal(size=(12, 2)))
        assert np.isfinite(got)
        assert got > 0


def test_code_other_than_optimal_raises(monkeypatch):
    # code 0 comes with cost 0.0: read as a distance it would be the nearest of all
    def infeasible(*args):
        return np.zeros((2, 2)), 0.0, np.zeros(2), np.zeros(2), 0

    monkeypatch.setattr(distance_module, "solver", lambda: infeasible)
    with pytest.raises(RuntimeError, match="code 0 instead of 1"):
        distance([[1, 1, 0, 0], [0, 0, 1, 1]], np.eye(4))


def test_proportional_bags_are_equal_to_the_last_bit():
    bags = bags_of([1, 2, 3, 0], [10, 20, 30, 0], [0.1, 0.2, 0.3, 0.0])
    assert np.array_equal(bag_of(bags, 0)[1], bag_of(bags, 1)[1])
    vectors = np.random.default_rng(0).normal(size=(4, 2))
    assert word_movers(bag_of(bags, 0), bag_of(bags, 2), vectors) == 0.0


@pytest.mark.parametrize("scale", [1e-310, 1e-300, 1e308])
def test_masses_at_the_edge_of_float64(scale):
    bags = bags_of(np.array([1.0, 1.0, 0.0]) * scale, [1.0, 1.0, 0.0])
    np.testing.assert_allclose(bag_of(bags, 0)[1], bag_of(bags, 1)[1], rtol=1e-9)
    bags = bags_of([1e300, 1e-300, 0.0])  # weight that underflows is no word
    assert bag_of(bags, 0)[0].tolist() == [0]
