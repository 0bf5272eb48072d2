"""The intervals of the experiment on authors, on marks whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.mechanisms import intervals
from experiments.obfuscation import clusters
from scipy import stats

# as in the problem of 40 authors
SIZES = np.array([1] * 4 + [2] + [3] * 4 + [4] * 5 + [5] * 26)
AUTHORS = np.repeat(np.arange(40), SIZES)


def clustered(rng, share, alike, authors=AUTHORS):
    """Marks whose correlation within an author is `alike`: beta-binomial."""
    n = authors.max() + 1
    own = rng.beta(share * (1 / alike - 1), (1 - share) * (1 / alike - 1), n)
    return (rng.random((1, len(authors))) < own[authors]).astype(float)


def missed(intervals, share):
    return sum(not low <= share <= high for _, low, high in intervals)


# Of 400: alpha = 1e-6 for a method that misses 1 in 20; one that misses 1 in 6 passes
# with probability below 0.002.
MOST = 44


@pytest.mark.parametrize("share", [0.03, 0.3, 0.8])
def test_covers_where_texts_of_an_author_are_alike(share):
    rng = np.random.default_rng(0)
    samples = [clustered(rng, share, 0.5) for _ in range(400)]
    ours = [clusters.interval(marks, AUTHORS) for marks in samples]
    assert missed(ours, share) <= MOST
    # what was done before: each text on its own
    alone = [(0, *clusters.wilson(m.mean(), m.size)) for m in samples]
    assert missed(alone, share) > MOST


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_covers_with_one_text_each(share):
    rng, authors = np.random.default_rng(1), np.arange(18)
    samples = [(rng.random((1, 18)) < share).astype(float) for _ in range(400)]
    assert missed([clusters.interval(m, authors) for m in samples], share) <= MOST


def test_resamples_are_of_authors_with_all_their_texts():
    values = np.zeros(len(AUTHORS))
    values[AUTHORS == 39] = 1
    means = clusters.resampled(values, AUTHORS)
    assert means.shape == (1 + clusters.N_BOOT,)
    assert means[0] == values.mean()
    # an author is left out of (1 - 1/n)^n of the resamples; alpha = 1e-6
    left_out = np.sum(means[1:] == 0)
    chance = (1 - 1 / 40) ** 40
    assert stats.binomtest(int(left_out), clusters.N_BOOT, chance).pvalue > 1e-6
    # the same authors are drawn each time, so that differences are paired
    np.testing.assert_array_equal(means, clusters.resampled(values, AUTHORS))


def test_shown_with_its_interval():
    assert str(clusters.Share(0.123, 0.0501, 0.2)) == "0.12 [0.05, 0.20]"


def test_accuracy_of_several_releases():
    rng = np.random.default_rng(0)
    truth = rng.choice(3, 60, p=[0.6, 0.3, 0.1])
    right = rng.random((5, 60)) < 0.5
    value, low, high = intervals.limits(intervals.accuracies(right, truth))
    by_class = [right[:, truth == k].mean() for k in range(3)]
    assert value == pytest.approx(np.mean(by_class))
    assert low < value < high


def test_differences_of_pairs_count_documents_and_releases():
    """Equal mechanisms differ at 5 % in few of 400 trials; unequal ones in most.

    Releases are of unequal luck, and documents of unequal difficulty. The bootstrap of
    five releases is a little too narrow, that of both a little too wide.
    """
    rng = np.random.default_rng(0)
    truth = np.arange(100) % 2
    significant = {0.0: 0, 0.15: 0}
    for gain in significant:
        for _ in range(200):
            easy = rng.uniform(0.2, 0.8, 100)

            def marks(more, easy=easy):
                luck = rng.normal(0, 0.05, (5, 1))
                return rng.random((5, 100)) < easy + luck + more

            one, other = (
                intervals.accuracies(marks(more), truth) for more in (gain, 0.0)
            )
            significant[gain] += intervals.two_sided(one - other) < 0.05
    assert significant[0.0] <= 25  # 0.05 of 200, and chance: alpha = 1e-5
    assert significant[0.15] >= 150
