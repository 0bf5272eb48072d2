"""The int8 product of PyTorch, on processors with instructions for it."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

# Without one of these the product is slow, and its sums may saturate.
_CPU_FLAGS = {"avx512_vnni", "avx_vnni", "amx_int8"}


class TorchProduct:
    """`Int8Product` of PyTorch on the CPU; `torch` is the module."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def tile(self, words: np.ndarray) -> Any:
        """A tensor of the words."""
        return self._torch.from_numpy(np.ascontiguousarray(words))

    def group_maxima(
        self, points: np.ndarray, tiles: list[Any], group: int
    ) -> Iterator[np.ndarray]:
        """Largest entries of points @ tile.T, for one tile after another."""
        torch = self._torch
        factor = torch.from_numpy(points)
        widest = max(len(tile) for tile in tiles)
        # One array, which stays in the cache.
        shape = len(points) * widest
        scores = torch.empty(shape, dtype=torch.int32, device=factor.device)
        for tile in tiles:
            product = scores[: len(points) * len(tile)].view(len(points), -1)
            # The one product that PyTorch has for int8 with sums in int32.
            torch._int_mm(factor, tile.t(), out=product)
            yield torch.amax(product.view(len(points), group, -1), 1).numpy()


def missing_hardware() -> str | None:
    """What this machine lacks for a fast and exact int8 product; None if nothing."""
    if _cpu_flags() & _CPU_FLAGS:
        return None
    return f"no processor with AVX512_VNNI, AVX_VNNI or AMX_INT8 ({platform.machine()})"


def _cpu_flags() -> set[str]:
    """Features of the processor, which only Linux tells."""
    try:
        return set(Path("/proc/cpuinfo").read_text().split())
    except OSError:
        return set()
