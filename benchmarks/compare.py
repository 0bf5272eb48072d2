"""The timed calls of ``test_speed.py`` at two states of the code, side by side.

One command, about ten minutes (``make bench-compare`` runs it; less with ``-k``)::

    python benchmarks/compare.py [--base HEAD~1] [--rounds 3] [-k EXPRESSION]

The base is checked out as a git worktree in a temporary folder, and removed after. Both
states run the same ``test_speed.py``, in processes of their own, in turn, `rounds`
times on one thread; a call's time at a state is the least of its rounds' medians, for
what disturbs a measurement only adds to it. The table goes to the screen and, as
``compare.json``, to ``build/bench``, or the folder named by SKDPTEXT_BENCH_RESULTS.
What the base lacks is shown as "–". Ratios within a few per cent are noise; the exit
status is 1 if a call takes more than `--fail-above` times as long as at the base.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from results import record

ROOT = Path(__file__).resolve().parents[1]
SPEED = ROOT / "benchmarks" / "test_speed.py"
# The repository's own settings turn warnings of older code into errors.
PYTEST = ("-q", "--no-header", "-p", "no:cacheprovider", "--benchmark-disable-gc",
          "--benchmark-warmup=on", "--benchmark-warmup-iterations=1",
          "--benchmark-max-time=1.5", "--benchmark-min-rounds=3")  # fmt: skip


@contextlib.contextmanager
def worktree(commit: str) -> Iterator[Path]:
    """The files of a commit in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="skdptext-base-") as folder:
        path = Path(folder) / "base"
        git("worktree", "add", "--detach", "--quiet", str(path), commit)
        try:
            yield path
        finally:
            git("worktree", "remove", "--force", str(path))


def git(*args: str) -> str:
    done = subprocess.run(
        ["git", *args], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"git {args[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def times(tree: Path, keyword: str) -> dict[str, float]:
    """Median seconds of each call, with the package below `tree`."""
    with tempfile.TemporaryDirectory() as folder:
        settings, measured = Path(folder) / "pytest.ini", Path(folder) / "times.json"
        settings.write_text("[pytest]\n")
        pools = ("OMP", "OPENBLAS", "MKL", "NUMBA")
        environment = os.environ | {f"{pool}_NUM_THREADS": "1" for pool in pools}
        # Ahead of an installed skdptext, editable or not.
        paths = [str(tree), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment |= {"PYTHONPATH": os.pathsep.join(paths)}
        environment |= {"SKDPTEXT_BENCH_TREE": str(tree)}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", SPEED, "-c", settings, *PYTEST,
             f"--benchmark-json={measured}", *(["-k", keyword] if keyword else [])],
            cwd=tree, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if not measured.exists() or not measured.stat().st_size:
            raise SystemExit(done.stdout[-3000:] + done.stderr[-1000:])
        report = json.loads(measured.read_text(encoding="utf-8"))
    if done.returncode:  # a call may be new, and then fails at the base
        print(done.stdout[-1500:], file=sys.stderr)
    return {
        entry["fullname"].split("::", 1)[1]: entry["stats"]["median"]
        for entry in report["benchmarks"]
    }


def table(base: dict[str, float], now: dict[str, float]) -> list[dict[str, object]]:
    """A row per call; the ratio is now over base, so above 1 is slower."""
    rows: list[dict[str, object]] = []
    for call in dict.fromkeys([*now, *base]):
        before, after = base.get(call), now.get(call)
        rows.append(
            {
                "call": call.replace("::test_", ": ").removeprefix("Test"),
                "base, ms": None if before is None else 1e3 * before,
                "now, ms": None if after is None else 1e3 * after,
                "now / base": after / before if before and after else None,
            }
        )
    return rows


def best(into: dict[str, float], times: dict[str, float]) -> None:
    for call, seconds in times.items():
        into[call] = min(seconds, into.get(call, seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base", default="HEAD~1", help="any commit or tag")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--fail-above", type=float, default=float("inf"))
    parser.add_argument("-k", default="", help="only calls that match, as for pytest")
    args = parser.parse_args()
    os.environ.setdefault("SKDPTEXT_BENCH_RESULTS", str(ROOT / "build" / "bench"))
    name = git("rev-parse", "--short=10", args.base)
    base: dict[str, float] = {}
    now: dict[str, float] = {}
    with worktree(args.base) as tree:
        for turn in range(args.rounds):
            print(f"round {turn + 1} of {args.rounds}", flush=True)
            best(base, times(tree, args.k))
            best(now, times(ROOT, args.k))
    rows = table(base, now)
    record(
        "compare",
        rows,
        title=f"The working tree against {args.base} ({name})",
        note=(
            f"One thread; the least of {args.rounds} medians, taken in turn. Above 1 "
            "is slower."
        ),
    )
    slow = [r["call"] for r in rows if (r["now / base"] or 0) > args.fail_above]
    if slow:
        raise SystemExit(f"Slower than {args.fail_above:g} × the base: {slow}")


if __name__ == "__main__":
    main()
