"""The engine with PyTorch itself; `make test-torch` runs these."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.search import _engine, embedding_search, nearest_words
from skdptext.search._int8 import is_exact
from skdptext.search._torch import TorchProduct, missing_hardware
from tests.channels import channel, sample
from tests.search.emulation import EmulatedProduct, same_by_torch

pytestmark = pytest.mark.torch


@pytest.fixture
def search(monkeypatch):
    """The search of a table."""
    if missing_hardware() is not None:
        pytest.skip(f"The engine is not used: this machine has {missing_hardware()}.")
    monkeypatch.setattr(_engine, "_searches", type(_engine._searches)())
    monkeypatch.setattr(_engine, "_WORTH_INT8", 0)

    def make(embedding):
        engine = embedding_search(embedding, "torch")
        assert engine.fallback_reason is None
        assert engine is embedding_search(embedding, "torch")  # made once
        return engine

    return make


@pytest.mark.parametrize("dim", [1, 2, 37, 300])
def test_the_product_is_exact_or_is_told(dim, monkeypatch):
    """PyTorch 2.13 writes nothing for vectors of one number, and says nothing."""
    import torch

    empty = torch.empty
    monkeypatch.setattr(torch, "empty", lambda *n, **kw: empty(*n, **kw).fill_(10**6))
    product = TorchProduct(torch)
    rng = np.random.default_rng(0)
    integers = rng.integers(-127, 128, (400, dim), dtype=np.int8)
    points, parts = integers[:100], [integers[100:292], integers[292:]]
    maximal, expected = (
        np.hstack(
            [
                maxima.copy()
                for maxima in ours.group_maxima(points, list(map(ours.tile, parts)), 12)
            ]
        )
        for ours in (product, EmulatedProduct())
    )
    exact = is_exact(product, dim)
    assert not exact or np.array_equal(maximal, expected)
    assert exact or dim == 1 or missing_hardware() is not None


@pytest.mark.parametrize(("epsilon", "lam"), [(1.0, 1.0), (10.0, 0.0), (40.0, 0.5)])
def test_words_of_the_numpy_engine(search, built_in, epsilon, lam):
    mechanism = channel(epsilon, lam, built_in)
    rng = np.random.default_rng(7)
    points = sample(mechanism, rng, 1500)
    points += built_in.vectors[rng.integers(0, len(built_in), 1500)]
    expected = nearest_words(points, built_in.vectors)
    nearest = search(built_in)
    np.testing.assert_array_equal(nearest(points), expected)
    np.testing.assert_array_equal(nearest(points[:40], memory=0), expected[:40])


def test_the_default_device_is_not_used(built_in, search):
    """Another part of the program may have set it to a GPU."""
    import torch

    nearest = search(built_in)
    points = built_in.vectors[:50] + 0.01
    expected = nearest_words(points, built_in.vectors)
    before = torch.get_default_device()
    torch.set_default_device("meta")
    try:
        np.testing.assert_array_equal(nearest(points), expected)
    finally:
        torch.set_default_device(before)


def test_extremes(search):
    """Ties, copies, a table smaller than a tile, numbers beyond float32."""
    rng = np.random.default_rng(1)
    half = rng.normal(size=(40, 6)).astype(np.float32)
    for factor in (1.0, 1e-20, 1e18, 1e37):
        vectors = np.concatenate([half, half]) * np.float32(factor)
        table = WordEmbedding(map(str, range(80)), vectors)
        for scale in (1e-25, 1e-3, 1.0, 1e19, 1e150):
            points = rng.normal(size=(30, 6)) * scale
            points[0] = vectors[0]
            expected = nearest_words(points, vectors)
            np.testing.assert_array_equal(search(table)(points), expected)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_release_is_the_same(search, built_in, n_jobs):
    import torch

    search(built_in)
    before = torch.get_num_threads()
    same_by_torch(built_in, 9, 1800, 50, n_jobs)
    assert torch.get_num_threads() == before


def test_a_pytorch_without_the_product_is_not_used(built_in, search, monkeypatch):
    import torch

    monkeypatch.delattr(torch, "_int_mm")
    engine = embedding_search(built_in, "torch")
    assert "has no exact int8 product" in engine.fallback_reason


def test_here_it_is_used_or_says_why_not(built_in):
    perturber = DPWordPerturber(built_in, engine="torch")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        perturber.fit([])
    said = [str(w.message) for w in caught if w.category is RuntimeWarning]
    used = embedding_search(built_in, "torch").fallback_reason is None
    assert used != bool(said)
