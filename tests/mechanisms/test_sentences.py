"""Every number that a mechanism prints, held against its exponents."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdptext import WordEmbedding
from skdptext.mechanisms import TableMechanism
from skdptext.utils import rounded_up
from tests.mechanism_forms import forms

_NUMBER = r"(\d[\d.]*(?:e[+-]?\d+)?)"
_WORDS = [f"w{i}" for i in range(12)]


def table_of(seed, dim):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(12, dim)) * rng.choice([0.05, 1, 20], (12, 1))
    vectors[5] = vectors[2]
    return WordEmbedding(_WORDS, vectors)


def between(prepared):
    """Distances that a mechanism means by d."""
    vectors = prepared.embedding.vectors.astype(np.float64)
    cap = getattr(prepared, "max_distance", None)
    return np.minimum(
        np.linalg.norm(vectors[:, None] - vectors, axis=2),
        np.inf if cap is None else cap,
    )


def says(pattern, text):
    """A number in a text; None if it does not say it."""
    match = re.search(pattern.replace("NUMBER", _NUMBER), text)
    return None if match is None else float(match[1].rstrip("."))


#: What is said, and what it bounds.
STATEMENTS = {
    r"no two words lose more than NUMBER per unit of d": "per distance",
    r"Between any two words, however far apart, the exponent is at most NUMBER": "all",
    r"any two words that differ have the exponent NUMBER": "all",
    r"exp\(−NUMBER·d\(w, z\)\)": "rate",
}


@pytest.mark.parametrize("name", sorted(forms()))
@settings(max_examples=10)
@given(
    seed=st.integers(0, 10**6),
    epsilon=st.floats(0.01, 30).map(lambda x: float(f"{x:.7g}")),
    dim=st.integers(2, 4),
)
def test_no_number_is_below_what_is_lost(name, seed, epsilon, dim):
    table = table_of(seed, dim)
    prepared = forms()[name].prepare(table, epsilon, 0.0)
    text = " ".join(prepared.sentences())
    everything = np.arange(12)
    claimed = prepared.exponents(everything, everything)
    D = between(prepared)
    if isinstance(prepared, TableMechanism):
        # what is really lost is what is claimed, or less
        logs = prepared.log_proba(everything)
        with np.errstate(invalid="ignore"):  # −inf − (−inf): neither releases it
            gaps = np.where(np.isneginf(logs)[:, None], -np.inf, logs[:, None] - logs)
        true = gaps.max(axis=2)
        assert (true <= claimed + 1e-9 + 1e-9 * np.abs(claimed)).all()
    said = {what: says(sentence, text) for sentence, what in STATEMENTS.items()}
    slack = 1 + 1e-9
    if (most := said["per distance"]) is not None:
        assert (claimed <= most * D * slack + 1e-9).all()
        assert most <= epsilon * 1.002  # and it is what was asked for
    if (most := said["all"]) is not None:
        assert claimed.max() <= most * slack
        assert claimed.max() >= most * 0.99 or "far apart" in text
    if (rate := said["rate"]) is not None:
        assert rate == pytest.approx(prepared.rate, rel=1e-3)


@pytest.mark.parametrize("name", sorted(forms()))
def test_every_number_that_is_printed_is_one_of_these(name):
    """A sentence with a new number gets a test, too."""
    table = table_of(0, 3)
    prepared = forms()[name].prepare(table, 2.123456, 0.0)
    text = " ".join(prepared.sentences())
    for sentence in STATEMENTS:
        text = re.sub(sentence.replace("NUMBER", _NUMBER), "", text)
    text = text.replace("at most 0.7 (", "")
    assert not re.findall(r"\d", text), text


@given(bound=st.floats(1e-300, 1e300), digits=st.integers(1, 8))
def test_a_bound_is_never_rounded_down(bound, digits):
    said = float(rounded_up(bound, digits))
    assert (
        bound * (1 - 2e-12) <= said <= bound * (1 + 10.0 ** (1 - digits)) * (1 + 1e-9)
    )


def test_a_bound_of_few_digits_is_said_as_it_is():
    for bound in (0.1, 0.3, 2.0, 2.123, 1e-7, 12340.0, 0.1 + 0.2):
        assert float(rounded_up(bound)) == pytest.approx(bound, rel=1e-12)
    assert (rounded_up(0.0), rounded_up(np.inf)) == ("0", "inf")
    assert rounded_up(2.00001) == "2.001"
