"""Nearest words are those of a float64 brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from skdptext.mechanisms import MahalanobisMechanism, embedding_spectrum
from skdptext.search import half_squared_norms, nearest_words


def brute_force(points, vectors):
    points, vectors = points.astype(np.float64), vectors.astype(np.float64)
    scores = points @ vectors.T - 0.5 * (vectors**2).sum(axis=1)
    return scores.argmax(axis=1), scores


@pytest.mark.parametrize(("epsilon", "lam"), [(1.0, 1.0), (10.0, 0.0), (40.0, 0.5)])
def test_equals_brute_force_on_noisy_words(w2v_30k, epsilon, lam):
    mechanism = MahalanobisMechanism(epsilon, lam, embedding_spectrum(w2v_30k))
    rng = np.random.default_rng(7)
    points = mechanism.sample(rng, 2000)
    points += w2v_30k.vectors[rng.integers(0, len(w2v_30k), 2000)]
    expected, _ = brute_force(points, w2v_30k.vectors)
    np.testing.assert_array_equal(nearest_words(points, w2v_30k.vectors), expected)


def test_words_are_nearest_to_themselves(glove_13k):
    vectors = glove_13k.vectors
    unique = np.unique(vectors, axis=0, return_index=True)[1]
    found = nearest_words(vectors[unique].astype(np.float64), vectors)
    np.testing.assert_array_equal(found, unique)


def test_the_float32_winner_is_not_trusted_where_it_is_uncertain():
    """Two words that float32 scores cannot tell apart, on purpose."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=300) * 100
    step = np.zeros(300)
    step[0] = 1e-2
    vectors = np.stack([base, base + step]).astype(np.float32)
    points = np.stack([base + t * step for t in np.linspace(-3, 4, 200)])
    points += rng.normal(size=300) * 1e3 * (np.arange(300) > 0)
    expected, _ = brute_force(points, vectors)
    with np.errstate(all="ignore"):
        block = points.astype(np.float32)
        half = (0.5 * (vectors**2).sum(axis=1)).astype(np.float32)
        plain = (block @ vectors.T - half).argmax(axis=1)
    assert (plain != expected).any()  # the mistake this guards against is real
    np.testing.assert_array_equal(nearest_words(points, vectors), expected)


def test_equal_vectors_go_to_the_first_word():
    vectors = np.tile(np.float32([[1.0, 2.0], [0.0, 1.0]]), (3000, 1))
    points = np.array([[0.9, 2.2], [0.1, 0.7]])
    np.testing.assert_array_equal(nearest_words(points, vectors), [0, 1])


def test_independent_of_how_points_are_split(google_8k):
    rng = np.random.default_rng(3)
    points = rng.normal(size=(1100, 300)) * 2
    whole = nearest_words(points, google_8k.vectors)
    parts = [nearest_words(p, google_8k.vectors) for p in np.array_split(points, 37)]
    np.testing.assert_array_equal(whole, np.concatenate(parts))


finite = st.floats(-1e3, 1e3, width=32)


@settings(deadline=None)
@given(data=st.data())
def test_small_tables(data):
    n, v, m = (data.draw(st.integers(1, high)) for high in (5, 9, 4))
    vectors = data.draw(hnp.arrays(np.float32, (v, m), elements=finite))
    points = data.draw(hnp.arrays(np.float64, (n, m), elements=finite))
    _, scores = brute_force(points, vectors)
    found = nearest_words(points, vectors)
    best = scores.max(axis=1)
    # float64 rounding alone may separate what we call a tie
    slack = 1e-12 * (1 + np.abs(scores).max() + (vectors.astype(float) ** 2).sum())
    assert (scores[np.arange(n), found] >= best - slack).all()


@pytest.mark.parametrize("scale", [1e-25, 1e25, 1e150])
def test_magnitudes_beyond_float32(scale):
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(50, 6)).astype(np.float32)
    if scale < 1:
        vectors *= np.float32(1e-20)
    points = rng.normal(size=(40, 6)) * scale
    expected, _ = brute_force(points, vectors)
    np.testing.assert_array_equal(nearest_words(points, vectors), expected)


def test_no_points():
    assert nearest_words(np.empty((0, 3)), np.eye(3, dtype=np.float32)).shape == (0,)


def test_half_squared_norms(google_8k):
    expected = 0.5 * (google_8k.vectors.astype(np.float64) ** 2).sum(axis=1)
    np.testing.assert_allclose(half_squared_norms(google_8k.vectors), expected)
