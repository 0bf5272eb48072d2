"""Packages that an install may lack."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pandas as pd
import pytest

import skdptext
from skdptext.utils import import_pandas

PACKAGE = Path(skdptext.__file__).parent
# What a distribution installs, where its name is another one.
IMPORTED_AS = {"scikit-learn": "sklearn", "pot": "ot"}
# Loaded where it is there; what numba is made of; the package itself.
UNDECLARED = {"polars", "llvmlite", "skdptext"}


def test_pandas(monkeypatch):
    assert import_pandas("to_frame") is pd
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"^to_frame .*: pip install pandas\.$"):
        import_pandas("to_frame")


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module


def test_every_package_that_is_imported_is_declared():
    project = PACKAGE.parent / "pyproject.toml"
    if not project.exists():
        pytest.fail(f"run from a checkout: there is no {project}")
    declared = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    optional = declared["optional-dependencies"]
    listed = declared["dependencies"] + [
        line
        for extra in ("frames", "plot", "fast", "torch", "fasttext", "arrow")
        for line in optional[extra]
    ]
    names = {re.match(r"[\w-]+", line).group() for line in listed}
    known = {IMPORTED_AS.get(name, name) for name in names} | UNDECLARED
    found = {
        name.partition(".")[0]
        for path in PACKAGE.rglob("*.py")
        for name in imported(path)
    }
    assert found - known - set(sys.stdlib_module_names) == set()
    assert names >= {"pooch", "randomgen"}  # the list was read
