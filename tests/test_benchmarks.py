"""The benchmarks' helpers, and that every script starts; nothing is timed here."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
SCRIPTS = [*sorted(BENCHMARKS.glob("bench_*.py")), BENCHMARKS / "record.py"]


@pytest.fixture
def load(monkeypatch, tmp_path):
    """Imports modules of benchmarks/, and leaves no trace of them."""
    monkeypatch.setattr(os, "environ", os.environ.copy())  # some pin their threads
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.setenv("SKDPTEXT_BENCH_RESULTS", str(tmp_path))
    mine = {path.stem for path in BENCHMARKS.glob("*.py")}
    # Other tests hold these and send their functions to processes, by name.
    before = set(sys.modules)
    yield importlib.import_module
    for name in mine & set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_every_script_says_what_it_does(load, path, monkeypatch, capsys):
    script = load(path.stem)
    monkeypatch.setattr(sys, "argv", [path.name, "--help"])
    with pytest.raises(SystemExit) as stopped:
        script.main()
    assert stopped.value.code == 0
    first = script.__doc__.splitlines()[0]
    assert first in " ".join(capsys.readouterr().out.split())


def test_a_figure_out_of_its_tolerance_is_named(load, tmp_path, monkeypatch, capsys):
    record = load("record")
    record.ROWS[:] = [
        record.figure("accuracy", 0.8, error=0.01),
        record.figure("exponent", 4.0, part=1e-6),
    ]
    record.record("record", record.ROWS, title="")
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    now = [
        record.figure("accuracy", 0.8 - 0.05, error=0.01),  # four errors are 0.057
        record.figure("exponent", 4.0, part=1e-6),
    ]
    assert record.compared(now) == 0
    now[0] = record.figure("accuracy", 0.8 + 0.06, error=0.01)
    now[1] = record.figure("exponent", 4.0001, part=1e-6)
    capsys.readouterr()
    assert record.compared(now) == 2
    assert capsys.readouterr().out.count("LEFT") == 2
