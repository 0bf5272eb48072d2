"""Translation learned from other pairs, against ridge regression pair by pair."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from skdptext.attacks._translation import _RIDGE, _carried, translations
from skdptext.metrics import found_among
from skdptext.utils import share_interval


def likeness(rng, n):
    rows = rng.normal(size=(n, 5))
    return rows @ rows.T


@pytest.mark.parametrize("back", [False, True])
def test_a_candidate_and_the_truth_are_compared_without_their_pairs(back):
    rng = np.random.default_rng(0)
    n = 9
    known, other = likeness(rng, n), likeness(rng, n)
    found = _carried(known, other, back=back)
    gaps = np.zeros((n, n))
    for i in range(n):
        for j in set(range(n)) - {i}:
            rest = [k for k in range(n) if k not in (i, j)]
            table = known[np.ix_(rest, rest)] + _RIDGE * np.eye(n - 2)

            def carried(a, b, rest=rest, table=table):
                """What is known of a, on the other side, is so like b there."""
                return np.linalg.solve(table, known[rest, a]) @ other[rest, b]

            to = (
                (carried(j, i), carried(i, i))
                if back
                else (carried(i, j), carried(i, i))
            )
            gaps[i, j] = to[0] - to[1]
    expected = gaps - gaps.sum(axis=1, keepdims=True) / (n - 1)
    np.testing.assert_allclose(
        found - np.diagonal(found)[:, None],
        gaps,
        atol=1e-9,
    )
    assert expected.shape == found.shape


def words(rng, n, low=8, high=30):
    names = np.array([f"w{i}" for i in range(300)])
    return [rng.choice(names, rng.integers(low, high)).tolist() for _ in range(n)]


def test_fixed_other_words_are_learned_and_places_do_not_matter():
    rng = np.random.default_rng(0)
    clear = words(rng, 120, 20, 30)
    other = dict(zip([f"w{i}" for i in range(300)], rng.permutation(300), strict=True))
    noisy = [sorted(f"x{other[w]}" for w in text) + ["so"] * (i % 2)
             for i, text in enumerate(clear)]  # fmt: skip
    for score in translations(clear, noisy).values():
        assert found_among(score, np.arange(120), 100).mean() > 0.6
    unrelated = translations(clear, words(rng, 120))
    for score in unrelated.values():
        assert found_among(score, np.arange(120), 100).mean() < 0.05


@pytest.mark.no_cover
@pytest.mark.parametrize("kind", ["texts", "hashed words", "numbers"])
def test_nothing_is_learned_of_unrelated_lists(kind):
    """The low end is above chance in at most 2.5 % of the trials; false alarm 1e-6."""
    n, n_trials, alarms = 40, 60, 0
    for seed in range(n_trials):
        rng = np.random.default_rng(seed)
        clear, noisy = words(rng, n), words(rng, n)
        if kind == "hashed words":
            noisy = [[f"x{w}" for w in text] for text in noisy]
        if kind == "numbers":
            noisy = [rng.integers(0, 9999, 20).astype(str).tolist() for _ in range(n)]
        for score in translations(clear, noisy).values():
            low, _ = share_interval(found_among(score, np.arange(n), 20))
            alarms += low > 1 / 20
    assert alarms <= binom.isf(1e-6, 2 * n_trials, 0.025)
