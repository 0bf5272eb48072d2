"""The likelihood of releases by hand, and the table of adversaries."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.attacks import linkage_attack
from skdptext.datasets import make_documents, make_embedding
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.mechanisms import Exponential
from tests.expected import leaks_allowed, refusals, refused

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


@pytest.fixture(scope="module")
def corpus():
    table = make_embedding(150, 10, n_clusters=10, random_state=0)
    texts, _ = make_documents(table, 40, length=25, random_state=0)
    return table, texts


@pytest.mark.no_cover
def test_who_knows_more_finds_more(corpus):
    table, texts = corpus
    source = DPWordPerturber(
        table, epsilon=2.5, lam=0.0, document_length=25, resize="truncate"
    )
    linkages = linkage_attack(texts, source, n_draws=60, random_state=0)
    found = {row.adversary: row.value for row in linkages.rows}
    assert list(found) == [
        "ordered text", "bag", "tf-idf", "character n-grams", "word by word",
        "all, learned", "learned",
    ]  # fmt: skip
    assert found["ordered text"] >= found["bag"] > found["tf-idf"]
    assert found["bag"] > linkages.chance + 0.2
    assert all(r.low <= r.value <= r.high <= 1 for r in linkages.rows)
    often = linkage_attack(
        texts, source, n_targets=20, n_releases=4, n_draws=60, random_state=0
    )
    assert {r.adversary: r.value for r in often.rows}["bag"] > found["bag"]
    assert (often.n_targets, often.n_releases, often.n_candidates) == (20, 4, 40)
    assert "released 4 times" in often.in_words()
    best = linkages.scores["linkage"]
    assert (best, best.n_documents) == (linkages.of("linkage")[0], 20)
    least = float(linkages.in_words().split("at least ")[1].split("%")[0]) / 100
    assert best.low - 0.001 < least <= best.low
    likelihood = linkages.rows[0]  # which has no ties
    exact = binomtest(round(20 * likelihood.value), 20).proportion_ci()
    assert (likelihood.low, likelihood.high) == pytest.approx((exact.low, exact.high))
    assert len(linkages.to_frame()) == 7


def test_without_noise_everybody_finds_it_and_without_words_nobody(corpus):
    table, texts = corpus
    clear = DPWordPerturber(
        table, epsilon=1e4, lam=0.0, document_length=25, resize="truncate"
    )
    linkages = linkage_attack(texts, clear, n_draws=5, n_targets=5)
    assert {row.value for row in linkages.rows} == {1.0}
    assert (linkages.rows[0].high, linkages.changed) == (1, 0)
    source = perturber(document_length=2, resize="truncate")
    same = linkage_attack([["a", "b"]] * 10, source, n_draws=5)
    for row in same.rows:
        assert row.value == pytest.approx(0.1)  # ten ties
        assert row.low < 0.1 < row.high
    counts = linkage_attack(
        np.array([[3, 0, 0, 0], [0, 0, 0, 3]]),
        perturber(resize="sample", oov="keep", output="text", epsilon=0.01),
        n_draws=5,
        random_state=0,
    )
    assert [r.adversary for r in counts.rows] == ["bag", "tf-idf", "character n-grams"]


def test_no_leak_is_told_to_the_attacker(recwarn):
    source = perturber(output="text", document_length=None)
    linkage_attack([["a", "b"], ["c"]], source)
    assert not [w for w in recwarn if issubclass(w.category, PrivacyLeakWarning)]


@refusals(
    ({"perturber": None}, "perturber must be a releaser"),
    ({"n_targets": 4}, "n_targets must be an integer >= 1 and <= 3, got 4"),
    ({"n_releases": 0}, "n_releases must be"),
    ({"documents": [["a"]]}, "at least 2 candidates, got 1"),
)
def test_bad_attacks(change):
    linkage_attack(**{"documents": CANDIDATES, "perturber": perturber()} | change)
