"""Spark, a master and two workers: what is computed again has the same words."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import dataset

from tests.releases import secrets_of
from tests.scale import conftest
from tests.scale.conftest import check_page, digest, files_with_the_key, run_page

pytestmark = pytest.mark.scale


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="module")
def spark(folder):
    """A session on two workers of one core each."""
    pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")
    try:
        subprocess.run(["java", "-version"], capture_output=True, check=True)
    except OSError:
        pytest.skip("Spark needs Java 17: apt-get install openjdk-17-jre-headless")
    (folder / "events").mkdir()
    for part in ("bin", "jars"):
        (folder / part).symlink_to(Path(pyspark.__file__).parent / part)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", os.pathsep.join(p for p in sys.path if p))
        patch.setenv("SPARK_HOME", str(folder))  # where the workers' logs are
        # starts in half the time
        patch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        session = (
            pyspark.sql.SparkSession.builder.master("local-cluster[2,1,1024]")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.executor.memory", "512m")
            .config("spark.eventLog.enabled", "true")
            .config("spark.eventLog.dir", (folder / "events").as_uri())
            .config("spark.local.dir", str(folder / "local"))
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.files.maxPartitionBytes", "4096")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()


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
    block = "documents.repartition"
    conftest.check_page_with_authors(block, by_person, tmp_path, spark=spark)


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
