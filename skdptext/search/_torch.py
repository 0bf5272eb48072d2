"""The bfloat16 product by PyTorch, on a CPU with the instructions, or CUDA."""

from __future__ import annotations

import platform
import warnings
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["TorchArithmetic", "missing_hardware"]

_CPU_FLAGS = {"avx512_bf16", "amx_bf16"}


class TorchArithmetic:
    """`Arithmetic` of PyTorch tensors.

    Parameters
    ----------
    torch : module
    device : str
        ``"cpu"`` or ``"cuda"``, which was never run.
    """

    def __init__(self, torch: Any, device: str) -> None:
        self.xp = torch
        self.device = torch.device(device)
        self.on_cpu = device == "cpu"
        self.max_rows = 1024 if self.on_cpu else 8192
        self.chunk_bytes = 2**20 if self.on_cpu else 2**26
        self.bound_bytes = 2**20 if self.on_cpu else 2**24

    def put(self, array: np.ndarray) -> Any:
        """The array on the device; on the CPU it is not copied."""
        with warnings.catch_warnings():
            # Embeddings are read-only, and nothing here writes to them.
            warnings.filterwarnings("ignore", message=".*not writable")
            return self.xp.from_numpy(array).to(self.device)

    def get(self, array: Any) -> np.ndarray:
        """An array of the device as NumPy's."""
        return array.cpu().numpy()

    def bfloat16(self, array: Any) -> Any:
        """Rounded to bfloat16, contiguous."""
        return array.to(self.xp.bfloat16).contiguous()

    def float32(self, array: Any) -> Any:
        """As float32."""
        return array.to(self.xp.float32)

    def group_maxima(self, points: Any, tile: Any, n_groups: int) -> Any:
        """Largest entry of points @ tile.T among the columns g, g + n_groups, …"""
        scores = self.xp.mm(points, tile.t())
        return self.xp.amax(scores.view(len(points), -1, n_groups), 1)

    def concatenate(self, arrays: list[Any], axis: int = 1) -> Any:
        """Side by side, or of axis 0 one below the other."""
        return self.xp.cat(arrays, axis)

    def argmax(self, array: Any) -> Any:
        """Column of the largest entry of each row; of a NaN, if there is one."""
        if self.on_cpu:  # NumPy takes a tenth of the time, as below
            return self.xp.from_numpy(array.numpy().argmax(1))
        return self.xp.argmax(array, 1)

    def nonzero(self, mask: Any) -> tuple[Any, Any]:
        """Rows and columns of the true entries, row by row."""
        if self.on_cpu:
            places = self.xp.from_numpy(np.flatnonzero(mask.numpy()))
            return places // mask.shape[1], places % mask.shape[1]
        return self.xp.nonzero(mask, as_tuple=True)

    def filled(self, shape: tuple[int, ...], value: float) -> Any:
        """A float32 array."""
        return self.xp.full(shape, value, dtype=self.xp.float32, device=self.device)

    def products(self, vectors: Any, rows: Any, points: Any) -> Any:
        """Of point i with vectors[rows[i]], shape (n_points, rows.shape[1])."""
        if self.on_cpu:
            near = vectors.numpy().take(rows.numpy(), axis=0)
            found = np.matmul(near, points.numpy()[:, :, None])
            return self.xp.from_numpy(found[:, :, 0])
        # faster than indexing by several times
        near = vectors.index_select(0, rows.reshape(-1)).view(*rows.shape, -1)
        near *= points[:, None, :]
        # not a matrix product, which may be in TF32 if the user has enabled it
        return near.sum(2)


def missing_hardware(torch: Any) -> str | None:
    """What this machine lacks for a fast bfloat16 product; None if nothing."""
    if torch.cuda.is_available():
        return None
    if _cpu_flags() & _CPU_FLAGS:
        return None
    return (
        "neither a CUDA device nor a CPU with AVX512_BF16 or AMX "
        f"({platform.machine()})"
    )


def _cpu_flags() -> set[str]:
    """Features of the processor, which only Linux tells."""
    try:
        return set(Path("/proc/cpuinfo").read_text().split())
    except OSError:
        return set()
