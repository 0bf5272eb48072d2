"""A release on engines: rate per core, and what is sent, held and installed.

One command, a quarter of an hour on two free cores, with what ``make test-scale``
installs; engines that are absent are left out::

    .venv-scale/bin/python benchmarks/bench_scale.py [--documents 16000]

Documents of 12 words in Parquet files of 250, a synthetic table of 30,000 words by 300
dimensions by address, ε = 10, λ = 0.5, texts out; one thread each. Every engine maps
the same `DocumentRelease`. The rate per core against the bare function is the CPU time
within the function, as a share of that of all processes, which their control group
counts (as root), from when a quarter of the batches has ended until nine tenths have.
So starting does not count, and the share does not depend on the machine's speed.
Divided by that of one process, it is the rate per core against a single process on the
same batches. Dask is run twice, without its profiler and with it.

Memory of a worker is what it alone holds (USS), with two workers alive, after a batch,
beyond what imports and a release of a few words take; for tables of 30,000 and of
400,000 words. The bytes of a grid search are those that went over the loopback, 12 fits
with Dask's backend of joblib. The graph for Dask is that of eight partitions, pickled,
as the client sends it.

What a mechanism costs is measured in one process, with one batch of 4,096 documents, as
`release_files` releases them. Here words are drawn by Zipf's law: what the exponential
mechanism costs depends on how many different words a batch has.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import measuring
import numpy as np
from results import record

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.mechanisms import (
    Exponential,
    MahalanobisNoise,
    RandomizedResponse,
    Ranked,
    WordClasses,
)
from skdptext.release import DocumentRelease, ReleaseKey

V, M, LENGTH, BATCH = 30_000, 300, 12, 250
# Package of each
ENGINES = {
    "one process": "pyarrow",
    "joblib": "joblib",
    "polars": "polars",
    "DuckDB": "duckdb",
    "datasets": "datasets",
    "Spark": "pyspark",
    "Dask": "distributed",
    "Dask, with its profiler": "distributed",
    "Ray": "ray",
}
PACKAGES = ("pyarrow", "polars", "duckdb", "datasets", "pyspark", "dask", "ray")


# -- the release ----------------------------------------------------------------------


def make_table(path: Path, n_words: int) -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(n_words, M)).astype(np.float32) / 8
    WordEmbedding([f"word{i}" for i in range(n_words)], vectors).save(path)


def make_release(folder: Path, table: str = "words", **options: object) -> object:
    embedding = WordEmbedding.load(folder / f"{table}.npz", by_address=True)
    perturber = DPWordPerturber(
        embedding, epsilon=10.0, document_length=LENGTH, resize="sample", output="text",
        **options,
    )  # fmt: skip
    return DocumentRelease(perturber, ReleaseKey(f"file:{folder / 'key'}"), "bench")


def make_documents(folder: Path, n: int) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(1)
    folder.mkdir()
    for start in range(0, n, BATCH):
        ids = [f"document {i}" for i in range(start, min(n, start + BATCH))]
        drawn = rng.integers(0, V, (len(ids), LENGTH))
        texts = [" ".join(f"word{i}" for i in row) for row in drawn]
        parquet.write_table(
            pa.table({"id": ids, "text": texts}), folder / f"{start}.parquet"
        )


# -- one engine, in a process of its own ----------------------------------------------


@contextlib.contextmanager
def two_workers(folder: Path) -> Iterator[None]:
    """Dask with two processes, of one thread each."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None,
            local_directory=str(folder),
        ) as cluster,
        Client(cluster),
    ):  # fmt: skip
        yield


