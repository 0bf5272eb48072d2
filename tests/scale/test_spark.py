"""Spark, a master and two workers: what is computed again has the same words."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import ExitStack

import pytest
from pyarrow import dataset

from tests.releases import secrets_of
from tests.scale.conftest import (
    check_page,
    check_page_with_authors,
    digest,
    files_with_the_key,
    run_page,
)

pytestmark = pytest.mark.scale


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="module")
def spark(folder):
    """A session on two hosts of one core each: speculation needs a second host."""
    pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")
    try:
        subprocess.run(["java", "-version"], capture_output=True, check=True)
    except OSError:
        pytest.skip("Spark needs Java 17: apt-get install openjdk-17-jre-headless")
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        # starts in half the time
        patch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        home = os.path.dirname(pyspark.__file__)
        environment = {**os.environ, "SPARK_HOME": home}
        environment |= {"SPARK_LOCAL_DIRS": str(folder / "local")}
        environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
        port, page = free_port(), free_port()

        def start(kind, *given):
            command = [os.path.join(home, "bin", "spark-class")]
            command += [f"org.apache.spark.deploy.{kind}", *map(str, given)]
            log = stack.enter_context(open(folder / f"{given[1]}.log", "ab"))
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            stack.callback(process.kill)

        start(
            "master.Master",
            *("--host", "127.0.0.1", "--port", port, "--webui-port", page),
        )
        for host in ("127.0.0.1", "127.0.0.2"):
            start(
                "worker.Worker",
                *("--host", host, "--cores", 1, "--memory", "1g", "--webui-port", 0),
                *("--work-dir", folder / "work", f"spark://127.0.0.1:{port}"),
            )
        alive, deadline = 0, time.monotonic() + 600
        while alive < 2:
            assert time.monotonic() < deadline, "no workers came"
            time.sleep(0.5)
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{page}/json/") as answer:
                    alive = len(re.findall(rb'"state" : "ALIVE"', answer.read()))
            except OSError:
                pass
        (folder / "events").mkdir()
        session = (
            pyspark.sql.SparkSession.builder.master(f"spark://127.0.0.1:{port}")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.executor.memory", "512m")
            .config("spark.executor.cores", "1")
            .config("spark.eventLog.enabled", "true")
            .config("spark.eventLog.dir", (folder / "events").as_uri())
            .config("spark.local.dir", str(folder / "local"))
            .config("spark.speculation", "true")
            .config("spark.speculation.interval", "100ms")
            .config("spark.speculation.multiplier", "1.1")
            .config("spark.speculation.quantile", "0.3")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.files.maxPartitionBytes", "4096")
            .getOrCreate()
        )
        stack.callback(session.stop)
        session.sparkContext.setLogLevel("ERROR")
        yield session


@pytest.fixture
def frame(spark, release, source):
    """The documents as released, lazily, in several tasks."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return (
        spark.read.parquet(str(source))
        .repartition(4)
        .mapInArrow(lambda it: map(release, it), from_arrow_schema(release.schema))
    )


def test_the_page(spark, release, documents, source, tmp_path):
    block = "documents.mapInArrow"
    check_page(block, release, documents, source, tmp_path, spark=spark)


def test_the_page_with_authors(spark, by_person, tmp_path):
    check_page_with_authors("documents.repartition", by_person, tmp_path, spark=spark)


def test_an_executor_is_killed_and_a_cache_is_evicted(spark, frame, expected):
    cached = frame.persist()
    assert digest(cached.toArrow()) == expected

    def executor(rows):
        yield os.getppid()  # of the daemon that forks Python workers

    (daemon, *_) = (
        spark.sparkContext.parallelize([0], 1).mapPartitions(executor).collect()
    )
    with open(f"/proc/{daemon}/stat") as file:
        java = int(file.read().rpartition(")")[2].split()[1])
    os.kill(java, signal.SIGKILL)
    assert digest(cached.toArrow()) == expected
    cached.unpersist()
    assert digest(frame.toArrow()) == expected


def test_a_slow_task_is_run_on_both_hosts(spark, release, source, expected, tmp_path):
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.taskcontext import TaskContext

    seen = tmp_path / "seen"
    seen.mkdir()

    def slow(batches):
        context = TaskContext.get()
        number = f"{context.partitionId()}-{context.attemptNumber()}"
        for batch in batches:
            released = release(batch)
            # Spark may fetch the rows of the two copies in different orders.
            rows = released.sort_by("id").to_pandas()
            (seen / number).write_bytes(rows.to_csv().encode())
            if context.partitionId() == 0 and context.attemptNumber() == 0:
                time.sleep(15)
            yield released

    frame = (
        spark.read.parquet(str(source))
        .repartition(4)
        .mapInArrow(slow, from_arrow_schema(release.schema))
    )
    assert digest(frame.toArrow()) == expected
    copies = sorted(path for path in seen.iterdir() if path.name.startswith("0-"))
    assert len({path.read_bytes() for path in copies}) == 1
    assert len(copies) == 2, "Spark started no second copy"


def test_a_stream_that_fails_after_the_write_is_written_again(
    spark, release, source, expected, tmp_path
):
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = from_arrow_schema(release.schema)
    out, fails = tmp_path / "out", [True]
    written = run_page("def write", release=release, schema=schema, out=str(out))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "0.parquet").write_bytes(source.read_bytes())

    def write(batch, number):
        written["write"](batch, number)
        if fails.pop():
            fails.append(False)
            raise RuntimeError("after the write")
        fails.append(False)

    def run():
        stream = spark.readStream.schema("id string, text string").parquet(
            str(tmp_path / "in")
        )
        query = (
            stream.writeStream.foreachBatch(write)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    with pytest.raises(Exception, match="after the write"):
        run()
    first = digest(dataset.dataset(out / "batch=0").to_table())
    run()
    again = digest(dataset.dataset(out / "batch=0").to_table())
    assert first == again == expected
    assert [path.name for path in out.iterdir()] == ["batch=0"]


def test_no_key_in_event_logs_or_local_files(spark, folder, release, frame):
    frame.count()
    assert any((folder / "events").rglob("*"))
    assert files_with_the_key(release, folder) == []
    for secret in secrets_of(release):  # it would be found
        (folder / "probe").write_bytes(b"x" + secret + b"x")
        assert files_with_the_key(release, folder) == [folder / "probe"]
    (folder / "probe").unlink()
