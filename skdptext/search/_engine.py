"""Which search an estimator uses, made once per embedding and shared by all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np

from skdptext.embeddings import WordEmbedding
from skdptext.search._int8 import Int8Search, is_exact
from skdptext.search._nearest import half_squared_norms, nearest_words
from skdptext.utils import ProcessLock

ENGINES = ("numpy", "torch")

# Words from which the int8 search was the faster one, in 50 and 300 dimensions.
_WORTH_INT8 = 4000


class Search(Protocol):
    """Nearest words of one embedding."""

    half_norms: np.ndarray
    #: Why this is not the search that was asked for; None if it is.
    fallback_reason: str | None

    def __call__(self, points: np.ndarray, memory: int | None = None) -> np.ndarray:
        """Index of the nearest word to each point, as `nearest_words` has it.

        `memory`: bytes that the search may take.
        """

    def session(self, n_threads: int) -> AbstractContextManager[None]:
        """Library settings during a release; `n_threads` for each caller's thread."""


@dataclass(eq=False, repr=False)
class FloatSearch:
    """`nearest_words` for one embedding, by NumPy."""

    vectors: np.ndarray
    half_norms: np.ndarray
    fallback_reason: str | None = None

    def __call__(self, points: np.ndarray, memory: int | None = None) -> np.ndarray:
        """Index of the nearest word to each point, by scores within `memory`."""
        return nearest_words(points, self.vectors, self.half_norms, memory=memory)

    def session(self, n_threads: int) -> AbstractContextManager[None]:
        """Nothing: the caller sets the threads of the linear algebra library."""
        return nullcontext()


class TorchSearch(Int8Search):
    """`Int8Search` by PyTorch."""

    fallback_reason: str | None = None

    def session(self, n_threads: int) -> AbstractContextManager[None]:
        """PyTorch's threads."""
        return _session(n_threads)


# One embedding is one object in a process; an entry is dropped with it.
_searches: WeakKeyDictionary[WordEmbedding, dict[str, Search]] = WeakKeyDictionary()
_searches_lock = ProcessLock()


def embedding_search(embedding: WordEmbedding, engine: str = "numpy") -> Search:
    """The search of an embedding by an engine, made once per process and shared.

    It is NumPy's, with a `fallback_reason`, where the machine does not suit the engine,
    and without one where the embedding is too small to gain. It is an ImportError if
    the engine's library is not installed.
    """
    made = _searches.get(embedding, {})
    if engine in made:
        return made[engine]
    require_engine(engine)
    with _searches_lock():  # held while computing: two threads must not both do it
        made = _searches.setdefault(embedding, {})
        if "numpy" not in made:
            half_norms = half_squared_norms(embedding.vectors)
            half_norms.flags.writeable = False
            made["numpy"] = FloatSearch(embedding.vectors, half_norms)
        if engine not in made:
            half_norms = made["numpy"].half_norms
            made[engine] = _torch_search(embedding.vectors, half_norms)
        return made[engine]


def require_engine(engine: str) -> None:
    """Say what to install, before any work."""
    if engine == "torch" and find_spec("torch") is None:
        raise ImportError('engine="torch" needs PyTorch: pip install torch.')


def _torch_search(vectors: np.ndarray, half_norms: np.ndarray) -> Search:
    from skdptext.search._torch import TorchProduct, missing_hardware

    missing = missing_hardware()
    if missing is not None:
        return FloatSearch(vectors, half_norms, f"this machine has {missing}")
    if len(vectors) < _WORTH_INT8:
        return FloatSearch(vectors, half_norms)
    import torch

    product = TorchProduct(torch)
    exact = False
    with suppress(AttributeError, RuntimeError):  # before 2.4, or where PyTorch refuses
        # Some versions leave the output as it was where vectors have one number.
        exact = is_exact(product, vectors.shape[1])
    if exact:
        return TorchSearch(vectors, half_norms, product)
    reason = f"PyTorch {torch.__version__} has no exact int8 product on this machine"
    return FloatSearch(vectors, half_norms, reason)


_users = 0
_threads_before = 0
_session_lock = ProcessLock()


@contextmanager
def _session(n_threads: int) -> Iterator[None]:
    """PyTorch's threads per caller.

    The setting is global: the first user saves it and the last one restores it.
    """
    import torch

    global _users, _threads_before
    with _session_lock():
        if not _users:
            _threads_before = torch.get_num_threads()
        _users += 1
        torch.set_num_threads(n_threads)
    try:
        yield
    finally:
        with _session_lock():
            _users -= 1
            if not _users:
                torch.set_num_threads(_threads_before)


def _forget_users() -> None:
    """In a forked process, which lacks the threads that search."""
    global _users
    _users = 0


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forget_users)
