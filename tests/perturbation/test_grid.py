"""A grid of ε and λ: everything about the table is computed once and never copied."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from skdptext import DPWordPerturber
from skdptext.mechanisms import _covariance
from skdptext.search import _engine, embedding_search

pytestmark = pytest.mark.filterwarnings(
    "ignore:document_length is None:skdptext.exceptions.PrivacyLeakWarning"
)
GRID = {
    "dpwordperturber__epsilon": [1.0, 5.0, 10.0, 20.0, 40.0],
    "dpwordperturber__lam": [0.0, 0.25, 0.5, 0.75, 1.0],
}


def search(table, scoring, **options):
    model = make_pipeline(DPWordPerturber(table, n_jobs=1), MultinomialNB())
    texts = [[w] * 2 for w in table.words[:12]]
    splits = ShuffleSplit(1, test_size=2, random_state=0)
    options = {"cv": splits, "refit": False, "error_score": "raise"} | options
    return GridSearchCV(model, GRID, scoring=scoring, **options).fit(
        texts, np.arange(12) % 2
    )


def test_once_for_25_candidates(google_8k, monkeypatch):
    calls = {}

    def count(place, name):
        function = getattr(place, name)

        def counted(*args):
            calls[name] = calls.get(name, 0) + 1
            return function(*args)

        monkeypatch.setattr(place, name, counted)

    count(_covariance, "scaled_covariance")
    count(np.linalg, "eigh")
    count(_engine, "half_squared_norms")
    embedding = google_8k.restrict(google_8k.words[:-1])  # new to this process

    def same_embedding(model, X, y):
        return float(model[0].embedding_ is embedding)

    found = search(embedding, same_embedding)
    assert calls == {"scaled_covariance": 1, "eigh": 1, "half_squared_norms": 1}
    assert (found.cv_results_["mean_test_score"] == 1).all()
    assert not embedding_search(embedding).half_norms.flags.writeable  # it is shared


def what_the_worker_holds(model, X, y):
    """Process; address of the table and of its spectrum, and whether it is mapped."""
    embedding = model[0].embedding_
    base = embedding.vectors
    while base is not None and not isinstance(base, np.memmap):
        base = base.base
    return {
        "process": os.getpid(),
        "table": embedding.vectors.__array_interface__["data"][0],
        "spectrum": model[0].covariance_.__array_interface__["data"][0],
        "mapped": base is not None,
    }


def test_workers_map_the_table_and_compute_once_each(google_8k):
    held = search(
        google_8k, what_the_worker_holds, n_jobs=2, pre_dispatch="all"
    ).cv_results_
    assert (held["mean_test_mapped"] == 1).all()
    columns = [held[f"mean_test_{name}"] for name in ("process", "table", "spectrum")]
    assert os.getpid() not in columns[0]
    # One table and one spectrum in each process, however many candidates it had.
    assert len(set(zip(*columns, strict=True))) == len(set(columns[0])) <= 2
