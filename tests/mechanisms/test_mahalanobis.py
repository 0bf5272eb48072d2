"""The noise follows the stated law; wrong samplers are in `tests/audit/test_law.py`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdptext import WordEmbedding
from tests.channels import channel, sample
from tests.laws import assert_noise_law, metric_matrix


def drawn(mechanism):
    """As many as show the wrong samplers; a fixed seed, so that a pass is a pass."""
    return sample(mechanism, np.random.default_rng(20261121), 5000)


@pytest.mark.no_cover
@pytest.mark.parametrize("lam", [0, 0.25, 0.7, 1])
@pytest.mark.parametrize("epsilon", [0.5, 10.0])
def test_noise_follows_the_law(small_embedding, epsilon, lam):
    noise = drawn(channel(epsilon, lam, small_embedding))
    assert_noise_law(noise, epsilon, metric_matrix(small_embedding.vectors, lam))


@pytest.mark.parametrize("lam", [0, 1])
def test_noise_follows_the_law_on_a_real_table(built_in, lam):
    noise = drawn(channel(10.0, lam, built_in))
    assert_noise_law(noise, 10.0, metric_matrix(built_in.vectors, lam))


# -- factor and metric ------------------------------------------------------------


@given(lam=st.floats(0, 1), seed=st.integers(0, 99))
def test_factor_is_the_symmetric_root_and_distance_its_inverse(lam, seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(40, 4)) @ rng.normal(size=(4, 4))
    embedding = WordEmbedding([str(i) for i in range(40)], vectors)
    mechanism = channel(1.0, lam, embedding)
    M = metric_matrix(embedding.vectors, lam)
    factor = mechanism.metric.factor
    np.testing.assert_allclose(factor, factor.T, atol=1e-12)
    np.testing.assert_allclose(factor @ factor, M, atol=1e-10)
    x, y = rng.normal(size=(2, 4))
    expected = np.sqrt((x - y) @ np.linalg.solve(M, x - y))
    (distance,) = mechanism.metric.distances([x], [y])[0]
    assert distance == pytest.approx(expected, rel=1e-6)


def test_normals_are_drawn_in_float64(small_embedding):
    """A float32 normal is exactly 0 once in 2^23 draws, which can be detected."""
    _, normals = channel(1.0, 0.2, small_embedding).draw(np.random.default_rng(0), 99)
    assert (normals != normals.astype(np.float32)).mean() > 0.99
