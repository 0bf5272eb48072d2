"""No noise is used twice, by whichever road it is asked for.

Two independent sequences of 80 draws are equal with a probability below 1e-15 here.
"""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import clone

from skdptext import DPDocumentReplacer, DPWordPerturber
from skdptext.utils import check_rng
from tests.mistakes import CLOUD, Deduplicating, Perturber, shared_by_workers

N_DRAWS = 80
ALL = {
    *["draws", "words", "calls", "threads", "copies", "pickles", "processes", "forks"],
    "epsilons",
}


def sequence(perturber, n=N_DRAWS):
    return tuple(perturber.perturb_words(["w3"], n)[0].tolist())


def at_another_epsilon(perturber, i):
    """ε differs so little that the same noise would give the same words."""
    other = clone(perturber)
    return other.set_params(epsilon=perturber.epsilon * (1 + i * 1e-9)).fit([])


def repeats(perturber, without=()):
    """Equal pairs of sequences, for each way of drawing them."""
    long = sequence(perturber, 2 * N_DRAWS)

    def threads():
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(sequence, [perturber] * 2))

    def forks():
        with multiprocessing.get_context("fork").Pool(2) as pool:
            return pool.map(sequence, [perturber] * 2, chunksize=1)

    ways = {
        "draws": lambda: [long[:N_DRAWS], long[N_DRAWS:]],
        "words": lambda: map(tuple, perturber.perturb_words(["w3"] * 50, N_DRAWS)),
        "calls": lambda: [sequence(perturber) for _ in range(50)],
        "threads": threads,
        "copies": lambda: [sequence(copy.deepcopy(perturber)) for _ in "ab"],
        "pickles": lambda: [
            sequence(pickle.loads(sent)) for sent in [pickle.dumps(perturber)] * 2
        ],
        "processes": lambda: Parallel(n_jobs=2, batch_size=1)(
            delayed(sequence)(perturber) for _ in "ab"
        ),
        "forks": forks,
        "epsilons": lambda: [
            sequence(at_another_epsilon(perturber, i)) for i in range(2)
        ],
    }
    return {
        way: sum(n * (n - 1) // 2 for n in Counter(draw()).values())
        for way, draw in ways.items()
        if way not in without
    }


def make(random_state=None, **params):
    params = {"epsilon": 1.0, "lam": 0.5, "document_length": 1} | params
    return DPWordPerturber(CLOUD, random_state=random_state, **params).fit([])


def test_fresh_noise_repeats_nowhere():
    assert repeats(make()) == dict.fromkeys(ALL, 0)


def test_an_integer_seed_repeats_by_design():
    """The same words in another call; nothing within a call, or at another ε."""
    once = dict.fromkeys(["draws", "words", "epsilons"], 0)
    assert repeats(make(0)) == dict.fromkeys(ALL, 1) | once | {"calls": 50 * 49 // 2}


def test_a_generator_is_copied_with_its_state():
    copied = dict.fromkeys(["copies", "pickles", "processes", "forks"], 1)
    found = repeats(make(np.random.default_rng(0)))
    assert found == dict.fromkeys(ALL, 0) | copied


class Replaying(Perturber):
    """The mistake: a stream that depends on the seed alone."""

    def perturb_words(self, words, n_draws=1):
        self.rng = check_rng(0)
        return super().perturb_words(words, n_draws)


@pytest.mark.parametrize(
    ("perturber", "way"),
    [
        (Replaying(CLOUD, 1.0, 0.0), "calls"),
        (Deduplicating(CLOUD, 1.0, 0.0), "words"),
        (Perturber(CLOUD, 1.0, 0.0, sample=shared_by_workers), "draws"),
    ],
)
def test_mistakes_are_seen(perturber, way):
    assert repeats(perturber, ALL - {"draws", "words", "calls", "threads"})[way]


class FewSeeds(Perturber):
    """The mistake: a generator begun in each call, from a seed of 16 bits."""

    def perturb_words(self, words, n_draws=1):
        outer, self.rng = self.rng, np.random.default_rng(self.rng.integers(2**16))
        try:
            return super().perturb_words(words, n_draws)
        finally:
            self.rng = outer


def test_calls_are_no_16_bit_generators():
    """A thousand seeds of 16 bits hold two equal ones with a probability of 0.9995."""

    def distinct(perturber):
        return len({sequence(perturber, 60) for _ in range(1000)})

    assert distinct(make()) == 1000
    assert distinct(FewSeeds(CLOUD, 1.0, 0.0)) < 1000


# -- releases of documents, by every road ------------------------------------------


def release(releaser, documents):
    """A release as something that can be compared."""
    out = releaser.transform(documents)
    return tuple(out.toarray().ravel() if sp.issparse(out) else map(tuple, out))


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "params", [{}, {"output": "tokens"}, {"resize": "sample"}], ids=str
)
def test_fresh_releases_never_repeat(params):
    # Bags of 200 words, spread over some 40: two independent ones are equal with a
    # probability of about (4π·5)^(-39/2) < 1e-30, and no two of the 22 are, for
    # certain to 1e-27; ordered tokens are equal less often still.
    documents = [[f"w{i}" for i in range(10)] * 20]
    never_repeats(make(document_length=200, **params), documents)


@pytest.mark.no_cover
@pytest.mark.parametrize("output", ["text", "bow"])
def test_fresh_stand_ins_never_repeat(output):
    """200 answers among 24, most of them in the true group of 8."""
    public = [f"{topic} w{i}" for topic in ("tea", "cat", "moon") for i in range(8)]
    replacer = DPDocumentReplacer(
        public, public_labels=np.repeat([0, 1, 2], 8), epsilon=1.0, output=output,
        embedding=CLOUD,
    )  # fmt: skip
    never_repeats(replacer.fit(), ["tea"] * 200)


def never_repeats(releaser, documents):
    sent = pickle.dumps(releaser)
    copies = [pickle.loads(sent), pickle.loads(sent), copy.deepcopy(releaser)]
    copies += [clone(releaser).fit([]), releaser, releaser]
    releases = [release(each, documents) for each in copies]
    for way in ("loky", "threading", "multiprocessing"):
        releases += Parallel(n_jobs=2, backend=way, batch_size=1)(
            delayed(release)(releaser, documents) for _ in range(4)
        )
    with multiprocessing.get_context("fork").Pool(2) as pool:
        releases += pool.starmap(release, [(releaser, documents)] * 4, chunksize=1)
    assert len(releases) == 22
    assert len(set(releases)) == len(releases)
