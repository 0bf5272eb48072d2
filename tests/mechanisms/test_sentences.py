"""Every number that a mechanism prints, held against its exponents."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdptext import WordEmbedding
from skdptext.embeddings import one_hot_embedding
from skdptext.mechanisms import Exponential, Ranked
from skdptext.utils import rounded_up
from tests.mechanism_forms import forms

_NUMBER = r"(\d[\d.]*(?:e[+-]?\d+)?)"
_SOME = [0, 2, 3, 7]
_WORDS = [f"w{i}" for i in range(12)]


class Among(Exponential):
    """Only some words are released."""

    def __init__(self, calibration="exact", max_distance=None, *, outputs=_SOME):
        super().__init__(calibration, max_distance)
        self.outputs = outputs

    def prepare(self, embedding, epsilon, lam):
        plain = Exponential(self.calibration, self.max_distance)
        return plain.prepare_among(embedding, epsilon, lam, self.outputs)


EVERY = forms(one_hot_embedding(_WORDS)) | {
    "some": Among(),
    "some, half": Among("half"),
    "some, balanced": Among("balanced"),
    "some, capped": Among("exact", 0.7),
    "one": Among(outputs=[4]),
    "ranks of some": Ranked(Among()),
}


def table_of(seed, dim):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(12, dim)) * rng.choice([0.05, 1, 20], (12, 1))
    vectors[5] = vectors[2]
    return WordEmbedding(_WORDS, vectors)


def between(channel):
    """Distances that a mechanism means by d."""
    vectors = channel.embedding.vectors.astype(np.float64)
    cap = getattr(channel.mechanism, "max_distance", None)
    return np.minimum(
        np.linalg.norm(vectors[:, None] - vectors, axis=2),
        np.inf if cap is None else cap,
    )


def feasible(table):
    """An ε that is large enough for "tight"."""
    vectors = table.vectors.astype(np.float64)
    apart = np.linalg.norm(vectors[:, None] - vectors, axis=2)
    return 12 / apart[apart > 0].min()


def says(pattern, text):
    """A number in a text; None if it does not say it."""
    match = re.search(pattern.replace("NUMBER", _NUMBER), text)
    return None if match is None else float(match[1].rstrip("."))


#: What is said, and what it bounds: of exponents, distances, class labels and ε.
STATEMENTS = {
    r"no two words lose more than (?:ε\* = )?NUMBER per unit of d": "per distance",
    r"with κ = NUMBER\)": "kappa",
    r"Between any two words, however far apart, the exponent is at most NUMBER": "all",
    r"any two words that differ have the exponent NUMBER": "all",
    r"they are at most 2a d\(w, w'\), with the rate a = NUMBER": "half per distance",
    r"Between any two words of the embedding the exponent is at most NUMBER": "all",
    r"spans at most 0\.1\), and any two of these differ by at most NUMBER": "neutral",
    r"proportional to exp\(NUMBER·s\)": "strength",
    r"Inside a class the exponent is at most ε = NUMBER": "inside",
    r"exp\(−NUMBER·d\(w, z\)\)": "rate",
    r"stays as it is with probability NUMBER,": "kept",
    r"with p = NUMBER,": "p",
    r"in the clear with probability NUMBER;": "1 - p",
}


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=10)
@given(
    seed=st.integers(0, 10**6),
    epsilon=st.floats(0.01, 30).map(lambda x: float(f"{x:.7g}")),
    dim=st.integers(2, 4),
)
def test_no_number_is_below_what_is_lost(name, seed, epsilon, dim):
    table = table_of(seed, dim)
    if "tight" in name:
        epsilon = feasible(table)
    channel = EVERY[name].prepare(table, epsilon, 0.0)
    text = " ".join(channel.law().said())
    everything = np.arange(12)
    claimed = channel.exponents(everything, everything)
    D = between(channel)
    apart = D > 0
    if channel.law().log_proba is not None:
        # what is really lost is what is claimed, or less
        logs = channel.law().log_proba(everything)
        with np.errstate(invalid="ignore"):  # −inf − (−inf): neither releases it
            gaps = np.where(np.isneginf(logs)[:, None], -np.inf, logs[:, None] - logs)
        true = gaps.max(axis=2)
        assert (true <= claimed + 1e-9 + 1e-9 * np.abs(claimed)).all()
    labels = getattr(channel, "labels", np.zeros(12))
    inside = np.equal.outer(labels, labels)
    said = {what: says(sentence, text) for sentence, what in STATEMENTS.items()}
    slack = 1 + 1e-9
    if (most := said["per distance"]) is not None:
        assert (claimed <= most * D * slack + 1e-9).all()
        assert most <= epsilon * 1.002  # and it is what was asked for
    if (most := said["all"]) is not None:
        assert claimed.max() <= most * slack
        assert claimed.max() >= most * 0.99
    if (most := said["half per distance"]) is not None:
        assert (claimed <= 2 * most * D * slack + 1e-9).all()
    if (most := said["inside"]) is not None:
        assert claimed[inside].max() <= most * slack
    if (most := said["neutral"]) is not None:
        neutral = np.ptp(channel.scores, axis=1) <= 0.1
        assert 2 <= neutral.sum() < 12
        assert claimed[np.ix_(neutral, neutral)].max() <= most * slack
        assert said["strength"] == pytest.approx(epsilon, rel=1e-3)
    if (rate := said["rate"]) is not None:
        inner = getattr(channel, "inner", channel)
        assert rate == pytest.approx(inner.rate, rel=1e-3)
        if said["kappa"] is not None:
            assert inner.rate * (1 + said["kappa"]) * slack >= inner.attained
    if (stated := said["kept"]) is not None:
        true = np.exp(channel.law().log_proba(everything)).diagonal().mean()
        assert stated == pytest.approx(true, rel=6e-3)
    if said["1 - p"] is not None:
        p = channel.mechanism.probability
        assert said["1 - p"] == pytest.approx(1 - p, rel=1e-9)
        if said["p"] is not None:
            assert said["p"] == pytest.approx(p, rel=1e-9)
    if "some pair loses exactly that" in text:
        lost = (claimed[apart] / D[apart]).max()
        assert lost == pytest.approx(said["per distance"], rel=2e-3)
    if "Every exponent is at most ε d(w, w')" in text:
        assert (claimed <= epsilon * D * slack + 1e-9).all()


@pytest.mark.parametrize("name", EVERY)
def test_every_number_that_is_printed_is_one_of_these(name):
    """A sentence with a new number gets a test, too."""
    table = table_of(0, 3)
    epsilon = feasible(table) if "tight" in name else 2.123456
    channel = EVERY[name].prepare(table, epsilon, 0.0)
    text = " ".join(channel.law().said())
    for sentence in STATEMENTS:
        text = re.sub(sentence.replace("NUMBER", _NUMBER), "", text)
    # counts of words, classes and lists, and what says nothing about a loss
    for plain in (
        r"\d+ of the 12 words", r"ln\(1/p\)", r"μ\(z\)", r"in \d+ public lists",
        r"about [\d.]+ bits \(of the [\d.]+ that", r"There are \d+ classes", r"'w\d+'",
        r"at most 0\.7 \(", r"times 1 \+ κ", "at most 2ε", "Every exponent is at most",
        r"at most 2a d", r"one of 3 public topics", r"from 0 to at most 1\.",
        r"\d+% of the words",
    ):  # fmt: skip
        text = re.sub(plain, "", text)
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
