"""Ray: a node that is lost takes nothing with it."""

from __future__ import annotations

import pytest
from pyarrow import dataset

from tests.scale.conftest import digest, files_with_the_key, run_page

pytestmark = pytest.mark.scale


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    ray = pytest.importorskip("ray", reason="ray is not installed")
    pytest.importorskip("ray.data", reason="ray[data] is not installed")
    from ray.cluster_utils import Cluster

    memory = {"object_store_memory": 100 * 2**20}
    started = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, **memory})
    ray.init(address=started.address, log_to_driver=False)
    yield started
    ray.shutdown()
    started.shutdown()


def test_the_page(cluster, release, source, expected, tmp_path):
    import ray

    out = str(tmp_path / "page")
    run_page("import ray", release=release, source=str(source), out=out)
    assert digest(dataset.dataset(out).to_table()) == expected
    session = ray._private.worker.global_worker.node.get_session_dir_path()
    assert files_with_the_key(release, session) == []


def test_a_node_is_killed(cluster, release, documents, expected, tmp_path):
    import ray

    memory = {"object_store_memory": 100 * 2**20}
    second = cluster.add_node(num_cpus=1, resources={"second": 1}, **memory)
    runs = tmp_path / "runs"

    def held(table):
        with open(runs, "ab") as file:
            file.write(b".")
        # with what is too large to be sent to the driver with the answer
        return release(table), bytes(2**20)

    pending = ray.remote(resources={"second": 1}, max_retries=3)(held).remote(documents)
    ray.wait([pending], fetch_local=False)
    cluster.remove_node(second, allow_graceful=False)
    cluster.add_node(num_cpus=1, resources={"second": 1}, **memory)
    released, _ = ray.get(pending)
    assert digest(released) == expected
    assert runs.read_bytes() == b".."
