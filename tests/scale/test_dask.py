"""Dask: partitions that are lost with their worker come back with the same words."""

from __future__ import annotations

import os
import pickle
import signal
import time
import uuid

import pyarrow as pa
import pytest

from tests.releases import secrets_of
from tests.scale import conftest
from tests.scale.conftest import check_page, digest, files_with_the_key

pytestmark = pytest.mark.scale


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("dask")


@pytest.fixture(scope="module")
def client(folder):
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    options = {"local_directory": str(folder), "dashboard_address": None}
    options |= {"n_workers": 2, "threads_per_worker": 1}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def released(client, release, documents, tmp_path):
    """The documents as released, lazily; each run of a partition leaves a file."""
    dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    frame = dd.from_pandas(documents.to_pandas(), npartitions=8)
    meta = release.schema.empty_table().to_pandas()
    runs = tmp_path / "runs"
    runs.mkdir()

    def run(part, release):
        (runs / uuid.uuid4().hex).touch()
        return release(pa.Table.from_pandas(part)).to_pandas()

    # The embedding travels with the release: once to each worker, and not in the graph.
    scattered = client.scatter(release, broadcast=True)
    return frame.map_partitions(run, scattered, meta=meta)


def as_table(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


def test_a_worker_is_killed(client, released, expected, tmp_path):
    persisted = released.persist()
    assert digest(as_table(persisted.compute())) == expected
    n_runs = len(list((tmp_path / "runs").iterdir()))
    before = client.run(os.getpid)
    os.kill(next(iter(before.values())), signal.SIGKILL)
    deadline = time.monotonic() + 60
    while {*client.run(os.getpid, on_error="ignore").values()} <= {*before.values()}:
        assert time.monotonic() < deadline, "no new worker came"
        time.sleep(0.2)
    assert digest(as_table(persisted.compute())) == expected
    assert len(list((tmp_path / "runs").iterdir())) > n_runs, "nothing was lost"


def test_graphs_are_small_and_no_key_is_in_them_or_in_files(
    client, folder, release, released
):
    from distributed.protocol import dumps

    frames = dumps(dict(released.__dask_graph__()))
    graph = b"".join(map(bytes, frames))
    assert b"run-" in graph
    assert len(graph) < 100_000
    for sent in (graph, pickle.dumps(release)):
        assert not any(secret in sent for secret in secrets_of(release))
    assert files_with_the_key(release, folder) == []


def test_the_page(client, release, documents, source, tmp_path):
    block = "documents.map_partitions"
    check_page(block, release, documents, source, tmp_path, client=client)


def test_the_page_with_authors(client, by_person, tmp_path):
    conftest.check_page_with_authors(
        "documents.shuffle", by_person, tmp_path, client=client
    )
