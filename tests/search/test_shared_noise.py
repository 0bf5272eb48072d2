"""Noise shared by many words: the same winners as the search of single points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import config_context

from skdptext.search import SharedNoise, nearest_words

# A hundred words are of one tile, unless tiles are made small.
from skdptext.search import _shared_noise as module
from skdptext.utils import half_squared_norms
from tests.memory import traced_memory

sixty = settings(max_examples=60)


@pytest.fixture(autouse=True, scope="module")
def _small_tiles():
    """A hundred words are of several tiles."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_TILE", 64)
        yield


def winners(vectors, noise, ids, scales):
    shared = SharedNoise(noise, vectors, half_squared_norms(vectors))
    parts = list(shared.nearest(ids, scales))
    covered = np.concatenate([np.arange(len(ids))[rows] for rows, _ in parts])
    assert covered.tolist() == list(range(len(ids)))
    return np.concatenate([part for _, part in parts], axis=1)


def one_by_one(vectors, noise, ids, scales):
    points = vectors[ids][None, :, None].astype(float)
    points = points + np.asarray(scales)[:, None, None, None] * noise
    flat = nearest_words(points.reshape(-1, vectors.shape[1]), vectors)
    return flat.reshape(len(scales), len(ids), len(noise))


@pytest.mark.no_cover
@sixty
@given(
    n_words=st.integers(1, 140),
    dim=st.integers(1, 6),
    n_draws=st.integers(1, 6),
    size=st.sampled_from([1e-3, 1.0, 1e3]),
    memory=st.sampled_from([1e-4, 0.006, 64]),  # rows and draws in several blocks
    seed=st.integers(0, 2**32),
)
def test_same_as_points_one_by_one(n_words, dim, n_draws, size, memory, seed):
    rng = np.random.default_rng(seed)
    vectors = (size * rng.normal(size=(n_words, dim))).astype(np.float32)
    twins = n_words // 4  # almost, in other tiles
    step = 1 + 1e-7 * rng.normal(size=(twins, dim))
    vectors[n_words - twins :] = vectors[:twins] * step
    noise = size * rng.normal(size=(n_draws, dim))
    ids = rng.integers(0, n_words, 5)
    scales = [0.1, 1.0, 30.0]
    expected = one_by_one(vectors, noise, ids, scales)
    with config_context(working_memory=memory):
        words = winners(vectors, noise, ids, scales)
    np.testing.assert_array_equal(words, expected)


@pytest.mark.no_cover
@sixty
@given(
    n_words=st.integers(2, 140),
    dim=st.integers(1, 3),
    memory=st.sampled_from([1e-4, 64]),
    seed=st.integers(0, 2**32),
)
def test_ties_go_to_the_lowest_index(n_words, dim, memory, seed):
    # Whole numbers: float64 scores are exact, and ties and equal vectors abound.
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-2, 3, (n_words, dim)).astype(np.float32)
    noise = rng.integers(-3, 4, (5, dim)).astype(float)
    ids = rng.permutation(n_words)[:6]
    points = vectors[ids, None].astype(float) + noise
    scores = points @ vectors.T.astype(float) - (vectors.astype(float) ** 2).sum(1) / 2
    exact = scores.argmax(axis=-1)
    with config_context(working_memory=memory):
        words = winners(vectors, noise, ids, [1.0])[0]
    np.testing.assert_array_equal(words, exact)


def test_near_ties_are_decided_in_float64():
    # In float32 the scores of the two words, some 10^6, are equal.
    vectors = np.array([[1000.0, 1e-4], [1000.0, -1e-4], [0.0, 0.0]], np.float32)
    noise = np.array([[0.0, 1e-5], [0.0, -1e-5], [0.0, 1e-3], [0.0, -1e-3]])
    words = winners(vectors, noise, np.array([0, 1]), [1.0])[0]
    assert words.tolist() == [[0, 0, 0, 1], [1, 1, 0, 1]]


def test_beyond_float32():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(30, 4)).astype(np.float32)
    noise = rng.normal(size=(5, 4))
    ids = np.arange(30)
    for scale in (1e37, 1e60):
        expected = one_by_one(vectors, noise, ids, [scale])
        np.testing.assert_array_equal(winners(vectors, noise, ids, [scale]), expected)


def test_little_memory_changes_nothing(monkeypatch):
    monkeypatch.setattr(module, "_TILE", 1024)  # which takes less time
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(3000, 4)).astype(np.float32)
    noise, ids = rng.normal(size=(600, 4)), np.arange(8)

    def both(megabytes):
        """Winners and scales, and the bytes taken; some 8 MB for A of all draws."""
        with config_context(working_memory=megabytes), traced_memory() as memory:
            words = winners(vectors, noise, ids, [0.5, 2.0])
            shared = SharedNoise(noise, vectors, half_squared_norms(vectors))
            inverse = np.concatenate([part for _, part in shared.critical_scales(ids)])
        return words, inverse, memory.peak

    *expected, much = both(1024)
    *again, little = both(1)
    for got, want in zip(again, expected, strict=True):
        np.testing.assert_array_equal(got, want)
    assert little < 2**21 < 2**23 < much


@pytest.mark.no_cover
@sixty
@given(
    n_words=st.integers(2, 140),
    dim=st.integers(1, 6),
    seed=st.integers(0, 2**32),
    offset=st.sampled_from([0.0, 100.0]),
    memory=st.sampled_from([1e-4, 64]),
)
def test_critical_scales(n_words, dim, seed, offset, memory):
    # An offset common to all words cancels in the distances, not in the products.
    rng = np.random.default_rng(seed)
    vectors = (offset + rng.normal(size=(n_words, dim))).astype(np.float32)
    noise, ids = rng.normal(size=(6, dim)), rng.permutation(n_words)[:12]
    with config_context(working_memory=memory):
        shared = SharedNoise(noise, vectors, half_squared_norms(vectors))
    critical = np.concatenate([part for _, part in shared.critical_scales(ids)])
    apart = vectors[None].astype(float) - vectors[ids, None]
    square = (apart**2).sum(axis=-1)
    square[np.arange(len(ids)), ids] = np.inf
    assume(square.min() > 0)  # equal vectors have a test of their own
    expected = np.maximum(0, (2 * (apart @ noise.T) / square[..., None]).max(axis=1))
    # Products are kept in float32, relative to the centre: where two words nearly
    # coincide, the difference of theirs is divided by a small ½‖φ_v − φ_w‖². The
    # distances themselves come from norms where they exceed 2⁻⁸ of these.
    radius = np.linalg.norm(vectors - vectors.mean(axis=0, dtype=float), axis=1).max()
    rounding = 4 * 2.0**-24 * np.linalg.norm(noise, axis=1) * radius
    bound = rounding / square.min(axis=1)[:, None] + (dim + 8) * 2.0**-15 * expected
    assert (np.abs(critical - expected) <= 2 * bound).all()


def test_critical_scales_of_equal_vectors():
    vectors = np.array([[0.0], [1.0], [0.0]], np.float32)
    shared = SharedNoise(
        np.array([[1.0], [-1.0]]), vectors, half_squared_norms(vectors)
    )
    ((_, inverse),) = shared.critical_scales(np.arange(3))
    np.testing.assert_allclose(inverse[:2], [[2, 0], [0, 2]])
    assert np.isinf(inverse[2]).all()  # the first of two equal words wins
