"""Word Mover's neighbours at two states of the code, by turns.

One command, some ten minutes; the sets of ``bench_wmd.py``, 2,000 training documents,
k = 5, one thread, compiled loops::

    python benchmarks/compare_wmd.py --base 1a74371 [--sets sms 100] [--rounds 5]

The base is checked out as a git worktree in a temporary folder, and removed after. Each
state has a process of its own, which compiles before it is timed, and is asked through
public names alone. Processor time; the processes take turns, so that what slows the
machine hits both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import measuring
import numpy as np
import scipy.sparse as sp
from compare import worktree
from results import record

ROOT = Path(__file__).resolve().parents[1]
N_TRAIN = 2000


def answer() -> None:
    """Seconds and neighbours of a set, for each folder named on standard input."""
    from skdptext import WordEmbedding
    from skdptext.neighbors import WMDKNNClassifier, compile_search

    compile_search()
    asked: dict[str, tuple] = {}
    for line in sys.stdin:
        folder = Path(line.strip())
        if line not in asked:
            with np.load(folder.parent / "table.npz") as file:
                embedding = WordEmbedding(file["words"].tolist(), file["vectors"])
            counts = sp.load_npz(folder / "counts.npz")
            model = WMDKNNClassifier(embedding, n_neighbors=5)
            model.fit(counts[:N_TRAIN], np.arange(N_TRAIN) % 2)
            model.kneighbors(counts[N_TRAIN : N_TRAIN + 1])
            asked[line] = model, counts[N_TRAIN:]
        model, queries = asked[line]
        start = time.process_time()
        rows = model.kneighbors(queries, return_distance=False)
        print(json.dumps([time.process_time() - start, rows.tolist()]), flush=True)


def start(tree: Path) -> subprocess.Popen:
    paths = [str(tree), str(ROOT / "benchmarks")]
    return subprocess.Popen(
        [sys.executable, "-c", "import compare_wmd; compare_wmd.answer()"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def ask(process: subprocess.Popen, folder: Path) -> tuple[float, list]:
    process.stdin.write(f"{folder}\n")
    process.stdin.flush()
    seconds, rows = json.loads(process.stdout.readline())
    return seconds, rows


def main() -> None:
    # not above, as the process of the base imports this file, too
    from bench_wmd import LONG, SHORT, SIXTEEN, read_counts
    from real_data import load_table

    args = measuring.options(
        __doc__, base="1a74371", sets=[*SHORT, *LONG, *SIXTEEN], rounds=5
    )
    embedding = load_table()
    rows = []
    with tempfile.TemporaryDirectory() as place, worktree(args.base) as tree:
        np.savez(
            Path(place) / "table.npz", words=embedding.words, vectors=embedding.vectors
        )
        both = start(tree), start(ROOT)
        for name in args.sets:
            folder = Path(place) / name
            folder.mkdir()
            counts = read_counts(name, N_TRAIN + 400, embedding)
            size = counts.nnz / counts.shape[0]
            n = int(np.clip(400 * 12 / size, 8, 400))
            sp.save_npz(folder / "counts.npz", sp.csr_matrix(counts[: N_TRAIN + n]))
            answers = [ask(process, folder)[1] for process in both]
            turns = [
                [ask(process, folder)[0] for process in both]
                for _ in range(args.rounds)
            ]
            before, after = (np.median(turns, axis=0) / n * 1e3).tolist()
            ratio = np.median([after / before for before, after in turns])
            rows.append(
                {
                    "set": name,
                    "words": size,
                    "queries": n,
                    "before, ms per query": before,
                    "after, ms per query": after,
                    "after / before": float(ratio),
                    "same neighbours": float(np.mean(np.equal(*answers))),
                }
            )
            measuring.shown(rows[-1:])
        for process in both:
            process.stdin.close()
            process.wait()
    record(
        "wmd_compared",
        rows,
        title=f"Word Mover's neighbours: now, and at {args.base}",
        note=(
            "2,000 training documents, k = 5, one thread, compiled loops; processor "
            f"time, medians of {args.rounds} rounds in which both take turns; after / "
            "before: the median of the rounds' ratios. same neighbours: share of all, "
            "where distances tie or differ by their rounding another is as near."
        ),
    )


if __name__ == "__main__":
    main()
