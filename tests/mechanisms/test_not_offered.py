"""Mechanisms that are not offered: for each a table on which its claim is false.

Laws are enumerated, and the audit is shown to find what the enumeration finds.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from skdptext.embeddings import one_hot_embedding
from tests.channels import Stated, violated
from tests.laws import losses, on_a_line, two_nearest, vickrey_rule

LINE = np.array([0.0, 0.05, 0.6, 1.5])


class Claimed(Stated):
    """A finite law with a claim of its own."""

    def __init__(self, P, claimed):
        self.P, self.claimed = P, claimed

    def exponents(self, x, y):
        return self.claimed[np.ix_(x, y)]


def found(P, claimed, *pairs):
    table = one_hot_embedding(list(map(str, range(len(P)))))
    names = [(str(w), str(v)) for w, v in pairs]
    return violated(Claimed(P, claimed), table, names)


def distances(positions):
    return cdist(positions[:, None], positions[:, None])


# -- the laws ------------------------------------------------------------------------


def vickrey_without_the_word(epsilon=2.0, t=0.5):
    """As printed in a comparison of mechanisms: the input is not a candidate."""

    def rule(points, word):
        others = np.delete(np.arange(len(LINE)), word)
        P = np.zeros((len(points), len(LINE)))
        P[:, others] = vickrey_rule(LINE[others], t)(points, None)
        return P

    return on_a_line(LINE, epsilon, rule), epsilon * distances(LINE)


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

    return on_a_line(LINE, epsilon, rule), epsilon * distances(LINE)


def rantext(epsilon=3.0, scale=2.0, n_words=30):
    """Candidates within a random radius of the true word, exponential among them."""
    D = distances(np.arange(float(n_words)))
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


def exponential_half(epsilon=2.0, far=1.0):
    """The exponential mechanism of capped distances, and these."""
    points = np.random.default_rng(7).normal(size=(40, 3))
    D = np.minimum(cdist(points, points), far)
    P = np.exp(-epsilon / 2 * D)
    return P / P.sum(axis=1, keepdims=True), D


def unnamed_rows_fall_back(epsilon=2.0):
    """The benchmark's SanText: where the drawn row has no word, the true one."""
    P, D = exponential_half(epsilon)
    named = np.arange(len(P)) % 3 > 0
    return np.where(named, P, 0) + np.diag(P[:, ~named].sum(axis=1)), epsilon * D


def far_words_fall_back(epsilon=2.0, far=1.0):
    """pyPANTERA's TEM: where a word beyond the distance is drawn, the true one."""
    P, D = exponential_half(epsilon, far)
    is_far = far <= D
    wrong = np.where(is_far, 0, P) + np.diag(np.where(is_far, P, 0).sum(axis=1))
    return wrong, epsilon * D


def the_least_similar(epsilon=2.0):
    """pyPANTERA's CusText: the eight candidates sorted the wrong way round."""
    P, D = exponential_half(epsilon, np.inf)
    P = np.where(np.sort(D, axis=1)[:, [-8]] <= D, P, 0)
    return P / P.sum(axis=1, keepdims=True), epsilon * D


LAWS = [
    unnamed_rows_fall_back,
    far_words_fall_back,
    the_least_similar,
    vickrey_without_the_word,
    vickrey_that_looks,
    rantext,
    aggressive_custext,
    mean_of_lists,
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_the_claim_is_false_and_the_audit_finds_it(law):
    P, claimed = law()
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-9)
    lost = losses(P)
    # what 4,000 draws can show is an exponent of some four
    excess = np.minimum(lost, 4) - claimed
    w, v = np.unravel_index(excess.argmax(), excess.shape)
    assert excess[w, v] > 0.3
    assert found(P, claimed, (w, v)).all()


def test_how_far_off_they_are():
    assert np.isinf(losses(vickrey_without_the_word()[0])).any()
    P, claimed = vickrey_that_looks()
    assert losses(P)[0, 1] == losses(P)[1, 0] == math.inf
    assert claimed[0, 1] == pytest.approx(0.1)
    P, _ = rantext()
    assert math.log(P[0, 0] / P[29, 0]) > 14
    assert np.isinf(losses(aggressive_custext()[0])).mean() > 0.5
    P, claimed = mean_of_lists()
    assert (losses(P) - claimed).max() > 5


def test_the_true_laws_beside_them_keep_their_claim():
    P = on_a_line(LINE, 2.0, vickrey_rule(LINE, 0.5))
    claimed = 2.0 * distances(LINE)
    assert (losses(P) <= claimed + 1e-9).all()
    assert not found(P, claimed, (0, 1), (1, 2)).any()
