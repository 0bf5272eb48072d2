"""`release_files` on a million short documents: rate, memory, and ten kills.

One command, some minutes::

    python benchmarks/bench_release.py [--documents 1000000] [--only rates killed]

Synthetic documents of 6 words as Parquet, a public table of 30,000 words by 300
dimensions, mapped; `document_length` 6, texts out. `RandomizedResponse` is the
mechanism, which costs next to nothing, so that the rest shows; the default one on a
tenth of the documents beside it, and a hundredth as many of 1,500 words. Each release
is a process of its own. Recorded are documents per CPU second, and the peak memory
beyond what the imports take, at a tenth of the documents and at all of them. Then the
largest is killed by SIGKILL at ten random moments, finished, and compared with the
release that nobody disturbed, byte for byte; the peak memory is that of the process
which finishes it.
"""

from __future__ import annotations

import filecmp
import importlib
import json
import re
import signal
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
from skdptext.release import (
    DocumentRelease,
    ReleaseKey,
    release_files,
    seal,
)
from skdptext.search._nearest import load_tile_best

V, M, LENGTH, LONG = 30_000, 300, 6, 1_500
MECHANISMS = {"noise": MahalanobisNoise, "response": RandomizedResponse}


def peak_mb() -> float:
    """Not `ru_maxrss`, which begins with what the parent had."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024


def child(folder: Path, n: str, mechanism: str, out: str) -> None:
    """One release, in a process that may be killed."""
    for name in ("pyarrow.csv", "pyarrow.json", "pyarrow.parquet", "randomgen"):
        importlib.import_module(name)

    load_tile_best()  # compiled loops are code, too
    imports = peak_mb()
    embedding = WordEmbedding.load(folder / "words.npz", by_address=True)
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


def start(folder: Path, *given: str) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, "--child", str(folder), *given]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


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


def finish(folder: Path, n: int, mechanism: str, out: str) -> dict[str, float]:
    """A release to its end, and what its process spent."""
    output, _ = start(folder, str(n), mechanism, out).communicate()
    seal(folder / out)
    spent: dict[str, float] = json.loads(output.splitlines()[-1])
    return spent | {"beyond": spent["peak"] - spent["imports"] - spent["embedding"]}


def measure(
    folder: Path, n: int, mechanism: str, length: int = LENGTH
) -> dict[str, object]:
    spent = finish(folder, n, mechanism, f"out-{mechanism}-{n}")
    return {
        "documents": n,
        "words each": length,
        "mechanism": MECHANISMS[mechanism].__name__,
        "CPU seconds": spent["cpu"],
        "documents per CPU second": n / spent["cpu"],
        "imports (MB)": spent["imports"],
        "embedding (MB)": spent["embedding"],
        "peak beyond both (MB)": spent["beyond"],
    }


def kill_ten_times(folder: Path, n: int) -> dict[str, object]:
    """Killed whenever a random further part of the shards is there."""
    rng = np.random.default_rng(1)
    whole, out = folder / f"out-response-{n}", folder / "killed"
    if not whole.exists():
        finish(folder, n, "response", whole.name)
    total = len(list(whole.glob("*.parquet")))
    there = []
    for stop in np.sort(rng.choice(np.arange(1, total), 10, replace=False)):
        process = start(folder, str(n), "response", out.name)
        while process.poll() is None and len(list(out.glob("*.parquet"))) < stop:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        there.append(len(list(out.glob("*.parquet"))))
    last = finish(folder, n, "response", out.name)
    names = sorted(path.name for path in whole.iterdir())
    same, changed, missing = filecmp.cmpfiles(whole, out, names, shallow=False)
    return {
        "documents": n,
        "files": total,
        "files there after each kill": ", ".join(map(str, there)),
        "files that are the same byte for byte": len(same),
        "other files": len(changed) + len(missing),
        "peak beyond imports and embedding (MB)": last["beyond"],
    }


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(Path(sys.argv[2]), *sys.argv[3:])
        return
    arguments = measuring.options(__doc__, documents=1_000_000, only=RECORDS)
    n = arguments.documents
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_inputs(folder, {n // 10: LENGTH, n: LENGTH, n // 100: LONG})
        for part in arguments.only:
            RECORDS[part](folder, n)


def record_rates(folder: Path, n: int) -> None:
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
        "document, 4,096 documents a file, one process with one thread. Time is of the "
        "CPU, with reading, checking and writing.",
    )


def record_killed(folder: Path, n: int) -> None:
    record(
        "release_killed",
        [kill_ten_times(folder, n)],
        title="Releasing files: killed ten times, and finished",
        note="SIGKILL at ten random moments; the files are compared with those of "
        "a release that was not disturbed, the manifest included.",
    )


RECORDS = {"rates": record_rates, "killed": record_killed}


if __name__ == "__main__":
    main()
