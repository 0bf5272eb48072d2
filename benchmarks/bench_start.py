"""What it takes to start: the import, and the first search of a process.

One command, one thread::

    python benchmarks/bench_start.py [--repeats 15]

Imports are timed in processes of their own, by turns. The search: 200 SMS messages
against 2,000, under the 30,000 × 300 embedding, in a process of its own that has read
and counted them before the clock starts; compiled for the first time, compiled before
and read from disk, left to decide by itself (it is too small a search to compile for),
and without numba. Times are of the processor.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import measuring
import numpy as np
from results import record

OURS, THEIRS = "skdptext", "sklearn.feature_extraction.text"
# What a process does before it predicts
STARTS = {
    "compiled for the first time": "compile",
    "compiled before": "compile",
    "as it comes": "",
    "without numba": "hide",
}


def import_seconds(name: str) -> float:
    """CPU seconds of a process that imports a module."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", f"import {name}"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def imports(repeats: int) -> list[dict[str, object]]:
    names = OURS, THEIRS
    turns = range(repeats + 1)  # the first reads the files
    spent = np.array([[import_seconds(name) for name in names] for _ in turns])
    ours, theirs = spent[1:].T
    return [
        {
            f"import {OURS}, s": float(np.median(ours)),
            f"import {THEIRS}, s": float(np.median(theirs)),
            "ratio": float(np.median(ours / theirs)),
        }
    ]


def predict(start: str) -> None:
    """Print the seconds and the answers of a first `predict`."""
    if start == "hide":
        sys.modules["numba"] = None  # type: ignore[assignment]
    from bench_wmd import read_counts
    from real_data import load_table

    from skdptext.neighbors import WMDKNNClassifier, compile_search

    embedding = load_table()
    counts = read_counts("sms", 2200, embedding)
    topics = np.arange(2000) % 2
    model = WMDKNNClassifier(embedding, n_jobs=1).fit(counts[:2000], topics)
    clock = time.process_time()
    if start == "compile":
        compile_search()
    labels = model.predict(counts[2000:])
    print(json.dumps([time.process_time() - clock, labels.tolist()]))


def searches() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    answers = []
    with tempfile.TemporaryDirectory() as cache:
        for name, start in STARTS.items():
            output = subprocess.run(
                [sys.executable, __file__, "--predict", start],
                env={**os.environ, "NUMBA_CACHE_DIR": cache},
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            ).stdout
            seconds, labels = json.loads(output.splitlines()[-1])
            answers.append(labels)
            rows.append({"search": name, "first predict, s": seconds})
    for row in rows:
        row["same answers"] = all(labels == answers[0] for labels in answers)
    return rows


def main() -> None:
    if sys.argv[1:2] == ["--predict"]:
        predict(sys.argv[2])
        return
    arguments = measuring.options(__doc__, repeats=15)
    record(
        "import",
        imports(arguments.repeats),
        title="Imports: skdptext against scikit-learn's text module",
        note=f"CPU seconds, medians of {arguments.repeats} processes each, by turns.",
    )
    record(
        "wmd_first",
        searches(),
        title="The first search of a process",
        note=(
            "Word Mover's neighbours of 200 SMS messages among 2,000, V = 30,000; CPU "
            "seconds. Compiled code is kept on disk."
        ),
    )


if __name__ == "__main__":
    main()
