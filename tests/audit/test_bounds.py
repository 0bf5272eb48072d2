"""The bound that all audits share, where the true loss is known."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from skdptext.audit._bounds import bound_and_column, lower_bound


def responses(rng, epsilon, n, k=4):
    """Randomized response among k answers, of someone whose answer is 0, and 1."""
    share = np.exp(epsilon) / (np.exp(epsilon) + k - 1)
    others = np.full(k, (1 - share) / (k - 1))
    samples = []
    for truth in (0, 1):
        chances = others.copy()
        chances[truth] = share
        samples.append(rng.choice(k, n, p=chances))
    return samples


@pytest.mark.no_cover
@pytest.mark.parametrize("n_scores", [1, 10])
@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_it_exceeds_the_true_loss_no_more_often_than_stated(n_scores, delta):
    """Of events that attain it, with as many statistics as one likes.

    The false alarm of the test is 1e-6; a rate of 0.3 instead of 0.1 would be found
    with probability 0.999.
    """
    rng, repeats, rate = np.random.default_rng(0), 200, 0.1
    epsilon, k = 1.0, 4
    share = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    true = math.log((share - delta) / ((1 - share) / (k - 1)))
    above = 0
    for _ in range(repeats):
        p, q = responses(rng, epsilon, 600, k)
        noise = rng.random((2, 600, n_scores - 1))
        scores = [
            np.column_stack([s == 0, n]) for s, n in zip((p, q), noise, strict=True)
        ]
        above += lower_bound(*scores, 1 - rate, delta) > true
    assert above <= binom.isf(1e-6, repeats, rate)


def test_it_comes_close_on_either_side_of_a_score():
    rng = np.random.default_rng(1)
    p, q = responses(rng, 1.0, 100_000)
    for sign in (1, -1):
        scores = [np.column_stack([s % 2, sign * (s == 0)]) for s in (p, q)]
        bound, column = bound_and_column(*scores, 0.99)
        assert 0.95 < bound <= 1.0
        assert column == 1


@pytest.mark.parametrize("delta", [0.0, 0.2])
def test_samples_apart_show_the_most_that_their_number_can(delta):
    """Three quarters measure: the limits are a^(1/n) and 1 - a^(1/n)."""
    low = 0.05 ** (1 / 675)
    bound = lower_bound(np.ones(900), np.zeros(900), 0.9, delta)
    assert bound == pytest.approx(math.log((low - delta) / (1 - low)))


def test_rows_that_choose_do_not_measure():
    """The first quarter is told apart, the rest is not."""
    p, q = np.zeros((2, 900))
    p[:225] = 1
    assert lower_bound(p, q, 0.9) == 0
    unlike = np.arange(900.0)  # no value comes twice
    assert lower_bound(unlike, unlike + 0.5, 0.9) == 0
