"""Every printed bound is rounded up: nobody reads a promise that does not hold."""

from __future__ import annotations

import html
import itertools
import math
import re

import numpy as np
import pytest

from skdptext import DPDocumentReplacer, DPWordPerturber, WordEmbedding
from skdptext.embeddings import one_hot_embedding
from skdptext.learning._guarantee import LearningPart
from skdptext.privacy import PrivacyGuarantee
from skdptext.utils import odds_factor, percent_up, rounded_up

RNG = np.random.default_rng(0)
# What decimals lose when they are read again, and bounds when they are computed
EXACT = 1 - 4e-12
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def log_of(text: str) -> float:
    """The logarithm of what is printed: 1,234 or 2.3·10⁵ or ∞."""
    if text == "∞":
        return math.inf
    digits, _, power = text.replace(",", "").partition("·10")
    return math.log(float(digits)) + int(power.translate(RAISED) or 0) * math.log(10)


def number(text: str) -> float:
    return math.exp(log_of(text))


def test_rounding() -> None:
    """2,000 numbers of each size; no more is added than a step of the last digit."""
    for bound in np.exp(RNG.uniform(-12, 6.9, 2000)).tolist():
        assert bound * EXACT <= float(rounded_up(bound, 3)) <= 1.0101 * bound
        assert bound * EXACT <= float(rounded_up(bound)) <= 1.00101 * bound
        share = bound / 1000
        assert share * EXACT <= float(percent_up(share)[:-1]) / 100 <= share + 0.001001
    for exponent in RNG.uniform(0, 600, 2000).tolist():
        printed = log_of(odds_factor(exponent))
        assert exponent - 1e-9 <= printed <= exponent + math.log(1.101)
    assert odds_factor(math.inf) == "∞"
    assert rounded_up(0.25, 3) == "0.25"  # what is exact stays as it is
    assert percent_up(0.05) == "5.0%"


def seen(guarantee: PrivacyGuarantee) -> str:
    """What a notebook shows, without the tags."""
    view = re.sub(r"<style>.*?</style>", "", guarantee._repr_html_(), flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", view))


def test_guarantees_of_stand_ins() -> None:
    for k, epsilon in zip(itertools.cycle((2, 3, 7, 12)), RNG.uniform(0.01, 9, 48)):
        public = [f"topic{i}" for i in range(k)]
        releaser = DPDocumentReplacer(public, public_labels=range(k), epsilon=epsilon)
        guarantee = releaser.fit().guarantee().compose(int(RNG.integers(1, 4)))
        share = guarantee.found_at_most(100)
        told = re.search(r"epsilon=([\d.]+)", repr(guarantee))[1]
        assert float(told) >= guarantee.epsilon * EXACT
        for page in (str(guarantee), seen(guarantee)):
            rows = re.findall(r"among ([\d,]+) candidates\s+([\d.]+)%", page)
            assert len(rows) == 3
            for n, printed in rows:
                bound = guarantee.found_at_most(int(n.replace(",", "")))
                assert float(printed) >= 100 * bound * EXACT
            least = int(re.search(r"identifies more than (\d+) on average", page)[1])
            assert least >= 100 * share * EXACT
            odds, epsilon = re.search(
                r"multiplied by\s+(\S+)\s+exponent (\S+)", page
            ).groups()
            assert number(odds) >= math.exp(guarantee.epsilon) * EXACT
            assert number(epsilon) >= guarantee.epsilon * EXACT


def test_guarantees_of_models() -> None:
    for epsilon in RNG.uniform(0.05, 6, 25).tolist():
        delta = float(10 ** RNG.uniform(-9, -4))
        parts = [
            LearningPart("person", epsilon, 0.0, 0),
            LearningPart("person", epsilon, delta, 40),
        ]
        for part in parts:
            guarantee = PrivacyGuarantee.of([part])
            for page in (str(guarantee), seen(guarantee)):
                right = re.search(r"more than ([\d.]+) times in", page)[1]
                assert float(right) >= 100 * guarantee.right_at_most * EXACT
                bounds = guarantee.right_at_most, guarantee.found_at_most(100)
                for printed, bound in zip(
                    re.findall(r"right about wh.*? is in it\s+([\d.]+)%", page),
                    bounds,
                    strict=True,
                ):
                    assert float(printed) >= 100 * bound * EXACT
                for (odds, printed), exact in zip(
                    re.findall(r"odds of any .*?\s+(\S+)\s+exponent (\S+)", page),
                    (guarantee.epsilon, guarantee.epsilon_replace),
                    strict=True,
                ):
                    assert number(odds) >= math.exp(exact) * EXACT
                    assert number(printed) >= exact * EXACT
            if part.delta:
                said = float(re.search(r"δ = ([\d.e-]+)", str(guarantee))[1])
                assert said >= part.delta * EXACT


@pytest.mark.parametrize("mechanism", ["exponential", None])
def test_guarantees_of_words(mechanism: str | None) -> None:
    """The table of the human scale."""
    vectors = np.random.default_rng(2).standard_normal((60, 5))
    embedding = WordEmbedding([f"w{i}" for i in range(60)], vectors)
    perturber = DPWordPerturber(
        embedding, mechanism=mechanism, lam=0, document_length=7, resize="sample"
    )
    for epsilon in RNG.uniform(0.5, 40, 8).tolist():
        guarantee = perturber.set_params(epsilon=epsilon).fit([]).guarantee()
        rows = guarantee.rows()[2:]
        for page in (str(guarantee), seen(guarantee)):
            found = re.findall(
                r"in which .*? (?:neighbour|random word)\s+(\S+|no useful bound)\s+"
                r"exponent ([\d.,]+)(?: \(([\d.,]+)\))?",
                page,
            )
            for row, (odds, pure, lower) in zip(rows, found, strict=True):
                assert number(pure) >= row["exponent"] * EXACT
                assert number(lower or pure) >= row["exponent_with_delta"] * EXACT
                if row["exponent_with_delta"] > 20:
                    assert odds == "no useful bound"
                else:
                    assert log_of(odds) >= row["exponent"] - 1e-9
        told = float(re.search(r"epsilon=([\d.]+)", repr(guarantee))[1])
        assert told >= epsilon * EXACT


def test_guarantees_side_by_side() -> None:
    public = ["one", "two", "three"]
    stand_in = DPDocumentReplacer(public, public_labels=public, epsilon=1.23456).fit()
    part = LearningPart("person", 1.0, 0.0, 0)
    both = stand_in.guarantee().compose(PrivacyGuarantee.of([part]))
    for n, printed in zip(
        (1, 10), re.findall(r"ε = ([\d.]+)", str(both)), strict=False
    ):
        assert float(printed) >= both.epsilon_of(n)[0] * EXACT


def test_words_of_one_distance_have_one_exponent() -> None:
    """Randomized response: what is printed beside an exact 3 is 3."""
    perturber = DPWordPerturber(one_hot_embedding(5), mechanism="randomized-response")
    guarantee = perturber.set_params(epsilon=3.0).fit([]).guarantee()
    assert "exponent 3\n" in str(guarantee)
