"""A million documents of 20 words, released by one process and on engines.

One command, some fifteen minutes; the slow mechanisms on a hundredth of the documents::

    python benchmarks/bench_release.py [--documents 1000000]

Spark and Dask run what the page "Release millions of documents" shows, in the
environment of ``make test-scale``. Elsewhere their rows are missing.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
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

V, M, LENGTH = 30_000, 300, 20
N_PUBLIC, PER_AUTHOR = 2_000, 5
WORDS = [f"word{i}" for i in range(V)]
MECHANISMS = {
    "words, randomized response": RandomizedResponse(),
    "words, exponential": Exponential(),
    "words, noise on vectors": MahalanobisNoise(),
}
STAND_INS, BY_AUTHOR = "stand-ins", f"stand-ins, {PER_AUTHOR} documents an author"
PAGE = Path(__file__).parents[1] / "docs" / "howto" / "large_files.rst"
# The module, and what the page's blocks of code have: without authors, and with them.
ENGINES = {
    "Spark": ("pyspark", "documents.mapInArrow", "documents.repartition"),
    "Dask": ("distributed", "documents.map_partitions", "documents.shuffle"),
}


def texts(n: int, seed: int) -> list[str]:
    drawn = np.random.default_rng(seed).integers(0, V, (n, LENGTH)).tolist()
    return [" ".join([WORDS[i] for i in row]) for row in drawn]


def make_input(folder: Path, n: int) -> None:
    """Ten files of so many documents in all."""
    folder.mkdir()
    for begin in range(0, n, n // 10):
        many = range(begin, begin + n // 10)
        table = pa.table({
            "id": [f"document {i}" for i in many],
            "text": texts(len(many), begin),
            "author": [f"author {i // PER_AUTHOR}" for i in many],
        })  # fmt: skip
        parquet.write_table(table, folder / f"{begin}.parquet", row_group_size=15_000)


def spent() -> np.ndarray:
    """CPU seconds and peak memory in MB of this process and those that it started."""
    total = np.zeros(2)
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            # after the name, which may hold spaces
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == os.getsid(0):
                seconds = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
                status = (process / "status").read_text()
                peak = re.findall(r"VmHWM:\s+(\d+) kB", status)  # none of a zombie
                total += seconds, sum(map(int, peak)) / 1024
    return total


def start(engine: str) -> dict[str, Any]:
    """What the page's code calls the engine: two workers, of one core each."""
    module = importlib.import_module(ENGINES[engine][0])
    if engine == "Spark":
        builder = module.sql.SparkSession.builder.master("local[2]")
        builder = builder.config("spark.driver.host", "127.0.0.1")
        return {"spark": builder.config("spark.driver.memory", "1g").getOrCreate()}
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    return {"client": module.Client(**options)}


def child(folder: Path, what: str, engine: str, n: str) -> None:
    """One release, in a session of its own, which holds all processes it starts."""
    if what in MECHANISMS:
        releaser: Any = DPWordPerturber(
            WordEmbedding.load(folder / "words.npz"), epsilon=8.0, resize="sample",
            document_length=LENGTH, output="text", mechanism=MECHANISMS[what],
        )  # fmt: skip
    else:
        releaser = DPDocumentReplacer(texts(N_PUBLIC, 1), random_state=None)
    release = DocumentRelease(
        releaser, ReleaseKey(f"file:{folder / 'key'}"), "bench",
        author="author" if what == BY_AUTHOR else None,
    )  # fmt: skip
    source, out = f"{folder}/{n}", f"{folder}/{n} {what} {engine}"
    names = {
        "release": release, "source": source, "out": out,
        "by_author": f"{out} by author", "n_parts": 10,
    } | (start(engine) if engine else {})  # fmt: skip
    prepared, _ = spent()
    if engine:
        blocks = re.findall(r"^   .*\n(?:   .*\n|\n)*", PAGE.read_text("utf-8"), re.M)
        sign = ENGINES[engine][1 + (what == BY_AUTHOR)]
        (block,) = (block for block in blocks if sign in block)
        exec(textwrap.dedent(block), names)
    else:
        release_files(source, out, release)
    seconds, peak = spent()
    print(json.dumps([seconds - prepared, peak]))


def measure(folder: Path, what: str, engine: str, n: int) -> dict[str, Any]:
    if not (folder / f"{n}").exists():
        make_input(folder / f"{n}", n)
    command = [sys.executable, __file__, "--child", str(folder), what, engine, f"{n}"]
    printed = subprocess.check_output(command, text=True, start_new_session=True)
    seconds, peak = json.loads(printed.splitlines()[-1])
    return {
        "release": what,
        "on": engine or "one process",
        "documents": n,
        "CPU seconds": round(seconds, 1),
        "CPU µs a document": round(1e6 * seconds / n, 1),
        "peak (MB)": round(peak),
    }


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(Path(sys.argv[2]), *sys.argv[3:])
        return
    n = measuring.options(__doc__, documents=1_000_000).documents
    response, *slow = MECHANISMS
    runs = [(what, "", many) for what in (response, STAND_INS, BY_AUTHOR)
            for many in (n // 10, n)]  # fmt: skip
    runs += [(what, "", n // 100) for what in slow]
    runs += [
        (what, engine, many)
        for engine, (module, *_) in ENGINES.items()
        if importlib.util.find_spec(module)
        for what in (response, BY_AUTHOR)
        for many in (n // 10, n)
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        vectors = np.random.default_rng(0).normal(size=(V, M))
        WordEmbedding(WORDS, vectors).save(folder / "words.npz")
        ReleaseKey.generate(folder / "key")
        rows = measuring.shown(measure(folder, *run) for run in runs)
    record(
        "release_files",
        rows,
        title="Releasing files: time and memory",
        note=f"Parquet in and out, {V:,} words by {M} dimensions, {LENGTH} words a "
        f"document, {N_PUBLIC:,} public documents for stand-ins. One process has one "
        "thread; Spark and Dask have two workers of one core. CPU time of reading, "
        "checking, releasing and writing, after the release is prepared and the engine "
        "has started, and peak memory, both of all processes together.",
    )


if __name__ == "__main__":
    main()
