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
from skdptext.model_selection import calibrate_epsilon
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
    """The calls of ``bench_perturbation.py``, of fewer words."""

    @pytest.mark.parametrize("seed", [None, 0], ids=["fresh", "seeded"])
    @pytest.mark.parametrize("length", [8, 400], ids=["short", "long"])
    @pytest.mark.parametrize("lam", [0.0, 0.5, 1.0])
    def test_documents(self, benchmark, table, words, lam, length, seed):
        perturber = DPWordPerturber(table, epsilon=10, lam=lam, random_state=seed)
        documents = [words[i : i + length] for i in range(0, 2000, length)]
        benchmark(perturber.fit([]).transform, documents)

    @pytest.mark.parametrize("seed", [None, 0], ids=["fresh", "seeded"])
    def test_one_document(self, benchmark, table, words, seed):
        perturber = DPWordPerturber(table, epsilon=10, lam=0.5, random_state=seed)
        benchmark(perturber.fit([]).transform, [words[:16]])


class TestNearestWords:
    def test_2048_noisy_points(self, benchmark, perturber, table):
        rng = np.random.default_rng(0)
        ids = rng.integers(0, len(table), 2048)
        # Noise written out, for what draws it has no name that all versions share.
        units = rng.standard_normal((2048, table.dim))
        units /= np.linalg.norm(units, axis=1, keepdims=True)
        noise = rng.gamma(table.dim, 1 / 10, (2048, 1)) * units
        points = table.vectors[ids] + noise @ perturber.noise_factor_
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
    """The calls of ``bench_deniability.py``, of fewer words."""

    @pytest.mark.parametrize(("epsilon", "lam"), [(1, 0.5), (10, 0.5), (40, 0.0)])
    def test_64_words(self, benchmark, table, words, epsilon, lam):
        perturber = DPWordPerturber(table, epsilon=epsilon, lam=lam).fit([])
        benchmark(plausible_deniability, perturber, words[:64], n_draws=100)

    def test_grid(self, benchmark, perturber, words):
        benchmark(
            plausible_deniability, perturber, words[:16],
            epsilons=(1, 10, 40), lams=(0, 0.5, 1), n_draws=100,
        )  # fmt: skip

    def test_calibration(self, benchmark, perturber, words):
        benchmark(calibrate_epsilon, perturber, words=words[:32])


class TestKoppel:
    def test_predict(self, benchmark):
        corpus = load_docstrings()
        texts, topics = corpus.data, corpus.target
        model = KoppelAuthorClassifier(random_state=0).fit(texts, topics)
        benchmark(model.predict_proba, texts[:40])
