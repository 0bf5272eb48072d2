"""What the tests of the search share: its three ways, and real bags."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from skdptext.transport import _search as search_module
from skdptext.transport._compiled_cascade import CompiledCascade, load_search


@pytest.fixture(
    params=["numpy", "compiled", "compiled, distances by Python"], scope="module"
)
def kernels(request):
    """The search without numba, with it, and with exact distances by Python."""
    found = load_search()
    assert found is not None, "the tests need the extra `fast`"
    if request.param == "numpy":
        found = None
    elif "Python" in request.param:
        found = CompiledCascade(found.search, native=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module, "search_for", lambda _: found)
        yield found


@pytest.fixture(scope="session")
def labelled_sms(sms, google_8k):
    """Counts and labels of messages with words."""
    X = CountVectorizer(vocabulary=google_8k.words).transform(sms[0][:1200])
    filled = np.flatnonzero(X.sum(axis=1))
    return sp.csr_array(X[filled]), np.asarray(sms[1])[filled]
