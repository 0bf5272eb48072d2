"""Packages that an install may lack."""

from __future__ import annotations

import sys

import pandas as pd
import pytest

from skdptext.utils import import_pandas


def test_pandas(monkeypatch):
    assert import_pandas("to_frame") is pd
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"^to_frame .*: pip install pandas\.$"):
        import_pandas("to_frame")
