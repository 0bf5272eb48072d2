"""A user's own releaser: whatever asks a releaser takes it."""

import math
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import issparse
from sklearn.base import clone

from skdptext import DPDocumentReplacer, DPWordPerturber, WordEmbedding
from skdptext.attacks import linkage_attack
from skdptext.audit import audit_document_pair
from skdptext.base import BaseReleaser, fitted_releaser
from skdptext.inspection import release_report
from skdptext.metrics import find_perturber, words_unchanged
from skdptext.naive_bayes import ChannelNaiveBayes
from skdptext.release import DocumentRelease, ReleaseKey
from tests.expected import refusals
from tests.laws import assert_answers_follow

TEXTS = ["tea", "a pot of tea, and some milk", "cake", "two cups of coffee, please"] * 6
LENGTHS = ["short", "long", "short", "long"] * 6


class Teller(BaseReleaser):
    """Whether a text is long, by randomized response."""

    def __init__(self, epsilon=2.0, claimed=None, random_state=None):
        self.epsilon = epsilon
        self.claimed = claimed
        self.random_state = random_state

    def fit(self, X=None, y=None):
        self.p_ = 1 / (1 + math.exp(-self.epsilon))
        return self

    def transform(self, X, document_ids=None):
        if document_ids is None:
            rngs = [np.random.default_rng(self.random_state)] * len(X)
        else:
            seed = int(self.random_state) % 2**32
            keys = [[seed, *str(i).encode()] for i in document_ids]
            rngs = list(map(np.random.default_rng, keys))
        return [
            "long" if (len(text) > 10) == (each.random() < self.p_) else "short"
            for text, each in zip(X, rngs, strict=True)
        ]

    def log_likelihood(self, documents, released):
        long = [len(text) > 10 for text in documents]
        same = np.equal.outer(np.array(released) == "long", long)
        return np.log(np.where(same, self.p_, 1 - self.p_))

    def guarantee(self):
        epsilon = self.epsilon if self.claimed is None else self.claimed
        return SimpleNamespace(epsilon=epsilon, exponent=lambda x, y: epsilon)


@pytest.mark.no_cover
def test_adversaries_take_it():
    """Linkage and a report by the stated likelihood, fitted or not."""
    teller = Teller(6.0)
    released = clone(teller).fit().transform(TEXTS)
    for releaser in (teller, clone(teller).fit()):
        # the best finds one of the 12 of a length, if the answer is honest
        scores = linkage_attack(TEXTS, released, releaser=releaser, random_state=0)
        best = next(row for row in scores.rows if row.adversary == "likelihood")
        assert best.low <= 1 / 12
        assert best.value <= 2 / 24 + 1e-9
    authors = np.array(["ann", "bob"])[np.arange(24) % 2]
    report = release_report(TEXTS, released, authors=authors, releaser=teller)
    # length tells the author, and the adversary who knows the release reads it
    assert report.scores["author"].value > 0.9
    assert not hasattr(teller, "p_")  # the object stays as it was


def test_bayes_takes_it():
    model = ChannelNaiveBayes(Teller()).fit(np.array(TEXTS)[:, None], LENGTHS)
    assert model.predict(["long", "short"]).tolist() == ["long", "short"]
    # one document that is like all, beside 12 of the class
    p = 1 / (1 + math.exp(-2.0))
    honest = (12 * p + 0.5) / 13
    np.testing.assert_allclose(model.predict_proba(["long"]), [[honest, 1 - honest]])


def test_audits_take_it():
    right = audit_document_pair(Teller().fit(), *TEXTS[:2], confidence=1 - 1e-6)
    assert 0.5 < right.lower_bound <= right.claimed == 2
    assert audit_document_pair(Teller(claimed=1.0).fit(), *TEXTS[:2]).violated
    assert_answers_follow(Teller().fit(), TEXTS[:4])


@pytest.mark.no_cover
def test_files_are_released_by_it(tmp_path):
    key = ReleaseKey.generate(tmp_path / "key")
    release = DocumentRelease(Teller(), key, "a test")
    batch = pa.record_batch({"id": [f"{i}" for i in range(24)], "text": TEXTS})
    backwards = list(range(23, -1, -1))
    assert release(batch) == release(batch.take(backwards)).take(backwards)
    assert release.manifest()["guarantee"]["epsilon"] == 2.0


class NoIds(Teller):
    def transform(self, X):
        return super().transform(X)


class Forgetful(Teller):
    def transform(self, X, document_ids=None):
        return super().transform(X)  # a Generator, or the clock

    def __setattr__(self, name, value):
        super().__setattr__(name, None if name == "random_state" else value)


class Narrow(Teller):
    def log_likelihood(self, documents, released):
        return super().log_likelihood(documents, released)[:, 1:]


def attacked(releaser):
    return linkage_attack(TEXTS, TEXTS, releaser=releaser)


def files(releaser):
    return DocumentRelease(releaser, ReleaseKey("env:SKDPTEXT_TEST"), "a test")


@refusals(
    (files, NoIds(), "must take document_ids"),
    (files, Forgetful(), "the same noise again"),
    (files, Teller(random_state=1), "must be None"),
    (attacked, Narrow(), "an array of shape"),
    (files, object(), "releaser must be a releaser"),
    (attacked, object(), "must be a releaser"),
    (lambda thing: release_report(TEXTS, TEXTS, releaser=thing), "an object", "rel"),
    (lambda releaser: releaser.likelihood(None), Teller(), "iterable .* got None"),
    (find_perturber, Teller(), "exactly one word perturber"),
    (lambda thing: words_unchanged(thing, TEXTS), "w1", "must be a word perturber"),
)
def test_what_cannot_serve_is_refused(use, releaser):
    use(releaser)


EMBEDDING = WordEmbedding(["tea", "milk", "cake"], [[0.0], [1.0], [9.0]])
OURS = {
    "words": DPWordPerturber(EMBEDDING, document_length=2, resize="truncate"),
    "stand-ins": DPDocumentReplacer(TEXTS, public_labels=LENGTHS),
    "a user's": Teller(),
}


def _rows(released):
    return released.toarray().tolist() if issparse(released) else released


@pytest.mark.parametrize("name", OURS)
def test_what_every_releaser_offers(name):
    """One likelihood, copies with noise of their own, and the guarantee's exponent."""
    releaser = fitted_releaser(OURS[name], TEXTS)
    assert isinstance(releaser, BaseReleaser)
    assert fitted_releaser(releaser, TEXTS) is releaser
    documents = ["tea cake", "milk milk tea"]
    released = releaser.transform(documents)
    seed = {"random_state": 0} if releaser.perturbs_words else {}  # of a simulation
    np.testing.assert_array_equal(
        releaser.log_likelihood(documents, released, **seed),
        releaser.likelihood(documents, **seed)(released),
    )
    # copies of one seed agree, and the releaser draws as before
    many = documents * 20
    twice = [releaser.seeded(np.random.default_rng(7)) for _ in range(2)]
    assert _rows(twice[0].transform(many)) == _rows(twice[1].transform(many))
    assert releaser.random_state is None
    # of texts as a release reads them
    assert releaser.exponent(*documents) == releaser.exponent(*documents[::-1]) > 0
