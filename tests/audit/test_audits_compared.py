"""Which audit catches which mistake: the table of the guide, and its blind spots.

What must not be found is looked for at confidence 1 - 1e-6 with fixed seeds.
"""

from __future__ import annotations

import numpy as np
import pytest

from skdptext import DPWordPerturber
from skdptext.audit import audit_fresh_noise, audit_noise_law, audit_word_privacy
from tests.channels import sample as right
from tests.mistakes import (
    CLOUD,
    Deduplicating,
    FewSeeds,
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


# Mistake: by the released words? by the noise? in what way is noise used twice?
TABLE = {
    "renormalised": (lambda: noisy(renormalised), True, True, set()),
    "all entries": (
        lambda: noisy(scaled_by_all_entries(CLOUD.vectors)), True, True, set()
    ),
    "rate, small": (lambda: noisy(scale_for_rate, 0.5), True, True, set()),
    "rate, large": (lambda: noisy(scale_for_rate, 3.0), False, True, set()),
    "entry by entry": (lambda: noisy(elementwise_root), True, True, set()),
    "twice epsilon": (lambda: noisy(twice_epsilon, 1.0, 0.5), True, True, set()),
    "vickrey": (
        lambda: stepping(lambda p: vickrey(p, looks=True)), True, False, set()
    ),
    "fallback": (lambda: stepping(lambda p: keep_if_far(p, 2.0)), True, False, set()),
    "one word in the clear": (
        lambda: stepping(lambda p: one_in_clear(p, 7)), True, False, set()
    ),
    "workers": (
        lambda: noisy(shared_by_workers, 1.0), False, True,
        {"draws", "words", "many words", "long call", "within calls"},
    ),
    "seeds of 16 bits": (
        lambda: FewSeeds(CLOUD, 1.0, 0.0), False, False, {"many calls"}
    ),
    "twice in a call": (lambda: noisy(in_pairs, 1.0), False, True, {"within calls"}),
    # So few vectors are not the law, whichever they are.
    "pool": (
        lambda: noisy(from_a_pool, 1.0), True, True, {"long call", "many words"}
    ),
    "equal words": (
        lambda: Deduplicating(CLOUD, 1.0, 0.0), False, False, {"words", "many words"}
    ),
    "none": (lambda: noisy(None, 1.0), False, False, set()),
}  # fmt: skip
# Left to the slow tests: what takes most draws or calls, and what resembles another.
SLOW = {
    *["renormalised", "rate, small", "rate, large", "entry by entry", "fallback"],
    *["workers", "seeds of 16 bits"],
}
# What is seen in many calls only, and what must be seen in none of many.
MANY = {"workers": 500, "seeds of 16 bits": 1000, "twice in a call": 500, "none": 500}


@pytest.mark.no_cover
@pytest.mark.usefixtures("copies_for_workers")
@pytest.mark.parametrize(
    "mistake",
    [
        pytest.param(mistake, marks=pytest.mark.slow if mistake in SLOW else ())
        for mistake in TABLE
    ],
)
def test_who_catches_what(mistake):
    make, by_words, by_noise, twice = TABLE[mistake]
    # some show little
    n_draws = {"renormalised": 50_000, "pool": 10_000}.get(mistake, 5000)
    words = audit_word_privacy(
        make(), pairs=10, n_draws=n_draws, confidence=1 - 1e-6, random_state=0
    )
    assert words.violated.any() == by_words
    noise = audit_noise_law(Noise(make()), n_draws=5000, alpha=1e-6, random_state=0)
    assert noise.rejected == by_noise
    n_calls = MANY.get(mistake, 100)
    repeats = audit_fresh_noise(make(), n_repeats=2, n_calls=n_calls).repeats
    # These perturbers hold a generator with state, whose copies repeat of themselves.
    copied = {"copies", "pickles", "processes", "forks"}
    inside = {way for way, n in repeats.items() if n} - copied
    assert inside == twice


@pytest.mark.no_cover
@pytest.mark.usefixtures("copies_for_workers")
def test_only_the_audit_of_freshness_sees_copies():
    perturber = DPWordPerturber(
        CLOUD, epsilon=1.0, document_length=1, random_state=np.random.default_rng(0)
    ).fit([])
    repeats = audit_fresh_noise(perturber, n_repeats=2, n_calls=50).repeats
    repeating = {way for way, n in repeats.items() if n}
    assert repeating == {"copies", "pickles", "processes", "forks"}
    words = audit_word_privacy(
        perturber, n_draws=5000, confidence=1 - 1e-6, random_state=0
    )
    assert not words.violated.any()
    assert not audit_noise_law(
        perturber.mechanism_, alpha=1e-6, random_state=0
    ).rejected
