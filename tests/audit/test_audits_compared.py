"""Which audit catches which mistake: the table of the guide, and its blind spots.

What must not be found is looked for at confidence 1 - 1e-6 with fixed seeds.
"""

from __future__ import annotations

import pytest

from skdptext.audit import audit_noise_law, audit_word_privacy
from tests.channels import sample as right
from tests.mistakes import (
    CLOUD,
    Deduplicating,
    Perturber,
    elementwise_root,
    from_a_pool,
    in_pairs,
    keep_if_far,
    one_in_clear,
    renormalised,
    scale_for_rate,
    scaled_by_all_entries,
    shared_by_workers,
    vickrey,
)


def twice_epsilon(mechanism, rng, n):
    return right(mechanism, rng, n) / 2


def noisy(sampler, epsilon=3.0, lam=1.0):
    return Perturber(CLOUD, epsilon, lam, sample=sampler)


def stepping(choose):
    perturber = Perturber(CLOUD, 1.0, 0.0)
    perturber.choose = choose(perturber)
    return perturber


class Noise:
    """The noise of a perturber with a fault, as a mechanism."""

    def __init__(self, perturber):
        self.perturber = perturber
        self.epsilon = perturber.mechanism.epsilon
        self.whiten = perturber.mechanism.metric.whiten

    def sample(self, rng, n):
        return self.perturber.sample(self.perturber.mechanism, rng, n)


# Mistake: by the released words? by the noise?
TABLE = {
    "renormalised": (lambda: noisy(renormalised), True, True),
    "all entries": (
        lambda: noisy(scaled_by_all_entries(CLOUD.vectors)), True, True
    ),
    "rate, small": (lambda: noisy(scale_for_rate, 0.5), True, True),
    "rate, large": (lambda: noisy(scale_for_rate, 3.0), False, True),
    "entry by entry": (lambda: noisy(elementwise_root), True, True),
    "twice epsilon": (lambda: noisy(twice_epsilon, 1.0, 0.5), True, True),
    "vickrey": (
        lambda: stepping(lambda p: vickrey(p, looks=True)), True, False
    ),
    "fallback": (lambda: stepping(lambda p: keep_if_far(p, 2.0)), True, False),
    "one word in the clear": (
        lambda: stepping(lambda p: one_in_clear(p, 7)), True, False
    ),
    "workers": (lambda: noisy(shared_by_workers, 1.0), False, True),
    "twice in a call": (lambda: noisy(in_pairs, 1.0), False, True),
    # So few vectors are not the law, whichever they are.
    "pool": (lambda: noisy(from_a_pool, 1.0), True, True),
    # Each difference is that of honest noise: tests/test_fresh_noise.py sees it.
    "equal words": (lambda: Deduplicating(CLOUD, 1.0, 0.0), False, False),
    "none": (lambda: noisy(None, 1.0), False, False),
}  # fmt: skip
# Left to the slow tests: what takes most draws, and what resembles another.
SLOW = {
    *["renormalised", "rate, small", "rate, large", "entry by entry", "fallback"],
    "workers",
}


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "mistake",
    [
        pytest.param(mistake, marks=pytest.mark.slow if mistake in SLOW else ())
        for mistake in TABLE
    ],
)
def test_who_catches_what(mistake):
    make, by_words, by_noise = TABLE[mistake]
    # some show little
    n_draws = {"renormalised": 50_000, "pool": 10_000}.get(mistake, 5000)
    words = audit_word_privacy(
        make(), pairs=10, n_draws=n_draws, confidence=1 - 1e-6, random_state=0
    )
    assert words.violated.any() == by_words
    noise = audit_noise_law(Noise(make()), n_draws=5000, alpha=1e-6, random_state=0)
    assert noise.rejected == by_noise
