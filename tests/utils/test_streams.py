"""Streams of noise and numbers: keyed, independent, equally likely."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from skdptext.base import NoiseStreams
from tests.laws import assert_counts


def of_streams(seed=5, context=b"c", what=b""):
    streams = NoiseStreams(seed, context)
    return np.array([streams.open(what + b"%d" % i).random(4) for i in range(20)])


def of_labels(high, n=20_000, seed=5, context=b"c", what=b""):
    labels = [what + b"%d" % i for i in range(n)]
    return NoiseStreams(seed, context).numbers(labels).integers(high)


@pytest.mark.parametrize("draw", [of_streams, partial(of_labels, 2**62, 500)])
def test_what_is_drawn_depends_on_seed_context_and_label(draw):
    base = draw()
    np.testing.assert_array_equal(draw(seed=np.int64(5)), base)
    seeds = (6, 2**200, 2**200 + 1, None, np.random.default_rng(5))
    others = [draw(seed=seed) for seed in seeds]
    drawn = np.array([base, *others, draw(context=b"d"), draw(what=b"y")])
    assert len(np.unique(drawn)) == drawn.size


def test_streams_run_chacha20():
    bits = NoiseStreams(1, b"").open(b"").bit_generator
    assert type(bits).__name__ == "ChaCha"
    assert bits.state["state"]["rounds"] == 20


@pytest.mark.parametrize("high", [2, 7, 100, 3 * 2**60, 2**62 + 12345, 2**63])
def test_numbers_of_labels_are_equally_likely(high):
    """The largest ones draw up to half of their numbers again."""
    draws = of_labels(high)
    assert 0 <= draws.min() <= draws.max() < high
    parts = min(high, 100)  # equally likely to a part in 2^50
    assert_counts(
        np.bincount([x * parts // high for x in draws.tolist()], minlength=parts),
        np.full(parts, 1 / parts),
    )


def test_numbers_of_labels_do_not_depend_on_others_and_their_bounds():
    labels = [b"%d" % i for i in range(500)]
    alone = [
        NoiseStreams(5, b"c").numbers([label]).integers(i + 1)[0]
        for i, label in enumerate(labels)
    ]
    np.testing.assert_array_equal(of_labels(np.arange(1, 501), 500), alone)
