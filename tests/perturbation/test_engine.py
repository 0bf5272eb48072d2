"""The engine parameter: the same words, what is missing said early."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from skdptext import DPWordPerturber
from skdptext.exceptions import InvalidParameterError
from skdptext.search import _engine, _torch, embedding_search
from tests.search.emulation import EmulatedArithmetic, EmulatedSearch

pytestmark = pytest.mark.filterwarnings(
    "ignore:document_length is None:skdptext.exceptions.PrivacyLeakWarning"
)


@pytest.fixture
def emulated(monkeypatch):
    """engine="torch" with a NumPy emulation of the device; counts tables made."""
    made = []

    def make(vectors, half_norms):
        made.append(len(vectors))
        return EmulatedSearch(
            vectors, half_norms, EmulatedArithmetic(), tile=128, group=8
        )

    monkeypatch.setattr(_engine, "require_engine", lambda engine: None)
    monkeypatch.setattr(
        "skdptext.perturbation._perturber.require_engine", lambda e: None
    )
    monkeypatch.setattr(_engine, "_torch_search", make)
    monkeypatch.setattr(_engine, "_searches", type(_engine._searches)())
    return made


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_same_release(emulated, google_8k, n_jobs):
    part = google_8k.restrict(1000)
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
    assert emulated == [1000]  # once per table


def test_unknown_engine(small_embedding):
    with pytest.raises(InvalidParameterError, match="engine must be one of 'numpy'"):
        DPWordPerturber(small_embedding, engine="jax").fit([])


def test_torch_is_missing(small_embedding, monkeypatch):
    monkeypatch.setattr(_engine, "find_spec", lambda name: None)
    perturber = DPWordPerturber(small_embedding, engine="torch")
    with pytest.raises(ImportError, match=r"Install skdptext\[torch\] to use engine="):
        perturber.fit([])
    assert not hasattr(perturber, "mechanism_")
    with pytest.raises(ImportError, match="Install"):
        embedding_search(small_embedding, "torch")


def test_hardware_is_missing(small_embedding, monkeypatch, tmp_path):
    """A warning that says what the machine lacks, and NumPy's words."""
    torch = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False))
    monkeypatch.setattr(_engine, "find_spec", lambda name: True)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(_torch, "_cpu_flags", lambda: {"sse2", "avx512f"})
    monkeypatch.setattr(_engine, "_searches", type(_engine._searches)())
    perturber = DPWordPerturber(small_embedding, engine="torch", random_state=0)
    with pytest.warns(RuntimeWarning, match="falls back to NumPy.*AVX512_BF16 or AMX"):
        perturber.fit([])
    plain = DPWordPerturber(small_embedding, random_state=0).fit([])
    tokens = [["w1", "w2", "w3"]]
    assert (plain.transform(tokens) != perturber.transform(tokens)).nnz == 0


def test_hardware_is_there(monkeypatch):
    absent = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False))
    present = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: True))
    monkeypatch.setattr(_torch, "_cpu_flags", lambda: {"avx512_bf16"})
    assert _torch.missing_hardware(absent) is None
    monkeypatch.setattr(_torch, "_cpu_flags", set)
    assert _torch.missing_hardware(present) is None
    assert "AMX" in _torch.missing_hardware(absent)


def test_processor_flags(monkeypatch):
    flags = _torch._cpu_flags()
    assert isinstance(flags, set)

    def unreadable(self):
        raise OSError

    monkeypatch.setattr(_torch.Path, "read_text", unreadable)
    assert _torch._cpu_flags() == set()


def test_half_norms_are_computed_once_per_table(small_embedding, monkeypatch):
    calls = []
    compute = _engine.half_squared_norms
    monkeypatch.setattr(
        _engine, "half_squared_norms", lambda v: calls.append(1) or compute(v)
    )
    monkeypatch.setattr(_engine, "_searches", type(_engine._searches)())
    for epsilon in (1.0, 2.0, 3.0):
        DPWordPerturber(small_embedding, epsilon=epsilon).fit([]).transform(["w1"])
    assert calls == [1]
    assert not embedding_search(small_embedding).half_norms.flags.writeable


class FakeTorch:
    """The settings of PyTorch that a release touches."""

    __version__ = "0.fake"

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


@pytest.fixture
def fake_torch(monkeypatch):
    """`_torch_search` as it is, with the emulated device in place of PyTorch's."""
    torch = FakeTorch()
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(_engine, "find_spec", lambda name: True)
    monkeypatch.setattr(_torch, "_cpu_flags", lambda: {"avx512_bf16"})
    monkeypatch.setattr(_torch, "TorchArithmetic", lambda *_: EmulatedArithmetic())
    monkeypatch.setattr(_engine, "_searches", type(_engine._searches)())
    return torch


def test_settings_are_those_of_the_first_to_come_after_the_last_has_left(fake_torch):
    with _engine._session(2):
        assert fake_torch.settings() == (2, False)
        with pytest.raises(KeyError), _engine._session(1):
            raise KeyError
        assert fake_torch.settings()[1] is False
    assert fake_torch.settings() == (5, True)


def test_a_device_is_used_if_it_keeps_the_bound(fake_torch, small_embedding):
    plain = DPWordPerturber(small_embedding, random_state=0).fit([])
    fast = DPWordPerturber(small_embedding, random_state=0, engine="torch").fit([])
    assert isinstance(embedding_search(small_embedding, "torch"), _engine.TorchSearch)
    tokens = [["w1", "w2", "w3"]]
    assert (plain.transform(tokens) != fast.transform(tokens)).nnz == 0
    assert fake_torch.settings() == (5, True)


def test_a_device_that_breaks_the_bound_is_not_used(fake_torch, google_8k, monkeypatch):
    inexact = EmulatedArithmetic("bfloat16")
    monkeypatch.setattr(_torch, "TorchArithmetic", lambda *_: inexact)
    perturber = DPWordPerturber(google_8k.restrict(400), engine="torch")
    with pytest.warns(
        RuntimeWarning, match=r"PyTorch 0\.fake on this cpu .* is less exact"
    ):
        perturber.fit([])
