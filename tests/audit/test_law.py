"""The audit of noise: the right law passes at the stated rate, wrong ones do not."""

import numpy as np
import pytest
from scipy.stats import binom

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.audit import audit_noise_law
from skdptext.audit._law import _spread
from skdptext.datasets import make_embedding
from skdptext.mechanisms import MahalanobisNoise
from tests.channels import channel, sample
from tests.expected import refusals
from tests.mistakes import (
    CLOUD,
    LINE,
    elementwise_root,
    from_a_pool,
    in_pairs,
    one_radius_for_all,
    renormalised,
    replayed_for_every_epsilon,
    scale_for_rate,
    scaled_by_all_entries,
    shared_by_workers,
    taking_turns,
)


class Wrong:
    """Another implementation's mechanism, with its own sampler."""

    def __init__(self, sampler, embedding=CLOUD):
        self.claim = channel(3.0, 0.8, embedding)
        self.epsilon, self.whiten = self.claim.epsilon, self.claim.metric.whiten
        self.sampler = sampler

    def sample(self, rng, n):
        return self.sampler(self.claim, rng, n)


def turns_hidden_by_rounding(mechanism, rng, n):
    return taking_turns(mechanism, rng, n) * (1 + 1e-9 * rng.random((n, 1)))


def one_sided(mechanism, rng, n):
    return np.abs(sample(mechanism, rng, n))


@pytest.mark.parametrize(
    ("embedding", "sampler", "test"),
    [
        (LINE, one_sided, "direction along first axis"),
        (LINE, scale_for_rate, "radius"),
        (LINE, taking_turns, "first axis, next"),
        (CLOUD, renormalised, "radius"),
        (CLOUD, in_pairs, "repeats"),
        (CLOUD, from_a_pool, "repeats"),
        (CLOUD, scaled_by_all_entries(CLOUD.vectors), "radius"),
        (CLOUD, scale_for_rate, "radius"),
        (CLOUD, elementwise_root, "direction along first axis"),
        (CLOUD, shared_by_workers, "repeats"),
        (CLOUD, taking_turns, "repeats"),
        (CLOUD, turns_hidden_by_rounding, "radius, next radius"),
        (CLOUD, one_radius_for_all, "radius, next radius"),
        (CLOUD, replayed_for_every_epsilon, "radius, next radius"),
        (CLOUD, lambda mechanism, rng, n: np.ones((n, 2)), "radius"),
    ],
)
def test_wrong_samplers_are_named(embedding, sampler, test):
    source = Wrong(sampler, embedding)
    audit = audit_noise_law(source, n_draws=5000, alpha=1e-6, random_state=0)
    assert audit.rejected
    assert test in audit.failed
    assert test in " ".join(str(audit).split())


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("dim", "n_draws"), [(1, 100), (2, 150), (40, 150), (300, 100), (7, 500)]
)
def test_false_alarms_at_the_stated_rate(dim, n_draws):
    """Also with few draws, where approximate laws would be at their worst.

    False alarm 1e-6; a rate of 0.5 where 0.05 is stated is found with probability
    0.997. SciPy's exact law of Kolmogorov's statistic takes thrice as long up to 140
    draws.
    """
    repeats, alpha = 40, 0.05
    table = make_embedding(40, dim, random_state=dim)
    source = channel(2.0, 0.5, table) if dim == 7 else Wrong(sample, table)
    options = {"n_draws": n_draws, "alpha": alpha}
    audits = [
        audit_noise_law(source, random_state=i, **options) for i in range(repeats)
    ]
    assert sum(each.rejected for each in audits) <= binom.isf(1e-6, repeats, alpha)


@pytest.mark.no_cover
def test_spread_along_the_axes_is_exact_far_out():
    """P(p <= 1e-6), by noise that leans to one axis, weighted back to right noise."""
    n, lean, repeats, limit = 100, 0.75, 400, 1e-6
    rng = np.random.default_rng(0)
    weights = []
    for _ in range(repeats):
        twice = rng.vonmises(0, lean, n)  # of the angle to the first axis
        lengths = rng.choice([-1, 1], n) * np.sqrt(rng.chisquare(2, n))
        normals = (lengths * [np.cos(twice / 2), np.sin(twice / 2)]).T
        log_weight = n * np.log(np.i0(lean)) - lean * np.cos(twice).sum()
        # The other tests of an audit take a hundred times as long.
        hit = _spread(normals)["spread along every axis"] <= limit
        weights.append(2 * hit * np.exp(log_weight))  # 2: it may lean to either axis
    error = np.std(weights) / np.sqrt(repeats)
    # A gamma law of the same mean and variance, as it was, has 5.7e-6 +- 0.7e-6.
    assert np.mean(weights) - 5 * error <= limit


@pytest.mark.no_cover
@pytest.mark.parametrize("axes", ["whitened", "raw"])
def test_one_axis_of_300_without_noise_is_found(axes):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(400, 300)) * np.geomspace(0.3, 3, 300)
    table = WordEmbedding([f"w{i}" for i in range(400)], vectors)
    claim = channel(2.0, 0.5, table)

    def silent(mechanism, rng, n):
        noise = sample(mechanism, rng, n)
        if axes == "whitened":
            noise = claim.metric.whiten(noise)
        noise[:, lost] = 0
        return noise

    source = Wrong(silent, table)
    source.claim, source.epsilon = claim, claim.epsilon
    if axes == "whitened":
        source.whiten = lambda noise: noise
    for lost in range(0, 300, 86):  # four axes
        audit = audit_noise_law(source, n_draws=1000, alpha=1e-6, random_state=lost)
        assert "spread in all directions" in audit.failed
        assert axes == "raw" or "spread along every axis" in audit.failed


@pytest.mark.parametrize("part", ["sampler", "whiten"])
def test_noise_that_is_no_number_is_not_right(part):
    source = Wrong(sample)
    vars(source)[part] = lambda *given: np.full((100, 2), np.nan)
    assert audit_noise_law(source, n_draws=100).failed == ["finite"]


RESPONSE = DPWordPerturber(
    LINE, mechanism="randomized-response", document_length=1
).fit([])


@refusals(
    (object(), "source must add noise to vectors"),
    (MahalanobisNoise(), "source must add noise to vectors"),
    (RESPONSE, "source must add noise to vectors"),
    *(
        (Wrong(lambda *given, noise=noise: noise), "100 rows of numbers")
        for noise in (None, np.zeros(100), np.zeros((99, 2)), [[1], [2, 3]])
    ),
)
def test_bad_input(source):
    audit_noise_law(source, n_draws=100)
