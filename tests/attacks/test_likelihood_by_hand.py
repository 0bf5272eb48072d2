"""The likelihood of releases by hand."""

from __future__ import annotations

import numpy as np
import pytest

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.mechanisms import Exponential
from tests.expected import leaks_allowed, refused

TABLE = WordEmbedding(list("abcd"), [[0.0], [1.0], [2.0], [4.0]])
CANDIDATES = [["a", "b", "b"], ["d", "d", "a"], ["a", "d", "d"]]

pytestmark = leaks_allowed


def perturber(**options):
    options = {
        "epsilon": 1.0,
        "document_length": 3,
        "resize": "truncate",
        "mechanism": Exponential(),
    } | options
    return DPWordPerturber(TABLE, lam=0.0, **options)


def law(source):
    return np.exp(source.fit([]).mechanism_.log_proba(np.arange(4)))


@pytest.mark.parametrize("output", ["bow", "tokens"])
def test_likelihoods_by_hand(output):
    source = perturber(output=output)
    P = law(source)
    releases = [["a", "c", "c"], ["d", "d", "d"]]

    def by_hand(d, z):
        mixed = np.log(P[d].mean(axis=0))[z]  # a bag has no order
        return (mixed if output == "bow" else np.log(P[d, z])).sum()

    written = [TABLE.find(d) for d in CANDIDATES]
    expected = [[by_hand(d, TABLE.find(z)) for d in written] for z in releases]
    likelihood = source.fit([]).likelihood(CANDIDATES)
    for documents in (releases, [" ".join(z) for z in releases]):
        likelihoods = likelihood(documents)
        np.testing.assert_allclose(likelihoods, expected, rtol=1e-5)
    counts = [[1, 0, 2, 0], [0, 0, 0, 3]]
    if output == "bow":
        np.testing.assert_allclose(likelihood(counts), likelihoods)
        return
    with refused("got a count matrix"):
        likelihood(counts)


def test_lengths_rule_candidates_out():
    source = perturber(document_length=None, output="text").fit([])
    candidates, releases = [*CANDIDATES, ["a"], []], ["d", "a a a", ""]
    likelihoods = source.log_likelihood(candidates, releases)
    assert np.isfinite(likelihoods).tolist() == [
        [False, False, False, True, False],
        [True, True, True, False, False],
        [False, False, False, False, True],
    ]
    assert likelihoods[2, 4] == 0
    again = source.set_params(output="bow").log_likelihood(candidates, releases)
    assert (np.isfinite(again) == np.isfinite(likelihoods)).all()


def test_redrawn_documents_have_no_order():
    """Each released word is that of a random one: of any order, and of any length."""
    source = perturber(resize="sample", output="tokens", document_length=5)
    P = law(source)
    source.fit([])
    likelihoods = source.log_likelihood([["a", "d"], ["d", "a"], []], [list("abcda")])
    mixed = np.log(P[[0, 3]].mean(axis=0))[[0, 1, 2, 3, 0]].sum()
    empty = np.log(P.mean(axis=0))[[0, 1, 2, 3, 0]].sum()
    np.testing.assert_allclose(likelihoods, [[mixed, mixed, empty]], rtol=1e-5)
    assert not source.likelihood([["a"]], ordered=True).ordered


def test_words_kept_in_clear_are_passed_over():
    kept, plain = (
        perturber(oov=oov, output="text", document_length=None).fit([])
        for oov in ("keep", "drop")
    )
    np.testing.assert_allclose(
        kept.log_likelihood(["aa zz dd", "dd zz aa", "zz"], ["zz yy", "zz"]),
        plain.log_likelihood(["aa dd", "dd aa", ""], ["", ""]),
    )
