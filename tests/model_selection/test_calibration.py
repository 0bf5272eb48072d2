"""The ε for a wanted share of unchanged words."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import stats

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import MahalanobisChannel
from skdptext.metrics import plausible_deniability
from skdptext.model_selection import calibrate_epsilon
from tests.laws import ALPHA

pytestmark = pytest.mark.filterwarnings(
    "ignore::skdptext.exceptions.PrivacyLeakWarning"
)

# Each word stays itself with probability 1 - exp(-ε/2)/2.
LINE = DPWordPerturber(WordEmbedding(["aa", "bb"], [[0.0], [1.0]]))


def closed_form(target):
    return -2 * np.log(2 * (1 - target))


@pytest.fixture
def small(small_embedding):
    return DPWordPerturber(small_embedding, epsilon=1.0, lam=0.5).fit([])


def test_interval_covers_the_law():
    # 95 % nominal; a coverage outside the range of a binomial of 93 to 97 % would
    # fail, at the stated rate.
    repeats, hits = 300, 0
    for _ in range(repeats):
        low, high = calibrate_epsilon(LINE.fit([]), 0.8, n_draws=200).interval
        hits += low <= closed_form(0.8) <= high
    assert stats.binom.cdf(hits, repeats, 0.93) > ALPHA
    assert stats.binom.sf(hits - 1, repeats, 0.97) > ALPHA


@pytest.mark.parametrize("target", [0.6, 0.9, 0.99])
def test_closed_form(target):
    n = 100_000
    found = calibrate_epsilon(LINE.fit([]), target, n_draws=n)
    assert (found.n_words, found.n_draws, found.target) == (2, n, target)
    # of n independent draws, each of which changes at most one of the two words
    p = 2 * target - 1
    error = np.sqrt(p * (1 - p) / n) / 2
    true = 1 - np.exp(-found.epsilon / 2) / 2
    assert abs(true - target) < 6 * error  # false alarm 2e-9
    np.testing.assert_allclose(found.standard_error, error, rtol=0.05)


def test_share_is_reached_on_the_noise_drawn(small, monkeypatch):
    rng = np.random.default_rng(0)
    noise = 3 * rng.normal(size=(60, 8))
    monkeypatch.setattr(MahalanobisChannel, "unit_noise", lambda *_: noise)
    for target in (0.2, 0.5, 0.9):
        found = calibrate_epsilon(small, target, n_draws=60)
        assert -1e-12 < found.share - target < 1 / (200 * 60) + 1e-12
        # a little to the side, for the rounding of float32
        below, above = plausible_deniability(
            small,
            epsilons=[found.epsilon * (1 - 1e-4), found.epsilon * (1 + 1e-4)],
            n_draws=60,
        ).n_unchanged.mean(axis=(1, 2))
        assert below / 60 <= found.share <= above / 60
        assert above / 60 - below / 60 < 0.002
        low, high = found.interval
        ends = plausible_deniability(
            small, epsilons=[low * 0.999, high * 1.001], n_draws=60
        )
        misses = np.abs(ends.n_unchanged.mean(axis=(1, 2)) / 60 - target)
        assert (misses > 1.9 * ends.unchanged_error[:, 0] / 60).all()


def test_plain_path_at_the_result(small):
    # The mean over words of independent draws, against the calibration's own error.
    found = calibrate_epsilon(small, 0.5, n_draws=1000)
    at = DPWordPerturber(small.embedding_, epsilon=found.epsilon, lam=0.5).fit([])
    words = small.embedding_.words
    share = (at.perturb_words(words, 500) == np.array(words)[:, None]).mean()
    error = np.hypot(found.standard_error, 0.5 / np.sqrt(500 * len(words)))
    assert abs(share - 0.5) < 5 * error  # false alarm 6e-7


def test_rises_with_the_target(small):
    targets = [0.1, 0.3, 0.301, 0.6, 0.95]
    found = [calibrate_epsilon(small, t, random_state=1).epsilon for t in targets]
    assert found == sorted(found)
    assert len(set(found)) == len(found)
    assert small.epsilon == 1.0


def test_options(small):
    one = calibrate_epsilon(small, 0.3, random_state=2)
    assert dataclasses.astuple(one) == dataclasses.astuple(
        calibrate_epsilon(small, 0.3, random_state=2)
    )
    changed = calibrate_epsilon(small, 0.7, statistic="changed", random_state=2)
    assert (changed.epsilon, changed.interval) == (one.epsilon, one.interval)
    np.testing.assert_allclose(changed.share, 1 - one.share)
    some = calibrate_epsilon(small, 0.3, words=["w1", "w2"], random_state=2)
    assert some.n_words == 2
    assert some.epsilon != one.epsilon
    assert one.interval[0] < one.epsilon < one.interval[1]


def test_open_intervals():
    # Two draws tell next to nothing.
    ends = [
        calibrate_epsilon(LINE.fit([]), 0.75, n_draws=2, random_state=seed).interval
        for seed in range(30)
    ]
    assert any(low == 0 for low, _ in ends)
    assert any(high == np.inf for _, high in ends)


def test_targets_out_of_reach():
    line = LINE.fit([])
    for options in ({}, {"statistic": "changed"}):
        target = 0.3 if not options else 0.7
        with pytest.raises(InvalidParameterError, match="target must be a share that"):
            calibrate_epsilon(line, target, n_draws=1000, **options)
    twins = WordEmbedding(["a", "b", "c"], [[0.0], [0.0], [1.0]])
    perturber = DPWordPerturber(twins, lam=0).fit([])
    with pytest.raises(InvalidParameterError, match=r"and 0\.6667 here, got 0\.9"):
        calibrate_epsilon(perturber, 0.9)


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        (0, {}, r"target must be a finite number in \(0, 1\), got 0"),
        (1, {}, r"target must be a finite number in \(0, 1\), got 1"),
        (2, {}, r"target must be a finite number in \(0, 1\), got 2"),
        (0.5, {"statistic": "distinct"}, "statistic must be one of"),
        (0.5, {"n_draws": 1}, "n_draws must be an integer >= 2"),
        (0.5, {"words": []}, "words must hold"),
        (0.5, {"random_state": "x"}, "random_state must be"),
    ],
)
def test_bad_input(small, target, options, message):
    with pytest.raises(InvalidParameterError, match=message):
        calibrate_epsilon(small, target, **options)
