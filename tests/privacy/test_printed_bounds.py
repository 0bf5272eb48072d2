"""Every printed bound is rounded up: nobody reads a promise that does not hold."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable

import numpy as np
import pytest

from skdptext import DPDocumentReplacer, DPWordPerturber, WordEmbedding
from skdptext.embeddings import one_hot_embedding
from skdptext.learning._guarantee import LearningPart
from skdptext.privacy import PrivacyGuarantee
from skdptext.privacy._statement import odds_factor
from skdptext.utils import percent_up, rounded_up

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


def of_stand_ins(epsilon: float) -> PrivacyGuarantee:
    k = int(RNG.integers(2, 12))
    public = [f"topic{i}" for i in range(k)]
    releaser = DPDocumentReplacer(public, public_labels=range(k), epsilon=epsilon)
    return releaser.fit().guarantee().compose(int(RNG.integers(1, 4)))


def of_models(epsilon: float) -> PrivacyGuarantee:
    delta = float(10 ** RNG.uniform(-9, -4))
    pure = ("person", epsilon, 0.0, 0)
    both = ("person", epsilon, delta, 40)
    return PrivacyGuarantee.of([LearningPart(*(pure if RNG.random() < 0.5 else both))])


def of_words(mechanism: str | None) -> Callable[[float], PrivacyGuarantee]:
    vectors = np.random.default_rng(2).standard_normal((60, 5))
    embedding = WordEmbedding([f"w{i}" for i in range(60)], vectors)
    options = {"mechanism": mechanism, "document_length": 7, "resize": "sample"}
    perturber = DPWordPerturber(embedding, lam=0, **options)
    return lambda e: perturber.set_params(epsilon=e).fit([]).guarantee()


ODDS = r"\s*(no useful bound|\S+)\s+exponent ([\d.,]+)(?: \(([\d.,]+)\))?"


@pytest.mark.parametrize(
    "make", [of_stand_ins, of_models, of_words(None), of_words("exponential")]
)
def test_every_row(make: Callable[[float], PrivacyGuarantee]) -> None:
    """On every page each bound is at least the number that it stands for."""
    for epsilon in RNG.uniform(0.05, 12, 16).tolist():
        guarantee = make(epsilon)
        told = re.search(r"epsilon=([\d.]+)", repr(guarantee))[1]
        assert float(told) >= guarantee.epsilon * EXACT
        for page in (str(guarantee), seen(guarantee)):
            for row in guarantee.rows():
                beside = page.partition(row["what"])[2]
                if "share" in row:
                    share = re.match(r"\s*([\d.]+)%", beside)[1]
                    assert float(share) >= 100 * row["share"] * EXACT
                    continue
                odds, pure, lower = re.match(ODDS, beside).groups()
                assert number(pure) >= row["exponent"] * EXACT
                assert number(lower or pure) >= row["exponent_with_delta"] * EXACT
                useless = row["delta"] and row["exponent_with_delta"] > 20
                assert (odds == "no useful bound") == bool(useless)
                assert useless or log_of(odds) >= row["exponent"] - 1e-9


def test_rows_and_verdicts_are_the_bounds() -> None:
    for epsilon in RNG.uniform(0.05, 8, 16).tolist():
        stand_ins, model = of_stand_ins(epsilon), of_models(epsilon)
        *found, odds = stand_ins.rows()
        shares = [row["share"] for row in found]
        assert shares == [stand_ins.found_at_most(n) for n in (10, 100, 1000)]
        assert odds["exponent"] == stand_ins.epsilon
        said = re.search(r"identifies more than (\d+) on average", str(stand_ins))[1]
        assert int(said) >= 100 * shares[1] * EXACT
        right, which, once, swapped = model.rows()
        assert right["share"] == model.right_at_most
        assert which["share"] == model.found_at_most(100)
        told = (once["exponent"], swapped["exponent"])
        assert told == (model.epsilon, model.epsilon_replace)
        said = re.search(r"at most ([\d.]+)% of the", str(model))[1]
        assert float(said) >= 100 * model.right_at_most * EXACT
        if model.delta:
            said = re.search(r"δ = ([\d.e-]+)", str(model))[1]
            assert float(said) >= model.delta * EXACT


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
