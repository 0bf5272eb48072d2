"""What `BFloat16Search` asks of an array library."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

__all__ = ["Arithmetic"]


class Arithmetic(Protocol):
    """Arrays of some library, on some device, and their bfloat16 product."""

    xp: Any  # numpy, torch: sqrt, isfinite, argmax, cumsum, … by the same names
    max_rows: int  # points at a time
    chunk_bytes: int  # gathered vectors at a time, if there is memory for so many
    bound_bytes: int  # bounds of groups at a time, likewise

    def put(self, array: np.ndarray) -> Any:
        """The array on the device."""

    def get(self, array: Any) -> np.ndarray:
        """An array of the device as NumPy's."""

    def bfloat16(self, array: Any) -> Any:
        """Rounded to bfloat16, contiguous."""

    def float32(self, array: Any) -> Any:
        """As float32."""

    def group_maxima(self, points: Any, tile: Any, n_groups: int) -> Any:
        """Largest entry of points @ tile.T among the columns g, g + n_groups, …"""

    def concatenate(self, arrays: list[Any], axis: int = 1) -> Any:
        """Side by side, or of axis 0 one below the other."""

    def nonzero(self, mask: Any) -> tuple[Any, Any]:
        """Rows and columns of the true entries, row by row."""

    def filled(self, shape: tuple[int, ...], value: float) -> Any:
        """A float32 array."""

    def take(self, table: Any, rows: Any) -> Any:
        """Rows of the table, shape (*rows.shape, m)."""
