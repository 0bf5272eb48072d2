"""audit_document_pair against losses that are enumerated, and claims that are false."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.audit import audit_document_pair
from skdptext.mechanisms import Exponential, MahalanobisNoise, RandomizedResponse
from tests.base.test_releaser import Teller
from tests.expected import refusals

TABLE = WordEmbedding(list("abcd"), [[0.0], [1.0], [2.0], [4.0]])


def fitted(kind=DPWordPerturber, **options):
    short = {"document_length": 2, "resize": "truncate", "output": "tokens"}
    law = {"epsilon": 1.0, "lam": 0.0, "mechanism": Exponential()}
    return kind(TABLE, **{**short, **law, **options}).fit([])


@pytest.mark.no_cover
def test_bounds_hold_as_often_as_they_say():
    """At equality: randomized response on one word, whose loss is ε for some release.

    The bound may exceed ε in a hundredth of the audits; in 5 or more of 20 with a
    probability of 1.4e-6.
    """
    perturber = fitted(mechanism=RandomizedResponse(), document_length=1, epsilon=1.5)
    pair = ["a"], ["b"]
    audits = [audit_document_pair(perturber, *pair, n_releases=400) for _ in range(20)]
    assert sum(audit.violated for audit in audits) < 5
    assert max(audit.lower_bound for audit in audits) > 0


def test_order_tells_more_than_a_bag():
    """Two words that change places are the same bag: there is nothing to learn."""
    x, y = ["a", "d"], ["d", "a"]
    assert audit_document_pair(fitted(), x, y).lower_bound > 0.5
    as_bag = audit_document_pair(fitted(output="bow"), x, y, confidence=1 - 1e-6)
    assert (as_bag.lower_bound, as_bag.claimed) == (0, 0)


def test_lengths_give_documents_away():
    perturber = fitted(document_length=None)
    audit = audit_document_pair(perturber, ["a"], ["a", "a"])
    assert audit.lower_bound == audit.largest_bound < audit.claimed == np.inf
    assert not audit.violated


@pytest.mark.no_cover
@pytest.mark.parametrize("output", ["tokens", "text", "bow"])
@pytest.mark.parametrize("seed", [7, np.random.default_rng(7)])
def test_repeatable_releases_get_fresh_noise(output, seed):
    """Else a thousand equal releases would seem to tell two documents apart."""
    perturber = fitted(random_state=seed, output=output, epsilon=0.1)
    assert not audit_document_pair(perturber, ["a", "a"], ["b", "b"]).violated


# -- false claims --------------------------------------------------------------------


class Boaster(MahalanobisNoise):
    """Claims a tenth of what its noise leaks."""

    def exponents(self, x, y):
        return super().exponents(x, y) / 10


class Identity(Exponential):
    def apply(self, words, draws):
        return words


class Faulty(DPWordPerturber):
    """A word or a length tells of documents that hold "a"."""

    def transform(self, X, document_ids=None):
        released = super().transform(X, document_ids)
        hit = np.random.default_rng().random(len(released)) < self.share
        return [
            self.fault(release) if "a" in document and h else release
            for document, release, h in zip(X, released, hit, strict=True)
        ]


def faulty(share, fault):
    perturber = fitted(Faulty, epsilon=0.01, document_length=6)
    perturber.share, perturber.fault = share, fault
    return perturber


def marked(release):
    return [*release[:-1], "zebra"]


def longer(release):
    return [*release, "a"]


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("perturber", "n_releases", "least"),
    [
        (fitted(mechanism=Boaster(), epsilon=3.0), 1000, 0.5),
        (fitted(mechanism=Identity(), epsilon=0.1), 1000, 4.0),
        (faulty(1.0, marked), 1500, 4.0),
        (faulty(0.1, marked), 4000, 2.0),
        (faulty(1.0, longer), 1000, 4.0),
    ],
)
def test_false_claims_are_refuted(perturber, n_releases, least):
    n = perturber.document_length
    x, y = ["a"] + ["b"] * (n - 1), ["b"] * n
    audit = audit_document_pair(perturber, x, y, n_releases=n_releases)
    assert audit.violated
    assert audit.lower_bound > least > audit.claimed


# -- what it takes -------------------------------------------------------------------


def test_releases_in_a_frame_are_read():
    """Of any object with the two methods."""
    teller = Teller(claimed=1.0).fit()
    framed = SimpleNamespace(
        guarantee=teller.guarantee,
        transform=lambda X: pd.DataFrame({"x": np.equal(teller.transform(X), "long")}),
    )
    assert audit_document_pair(framed, "a", "a long one!").violated


class Unsure(Teller):
    def log_likelihood(self, documents, released):
        return np.full((len(released), 2), np.nan)


class Short(DPWordPerturber):
    def transform(self, X, document_ids=None):
        return super().transform(X, document_ids)[1:]


SEEDED = SimpleNamespace(random_state=0, transform=fitted, guarantee=fitted)


@refusals(
    (fitted(Short), {}, "one release per document, got 1999 for 2000"),
    (object(), {}, "must have transform and guarantee, got an object"),
    (SEEDED, {}, "random_state of the releaser must not be an integer if"),
    (Unsure().fit(), {}, r"log_likelihood must return shape \(2000, 2\) without NaN"),
    (Teller(claimed=-1.0).fit(), {}, "the guarantee must be .* >= 0, got -1.0"),
)
def test_bad_input(releaser, options):
    audit_document_pair(releaser, ["a", "a"], ["b", "b"], **options)
