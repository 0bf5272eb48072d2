"""Real bags, which the tests of the search share."""

from __future__ import annotations

import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer


@pytest.fixture(scope="session")
def labelled_prose(prose, built_in):
    """Counts and labels of real texts."""
    X = CountVectorizer(vocabulary=built_in.words).transform(prose[0])
    return sp.csr_array(X), prose[1]
