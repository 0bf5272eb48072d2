"""`release_files` on a million documents of 20 words: time and memory.

One command, some ten minutes; the slow mechanisms on a hundredth of the documents::

    python benchmarks/bench_release.py [--documents 1000000]
"""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import measuring
import numpy as np
import pyarrow as pa
from pyarrow import parquet
from results import record

from skdptext import DPDocumentReplacer, DPWordPerturber, WordEmbedding
from skdptext.mechanisms import Exponential, MahalanobisNoise, RandomizedResponse
from skdptext.release import DocumentRelease, ReleaseKey, release_files

V, M, LENGTH, LONG = 30_000, 300, 20, 1_500
N_PUBLIC, PER_AUTHOR = 2_000, 5
WORDS = [f"word{i}" for i in range(V)]
MECHANISMS = {
    "words, randomized response": RandomizedResponse(),
    "words, exponential": Exponential(),
    "words, noise on vectors": MahalanobisNoise(),
}
STAND_INS, BY_AUTHOR = "stand-ins", f"stand-ins, {PER_AUTHOR} documents an author"


def texts(n: int, length: int, seed: int) -> list[str]:
    drawn = np.random.default_rng(seed).integers(0, V, (n, length)).tolist()
    return [" ".join([WORDS[i] for i in row]) for row in drawn]


def make_input(path: Path, n: int, length: int) -> None:
    """A file of so many documents, of so many words each."""
    names = ("id", "text", "author")
    schema = pa.schema([(name, pa.string()) for name in names])
    step = 300_000 // length
    with parquet.ParquetWriter(path, schema) as writer:
        for begin in range(0, n, step):
            many = range(begin, min(n, begin + step))
            columns = (
                [f"document {i}" for i in many],
                texts(len(many), length, begin),
                [f"author {i // PER_AUTHOR}" for i in many],
            )
            writer.write_table(pa.table(dict(zip(names, columns, strict=True))))


def peak_mb() -> float:
    """Not `ru_maxrss`, which begins with what the parent had."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024


def child(folder: Path, what: str, file: str) -> None:
    """One release, in a process of its own."""
    for name in ("pyarrow.csv", "pyarrow.json", "pyarrow.parquet", "randomgen"):
        importlib.import_module(name)
    imports, releaser = peak_mb(), None
    if what in MECHANISMS:
        releaser = DPWordPerturber(
            WordEmbedding.load(folder / "words.npz"), epsilon=8.0, resize="sample",
            document_length=LENGTH, output="text", mechanism=MECHANISMS[what],
        )  # fmt: skip
    else:
        releaser = DPDocumentReplacer(texts(N_PUBLIC, LENGTH, 1), random_state=None)
    release = DocumentRelease(
        releaser, ReleaseKey(f"file:{folder / 'key'}"), "bench",
        author="author" if what == BY_AUTHOR else None,
    )  # fmt: skip
    prepared = time.process_time()
    release_files(folder / file, folder / f"{what} of {file}", release)
    seconds = time.process_time() - prepared
    print(json.dumps({"seconds": seconds, "imports": imports, "peak": peak_mb()}))


def measure(folder: Path, what: str, n: int, length: int = LENGTH) -> dict[str, Any]:
    path = folder / f"{n}.parquet"
    if not path.exists():
        make_input(path, n, length)
    command = [sys.executable, __file__, "--child", str(folder), what, path.name]
    spent = json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
    row = {
        "release": what,
        "documents": n,
        "words each": length,
        "CPU seconds": round(spent["seconds"], 1),
        "CPU µs a document": round(1e6 * spent["seconds"] / n, 1),
        "peak (MB)": round(spent["peak"]),
        "of which imports (MB)": round(spent["imports"]),
    }
    print(row, flush=True)
    return row


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(Path(sys.argv[2]), *sys.argv[3:])
        return
    n = measuring.options(__doc__, documents=1_000_000).documents
    response, exponential, noise = MECHANISMS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        vectors = np.random.default_rng(0).normal(size=(V, M))
        WordEmbedding(WORDS, vectors).save(folder / "words.npz")
        ReleaseKey.generate(folder / "key")
        rows = [
            measure(folder, STAND_INS, n // 10),
            measure(folder, STAND_INS, n),
            measure(folder, BY_AUTHOR, n),
            measure(folder, response, n // 10),
            measure(folder, response, n),
            measure(folder, response, n // 200, LONG),
            measure(folder, exponential, n // 100),
            measure(folder, noise, n // 100),
        ]
    record(
        "release_files",
        rows,
        title="Releasing files: time and memory",
        note=f"Parquet in and out, {V:,} words by {M} dimensions, {LENGTH} released "
        f"words a document, {N_PUBLIC:,} public documents for stand-ins; one process "
        "with one thread. CPU time of reading twice, checking, releasing and writing, "
        "after the release is prepared. Peak memory of the whole process.",
    )


if __name__ == "__main__":
    main()
