"""Experiments that take long; `experiment.py` in the folder above is their command.

An experiment is a module ``run`` with two functions. ``units(quick)`` gives pieces of
work by their names: functions without parameters, which processes share, so that no
two of them compute the same for long. ``report(quick)`` writes tables and figures. Both
call functions that are `kept`.
"""

from __future__ import annotations

import os
from pathlib import Path

from joblib import Memory

_CELLS = Path(__file__).resolve().parents[2] / "build" / "cells"
# A decorator: what a function returned for the same arguments is read from disk, unless
# its own source changed. After a change of what it calls, remove the folder.
kept = Memory(os.environ.get("SKDPTEXT_BENCH_CELLS") or _CELLS).cache
