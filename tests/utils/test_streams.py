"""Streams of noise and numbers: keyed, independent, equally likely."""

from __future__ import annotations

import numpy as np
import pytest

from skdptext.base import NoiseStreams
from tests.laws import assert_counts


def numbers(streams, label=b"x", n=4):
    return streams.open(label).random(n).tolist()


def test_streams_depend_on_seed_context_and_label():
    base = numbers(NoiseStreams(1, b"c"))
    assert numbers(NoiseStreams(1, b"c")) == base
    assert numbers(NoiseStreams(np.int64(1), b"c")) == base
    for other in (
        numbers(NoiseStreams(2, b"c")),
        numbers(NoiseStreams(1, b"d")),
        numbers(NoiseStreams(1, b"c"), b"y"),
        numbers(NoiseStreams(None, b"c")),
        numbers(NoiseStreams(np.random.default_rng(1), b"c")),
    ):
        assert not set(base) & set(other)


def test_streams_run_chacha20():
    bits = NoiseStreams(1, b"").open(b"").bit_generator
    assert type(bits).__name__ == "ChaCha"
    assert bits.state["state"]["rounds"] == 20


def drawn(high, n=20_000, seed=5, context=b"c", what=b""):
    labels = [what + b"%d" % i for i in range(n)]
    return NoiseStreams(seed, context).numbers(labels).integers(high)


@pytest.mark.parametrize("high", [2, 7, 100, 3 * 2**60, 2**62 + 12345, 2**63])
def test_numbers_of_labels_are_equally_likely(high):
    """The largest ones draw up to half of their numbers again."""
    draws = drawn(high)
    assert 0 <= draws.min() <= draws.max() < high
    parts = min(high, 100)  # equally likely to a part in 2^50
    assert_counts(
        np.bincount([x * parts // high for x in draws.tolist()], minlength=parts),
        np.full(parts, 1 / parts),
    )


def test_numbers_of_labels_depend_on_seed_context_and_label():
    base = drawn(2**62, 500)
    np.testing.assert_array_equal(drawn(2**62, 500), base)
    for other in (
        drawn(2**62, 500, seed=6),
        drawn(2**62, 500, context=b"d"),
        drawn(2**62, 500, what=b"y"),
    ):
        assert not np.isin(other, base).any()
    # of each label by itself, whatever the others and their bounds are
    mixed = drawn(np.arange(1, 501), 500)
    labels = [b"%d" % i for i in range(500)]
    alone = [
        NoiseStreams(5, b"c").numbers([label]).integers(i + 1)[0]
        for i, label in enumerate(labels)
    ]
    np.testing.assert_array_equal(mixed, alone)


def test_huge_seeds_are_taken_whole():
    seed = 2**200 + 1
    assert numbers(NoiseStreams(seed, b"")) != numbers(NoiseStreams(2**200, b""))
