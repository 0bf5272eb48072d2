"""What the tests of the search share: its three ways, and real bags."""

from __future__ import annotations

import subprocess
import sys

import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from tests.transport.inside import load_bounds, load_kernels, search_module


@pytest.fixture(scope="session")
def compiled(alone):
    """The bounds by numba, which keeps on disk what one process has compiled.

    A process of its own: where coverage watches numba, it takes half as long again.
    """
    code = "from skdptext.neighbors import compile_search; compile_search()"
    with alone("search"):
        subprocess.run([sys.executable, "-c", code], check=True)
        loops = load_bounds()
    assert loops is not None, "the tests need the extra `fast`"
    return loops


@pytest.fixture(
    params=["numpy", "compiled", "compiled, distances by Python"], scope="module"
)
def loops(request):
    """The search without numba, with it, and with exact distances by Python."""
    loops, kernels = None, None
    if request.param != "numpy":
        loops = request.getfixturevalue("compiled")
    if request.param == "compiled":
        kernels = load_kernels()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module, "bounds_for", lambda _: loops)
        patch.setattr(search_module, "kernels_for", lambda _: kernels)
        yield loops


@pytest.fixture(scope="session")
def labelled_prose(prose, built_in):
    """Counts and labels of real texts."""
    X = CountVectorizer(vocabulary=built_in.words).transform(prose[0])
    return sp.csr_array(X), prose[1]
