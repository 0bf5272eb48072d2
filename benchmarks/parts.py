"""A script that does its own work in several processes, one part each."""

from __future__ import annotations

import os
import subprocess
import sys


def run_parts(script: str, options: list[str], parts: int = 2) -> bool:
    """Run ``script OPTIONS --part i/parts`` on one thread each; whether all finished.

    A part exits with 0 when it is done, and with 3 when its time was up.
    """
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [sys.executable, script, *options]
    running = [
        subprocess.Popen([*command, "--part", f"{i + 1}/{parts}"], env=os.environ | one)
        for i in range(parts)
    ]
    codes = [process.wait() for process in running]
    if any(code not in (0, 3) for code in codes):
        raise SystemExit("a part failed: see above")
    return all(code == 0 for code in codes)
