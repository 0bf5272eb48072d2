"""What a guarantee says: rows by brute force, verdicts, and bounds rounded up."""

import html
import math
import re

import numpy as np
import pytest

from skdptext import DPDocumentReplacer
from skdptext.mechanisms import LossDistribution
from skdptext.privacy import LearningPart, PrivacyGuarantee
from skdptext.privacy._statement import _small, odds_factor
from skdptext.privacy._words import WordPart
from skdptext.utils import percent_up, rounded_up
from tests.channels import guaranteed
from tests.laws import distances
from tests.privacy.test_stored_guarantees import KINDS, perturber


@pytest.mark.parametrize("resampled", [False, True])
@pytest.mark.parametrize(("lam", "n_words"), [(0, 5), (0.6, 5), (0.4, 1), (0, None)])
def test_rows_are_medians_of_the_embedding(small_embedding, lam, n_words, resampled):
    if resampled and n_words is None:
        return
    options = {"n_words": n_words, "releases": 2, "resampled": resampled}
    table = small_embedding.restrict(50)  # all of which are sampled
    guarantee = guaranteed(3.0, lam, table, **options)
    apart, euclidean = (distances(table.vectors, at) for at in (lam, 0))
    others = ~np.eye(50, dtype=bool)
    nearest = apart[np.arange(50), np.where(others, euclidean, np.inf).argmin(axis=1)]
    random = apart[others]
    rows = guarantee.rows()
    times = [1, n_words or 10] if n_words != 1 or resampled else [1]
    assert len(rows) == 2 * len(times)
    for n, near, far in zip(times, rows[::2], rows[1::2], strict=True):
        assert near["exponent"] == pytest.approx(6 * n * np.median(nearest), rel=1e-6)
        # a sample of 50 of the pairs
        assert far["exponent"] == pytest.approx(6 * n * np.median(random), rel=0.1)
        # of the pair at the median, which is the upper of the middle two
        at = np.sort(nearest)[25]
        loss = LossDistribution.of_noise(3 * at, 8).times(2 * n)
        small = min(6 * n * at, loss.exponent(1e-6))
        assert near["exponent_with_delta"] == pytest.approx(small, rel=1e-6)


# Exponents of a word to its nearest neighbor, to a random word, and between documents.
VERDICTS = [
    (0, 0, 0, "DENIABLE. TYPICAL DOCUMENTS ARE DENIABLE."),
    (0.5, 1, 3, "DENIABLE. TYPICAL DOCUMENTS ARE PARTLY DENIABLE."),
    (3, 3, 4.6, "PARTLY DENIABLE. TYPICAL DOCUMENTS ARE PARTLY DENIABLE."),
    (0.5, 20, 40, "PARTLY DENIABLE, AGAINST SIMILAR WORDS ONLY. NOTHING"),
    (4.6, 10, 20, "PARTLY DENIABLE. NOTHING USEFUL IS PROMISED FOR DOCUMENTS."),
    # the odds of neighbors change by more than a factor of 100
    (4.61, 40, 80, "HARDLY DENIABLE. NOTHING"),
    (1, 3, 4.61, "PARTLY DENIABLE. TYPICAL DOCUMENTS ARE HARDLY DENIABLE."),
    (10, 10, 10, "HARDLY DENIABLE. TYPICAL DOCUMENTS ARE HARDLY DENIABLE."),
    # the best guess is right nearly always
    (10.1, 10.1, 10.1, "NOT DENIABLE. NOTHING USEFUL IS PROMISED FOR DOCUMENTS."),
    (19.8, 30, 60, "NOT DENIABLE. NOTHING"),
    (math.inf, math.inf, math.inf, "NOT DENIABLE. NOTHING"),
]


@pytest.mark.parametrize(("near", "far", "whole", "verdict"), VERDICTS)
def test_the_verdict_is_what_the_numbers_come_to(
    monkeypatch, near, far, whole, verdict
):
    bounds = [(t, t) for t in (near, far, near, whole)]
    monkeypatch.setattr(WordPart, "bounds", lambda part, *sizes: bounds)
    said = str(perturber(document_length=2).guarantee()).split("\n\n")[1]
    assert " ".join(said.split()).startswith(f"SINGLE WORDS ARE {verdict}")
    assert ("Do not rely on this release" in said) == ("NOTHING USEFUL" in said)


def stand_ins(epsilon, groups):
    texts = [f"topic{i}" for i in range(groups)]
    made = DPDocumentReplacer(texts, public_labels=range(groups), epsilon=epsilon)
    return made.fit().guarantee()


def sums(epsilon):
    return PrivacyGuarantee.of([LearningPart("person", epsilon, 0.0, 0)])


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        (lambda: stand_ins(4.0, 4), "THE IDENTITY OF A DOCUMENT IS HIDDEN."),
        (lambda: stand_ins(4.0, 6), "THE IDENTITY OF A DOCUMENT IS PARTLY HIDDEN."),
        (lambda: stand_ins(20.0, 80), "NOTHING USEFUL IS PROMISED FOR A DOCUMENT."),
        (lambda: sums(1.0), "WHETHER ONE PERSON TOOK PART IS HIDDEN."),
        (lambda: sums(2.0), "WHETHER ONE PERSON TOOK PART IS PARTLY HIDDEN."),
        (lambda: sums(4.0), "NOTHING USEFUL IS PROMISED FOR A PERSON."),
    ],
)
def test_the_verdict_on_stand_ins_and_sums(made, verdict):
    assert f"\n\n{verdict}\n" in str(made())


