"""What the tests of the search share: its ways, and real bags."""

from __future__ import annotations

import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from tests.transport.inside import load_kernels, search_module


@pytest.fixture(params=["numpy", "compiled"], scope="module")
def loops(request, compiled):
    """The search without numba and with it.

    Expected distances are compiled in both cases: those of Python take longer.
    """
    kernels = load_kernels()
    ways = {
        "numpy": (None, None),
        "compiled": (compiled, kernels),
        # as with a POT whose solver has no address
        "compiled, distances by Python": (compiled, None),
    }
    loops, kernels = ways[request.param]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module, "bounds_for", lambda _: loops)
        patch.setattr(search_module, "kernels_for", lambda _: kernels)
        yield loops


@pytest.fixture(scope="session")
def labelled_prose(prose, built_in):
    """Counts and labels of real texts."""
    X = CountVectorizer(vocabulary=built_in.words).transform(prose[0])
    return sp.csr_array(X), prose[1]
