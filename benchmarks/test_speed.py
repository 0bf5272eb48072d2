"""Timed calls for ``make bench-compare``: a change against the commit before it.

pytest-benchmark runs them (the extra ``bench``); ``make test`` does not collect this
folder. The file is run against older versions of the package too, so it uses what the
first release has. All is drawn from fixed seeds, on the real table if it is there.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from real_data import load_table

import skdptext
from skdptext import DPWordPerturber, WMDKNNClassifier
from skdptext.attacks import KoppelAuthorClassifier
from skdptext.datasets import load_docstrings
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.metrics import plausible_deniability
from skdptext.search import half_squared_norms, nearest_words

TREE = os.environ.get("SKDPTEXT_BENCH_TREE")
if TREE and Path(TREE).resolve() not in Path(skdptext.__file__).resolve().parents:
    raise RuntimeError(f"skdptext is {skdptext.__file__}, which is not below {TREE}.")
warnings.simplefilter("ignore", PrivacyLeakWarning)


@pytest.fixture(scope="module")
def table():
    return load_table()


@pytest.fixture(scope="module")
def perturber(table):
    return DPWordPerturber(table, epsilon=10, lam=0.5).fit([])


@pytest.fixture(scope="module")
def words(table):
    """8,192 words, each as likely as any other."""
    ids = np.random.default_rng(0).integers(0, len(table), 8192)
    return table.word_array[ids].tolist()


def bags(table, number, length, seed):
    """Documents of `length` words, drawn as a language's: the n-th at a rate of 1/n."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, len(table) + 1)
    ids = rng.choice(len(table), (number, length), p=shares / shares.sum())
    rows = np.repeat(np.arange(number), length)
    shape = (number, len(table))
    return sp.csr_matrix((np.ones(ids.size), (rows, ids.ravel())), shape=shape)


class TestTransform:
    def test_short_documents(self, benchmark, perturber, words):
        documents = [words[i : i + 8] for i in range(0, 2048, 8)]
        benchmark(perturber.transform, documents)

    def test_long_documents(self, benchmark, perturber, words):
        documents = [words[i : i + 400] for i in range(0, 2000, 400)]
        benchmark(perturber.transform, documents)

    def test_one_document(self, benchmark, perturber, words):
        benchmark(perturber.transform, [words[:16]])

    def test_seeded(self, benchmark, table, words):
        seeded = DPWordPerturber(table, epsilon=10, lam=0.5, random_state=0).fit([])
        documents = [words[i : i + 8] for i in range(0, 2048, 8)]
        benchmark(seeded.transform, documents)


class TestNearestWords:
    def test_2048_noisy_points(self, benchmark, perturber, table):
        rng = np.random.default_rng(0)
        ids = rng.integers(0, len(table), 2048)
        points = table.vectors[ids] + perturber.mechanism_.sample(rng, 2048)
        benchmark(
            nearest_words, points, table.vectors, half_squared_norms(table.vectors)
        )


class TestWordMoversNeighbors:
    @pytest.mark.parametrize("method", ["kneighbors", "predict"])
    @pytest.mark.parametrize("length", [8, 16], ids=["tweets", "sms"])
    def test_search(self, benchmark, table, length, method):
        train, queries = bags(table, 1000, length, 0), bags(table, 100, length, 1)
        model = WMDKNNClassifier(table, n_neighbors=5).fit(train, np.arange(1000) % 2)
        benchmark(getattr(model, method), queries)


class TestDeniability:
    def test_64_words(self, benchmark, perturber, words):
        benchmark(plausible_deniability, perturber, words[:64], n_draws=100)


class TestKoppel:
    def test_predict(self, benchmark):
        corpus = load_docstrings()
        texts, topics = corpus.data, corpus.target
        model = KoppelAuthorClassifier(random_state=0).fit(texts, topics)
        benchmark(model.predict_proba, texts[:40])
