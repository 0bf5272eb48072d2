"""Exponents between redrawn documents, against enumerated releases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdptext import DPWordPerturber
from skdptext.documents import DocumentReader
from skdptext.mechanisms import RandomizedResponse
from skdptext.privacy import PrivacyGuarantee
from tests.laws import largest_loss, uncovered
from tests.privacy.test_delta import WORDS, guarantee_of, law, tables

documents = st.text("abcd", min_size=1, max_size=6)


@pytest.mark.no_cover
@settings(max_examples=30)
@given(
    x=documents,
    y=documents,
    seed=st.integers(0, 10**6),
    never=st.sampled_from([0.0, 0.3]),
    drawn=st.integers(1, 4),
    ordered=st.booleans(),
)
def test_finite_distributions_are_exact(x, y, seed, never, drawn, ordered):
    rows = tables(seed, never)[0]
    guarantee = guarantee_of(rows, ordered=ordered, drawn=drawn)
    one, two = (law(d, rows, ordered=ordered, drawn=drawn) for d in (x, y))
    exact = largest_loss(one, two)
    assert guarantee.exponent(list(x), list(y)) == pytest.approx(exact, abs=1e-9)
    assert guarantee.compose(2).exponent(list(x), list(y)) == pytest.approx(
        2 * exact, abs=1e-9
    )
    # δ: no more is claimed than the grid of losses costs
    for delta in (1e-6, 0.01, 0.3):
        t = guarantee.exponent(list(x), list(y), delta=delta)
        assert t == math.inf or uncovered(one, two, t) <= delta * (1 + 1e-9)
        assert t < 0.02 or uncovered(one, two, min(t - 0.02, 700.0)) > delta


@pytest.mark.no_cover
@settings(max_examples=30)
@given(x=documents, y=documents, seed=st.integers(0, 10**6), drawn=st.integers(1, 3))
def test_by_exponents_alone(x, y, seed, drawn):
    """Never below the exact loss, never above what was claimed by either theorem."""
    rows = tables(seed, 0.1)[0]
    hidden = guarantee_of(rows, known=False, drawn=drawn)
    claimed = hidden.exponent(list(x), list(y))
    one, two = (law(d, rows, ordered=True, drawn=drawn) for d in (x, y))
    assert largest_loss(one, two) <= claimed + 1e-9
    assert claimed <= drawn * joint_convexity(rows, x, y) + 1e-9
    for delta in (0.01, 0.3):
        t = hidden.exponent(list(x), list(y), delta=delta)
        assert t == math.inf or uncovered(one, two, t) <= delta * (1 + 1e-9)


def frequencies(document):
    counts = np.bincount(WORDS.find(list(document)), minlength=4)
    return counts / counts.sum()


def joint_convexity(rows, x, y):
    """ln(1 + g(e^t − 1)): g the share that moves, t over all pairs that are met."""
    f, h = frequencies(x), frequencies(y)
    moved = f > h + 1e-12
    if not moved.any():
        return 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = np.log(rows[moved][:, None] / rows[h > 0])
        t = np.nanmax(gaps, axis=2).max()
    return math.log1p(np.maximum(f - h, 0).sum() * math.expm1(max(t, 0.0)))


def test_unknown_words_in_clear_are_outcomes_of_their_own():
    reader = DocumentReader(WORDS, oov="keep", document_length=3, resize="sample")
    prepared = RandomizedResponse().prepare(WORDS, 1.0, 0.0)
    guarantee = PrivacyGuarantee(prepared, reader)
    same = guarantee.exponent(["a", "?"], ["b", "?"])
    kept, moved = math.e / (math.e + 3), 1 / (math.e + 3)
    assert same == pytest.approx(3 * math.log(kept / moved))
    assert guarantee.exponent(["a", "?"], ["a", "a", "a", "?"]) == pytest.approx(
        3 * math.log(2)
    )
    for x, y in ((["a", "?"], ["a", "!"]), (["a", "?"], ["a"])):
        assert guarantee.exponent(x, y) == math.inf
    assert guarantee.exponent(["a"], ["a", "?"]) == pytest.approx(3 * math.log(2))
    assert guarantee.exponent(["?"], ["?", "?"]) == 0
    by_chance = guarantee.exponent(["?", "a"], ["!", "a"], delta=0.9)
    assert by_chance < math.inf


def test_huge_and_tiny_exponents_do_not_overflow(small_embedding):
    """Exponents of thousands of nats, where e^t is no float."""
    for epsilon in (1e-9, 1e4):
        perturber = DPWordPerturber(
            small_embedding, epsilon=epsilon, lam=0.0, document_length=5,
            resize="sample",
        ).fit([])  # fmt: skip
        guarantee = perturber.guarantee()
        x, y = ["w1"] * 9 + ["w2"], ["w1"] * 9 + ["w3"]
        moved = guarantee.exponent("w2", "w3")
        common = guarantee.exponent("w2", "w1")
        claimed = guarantee.exponent(x, y)
        # a lower bound on what exponents alone can prove
        assert claimed <= 5 * moved
        if epsilon > 1:
            nearest = min(moved, common)
            expected = 5 * min(moved, nearest + math.log(0.1 / 0.9) * (common < moved))
            assert claimed == pytest.approx(expected, rel=1e-2)
        else:
            assert claimed == pytest.approx(0.5 * moved, abs=1e-11)
