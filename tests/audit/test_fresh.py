"""The audit of fresh noise: what is used twice is found, however it was copied."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import threading
from multiprocessing.connection import Connection

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone

from skdptext import DPDocumentReplacer, DPWordPerturber
from skdptext.audit import audit_fresh_noise
from skdptext.embeddings import one_hot_embedding
from skdptext.utils import check_rng
from tests.channels import channel
from tests.channels import sample as right
from tests.expected import refused
from tests.mistakes import (
    CLOUD,
    Deduplicating,
    Perturber,
    every_fifth,
    from_a_pool,
    shared_by_workers,
    taking_turns,
)

ALL = {
    *["draws", "words", "calls", "threads", "copies", "pickles", "processes", "forks"],
    *["epsilons", "many calls", "many words", "long call", "within calls"],
}


# Where what is looked for has nothing to do with processes. The others have two
# workers of joblib's all, which stay, and are not begun again.
alone = pytest.mark.usefixtures("copies_for_workers")


def make(random_state=None, **params):
    params = {"epsilon": 1.0, "lam": 0.5, "document_length": 1} | params
    return DPWordPerturber(CLOUD, random_state=random_state, **params).fit([])


def test_fresh_noise_repeats_nowhere():
    audit = audit_fresh_noise(make(), n_repeats=2, n_calls=200)
    assert set(audit.repeats) == ALL
    assert not audit.skipped
    assert not audit.repeated
    assert "No noise was reused" in " ".join(str(audit).split())


def test_an_integer_seed_repeats_by_design():
    audit = audit_fresh_noise(make(0), "w3", n_repeats=2, n_calls=40)
    assert audit.word == "w3"
    once = ["draws", "words", "epsilons", "many words", "long call", "within calls"]
    many = {"many calls": 40 * 39 // 2}
    assert audit.repeats == dict.fromkeys(ALL, 1) | dict.fromkeys(once, 0) | many
    assert "repeatable release" in " ".join(str(audit).split())
    assert "repeated=True" in repr(audit)


def test_a_generator_is_copied_with_its_state():
    audit = audit_fresh_noise(make(np.random.default_rng(0)), n_repeats=2, n_calls=40)
    copied = {"copies": 1, "pickles": 1, "processes": 1, "forks": 1}
    assert audit.repeats == dict.fromkeys(ALL, 0) | copied


class Replaying(BaseEstimator):
    """The mistake: a stream that depends on the seed alone, in a grid over ε."""

    def __init__(self, random_state, epsilon=1.0):
        self.random_state = random_state
        self.epsilon = epsilon

    def fit(self, X):
        self.channel_ = channel(self.epsilon, 0.5, CLOUD)
        return self

    def perturb_words(self, words, n_draws=1):
        ids = np.repeat(CLOUD.find(words), n_draws)
        draws = self.channel_.draw(check_rng(self.random_state), len(ids))
        return CLOUD.word_array[self.channel_.apply(ids, draws)].reshape(-1, n_draws)


@pytest.mark.no_cover
@alone
@pytest.mark.parametrize("state", ["seed", "generator"])
def test_noise_that_is_replayed_for_every_epsilon(state):
    seed = 0 if state == "seed" else np.random.default_rng(0)
    audit = audit_fresh_noise(Replaying(seed).fit([]), "w3", n_calls=10)
    assert audit.repeats["epsilons"] == 3


# -- releases of documents, by every road ------------------------------------------


def release(perturber, documents):
    """A release as something that can be compared."""
    out = perturber.transform(documents)
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
    perturber = make(document_length=200, **params)
    sent = pickle.dumps(perturber)
    copies = [pickle.loads(sent), pickle.loads(sent), copy.deepcopy(perturber)]
    copies += [clone(perturber).fit([]), perturber, perturber]
    releases = [release(each, documents) for each in copies]
    for way in ("loky", "threading", "multiprocessing"):
        releases += Parallel(n_jobs=2, backend=way, batch_size=1)(
            delayed(release)(perturber, documents) for _ in range(4)
        )
    with multiprocessing.get_context("fork").Pool(2) as pool:
        releases += pool.starmap(release, [(perturber, documents)] * 4, chunksize=1)
    assert len(releases) == 22
    assert len(set(releases)) == len(releases)


@alone
def test_equal_words_with_equal_noise():
    perturber = Deduplicating(CLOUD, 1.0, 0.0)
    assert audit_fresh_noise(perturber, n_calls=20).repeats["words"] == 3


@pytest.mark.no_cover
@alone
@pytest.mark.parametrize("sampler", [shared_by_workers, taking_turns])
def test_one_stream_shared_by_two_workers(sampler):
    perturber = Perturber(CLOUD, 1.0, 0.0, sample=sampler)
    assert audit_fresh_noise(perturber, n_calls=20).repeats["draws"] == 1


# -- what repeats within a call; more of it in test_audits_compared.py -------------


@pytest.mark.no_cover
@alone
def test_words_of_a_call_that_share_a_stream():
    """The tenth word of a call begins the stream of the first again."""

    def sample(mechanism, rng, n):
        return np.resize(right(mechanism, rng, 10 * length), (n, 2))

    perturber = Perturber(CLOUD, 1.0, 0.0)
    length = audit_fresh_noise(perturber, "w1", n_calls=2).n_draws
    perturber.sample = sample
    perturber.rng = np.random.default_rng(0)  # the same length
    repeats = audit_fresh_noise(perturber, "w1", n_calls=50).repeats
    assert repeats["words"] == 0
    assert repeats["many words"] == 10 * (5 * 4 // 2)


@alone
@pytest.mark.parametrize(
    ("sampler", "way", "n_calls"),
    [
        (every_fifth, "within calls", 500),
        (from_a_pool, "long call", 100),
    ],
)
def test_vectors_that_are_used_twice_in_a_call(sampler, way, n_calls):
    perturber = Perturber(CLOUD, 1.0, 0.0, sample=sampler)
    audit = audit_fresh_noise(perturber, n_calls=n_calls)
    assert audit.repeats[way]
    assert not audit.repeats["draws"]
    assert not audit.repeats["many calls"]
    said = "depend on each other" if way == "within calls" else "long call"
    assert said in " ".join(str(audit).split())


class Seldom:
    """One draw in 17 changes a word; without a search, to be fast."""

    def __init__(self):
        self.rng = np.random.default_rng(0)
        self.words = np.array(["a", "b"], dtype=object)

    def perturb_words(self, words, n_draws=1):
        changed = self.rng.random((len(words), n_draws)) < 1 / 17
        return self.words[changed.astype(int)]


@alone
def test_a_word_that_seldom_changes_is_drawn_in_fewer_calls():
    """A million draws, and not 1000 calls."""
    audit = audit_fresh_noise(Seldom(), "a")
    assert audit.n_draws > 1000
    assert audit.n_calls == 1_000_000 // audit.n_draws > 2
    assert audit.skipped["long call"] == "sequences of more than 1000 draws"
    assert not audit.repeats["many calls"]


@alone
def test_threads_that_begin_alike():
    perturber = Perturber(CLOUD, 1.0, 0.0)
    main = threading.get_ident()

    def sample(mechanism, rng, n):
        alike = threading.get_ident() != main
        return right(mechanism, np.random.default_rng(7) if alike else rng, n)

    perturber.sample = sample
    repeats = audit_fresh_noise(perturber, n_calls=20).repeats
    assert repeats["threads"] == 3
    assert repeats["calls"] == 0


@alone
def test_ways_that_fail_are_named():
    # it holds lambdas
    audit = audit_fresh_noise(Perturber(CLOUD, 1.0, 0.0), n_calls=20)
    assert "pickles" in audit.skipped
    assert "local object" in audit.skipped["pickles"]
    assert "Not tried: pickles" in " ".join(str(audit).split())


@alone
def test_a_fork_that_fails_or_hangs(monkeypatch):
    class AtHome(Perturber):
        def perturb_words(self, words, n_draws=1):
            if multiprocessing.current_process().name.startswith("ForkProcess"):
                raise RuntimeError("not in a child")
            return super().perturb_words(words, n_draws)

    audit = audit_fresh_noise(AtHome(CLOUD, 1.0, 0.0), n_calls=5)
    assert audit.skipped["forks"] == "RuntimeError: not in a child"
    poll = Connection.poll
    monkeypatch.setattr(
        Connection,
        "poll",
        lambda self, timeout=0: timeout != 120 and poll(self, timeout),
    )
    audit = audit_fresh_noise(Perturber(CLOUD, 1.0, 0.0), n_calls=5)
    assert audit.skipped["forks"] == "TimeoutError: no answer in 120 s"


class Plain:
    """Words without a guarantee."""

    def __init__(self):
        self.inner = make()

    def perturb_words(self, words, n_draws=1):
        return self.inner.perturb_words(words, n_draws)


@alone
def test_bad_input():
    with refused("must have perturb_words, or transform for documents, got an object"):
        audit_fresh_noise(object())
    with refused("n_repeats must be"):
        audit_fresh_noise(make(), n_repeats=1)
    with refused("n_calls must be"):
        audit_fresh_noise(make(), n_calls=1)
    with refused("word must be a str or None"):
        audit_fresh_noise(make(), 3)
    with refused("word must be given where"):
        audit_fresh_noise(Plain())
    with refused("must change the word"):
        audit_fresh_noise(make(epsilon=1e9))
    assert not audit_fresh_noise(Plain(), "w1", n_calls=40).repeated


# -- releases of documents -----------------------------------------------------------

PUBLIC = [f"{topic} {i}" for topic in ("tea", "cat", "moon") for i in range(8)]


def replacing(kind=DPDocumentReplacer, **options):
    settings = {"public_labels": np.repeat([0, 1, 2], 8), "epsilon": 1.0} | options
    return kind(PUBLIC, **settings).fit()


@pytest.mark.no_cover
@alone
@pytest.mark.parametrize("output", ["text", "index", "group"])
def test_fresh_answers_to_documents_repeat_nowhere(output):
    audit = audit_fresh_noise(replacing(output=output), n_repeats=2, n_calls=40)
    assert set(audit.repeats) == ALL
    assert not audit.repeated


def test_answers_under_an_integer_seed_repeat_by_design():
    replacer = replacing(output="index", random_state=2**90)
    audit = audit_fresh_noise(replacer, "tea", n_repeats=2, n_calls=10)
    assert audit.repeats["calls"] == audit.repeats["processes"] == 1
    assert audit.repeats["draws"] == audit.repeats["words"] == 0


class ReplayingStreams(DPDocumentReplacer):
    """The mistake: every call begins its stream anew."""

    def transform(self, X, document_ids=None):
        self.random_state = np.random.default_rng(5)
        return super().transform(X, document_ids)


class Remembering(DPDocumentReplacer):
    """The mistake: a text that was answered once is answered so for good."""

    def transform(self, X, document_ids=None):
        known = vars(self).setdefault("answers_", {})
        new = [x for x in dict.fromkeys(X) if x not in known]
        known.update(zip(new, super().transform(new), strict=True))
        return [known[x] for x in X]


class TakingTurns(DPDocumentReplacer):
    """The mistake: one draw answers two documents of a call."""

    def transform(self, X, document_ids=None):
        half = super().transform(X[: -(-len(X) // 2)], document_ids)
        return [answer for answer in half for _ in range(2)][: len(X)]


@pytest.mark.no_cover
@alone
@pytest.mark.parametrize(
    ("kind", "way"),
    [(ReplayingStreams, "calls"), (Remembering, "calls"), (TakingTurns, "draws")],
)
def test_answers_that_repeat_are_found(kind, way):
    audit = audit_fresh_noise(replacing(kind, output="index"), n_repeats=2, n_calls=10)
    assert audit.repeats[way]


def test_rows_of_matrices_are_answers():
    replacer = replacing(output="bow", embedding=one_hot_embedding(["tea", "cat"]))
    assert not audit_fresh_noise(replacer, n_repeats=2, n_calls=5).repeats["calls"]
