"""The bound of 2019, Theorem 1, checked exactly on a tiny vocabulary in the plane.

On a line, `test_exact_laws` does so.
"""

import itertools
from functools import cache, reduce

import numpy as np
import pytest
from scipy import stats

from skdptext import DPWordPerturber, WordEmbedding
from tests.channels import guaranteed
from tests.laws import nearest_in_the_plane

EPSILON = 1.3

PLANE = WordEmbedding(
    list("abcde"), [[0.0, 0.0], [1.0, 0.2], [2.5, -0.1], [0.3, 0.6], [-1.5, 0.4]]
)


@cache
def transition_matrix(lam, epsilon=EPSILON):
    return nearest_in_the_plane(PLANE.vectors, epsilon, lam)


def log_law(P, bag):
    """Of all noisy bags, in lexical order, each in any order of its words."""
    joint = reduce(np.multiply.outer, P[list(bag)]).ravel()
    orders = np.sort(np.indices([len(P)] * len(bag)).reshape(len(bag), -1), axis=0)
    bags = np.ravel_multi_index(orders, [len(P)] * len(bag))
    return np.log(np.bincount(np.unique(bags, return_inverse=True)[1], joint))


def largest_log_ratio(P, x, y):
    """Over all noisy bags; events add nothing, since each is a union of bags."""
    return np.abs(log_law(P, x) - log_law(P, y)).max()


@pytest.mark.parametrize("lam", [0, 0.7])
def test_transition_matrix_is_that_of_the_mechanism(lam):
    P = transition_matrix(lam)
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-6)
    perturber = DPWordPerturber(
        PLANE, epsilon=EPSILON, lam=lam, document_length=1, random_state=0
    ).fit([])
    n_draws = 20_000
    noisy = perturber.perturb_words(PLANE.words, n_draws)
    for w, row in enumerate(noisy):
        counts = [(row == word).sum() for word in PLANE.words]
        p = stats.chisquare(counts, P[w] / P[w].sum() * n_draws).pvalue
        assert p > 1e-6 / (4 * len(P))


@pytest.mark.parametrize("lam", [0, 0.7])
@pytest.mark.parametrize("n_words", [1, 2, 3])
def test_bag_bound_holds(lam, n_words):
    P = transition_matrix(lam)
    guarantee = guaranteed(EPSILON, lam, PLANE)
    names = PLANE.words
    bags = list(itertools.combinations_with_replacement(range(len(P)), n_words))
    laws = {bag: log_law(P, bag) for bag in bags}
    tightest = 0.0
    for x, y in itertools.combinations(bags, 2):
        exponent = guarantee.exponent([names[i] for i in x], [names[i] for i in y])
        ratio = np.abs(laws[x] - laws[y]).max()
        assert ratio <= exponent + 1e-4  # the quadrature's error
        tightest = max(tightest, ratio / exponent)
    assert tightest > 0.5


def test_bag_bound_without_the_factor_n_fails():
    """The 2018 paper's exponent ε E, with mass 1/N per word, is broken at N = 2."""
    P = transition_matrix(0)
    guarantee = guaranteed(EPSILON, 0, PLANE, n_words=2)
    exponent = guarantee.exponent(["b", "b"], ["c", "c"])
    assert largest_log_ratio(P, (1, 1), (2, 2)) > exponent / 2 * 1.5


def test_wrong_scale_breaks_the_bound():
    """A mechanism with half the noise it claims is caught by the exact check."""
    P = transition_matrix(0, epsilon=2 * EPSILON)
    exponent = guaranteed(EPSILON, 0, PLANE).exponent("b", "c")
    assert largest_log_ratio(P, (1,), (2,)) > exponent
