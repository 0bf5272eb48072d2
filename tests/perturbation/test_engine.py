"""The engine parameter: the same words, what is missing said early."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.search import _torch, embedding_search
from tests.search.emulation import EmulatedArithmetic

pytestmark = pytest.mark.filterwarnings(
    "ignore:document_length is None:skdptext.exceptions.PrivacyLeakWarning"
)
TOKENS = [["w1", "w2", "w3"]]


class FakeTorch:
    """The settings of PyTorch that a release touches."""

    __version__ = "0.fake"
    __spec__ = ModuleSpec("torch", None)

    def __init__(self):
        self.threads = 5
        matmul = SimpleNamespace(allow_bf16_reduced_precision_reduction=True)
        self.backends = SimpleNamespace(cuda=SimpleNamespace(matmul=matmul))
        self.cuda = SimpleNamespace(is_available=lambda: False)

    def get_num_threads(self):
        return self.threads

    def set_num_threads(self, n):
        self.threads = n

    def settings(self):
        matmul = self.backends.cuda.matmul
        return self.threads, matmul.allow_bf16_reduced_precision_reduction


class Device:
    """A machine of one's choice: its processor's features, and how it computes."""

    def __init__(self, monkeypatch):
        self.torch = FakeTorch()
        self.arithmetic = EmulatedArithmetic()
        self.features = "avx512f avx512_bf16"
        self.n_searches = 0
        monkeypatch.setitem(sys.modules, "torch", self.torch)
        real = Path.read_text

        def read_text(path, *args, **options):
            processor = str(path) == "/proc/cpuinfo"
            return self.read_text() if processor else real(path, *args, **options)

        monkeypatch.setattr(Path, "read_text", read_text)
        monkeypatch.setattr(_torch, "TorchArithmetic", lambda *_: self.make())

    def read_text(self):
        if self.features is None:
            raise OSError
        return f"flags : {self.features}"

    def make(self):
        self.n_searches += 1
        return self.arithmetic


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
    part = built_in.restrict(1000)
    tokens = [part.words[i : i + 7] for i in range(0, 700, 7)]
    options = {"epsilon": 20.0, "random_state": 4, "n_jobs": n_jobs}
    plain, fast = (
        DPWordPerturber(part, engine=engine, **options).fit([])
        for engine in ("numpy", "torch")
    )
    assert (plain.transform(tokens) != fast.transform(tokens)).nnz == 0
    draws = [p.perturb_words(part.words[:30], 4) for p in (plain, fast)]
    np.testing.assert_array_equal(*draws)
    fast.set_params(epsilon=3.0, lam=0.1).fit([])
    assert device.n_searches == 1  # one per embedding
    assert device.torch.settings() == (5, True)


def test_unknown_engine(small_embedding):
    with pytest.raises(InvalidParameterError, match="engine must be one of 'numpy'"):
        DPWordPerturber(small_embedding, engine="jax").fit([])


def test_torch_is_missing(small_embedding, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    perturber = DPWordPerturber(small_embedding, engine="torch")
    with pytest.raises(ImportError, match=r"Install skdptext\[torch\] to use engine="):
        perturber.fit([])
    assert not hasattr(perturber, "mechanism_")
    with pytest.raises(ImportError, match="Install"):
        embedding_search(small_embedding, "torch")


@pytest.mark.parametrize("features", ["sse2 avx512f", None])
def test_hardware_is_missing(device, table, features):
    """A warning that says what the machine lacks, and NumPy's words."""
    device.features = features
    with pytest.warns(RuntimeWarning, match="falls back to NumPy.*AVX512_BF16 or AMX"):
        fast = release(table, engine="torch")
    np.testing.assert_array_equal(fast, release(table))


def test_cuda_is_tried_on_any_processor(device, table):
    device.features = ""
    device.torch.cuda.is_available = lambda: True
    assert embedding_search(table, "torch").fallback_reason is None


def test_settings_are_restored_when_the_last_release_ends(device, table):
    channel = DPWordPerturber(table, engine="torch").fit([]).mechanism_
    with channel.session(2, 2**20):
        assert device.torch.settings() == (2, False)
        with pytest.raises(KeyError), channel.session(1, 2**20):
            raise KeyError
        assert device.torch.settings()[1] is False
    assert device.torch.settings() == (5, True)


def test_a_device_that_breaks_the_bound_is_not_used(device, built_in):
    device.arithmetic = EmulatedArithmetic("bfloat16")
    perturber = DPWordPerturber(built_in.restrict(400), engine="torch")
    with pytest.warns(
        RuntimeWarning, match=r"PyTorch 0\.fake on this cpu .* is less exact"
    ):
        perturber.fit([])
