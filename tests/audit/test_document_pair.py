"""audit_document_pair against tests whose power is known, and claims that are false."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.audit import audit_document_pair
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import Exponential, MahalanobisNoise, RandomizedResponse

TABLE = WordEmbedding(list("abcd"), [[0.0], [1.0], [2.0], [4.0]])


def fitted(**options):
    options = {
        "epsilon": 1.0,
        "lam": 0.0,
        "document_length": 2,
        "resize": "truncate",
        "output": "tokens",
        "mechanism": Exponential(),
    } | options
    return DPWordPerturber(TABLE, **options).fit([])


class Boaster(MahalanobisNoise):
    """Claims a tenth of what its noise leaks."""

    def exponents(self, x, y):
        return super().exponents(x, y) / 10


def exact_power(perturber, x, y, ordered):
    """AUC of the likelihood ratio over all releases of two words, by enumeration."""
    law = np.exp(perturber.mechanism_.log_proba(np.arange(4)))
    ids = [TABLE.find(list(d)) for d in (x, y)]
    score, chance = [], []
    for z in itertools.product(range(4), repeat=2):
        if ordered:
            ratio = sum(
                np.log(law[ids[0][j], z[j]] / law[ids[1][j], z[j]]) for j in (0, 1)
            )
        else:
            mixed = [law[i].mean(axis=0) for i in ids]
            ratio = sum(np.log(mixed[0][k] / mixed[1][k]) for k in z)
        score.append(round(ratio, 9))
        chance.append([np.prod([law[i[j], z[j]] for j in (0, 1)]) for i in ids])
    (p, q), s = np.array(chance).T, np.array(score)
    wins = (s[:, None] > s) + (s[:, None] == s) / 2
    return float(p @ wins @ q)


@pytest.mark.no_cover
@pytest.mark.parametrize("output", ["tokens", "bow"])
def test_power_is_that_of_the_likelihood_ratio(output):
    perturber = fitted(output=output)
    x, y = ["a", "d"], ["b", "c"]
    audit = audit_document_pair(perturber, x, y, n_releases=4000, random_state=0)
    expected = exact_power(perturber, x, y, output == "tokens")
    # the AUC of n and n is a mean with a standard error of 1/√(4 n) at most
    assert abs(audit.auc - expected) < 5 / np.sqrt(4 * 4000)  # alpha = 6e-7
    exponent = perturber.guarantee().exponent
    assert audit.claimed in (exponent(x, y), exponent(y, x))
    assert not audit.violated
    assert 0 <= audit.lower_bound <= audit.claimed
    assert 0.5 < audit.accuracy < 1


def test_order_tells_more_than_a_bag():
    """Two words that change places are the same bag: there is nothing to learn."""
    in_order = audit_document_pair(fitted(), ["a", "d"], ["d", "a"], random_state=0)
    as_bag = audit_document_pair(
        fitted(output="bow"), ["a", "d"], ["d", "a"], random_state=0
    )
    assert in_order.auc > 0.8
    assert in_order.lower_bound > 0.5
    assert as_bag.auc == 0.5
    assert (as_bag.lower_bound, as_bag.claimed) == (0, 0)
    assert as_bag.accuracy == 0.5


def test_a_false_claim_is_refuted_and_a_true_one_is_not():
    """Noise that leaks ten times what it says; the audit asks the claim in force."""
    pair = ["a", "a"], ["c", "c"]
    true, false = (
        audit_document_pair(fitted(mechanism=m, epsilon=0.9), *pair, random_state=0)
        for m in (MahalanobisNoise(), Boaster())
    )
    assert not true.violated
    assert "does not prove privacy" in " ".join(str(true).split())
    assert max(map(len, str(true).splitlines())) <= 88
    assert false.violated
    assert false.lower_bound > false.claimed == pytest.approx(true.claimed / 10)
    assert "The guarantee is false" in " ".join(str(false).split())


def test_it_shows_no_more_than_its_releases_can():
    perturber = fitted(epsilon=50.0, mechanism=None)
    audit = audit_document_pair(
        perturber, ["a", "a"], ["d", "d"], n_releases=200, random_state=0
    )
    assert (audit.auc, audit.accuracy, audit.true_positives) == (1, 1, 1)
    assert audit.lower_bound <= audit.largest_bound < 4 < audit.claimed
    assert "nothing is said about the claim" in " ".join(str(audit).split())
    assert repr(audit).startswith("DocumentPairAudit(auc=1.000, lower_bound=")


@pytest.mark.no_cover
def test_bounds_hold_as_often_as_they_say():
    """At equality: randomized response on one word, whose loss is ε for some release.

    The bound may exceed ε in a hundredth of the audits; in 5 or more of 20 with a
    probability of 1.4e-6.
    """
    perturber = fitted(
        mechanism=RandomizedResponse(),
        document_length=1,
        resize="truncate",
        epsilon=1.5,
    )
    audits = [
        audit_document_pair(perturber, ["a"], ["b"], n_releases=400, random_state=i)
        for i in range(20)
    ]
    assert sum(audit.violated for audit in audits) < 5
    assert max(audit.lower_bound for audit in audits) > 0


def test_lengths_give_documents_away():
    audit = audit_document_pair(
        fitted(document_length=None), ["a"], ["a", "a"], random_state=0
    )
    assert audit.auc == 1
    assert audit.claimed == np.inf
    assert not audit.violated


def test_membership_of_a_word():
    """One word of six replaced: order tells more of it than a bag does."""
    x = list("aabbcc")
    y = list("dabbcc")
    options = {"document_length": 6, "resize": "truncate", "epsilon": 0.8}
    bag = audit_document_pair(fitted(output="bow", **options), x, y, random_state=0)
    text = audit_document_pair(fitted(**options), x, y, random_state=0)
    assert 0.5 < bag.auc < text.auc


class Marker(DPWordPerturber):
    """Adds a word of its own to releases of documents that hold a certain one."""

    def transform(self, X, document_ids=None):
        released = super().transform(X, document_ids)
        marked = [release[:-1] + ["zebra"] for release in released]
        share = np.random.default_rng().random(len(marked)) < self.share
        return [
            m if "a" in document and hit else release
            for document, m, release, hit in zip(
                X, marked, released, share, strict=True
            )
        ]


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("share", "n_releases", "at_least"), [(1.0, 1500, 4.0), (0.1, 4000, 2.0)]
)
def test_a_marker_word_is_found(share, n_releases, at_least):
    """A word that names the document, though no likelihood ratio knows of it."""
    perturber = Marker(
        TABLE, epsilon=0.01, lam=0.0, document_length=6, resize="truncate",
        output="tokens",
        mechanism=Exponential(),
    ).fit([])  # fmt: skip
    perturber.share = share
    audit = audit_document_pair(
        perturber, list("abbbbb"), ["b"] * 6, n_releases=n_releases, random_state=0
    )
    assert audit.violated
    assert audit.lower_bound > at_least
    assert audit.claimed < 0.1
    if share == 1:
        assert audit.statistic == "tokens"
        assert audit.auc == audit.accuracy == audit.true_positives == 1


def test_the_object_itself_releases():
    """A mechanism that was replaced, by one that draws nothing, must not pass."""
    honest = fitted(epsilon=0.1)
    assert not audit_document_pair(honest, ["a"] * 2, ["b"] * 2).violated

    class Identity(type(honest.mechanism_)):
        def apply(self, words, draws):
            return words

    broken = fitted(epsilon=0.1)
    broken.mechanism_ = Identity().prepare(TABLE, 0.1)
    broken.mechanism_.exponents = honest.mechanism_.exponents
    audit = audit_document_pair(broken, ["a"] * 2, ["b"] * 2, random_state=0)
    assert audit.violated
    assert audit.auc == 1


@pytest.mark.no_cover
@pytest.mark.parametrize("output", ["tokens", "text", "bow"])
@pytest.mark.parametrize("seed", [7, np.random.default_rng(7)])
def test_repeatable_releases_get_fresh_noise(output, seed):
    """Else a thousand equal releases would seem to tell two documents apart."""
    perturber = fitted(random_state=seed, output=output, epsilon=0.1)
    audit = audit_document_pair(perturber, ["a", "a"], ["b", "b"], random_state=0)
    assert len(np.unique(np.round(audit.ratios[0], 9))) > 4
    assert not audit.violated


def test_tokens_that_lie_in_counts_or_in_the_length():
    class Longer(Marker):
        def transform(self, X, document_ids=None):
            released = DPWordPerturber.transform(self, X, document_ids)
            extra = [["a"] * ("a" in document) for document in X]
            return [r + e for r, e in zip(released, extra, strict=True)]

    perturber = Longer(
        TABLE, epsilon=0.1, lam=0.0, document_length=2, resize="truncate",
        output="tokens",
        mechanism=Exponential(),
    ).fit([])  # fmt: skip
    audit = audit_document_pair(perturber, ["a", "b"], ["b", "b"], random_state=0)
    assert audit.violated
    assert audit.auc == 1


def test_a_release_of_fewer_rows_is_refused():
    class Short(Marker):
        def transform(self, X, document_ids=None):
            return DPWordPerturber.transform(self, X, document_ids)[1:]

    perturber = Short(TABLE, document_length=2, resize="truncate", output="tokens").fit(
        []
    )
    with pytest.raises(InvalidParameterError, match="one release per document, got 49"):
        audit_document_pair(perturber, ["a", "b"], ["b", "b"])


def test_bad_parameters():
    for options, message in (
        ({"n_releases": 99}, "n_releases must be an integer >= 100"),
        ({"confidence": 1.0}, r"confidence must be .* in \[0.5, 1\)"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            audit_document_pair(
                fitted(mechanism=None), ["a", "a"], ["b", "b"], **options
            )
    with pytest.raises(InvalidParameterError, match="perturber must be a word pert"):
        audit_document_pair(None, ["a"], ["b"])
