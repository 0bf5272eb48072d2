"""A grid of ε and λ: everything about the table is computed once and never copied."""

from __future__ import annotations

import os

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from skdptext import DPWordPerturber

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


_seen = []  # in a worker: the spectra of its candidates


def what_the_worker_holds(model, X, y):
    """Process, whether the table is mapped, and the spectrum that of the first."""
    perturber = model[0]
    _seen.append(perturber.covariance_)
    base = perturber.embedding_.vectors
    while base is not None and not isinstance(base, np.memmap):
        base = base.base
    return {
        "process": os.getpid(),
        "mapped": base is not None,
        "same": perturber.covariance_ is _seen[0],
    }


def test_workers_map_the_table_and_compute_once_each(built_in):
    held = search(
        built_in, what_the_worker_holds, n_jobs=2, pre_dispatch="all"
    ).cv_results_
    assert (held["mean_test_mapped"] == 1).all()
    # One spectrum in each process, however many candidates it had.
    assert (held["mean_test_same"] == 1).all()
    processes = set(held["mean_test_process"])
    assert os.getpid() not in processes
    assert len(processes) <= 2


def noisy(perturber, documents):
    """A release, and the process that made it."""
    return perturber.transform(documents).toarray(), os.getpid()


def test_workers_repeat_the_release_of_a_seed(small_embedding):
    """They are sent pickles, which must hold the seed.

    Beside the test above, which has started the workers.
    """
    documents = [["w1", "w2"], ["w3", "w4"], ["w5", "w6"], ["w7", "w8"]]
    perturber = DPWordPerturber(
        small_embedding, epsilon=0.1, document_length=2, random_state=2**90 + 1
    ).fit([])
    expected = noisy(perturber, documents)[0]
    for released, process in Parallel(n_jobs=2, backend="loky")(
        delayed(noisy)(perturber, documents) for _ in range(2)
    ):
        assert process != os.getpid()
        np.testing.assert_array_equal(released, expected)
