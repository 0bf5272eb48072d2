"""Mechanisms that are not offered: for each a table on which its claim is false.

Laws are enumerated, and the audit is shown to find what the enumeration finds.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cdist, pdist

from skdptext.audit import audit_word_privacy
from tests.laws import losses, on_a_line, two_nearest, vickrey_rule

LINE = np.array([0.0, 0.05, 0.6, 1.5])


class Stated:
    """A finite law with a claim of its own, as the audit takes it."""

    def __init__(self, P, claimed, seed=0):
        self.upto = P.cumsum(axis=1)
        self.claimed = claimed
        self.rng = np.random.default_rng(seed)

    def guarantee(self):
        return self

    def exponent(self, word, other):
        return self.claimed[int(word), int(other)]

    def perturb_words(self, words, n_draws=1):
        upto = self.upto[np.array(words, dtype=int)]
        u = self.rng.random((len(words), n_draws)) * upto[:, -1:]
        return np.array(
            [
                row.searchsorted(of, side="right")
                for row, of in zip(upto, u, strict=True)
            ]
        ).astype(str)


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


def nearest_on_a_line(positions, laws):
    """P[w, z] of noise by a law for each word, and the nearest word."""
    ends = np.r_[-np.inf, (positions[1:] + positions[:-1]) / 2, np.inf]
    # by the smaller of the two tails, whose differences are exact
    return np.array(
        [
            np.where(
                ends[:-1] > law.mean(), -np.diff(law.sf(ends)), np.diff(law.cdf(ends))
            )
            for law in laws
        ]
    )


def noise_by_density(far=20.0):
    """Twice the noise for a word in a sparse region: an ε for each word."""
    positions = np.array([0.0, 1.0, far])
    scales = [0.5, 1.0, 1.0]
    laws = [stats.laplace(at, s) for at, s in zip(positions, scales, strict=True)]
    return nearest_on_a_line(positions, laws), distances(positions) / 0.5


LAWS = [
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
    audit = audit_word_privacy(
        Stated(P, claimed), [(str(w), str(v))], n_draws=20_000, confidence=1 - 1e-6,
        random_state=0,
    )  # fmt: skip
    assert audit.violated.all()


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
    audit = audit_word_privacy(
        Stated(P, claimed), [("0", "1"), ("1", "2")], n_draws=20_000,
        confidence=1 - 1e-6, random_state=0,
    )  # fmt: skip
    assert not audit.violated.any()


def test_noise_that_depends_on_the_word_has_no_epsilon():
    """The loss grows with the table: no multiple of the distance bounds it."""
    lost = [losses(noise_by_density(far)[0])[1, 0] for far in (5, 20, 80, 320)]
    assert np.diff(lost).min() > 2
    _, claimed = noise_by_density(320.0)
    assert lost[-1] > 40 * claimed[1, 0]


def test_gaussian_noise_has_no_epsilon():
    lost = []
    for far in (4.0, 8.0, 16.0, 32.0):
        positions = np.array([0.0, 1.0, far])
        laws = [stats.norm(at, 1) for at in positions]
        lost.append(losses(nearest_on_a_line(positions, laws))[1, 0])
    assert np.diff(lost).min() > 1.5  # (far/2)² / 2 − (far/2 − 1)² / 2 and more


@pytest.mark.parametrize("n_words", [300, 1000])
def test_truncated_gumbel_needs_words_that_it_does_not_look_at(n_words):
    """k ~ Poisson(ln V) on [1, V], and one of the k nearest words is released.

    z stays if k = 1, and comes out of w only if k is at least its rank there.
    """
    D = pdist(np.random.default_rng(0).normal(size=(n_words, 50)))
    law, k = stats.poisson(math.log(n_words)), n_words // 2
    lost = law.logpmf(1) - law.logsf(k - 1)  # the truncation cancels
    # the least ε for which its scale b is defined, and the largest claim by it
    epsilon = (3 + 2 * (1 + math.log(n_words))) / D.min()
    assert lost > 5 * epsilon * D.max()


# -- privacy budgets per word ----------------------------------------------------------


def exponential_at(rates, gaps):
    """Rows of the exponential mechanism in which each true word has its own rate."""
    log_proba = -np.asarray(rates)[:, None] * gaps
    return log_proba - np.log(np.exp(log_proba).sum(axis=1, keepdims=True))


def worst_per_distance(log_proba, gaps):
    worst = (log_proba[:, None, :] - log_proba[None, :, :]).max(axis=2)
    return (worst[gaps > 0] / gaps[gaps > 0]).max()


def test_a_budget_split_by_the_sentence_is_exceeded_by_its_other_words():
    # ε = 2 for the sentence, divided by importance: a public number for each word.
    # Only the first word differs, by 0.05, so that ε d = 0.1 is claimed.
    importance, gaps = np.array([1.0, 9.0, 1.0, 1.0]), distances(LINE)

    def released(sentence):
        share = importance[sentence] / importance[sentence].sum()
        both = [exponential_at(np.full(4, e), gaps) for e in 2.0 * share / 2]
        return both[0][sentence[0]][:, None] + both[1][sentence[1]][None, :]

    loss = (released([0, 3]) - released([1, 3])).max()
    assert loss > 3 * 2.0 * 0.05
    # the unchanged word gives the changed one away, by its noise alone
    assert abs(released([0, 3]) - released([1, 3])).max(axis=1).min() > 0.1


def test_a_budget_of_zero_is_a_word_in_the_clear():
    gaps = distances(LINE)
    clear, noisy = np.eye(4)[0], np.exp(exponential_at(np.full(4, 1.0), gaps))[1]
    assert losses(np.array([clear, noisy]))[1, 0] == np.inf


def test_rates_by_a_public_table_are_sound_and_dear():
    points = np.random.default_rng(0).normal(size=(30, 5))
    gaps = cdist(points, points)
    alike = worst_per_distance(exponential_at(np.full(30, 2.0), gaps), gaps)
    turns = np.where(np.arange(30) % 2, 1.5, 2.5)
    by_table = worst_per_distance(exponential_at(turns, gaps), gaps)
    assert (round(alike, 2), round(by_table, 2)) == (2.26, 5.72)
