"""A registry of small sets, and the server they come from."""

import threading

import pytest
from local_server import SMS, TWEETS_CORE, LocalServer, sha256

# The checksums in it are those of the real sets, which a test cannot do without.
from skdptext.datasets import _public_sets


@pytest.fixture
def small_sets(monkeypatch):
    """Three messages and two tweets stand for the real sets; no folder, no proxy."""
    for name, table in (("_SMS", SMS), ("_TWEETS", TWEETS_CORE)):
        small = getattr(_public_sets, name)._replace(sha256=sha256(table))
        monkeypatch.setattr(_public_sets, name, small)
    monkeypatch.delenv("SKDPTEXT_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server():
    with LocalServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