def on_engine(engine: str, folder: Path, source: Path, out: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    release = pickle.loads((folder / "release").read_bytes())
    files = sorted(source.glob("*.parquet"))
    (out / "inside").mkdir(parents=True)

    def clocked(batch: object) -> object:
        start, before = time.monotonic(), time.thread_time()
        released = release(batch)
        end, used = time.monotonic(), time.thread_time() - before
        name = f"{os.getpid()} {time.monotonic_ns()}"
        (out / "inside" / name).write_text(f"{start} {end} {used}")
        return released

    def one(path: Path) -> None:
        parquet.write_table(clocked(parquet.read_table(path)), out / path.name)

    if engine == "one process":
        for path in files:
            one(path)
    elif engine == "joblib":
        from joblib import Parallel, delayed

        Parallel(n_jobs=2)(delayed(one)(path) for path in files)
    elif engine == "polars":
        import polars as pl

        schema = pl.from_arrow(release.schema.empty_table()).schema
        pl.scan_parquet(source / "*.parquet").map_batches(
            lambda frame: pl.from_arrow(clocked(frame.to_arrow())), schema=schema
        ).collect().write_parquet(out / "all.parquet")
    elif engine == "DuckDB":
        import duckdb

        read = duckdb.connect().sql(f"from '{source}/*.parquet'")
        batches = read.to_arrow_reader(2048)
        released = pa.RecordBatchReader.from_batches(
            release.schema, map(clocked, batches)
        )
        con = duckdb.connect()
        con.register("released", released)
        con.sql(f"copy (from released) to '{out / 'all.parquet'}'")
    elif engine == "datasets":
        import datasets

        loaded = datasets.Dataset.from_parquet(
            list(map(str, files)), cache_dir=str(out / "cache")
        )
        mapped = loaded.with_format("arrow").map(clocked, batched=True)
        mapped.to_parquet(str(out / "all.parquet"))
    elif engine == "Spark":
        from pyspark.sql import SparkSession
        from pyspark.sql.pandas.types import from_arrow_schema

        os.environ["PYSPARK_PYTHON"] = sys.executable
        spark = SparkSession.builder.master("local[2]")
        spark = spark.config("spark.ui.enabled", "false").getOrCreate()
        schema = from_arrow_schema(release.schema)
        frame = spark.read.parquet(str(source)).repartition(2)
        frame = frame.mapInArrow(lambda batches: map(clocked, batches), schema)
        frame.write.parquet(str(out / "all"))
        spark.stop()
    elif engine.startswith("Dask"):
        if engine == "Dask":
            # it would look at each worker's stack a hundred times a second
            os.environ["DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED"] = "False"
        import dask.dataframe as dd

        with two_workers(out / "dask"):
            frame = dd.read_parquet(list(map(str, files)))
            frame.map_partitions(
                lambda part: clocked(pa.Table.from_pandas(part)).to_pandas(),
                meta=release.schema.empty_table().to_pandas(),
            ).to_parquet(str(out / "all"))
    else:
        import ray

        ray.init(num_cpus=2, object_store_memory=200 * 2**20, log_to_driver=False)

        read = ray.data.read_parquet(str(source), override_num_blocks=2)
        read.map_batches(clocked, batch_format="pyarrow").write_parquet(
            str(out / "all")
        )
        ray.shutdown()


def measured(run: list[str]) -> np.ndarray:
    """The clock, and the CPU seconds of a command and all that it starts, by the way.

    The kernel counts them for a control group: engines leave processes behind that
    nobody waits for.
    """
    root = Path("/sys/fs/cgroup")
    first = (root / "cpuacct").is_dir()  # version 1 of control groups
    group = (root / "cpuacct" if first else root) / f"skdptext-{os.getpid()}"
    group.mkdir()
    procs = group / "cgroup.procs"

    def enter() -> None:
        procs.write_text(str(os.getpid()))

    def used() -> float:
        if first:
            return int((group / "cpuacct.usage").read_text()) / 1e9
        counted = (group / "cpu.stat").read_text().split()
        return int(counted[counted.index("usage_usec") + 1]) / 1e6

    samples = []
    with subprocess.Popen(run, stdout=subprocess.DEVNULL, preexec_fn=enter) as process:
        while process.poll() is None:
            samples.append((time.monotonic(), used()))
            time.sleep(0.1)
    samples.append((time.monotonic(), used()))
    while left := procs.read_text().split():
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        time.sleep(0.1)
    group.rmdir()
    if process.returncode:
        raise RuntimeError(f"{run} ended with {process.returncode}")
    return np.array(samples)


def rates(folder: Path, n: int) -> Iterator[dict[str, object]]:
    make_documents(folder / "documents", n)
    alone = None
    for engine, package in ENGINES.items():
        if importlib.util.find_spec(package) is None:
            continue
        share, start = rate(engine, folder, folder / "documents")
        alone = alone or share
        yield {
            "engine": engine,
            "version": metadata.version(package),
            "against the bare function": share,
            "against one process": share / alone,
            "CPU seconds to start": start,
        }


def rate(engine: str, folder: Path, source: Path) -> tuple[float, float]:
    """Share of the CPU time that is spent in the function; CPU seconds before it."""
    with tempfile.TemporaryDirectory() as parent:
        out = Path(parent, "out")
        given = map(str, ["--engine", engine, folder, source, out])
        clock, used = measured([sys.executable, __file__, *given]).T
        batches = [path.read_text().split() for path in (out / "inside").iterdir()]
    starts, ends, inside = np.array(sorted(batches), dtype=float).T
    # from when all workers run until the first may have nothing to do; of a single
    # batch, until all is written
    window = np.quantile(ends, [0.25, 0.9])
    if len(ends) < 4:
        window = np.array([starts[0], clock[-1]])
    overlap = np.clip(ends, *window) - np.clip(starts, *window)
    whole = np.diff(np.interp(window, clock, used))[0]
    share = float((inside * overlap / (ends - starts)).sum() / whole)
    return share, float(np.interp(starts.min(), clock, used))


# -- sizes ----------------------------------------------------------------------------


def uss_mb() -> float:
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    private = [line.split()[1] for line in lines if line.startswith("Private_")]
    return sum(map(int, private)) / 1024


def worker(path: str) -> None:
    """What a worker holds: after the imports, and after a batch; said when asked."""
    import pyarrow as pa
    import randomgen  # noqa: F401

    table = pa.table({"id": ["a", "b"], "text": ["word1 word2", "word3"]})
    # a release of a few words first: what is imported or compiled only when it is used
    pickle.loads(Path(path).with_name("few").read_bytes())(table)
    before = uss_mb()
    release = pickle.loads(Path(path).read_bytes())
    release(table)
    print("ready", flush=True)
    sys.stdin.readline()
    print(uss_mb() - before, flush=True)
    sys.stdin.readline()


def workers_mb(path: Path) -> float:
    """The larger of two workers that are alive at once."""
    command = [sys.executable, __file__, "--worker", str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started = [subprocess.Popen(command, **pipes) for _ in range(2)]
    for process in started:
        process.stdout.readline()
    held = []
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
        held.append(float(process.stdout.readline()))
    for process in started:
        process.communicate("\n")
    return max(held)


def graph_kb(release: object) -> float | None:
    """A Dask graph of eight partitions as its client sends it; None without Dask."""
    if importlib.util.find_spec("distributed") is None:
        return None
    import dask.dataframe as dd
    import pyarrow as pa
    from distributed.protocol import serialize, to_serialize

    documents = pa.table({"id": [*"abcdefgh"], "text": ["word1 word2"] * 8})
    frame = dd.from_pandas(documents.to_pandas(), npartitions=8).map_partitions(
        lambda part: release(pa.Table.from_pandas(part)).to_pandas(),
        meta=release.schema.empty_table().to_pandas(),
    )
    _, frames = serialize(to_serialize(frame.expr), on_error="raise")
    return sum(memoryview(frame).nbytes for frame in frames) / 1000


def sizes(folder: Path, n: int) -> Iterator[dict[str, object]]:
    if importlib.util.find_spec("distributed") is None:
        print("The size of a Dask graph is left out: Dask is not installed.")
    make_table(folder / "few-words.npz", 1000)
    (folder / "few").write_bytes(pickle.dumps(make_release(folder, "few-words")))
    for table, n_words in (("words", V), ("many", 400_000)):
        if table == "many":
            make_table(folder / "many.npz", n_words)
        mechanisms = [None, Exponential("half"), RandomizedResponse(), Ranked()]
        if n_words == V:  # preparing them for the many takes a minute and more
            mechanisms.append(WordClasses())
        for mechanism in mechanisms:
            release = make_release(folder, table, mechanism=mechanism)
            (folder / "held").write_bytes(pickle.dumps(release))
            yield {
                "words": n_words,
                "mechanism": repr(mechanism or MahalanobisNoise()),
                "pickle (kB)": (folder / "held").stat().st_size / 1000,
                "graph for Dask (kB)": graph_kb(release),
                "embedding (MB)": n_words * M * 4 / 1e6,
                "a worker beyond its imports (MB)": workers_mb(folder / "held")
                if mechanism is None
                else None,
            }


# -- what a mechanism costs -----------------------------------------------------------


def costs(folder: Path, n: int) -> Iterator[dict[str, object]]:
    import pyarrow as pa

    batch = 4096
    ranks = 1 / np.arange(1, V + 1)
    drawn = np.random.default_rng(3).choice(V, (batch, LENGTH), p=ranks / ranks.sum())
    texts = [" ".join(f"word{i}" for i in row) for row in drawn]
    documents = pa.table({"id": range(batch), "text": texts})
    for mechanism in (None, Exponential(calibration="half"), RandomizedResponse()):
        release = make_release(folder, mechanism=mechanism)
        release(documents.slice(0, 10))
        before = time.process_time()
        release(documents)
        each = (time.process_time() - before) / batch
        yield {
            "mechanism": repr(mechanism or MahalanobisNoise()),
            "ms per document": each * 1e3,
            "core-hours per million documents": each * 1e6 / 3600,
        }


def installed(folder: Path, n: int) -> Iterator[dict[str, object]]:
    for package in PACKAGES:
        try:
            files = metadata.files(package) or []
        except metadata.PackageNotFoundError:
            continue
        size = sum(f.locate().stat().st_size for f in files if f.locate().is_file())
        yield {
            "package": package,
            "version": metadata.version(package),
            "installed, without what it needs (MB)": size / 1e6,
        }


# -- a grid search --------------------------------------------------------------------


def loopback() -> int:
    lines = Path("/proc/net/dev").read_text().splitlines()
    (line,) = [line for line in lines if line.strip().startswith("lo:")]
    return int(line.split(":")[1].split()[0])


def search(folder: Path, by_address: bool) -> None:
    """Bytes over the loopback of 12 fits, less those of an idle cluster."""
    import joblib
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline

    warnings.simplefilter("ignore")
    embedding = WordEmbedding.load(folder / "words.npz", by_address=by_address)
    rng = np.random.default_rng(2)
    texts = [[f"word{i}" for i in row] for row in rng.integers(0, V, (60, LENGTH))]
    pipeline = make_pipeline(
        DPWordPerturber(embedding, document_length=LENGTH), LogisticRegression()
    )
    grid = {"dpwordperturber__epsilon": [5.0, 10.0, 20.0, 40.0]}
    with two_workers(folder / "dask"):
        before = loopback()
        with joblib.parallel_config(backend="dask"):
            GridSearchCV(pipeline, grid, cv=3, refit=False).fit(texts, [0, 1] * 30)
        print(loopback() - before)


def searches(folder: Path, n: int) -> Iterator[dict[str, object]]:
    if importlib.util.find_spec("distributed") is None:
        print("The search is left out: Dask is not installed.")
        return
    for by_address in (False, True):
        given = ["--search", str(folder), str(int(by_address))]
        done = subprocess.run(
            [sys.executable, __file__, *given],
            capture_output=True,
            text=True,
            check=True,
        )
        moved = int(done.stdout.splitlines()[-1]) / 1e6
        yield {
            "embedding pickles": "as its address" if by_address else "by value",
            "over the loopback (MB)": moved,
        }


def main() -> None:
    if sys.argv[1:2] == ["--engine"]:
        on_engine(sys.argv[2], *map(Path, sys.argv[3:]))
        return
    if sys.argv[1:2] == ["--worker"]:
        worker(sys.argv[2])
        return
    if sys.argv[1:2] == ["--search"]:
        search(Path(sys.argv[2]), sys.argv[3] == "1")
        return
    arguments = measuring.options(__doc__, documents=16000, only=RECORDS)
    n = arguments.documents
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_table(folder / "words.npz", V)
        ReleaseKey.generate(folder / "key")
        (folder / "release").write_bytes(pickle.dumps(make_release(folder)))
        for part in arguments.only:
            make, title, note = RECORDS[part]
            rows = measuring.shown(make(folder, n))
            if rows:
                record(f"scale_{part}", rows, title=title, note=note.format(n=n))


# What makes the rows of a part, of how many documents; heading and note.
RECORDS = {
    "sizes": (
        sizes,
        "A release on engines: what travels, and what a worker holds",
        "The embedding by address; a graph of eight partitions. Memory is what one of "
        "two workers alone holds after a batch, beyond its imports.",
    ),
    "search": (
        searches,
        "A grid search on Dask: bytes sent",
        f"12 fits with 2 workers, {V:,} words by {M} dimensions "
        f"({V * M * 4 / 1e6:.0f} MB), 60 documents.",
    ),
    "costs": (
        costs,
        "A release: what a mechanism costs",
        f"One process with one thread; a batch of 4,096 documents of {LENGTH} words "
        f"drawn by Zipf's law, {V:,} words by {M} dimensions; CPU time, with reading "
        "the texts.",
    ),
    "installed": (
        installed,
        "What engines take on disk",
        "Sizes of the installed packages alone, without those that they need; Spark "
        "needs a Java runtime besides.",
    ),
    "rates": (
        rates,
        "A release on engines: rate per core",
        f"Documents of {LENGTH} words, {V:,} words by {M} dimensions, noise on "
        "vectors, {n:,} documents. The rate per core against the bare function is the "
        "CPU time within it, as a share of that of all processes, once all workers "
        "run; that against one process is this share divided by that of one process.",
    ),
}


if __name__ == "__main__":
    main()
