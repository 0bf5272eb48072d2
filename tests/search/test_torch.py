"""The engine with PyTorch itself; `make test-torch` runs these."""

from __future__ import annotations

import warnings
from shutil import which

import numpy as np
import pytest

from skdptext import DPWordPerturber
from skdptext.search import _engine, embedding_search, nearest_words
from skdptext.search._bfloat16 import BFloat16Search
from tests.channels import channel, sample
from tests.search.emulation import round_bfloat16

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings(
        "ignore:document_length is None:skdptext.exceptions.PrivacyLeakWarning"
    ),
]


@pytest.fixture(params=["cpu", "cuda"] if which("nvidia-smi") else ["cpu"])
def device(request):
    return request.param


@pytest.fixture
def search(device, monkeypatch):
    """The search of a table on a device, whatever its processor's instructions."""
    import torch

    from skdptext.search import _torch

    monkeypatch.setattr(_torch, "missing_hardware", lambda torch: None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: device == "cuda")
    monkeypatch.setattr(_engine, "_searches", type(_engine._searches)())

    def make(embedding):
        found = embedding_search(embedding, "torch")
        assert found.fallback_reason is None
        assert found is embedding_search(embedding, "torch")  # made once
        return found

    return make


def test_rounding_is_that_of_the_emulation():
    import torch

    rng = np.random.default_rng(0)
    x = (rng.normal(size=10_000) * 10.0 ** rng.integers(-38, 38, 10_000)).astype("f4")
    rounded = torch.from_numpy(x).to(torch.bfloat16).float().numpy()
    np.testing.assert_array_equal(rounded, round_bfloat16(x))


@pytest.mark.parametrize(("epsilon", "lam"), [(1.0, 1.0), (10.0, 0.0), (40.0, 0.5)])
def test_words_of_the_numpy_engine(search, built_in, epsilon, lam):
    mechanism = channel(epsilon, lam, built_in)
    rng = np.random.default_rng(7)
    points = sample(mechanism, rng, 1500)
    points += built_in.vectors[rng.integers(0, len(built_in), 1500)]
    expected = nearest_words(points, built_in.vectors)
    found = search(built_in)
    np.testing.assert_array_equal(found(points), expected)
    np.testing.assert_array_equal(found(points[:40], memory=0), expected[:40])


def test_extremes(search):
    """Ties, copies, a table smaller than a tile, numbers beyond float32."""
    from skdptext import WordEmbedding

    rng = np.random.default_rng(1)
    some = rng.normal(size=(40, 6)).astype(np.float32)
    for factor in (1.0, 1e-20, 1e18, 1e37):
        vectors = np.concatenate([some, some]) * np.float32(factor)
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
    tokens = [built_in.words[i : i + 9] for i in range(0, 1800, 9)]
    options = {"epsilon": 20.0, "random_state": 4, "n_jobs": n_jobs}
    before = torch.get_num_threads()
    plain, fast = (
        DPWordPerturber(built_in, engine=engine, **options).fit([])
        for engine in ("numpy", "torch")
    )
    assert (plain.transform(tokens) != fast.transform(tokens)).nnz == 0
    draws = [p.perturb_words(built_in.words[:50], 4) for p in (plain, fast)]
    np.testing.assert_array_equal(*draws)
    assert torch.get_num_threads() == before


def test_a_product_that_breaks_the_bound_is_not_used(built_in, search, monkeypatch):
    monkeypatch.setattr(BFloat16Search, "_widen", 0.01)
    found = embedding_search(built_in, "torch")
    assert "is less exact than" in found.fallback_reason


def test_here_it_is_used_or_says_why_not(built_in):
    perturber = DPWordPerturber(built_in, engine="torch")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        perturber.fit([])
    said = [str(w.message) for w in caught if w.category is RuntimeWarning]
    used = embedding_search(built_in, "torch").fallback_reason is None
    assert used != bool(said)