@pytest.mark.parametrize("name", KINDS)
def test_one_statement_as_text_and_as_html(name):
    guarantee = KINDS[name]().with_caveat("Nothing holds.")
    assert "Nothing holds." not in str(KINDS[name]())
    for said in (str(guarantee), seen(guarantee)):
        in_line = " ".join(said.split())
        assert "WARNING. Nothing holds." in in_line
        for limit in guarantee.limits:
            assert limit in in_line
        for row in guarantee.rows():
            assert row["what"] in in_line
            assert math.isfinite(row.get("exponent", row.get("share", 0.0)))


# -- every printed bound is rounded up -------------------------------------------------

RNG = np.random.default_rng(0)
# What decimals lose when they are read again, and bounds when they are computed
EXACT = 1 - 4e-12
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def log_of(text):
    """The logarithm of what is printed: 1,234 or 2.3·10⁵ or ∞."""
    if text == "∞":
        return math.inf
    digits, _, power = text.replace(",", "").partition("·10")
    return math.log(float(digits)) + int(power.translate(RAISED) or 0) * math.log(10)


def number(text):
    return math.exp(log_of(text))


@pytest.mark.parametrize("name", KINDS)
def test_changed_rows_do_not_change_the_promise(name):
    guarantee = KINDS[name]()
    said = str(guarantee)
    for row in guarantee.rows():
        row.update(dict.fromkeys(row, 0))
    guarantee.limits.clear()
    assert str(guarantee) == said
    assert all(row["what"] for row in guarantee.rows())


def test_rounding():
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
    for delta in np.r_[1e-6, np.exp(np.linspace(-80, -1, 2000))]:
        printed = log_of(re.sub("^10", "1·10", _small(delta)))
        assert math.log(delta) - 1e-9 <= printed <= math.log(1.0101 * delta)
    assert rounded_up(0.25, 3) == "0.25"  # what is exact stays as it is
    assert percent_up(0.05) == "5.0%"


def seen(guarantee):
    """What a notebook shows, without the tags."""
    view = re.sub(r"<style>.*?</style>", "", guarantee._repr_html_(), flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", view))


def of_stand_ins(epsilon):
    guarantee = stand_ins(epsilon, int(RNG.integers(2, 12)))
    return guarantee.compose(int(RNG.integers(1, 4)))


def of_models(epsilon):
    delta = float(10 ** RNG.uniform(-9, -4))
    pure = ("person", epsilon, 0.0, 0)
    both = ("person", epsilon, delta, 40)
    return PrivacyGuarantee.of([LearningPart(*(pure if RNG.random() < 0.5 else both))])


def of_words(mechanism):
    options = {"mechanism": mechanism, "document_length": 7, "resize": "sample"}
    return lambda e: perturber(epsilon=e, lam=0, **options).guarantee()


ODDS = r"\s*(no useful bound|\S+)\s+exponent ([\d.,]+)(?: \(([\d.,]+)\))?"


@pytest.mark.parametrize(
    "make", [of_stand_ins, of_models, of_words(None), of_words("exponential")]
)
def test_every_row(make):
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


def test_rows_and_verdicts_are_the_bounds():
    for epsilon in RNG.uniform(0.05, 8, 16).tolist():
        stand_ins, model = of_stand_ins(epsilon), of_models(epsilon)
        *found, odds = (
            row.get("share", row.get("exponent")) for row in stand_ins.rows()
        )
        assert found == [stand_ins.found_at_most(n) for n in (10, 100, 1000)]
        assert odds == stand_ins.epsilon
        of_model = [row.get("share", row.get("exponent")) for row in model.rows()]
        right = model.right_at_most
        found_at_most, replaced = model.found_at_most(100), model.epsilon_replace
        assert of_model == [right, found_at_most, model.epsilon, replaced]
        for pattern, made, least in (
            (r"identifies more than (\d+) on average", stand_ins, 100 * found[1]),
            (r"at most ([\d.]+)% of the", model, 100 * right),
            (r"δ = ([\d.e-]+)" if model.delta else "^", model, model.delta),
        ):
            said = re.search(pattern, str(made))
            assert float(said[1] if said.groups() else 0) >= least * EXACT


def test_guarantees_side_by_side():
    words = perturber().guarantee()
    both = stand_ins(1.23456, 3).compose(sums(1.0))
    printed = re.findall(r"ε = ([\d.]+)", str(both))
    for n, epsilon in zip((1, 10), printed, strict=False):
        assert float(epsilon) >= both.epsilon_of(n)[0] * EXACT
    # each part of words has its rows
    told = both.compose(words).compose(perturber(epsilon=5.0).guarantee()).rows()
    nearest = [row["exponent"] for row in told if "its nearest" in row["what"]]
    assert nearest[1] == pytest.approx(2.5 * nearest[0])
