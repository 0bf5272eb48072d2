"""One table in memory, however many estimators and workers use it."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skdptext import WordEmbedding


def describe(table):
    """Process, mapped file, whether writeable, a checksum."""
    array, name = table.vectors, "none"
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            name = str(array.filename)
        array = array.base
    flags = table.vectors.flags
    return os.getpid(), name, flags.writeable, float(table.vectors[-1].sum())


class Averager(TransformerMixin, BaseEstimator):
    """Mean vector of the words of each bag; notes the table it was given."""

    def __init__(self, embedding=None, *, factor=1.0, log=None):
        self.embedding = embedding
        self.factor = factor
        self.log = log

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        fields = map(str, describe(self.embedding))
        Path(self.log, uuid.uuid4().hex).write_text("\t".join(fields))
        return self

    def transform(self, X):
        return self.factor * (X @ self.embedding.vectors[: X.shape[1]])


@pytest.fixture(scope="module")
def large():
    """12 MB, which joblib maps."""
    vectors = np.random.default_rng(0).normal(size=(3_000, 1_000)).astype(np.float32)
    return WordEmbedding([f"w{i}" for i in range(3_000)], vectors)


@pytest.mark.no_cover
def test_workers_map_one_file_of_a_table_in_memory(large, tmp_path):
    X = np.random.default_rng(1).integers(0, 2, size=(40, 5)).astype(float)
    grid = {
        "averager__factor": [0.5, 1.0, 2.0],
        "logisticregression__C": [0.1, 1.0, 10.0],
    }
    pipeline = make_pipeline(Averager(large, log=tmp_path), LogisticRegression())
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise", n_jobs=2)
    search.fit(X, np.tile([0, 1], 20))
    assert search.best_estimator_[0].embedding is large
    logged = [file.read_text().split("\t") for file in tmp_path.iterdir()]
    workers = [line for line in logged if int(line[0]) != os.getpid()]
    assert len(workers) == 18
    names = {name for _, name, _, _ in workers}
    assert len(names) == 1  # one copy for all of them
    assert names != {"none"}
    expected = str(float(large.vectors[-1].sum()))
    assert {tuple(line[2:]) for line in workers} == {("False", expected)}


def is_one(one, two):
    return one is two


def test_an_argument_that_is_given_twice_arrives_once(large):
    assert all(Parallel(n_jobs=2)(delayed(is_one)(large, large) for _ in range(2)))
