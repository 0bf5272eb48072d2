"""`release_files` on a million short documents: rate and memory.

One command, some minutes::

    python benchmarks/bench_release.py [--documents 1000000]

Synthetic documents of 6 words as Parquet, a public table of 30,000 words by 300
dimensions; `document_length` 6, texts out. `RandomizedResponse` is the mechanism, which
costs next to nothing, so that the rest shows; the default one on a tenth of the
documents beside it, and a hundredth as many of 1,500 words. Each release is a process
of its own. Recorded are documents per CPU second, and the peak memory beyond what the
imports take, at a tenth of the documents and at all of them.
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

import measuring
import numpy as np
from results import record

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.mechanisms import MahalanobisNoise, RandomizedResponse
from skdptext.release import DocumentRelease, ReleaseKey, release_files

V, M, LENGTH, LONG = 30_000, 300, 6, 1_500
MECHANISMS = {"noise": MahalanobisNoise, "response": RandomizedResponse}


def peak_mb() -> float:
    """Not `ru_maxrss`, which begins with what the parent had."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024


def child(folder: Path, n: str, mechanism: str, out: str) -> None:
    """One release, in a process of its own."""
    for name in ("pyarrow.csv", "pyarrow.json", "pyarrow.parquet", "randomgen"):
        importlib.import_module(name)

    imports = peak_mb()
    embedding = WordEmbedding.load(folder / "words.npz")
    perturber = DPWordPerturber(
        embedding, epsilon=8.0, document_length=LENGTH, resize="sample", output="text",
        mechanism=MECHANISMS[mechanism](),
    )  # fmt: skip
    release = DocumentRelease(perturber, ReleaseKey(f"file:{folder / 'key'}"), "bench")
    cpu, wall = time.process_time(), time.perf_counter()
    release_files(folder / f"{n}.parquet", folder / out, release)
    spent = {
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "imports": imports,
        "peak": peak_mb(),
        "embedding": embedding.vectors.nbytes / 2**20,
    }
    print(json.dumps(spent))


def make_inputs(folder: Path, sizes: dict[int, int]) -> None:
    """Files of so many documents, of so many words each."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(V)], dtype=object)
    WordEmbedding(words, rng.normal(size=(V, M))).save(folder / "words.npz")
    ReleaseKey.generate(folder / "key")
    for n, length in sizes.items():
        with parquet.ParquetWriter(
            folder / f"{n}.parquet",
            pa.schema([("id", pa.string()), ("text", pa.string())]),
        ) as writer:
            step = 300_000 // length
            for begin in range(0, n, step):
                many = range(begin, min(n, begin + step))
                drawn = words[rng.integers(0, V, (len(many), length))]
                texts = [" ".join(row) for row in drawn]
                ids = [f"document {i}" for i in many]
                writer.write_table(pa.table({"id": ids, "text": texts}))


def measure(
    folder: Path, n: int, mechanism: str, length: int = LENGTH
) -> dict[str, object]:
    command = [sys.executable, __file__, "--child", str(folder), str(n), mechanism]
    output = subprocess.check_output([*command, f"out-{mechanism}-{n}"], text=True)
    spent: dict[str, float] = json.loads(output.splitlines()[-1])
    return {
        "documents": n,
        "words each": length,
        "mechanism": MECHANISMS[mechanism].__name__,
        "CPU seconds": spent["cpu"],
        "documents per CPU second": n / spent["cpu"],
        "imports (MB)": spent["imports"],
        "embedding (MB)": spent["embedding"],
        "peak beyond both (MB)": spent["peak"] - spent["imports"] - spent["embedding"],
    }


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(Path(sys.argv[2]), *sys.argv[3:])
        return
    n = measuring.options(__doc__, documents=1_000_000).documents
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_inputs(folder, {n // 10: LENGTH, n: LENGTH, n // 100: LONG})
        rows = [
            measure(folder, n // 10, "noise"),
            measure(folder, n // 10, "response"),
            measure(folder, n, "response"),
            measure(folder, n // 100, "response", LONG),
        ]
    record(
        "release_files",
        rows,
        title="Releasing files: rate and memory",
        note=f"Parquet, {V:,} words by {M} dimensions, {LENGTH} released words a "
        "document, 4,096 documents a batch, one process with one thread. Time is of "
        "the CPU, with reading, checking and writing.",
    )


if __name__ == "__main__":
    main()
