"""Optional packages, imported where they are used."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["import_gensim", "import_pandas", "import_pyarrow"]


def import_gensim(needed_by: str) -> Any:
    """gensim, or an error that says what needs it: some Pythons have no wheel of it."""
    return _import("gensim", needed_by, "install gensim, which needs Python < 3.14")


def import_pandas(needed_by: str) -> Any:
    """pandas, or an error that says what needs it and how to install it."""
    return _import("pandas", needed_by, "pip install pandas")


def import_pyarrow(needed_by: str) -> Any:
    """pyarrow, or an error that says what needs it and how to install it."""
    return _import("pyarrow", needed_by, "pip install pyarrow")


def _import(name: str, needed_by: str, remedy: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{needed_by} needs {name}: {remedy}.") from error
