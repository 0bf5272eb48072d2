"""Nearest words are those of a float64 brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context

from skdptext.embeddings import half_squared_norms, k_nearest_words, nearest_words
from tests.channels import channel, sample
from tests.memory import traced_memory


def by_scores(points, vectors):
    """The nearest word by float64 scores, the first of equal ones."""
    points, vectors = points.astype(np.float64), vectors.astype(np.float64)
    return (points @ vectors.T - 0.5 * (vectors**2).sum(axis=1)).argmax(axis=1)


def k_brute_force(points, vectors, k, exclude=None):
    """One point at a time, all words sorted by distance and index."""
    apart = np.empty((len(points), len(vectors)))
    for row, point in zip(apart, points.astype(np.float64), strict=True):
        gaps = vectors.astype(np.float64) - point
        row[:] = np.sqrt(np.einsum("ij,ij->i", gaps, gaps))
    if exclude is not None:
        apart[np.arange(len(points)), exclude] = np.inf
    ids = apart.argsort(axis=1, kind="stable")[:, :k]
    return ids, np.take_along_axis(apart, ids, axis=1)


def assert_k_nearest(points, vectors, k, exclude=None):
    ids, distances = k_nearest_words(points, vectors, k, exclude=exclude)
    expected = k_brute_force(points, vectors, k, exclude)
    np.testing.assert_array_equal(ids, expected[0])
    np.testing.assert_array_equal(distances, expected[1])
    assert ids.shape == distances.shape == (len(points), k)
    assert distances.dtype == np.float64


@pytest.mark.no_cover
@given(data=st.data())
def test_nearest_on_a_lattice_are_those_of_whole_numbers(data):
    """Distances of whole numbers are exact, so that ties are real; duplicates abound.

    Times a power of two, up to where squares pass float32's range on either side.
    """
    n, v, m = (data.draw(st.integers(1, high)) for high in (5, 12, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    reach = data.draw(st.sampled_from([1, 3]))
    vectors, points = (rng.integers(-reach, reach + 1, (rows, m)) for rows in (v, n))
    offset = data.draw(st.sampled_from([0, 10**4, 10**6]))
    scale = 2.0 ** data.draw(st.sampled_from([-149, -70, 0, 60, 100]))
    k = data.draw(st.integers(1, v))
    memory = data.draw(st.sampled_from([1024, 1e-6]))
    table, asked = ((vectors + offset) * scale).astype("f4"), (points + offset) * scale
    with config_context(working_memory=memory):
        ids, distances = k_nearest_words(asked, table, k)
    nearest = nearest_words(asked, table)
    for i, point in enumerate(points.tolist()):
        squares = [
            sum((a - b) ** 2 for a, b in zip(point, vector, strict=True))
            for vector in vectors.tolist()
        ]
        best = sorted(range(v), key=squares.__getitem__)[:k]
        assert ids[i].tolist() == best
        assert distances[i].tolist() == [math.sqrt(squares[j]) * scale for j in best]
        assert nearest[i] == best[0]


@pytest.mark.no_cover
@given(
    shape=st.tuples(st.integers(2, 40), st.integers(1, 8)),
    seed=st.integers(0, 2**32),
    size=st.sampled_from([1e-30, 1e-20, 1.0, 1e19, 1e28]),
    far=st.sampled_from([0.0, 1.0, 1e3, 1e9]),
    decimals=st.sampled_from([0, 1, 9]),
    data=st.data(),
)
def test_k_nearest_words_to_words_and_to_noisy_ones(
    shape, seed, size, far, decimals, data
):
    """Near duplicates far from the origin too, where float32 scores tell nothing."""
    rng = np.random.default_rng(seed)
    offset = far * rng.normal(size=shape[1])
    table = (size * (np.round(rng.normal(size=shape), decimals) + offset)).astype("f4")
    own = rng.permutation(len(table))
    k = data.draw(st.integers(1, len(table) - 1))
    assert_k_nearest(table[own], table, k, exclude=own)
    noise = rng.gamma(2.0, size, size=shape) * data.draw(st.sampled_from([1e-9, 1, 10]))
    with config_context(working_memory=1e-6):
        assert_k_nearest(table[own] + noise, table, k + 1)


@pytest.mark.parametrize("scale", [1e-200, 1e-25, 1e12, 1e25, 1e39, 1e150, 1e200])
def test_points_beyond_float32(scale):
    """Far off, distances agree in float64, and the first words are the nearest."""
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(50, 6)).astype(np.float32)
    points = rng.normal(size=(40, 6)) * scale
    with np.errstate(over="ignore"):
        assert_k_nearest(points[:10], vectors, 7)
    for size in (1.0, 1e-20):
        table = vectors * np.float32(size)
        np.testing.assert_array_equal(
            nearest_words(points, table), by_scores(points, table)
        )


def test_a_score_beyond_float32_may_be_the_best():
    """The nearest word's ½‖φ‖² overflows float32; its score does not."""
    vectors = np.float32([[2.65e19], [-6.8e18]])
    points = np.array([[1.13e19]])
    assert abs(vectors[0] - points[0]) < abs(vectors[1] - points[0])
    with np.errstate(over="ignore"):
        assert np.isinf(half_squared_norms(vectors)[0].astype(np.float32))
    assert nearest_words(points, vectors) == [0]


@pytest.mark.parametrize("setting", [(1.0, 1.0), (10.0, 0.0), (40.0, 0.5)], ids=str)
def test_noisy_words(built_in, setting):
    """And words themselves, however they are split into calls."""
    vectors, rng = built_in.vectors, np.random.default_rng(7)
    points = sample(channel(*setting, built_in), rng, 1100)
    own = rng.integers(0, len(built_in), len(points))
    points += vectors[own]
    nearest = nearest_words(points, vectors)
    np.testing.assert_array_equal(nearest, by_scores(points, vectors))
    parts = [nearest_words(p, vectors) for p in np.array_split(points, 37)]
    np.testing.assert_array_equal(nearest, np.concatenate(parts))
    unique = np.unique(vectors, axis=0, return_index=True)[1][::7]
    themselves = nearest_words(vectors[unique].astype(np.float64), vectors)
    np.testing.assert_array_equal(themselves, unique)
    assert_k_nearest(vectors[own[:4]], vectors, 10, exclude=own[:4])
    assert_k_nearest(points[:4], vectors, 10)


def test_memory_bounds_the_scores_and_changes_no_word(built_in):
    rng = np.random.default_rng(0)
    vectors = built_in.vectors
    points = vectors[rng.integers(0, len(vectors), 3000)] + rng.normal(size=(3000, 100))
    half_norms = half_squared_norms(vectors)

    def searched(memory):
        with traced_memory() as taken:
            ids = nearest_words(points, vectors, half_norms, memory=memory)
        return ids, taken.peak

    ids, much = searched(None)
    again, little = searched(2**22)
    np.testing.assert_array_equal(ids, again)
    # 1 MB beside the scores: points, norms and what is decided in float64
    assert little < 2**22 + 2**20 < 2**24 < much


def test_no_points_and_none_wanted():
    table = np.eye(3, dtype=np.float32)
    assert nearest_words(np.empty((0, 3)), table).shape == (0,)
    for n, k in ((0, 2), (2, 0)):
        ids, distances = k_nearest_words(table[:n], table, k)
        assert ids.shape == distances.shape == (n, k)
