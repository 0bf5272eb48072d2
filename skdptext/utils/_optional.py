"""Optional packages, imported where they are used."""

from __future__ import annotations

from typing import Any

__all__ = ["import_pandas", "import_pyarrow"]


def import_pandas(needed_by: str) -> Any:
    """pandas, or an error that says what needs it and how to install it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            f"{needed_by} needs pandas: install skdptext[frames]."
        ) from error
    return pandas


def import_pyarrow(needed_by: str) -> Any:
    """pyarrow, or an error that says what needs it and how to install it."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            f"{needed_by} needs pyarrow: install skdptext[arrow]."
        ) from error
    return pyarrow
