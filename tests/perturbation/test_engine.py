"""The engine parameter: the same words, what is missing said early."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
import pytest

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.search import _engine, _torch, embedding_search
from tests.search.emulation import EmulatedProduct, same_by_torch

TOKENS = [["w1", "w2", "w3"]]


class FakeTorch:
    """The settings of PyTorch that a release touches."""

    __version__ = "0.fake"
    __spec__ = ModuleSpec("torch", None)

    def __init__(self):
        self.threads = 5

    def get_num_threads(self):
        return self.threads

    def set_num_threads(self, n):
        self.threads = n


class Device:
    """A machine of one's choice: its processor's features, and how it computes."""

    def __init__(self, monkeypatch):
        self.torch = FakeTorch()
        self.product = EmulatedProduct()
        self.features = "avx512f avx512_vnni"
        self.n_searches = 0
        monkeypatch.setattr(_engine, "_WORTH_INT8", 0)
        monkeypatch.setitem(sys.modules, "torch", self.torch)
        real = Path.read_text

        def read_text(path, *args, **options):
            processor = str(path) == "/proc/cpuinfo"
            return self.read_text() if processor else real(path, *args, **options)

        monkeypatch.setattr(Path, "read_text", read_text)
        monkeypatch.setattr(_torch, "TorchProduct", lambda _: self.make())

    def read_text(self):
        if self.features is None:
            raise OSError
        return f"flags : {self.features}"

    def make(self):
        self.n_searches += 1
        return self.product


@pytest.fixture
def device(monkeypatch):
    return Device(monkeypatch)


@pytest.fixture
def table(small_embedding):
    """Of this test alone: an embedding keeps its searches."""
    return WordEmbedding(small_embedding.words, small_embedding.vectors)


def release(embedding, **options):
    perturber = DPWordPerturber(embedding, random_state=0, **options).fit([])
    return perturber.transform(TOKENS).toarray()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_same_release(device, built_in, n_jobs):
    fast = same_by_torch(built_in.restrict(1000), 7, 700, 30, n_jobs)
    fast.set_params(epsilon=3.0, lam=0.1).fit([])
    assert device.n_searches == 1  # one per embedding
    assert device.torch.threads == 5


def test_unknown_engine(small_embedding):
    with pytest.raises(InvalidParameterError, match="engine must be one of 'numpy'"):
        DPWordPerturber(small_embedding, engine="jax").fit([])


def test_torch_is_missing(small_embedding, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    perturber = DPWordPerturber(small_embedding, engine="torch")
    with pytest.raises(ImportError, match="pip install torch"):
        perturber.fit([])
    assert not hasattr(perturber, "mechanism_")
    with pytest.raises(ImportError, match="pip install torch"):
        embedding_search(small_embedding, "torch")


@pytest.mark.parametrize("features", ["sse2 avx512f", None])
def test_hardware_is_missing(device, table, features):
    """A warning that says what the machine lacks, and NumPy's words."""
    device.features = features
    with pytest.warns(RuntimeWarning, match="falls back to NumPy.*AVX512_VNNI, AVX_V"):
        fast = release(table, engine="torch")
    np.testing.assert_array_equal(fast, release(table))


def test_a_small_embedding_is_searched_by_numpy(device, table, monkeypatch):
    """Without a warning: it is as fast."""
    monkeypatch.setattr(_engine, "_WORTH_INT8", len(table) + 1)
    fast = release(table, engine="torch")
    np.testing.assert_array_equal(fast, release(table))
    assert device.n_searches == 0


def test_settings_are_restored_when_the_last_release_ends(device, table):
    channel = DPWordPerturber(table, engine="torch").fit([]).mechanism_
    with channel.session(2, 2**20):
        assert device.torch.threads == 2
        with pytest.raises(KeyError), channel.session(1, 2**20):
            raise KeyError
        assert device.torch.threads == 1
    assert device.torch.threads == 5


class MissingProduct(EmulatedProduct):
    """Of a PyTorch that refuses to multiply."""

    def group_maxima(self, points, tiles, group):
        raise RuntimeError("not compiled with MKLDNN support")


@pytest.mark.parametrize(
    "product", [EmulatedProduct(saturating=True), MissingProduct()]
)
def test_a_product_that_is_not_exact_is_not_used(device, table, product):
    device.product = product
    with pytest.warns(RuntimeWarning, match=r"PyTorch 0\.fake has no exact int8"):
        fast = release(table, engine="torch")
    np.testing.assert_array_equal(fast, release(table))
