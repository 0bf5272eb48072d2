"""Python in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from typing import Any


def run_python(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """What such a process wrote, which must have ended well."""
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done
