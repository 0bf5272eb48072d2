"""What the tests of the search share: its three ways, and real bags."""

from __future__ import annotations

import subprocess
import sys

import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from tests.transport.inside import CompiledCascade, load_search, search_module


@pytest.fixture(scope="session")
def compiled(alone):
    """The search with numba, which keeps on disk what one process has compiled.

    A process of its own: where coverage watches numba, it takes half as long again.
    """
    code = "from skdptext.neighbors import compile_search; compile_search()"
    with alone("search"):
        subprocess.run([sys.executable, "-c", code], check=True)
        found = load_search()
    assert found is not None, "the tests need the extra `fast`"
    return found


@pytest.fixture(
    params=["numpy", "compiled", "compiled, distances by Python"], scope="module"
)
def kernels(request):
    """The search without numba, with it, and with exact distances by Python."""
    found = None
    if request.param != "numpy":
        found = request.getfixturevalue("compiled")
    if "Python" in request.param:
        found = CompiledCascade(found.search, native=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module, "search_for", lambda _: found)
        yield found


@pytest.fixture(scope="session")
def labelled_prose(prose, built_in):
    """Counts and labels of real texts."""
    X = CountVectorizer(vocabulary=built_in.words).transform(prose[0])
    return sp.csr_array(X), prose[1]
