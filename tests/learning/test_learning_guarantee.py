"""What a model promises: true for every adversary, composed exactly, said in words."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy import stats

from skdptext import DPDocumentReplacer, DPTextClassifier, DPWordPerturber
from skdptext.exceptions import InvalidParameterError
from skdptext.learning._sums import GRID
from skdptext.mechanisms import discrete_gaussian, discrete_laplace, gaussian_delta
from skdptext.utils import NoiseStreams
from tests.learning.conftest import KINDS, exact_sums

ALPHA = 1e-6


@pytest.fixture
def guarantee_of(make, private):
    def made(kind, people=True, **options):
        texts, labels, authors = private
        model = make(kind, **options).fit(texts, labels, authors if people else None)
        return model.guarantee()

    return made


# -- true ------------------------------------------------------------------------------


def noisy(model, sums, n):
    """The releases of n fits, by the draws of a fit, (n, n_classes, n_features)."""
    (part,), stream = model.guarantee().parts, NoiseStreams(None, b"").open(b"")
    draw = discrete_gaussian if part.delta else discrete_laplace
    scale = part.gaussian_sigma or part.laplace_scale
    return (sums + draw(stream, scale, n * sums.size).reshape(n, *sums.shape)) / GRID


def log_ratios(model, releases, one, other):
    """ln Pr[release | one] − ln Pr[release | other]: no adversary knows more."""
    (part,) = model.guarantee().parts
    a, b = (releases - sums / GRID for sums in (one, other))
    if part.delta:
        return (b**2 - a**2).sum(axis=(1, 2)) / (2 * (part.gaussian_sigma / GRID) ** 2)
    return (abs(b) - abs(a)).sum(axis=(1, 2)) / (part.laplace_scale / GRID)


def share_right(model, with_person, without, n):
    """How often the best adversary is right, who tosses no coin but for equal odds."""
    right = 0
    for there, sums in ((True, with_person), (False, without)):
        ratios = log_ratios(model, noisy(model, sums, n), with_person, without)
        right += ((ratios > 0) == there).sum()
    return right / (2 * n)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("kind", "epsilon"),
    [("groups", 0.5), ("groups", 3.0), ("vectors", 1.0)],
)
def test_who_knows_everybody_else_is_right_no_more_often_than_printed(
    make, private, kind, epsilon
):
    """10^5 fits; false alarm 1e-6. And the bound is not far off."""
    texts, labels, authors = private
    model = make(kind, epsilon=epsilon).fit(texts, labels, authors)
    with_person = exact_sums(model, texts, labels, authors)
    stay = authors != authors[0]
    without = exact_sums(
        model,
        [text for text, here in zip(texts, stay, strict=True) if here],
        labels[stay],
        authors[stay],
    )
    n = 50_000
    right = share_right(model, with_person, without, n)
    at_most = model.guarantee().right_at_most
    assert (
        stats.binomtest(
            round(right * 2 * n), 2 * n, at_most, alternative="greater"
        ).pvalue
        > ALPHA
    )
    assert right > 0.5 + 0.4 * (at_most - 0.5)
    printed = re.search(r"more than ([\d.]+) times in", str(model.guarantee()))
    assert at_most <= float(printed[1]) / 100


def test_the_test_finds_sensitivity_of_documents(make, private):
    """A person who counts once for each document is found more often than printed."""
    texts, labels, authors = private
    model = make("groups", epsilon=1.0).fit(texts, labels, authors)
    person = np.full(8, authors[0])
    many = exact_sums(model, texts[:8], labels[:8])  # 8 documents, each counts 1
    nobody = exact_sums(model, [], [])
    right = share_right(model, many, nobody, 10_000)
    at_most = model.guarantee().right_at_most
    assert (
        stats.binomtest(
            round(right * 20_000), 20_000, at_most, alternative="greater"
        ).pvalue
        < ALPHA
    )
    once = exact_sums(model, texts[:8], labels[:8], person)
    assert share_right(model, once, nobody, 10_000) <= at_most


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["groups", "vectors"])
def test_membership_over_whole_fits(make, kind):
    """The same over 20,000 calls of fit; false alarm 1e-6."""
    model = make(kind)
    texts, labels = ["cat dog"], ["pets"]
    there, gone = (exact_sums(model, texts[:k], labels[:k]) for k in (1, 0))
    n, right = 10_000, 0
    for k in (1, 0):
        releases = np.array(
            [model.fit(texts[:k], labels[:k]).noisy_sums_ for _ in range(n)]
        )
        ratios = log_ratios(model, releases, there, gone)
        right += ((ratios > 0) == (k == 1)).sum()
    at_most = model.guarantee().right_at_most
    assert stats.binomtest(right, 2 * n, at_most, alternative="greater").pvalue > ALPHA


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_agree(guarantee_of, kind):
    guarantee = guarantee_of(kind)
    assert guarantee.epsilon == 1.0
    assert guarantee.delta_at(guarantee.epsilon) <= guarantee.delta
    assert guarantee.epsilon_replace <= 2.5
    replaced = guarantee.delta_at(guarantee.epsilon_replace, neighbours="replace")
    assert replaced <= guarantee.delta
    loss = type(guarantee.parts[0]).loss_of(guarantee.parts)
    assert loss.epsilon(guarantee.delta) <= 1.0 + 1e-9
    e = math.e
    assert 0.5 < guarantee.right_at_most <= (e + guarantee.delta) / (1 + e) + 1e-9
    assert guarantee.found_at_most(1) == 1.0
    for n in (2, 10, 100, 10**9):
        assert 1 / n <= guarantee.found_at_most(n) <= min(1, e / n + 1e-6) + 1e-9
    assert guarantee.numerical_delta == 0
    if kind == "groups":
        assert guarantee.epsilon_replace == 2.0
        assert guarantee.delta_at(0.0) == pytest.approx((e - 1) / (e + 1))
    else:
        assert loss.epsilon(0.0) == math.inf


def test_gaussian_noise_hides_better_than_its_epsilon_says(guarantee_of):
    guarantee = guarantee_of("vectors")
    (part,) = guarantee.parts
    mu = GRID / part.gaussian_sigma
    assert guarantee.right_at_most == pytest.approx(stats.norm.cdf(mu / 2), abs=1e-6)
    assert guarantee.right_at_most < 0.55


# -- composed ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_k_fits(guarantee_of, kind):
    one = guarantee_of(kind)
    three = one.compose(3)
    assert (three.releases, len(three.parts)) == (3, 1)
    assert three.delta == pytest.approx(3 * one.delta)
    assert three.epsilon <= 3.0
    if kind == "groups":
        assert three.epsilon == 3.0
    if kind == "vectors":
        # 1/σ² add up, and δ follows from the analytic curve
        (part,) = one.parts
        mu = math.sqrt(3) * GRID / part.gaussian_sigma
        assert gaussian_delta(three.epsilon, mu) == pytest.approx(3e-6, rel=1e-4)
        assert three.epsilon < 1.9
    assert three.compose(2).releases == 6
    assert one.compose(one).compose(one).epsilon == three.epsilon
    assert "3 models" in str(three).splitlines()[0]


def test_fits_of_different_kinds(guarantee_of):
    groups, vectors = guarantee_of("groups", epsilon=0.5), guarantee_of("vectors")
    both = groups.compose(vectors)
    assert both.kind == "sums"
    assert len(both.parts) == both.releases == 2
    assert both.delta == 1e-6
    assert both.epsilon == pytest.approx(1.5)
    added = groups.right_at_most + vectors.right_at_most - 0.5
    assert both.right_at_most <= added + 1e-9


def test_unlike_units_do_not_add_up(guarantee_of, public, words):
    person, document = guarantee_of("groups"), guarantee_of("groups", people=False)
    assert (person.unit, document.unit) == ("person", "document")
    both = person.compose(document)
    assert both.kind == "sums"
    assert (both.epsilon, both.unit, both.releases) == (None, None, 2)
    assert both.epsilon_of(1) == (2.0 + 2.0, 0.0)  # of each, a person replaced
    assert both.epsilon_of(5) == (2.0 + 10.0, 0.0)  # 5 documents, of the second
    replacer = DPDocumentReplacer(public, n_groups=2, epsilon=3.0).fit()
    perturber = DPWordPerturber(words, document_length=2).fit([])
    three = both.compose(replacer.guarantee())
    assert three.epsilon_of(5) == (27.0, 0.0)
    four = three.compose(perturber.guarantee())
    assert [each.unit for each in four.guarantees] == [
        "person", "document", "document", "word",
    ]  # fmt: skip
    assert four.epsilon_of(1)[0] == math.inf
    assert four.compose(2).releases == 8
    # those of one kind and unit do add up
    again = four.compose(person)
    assert again.guarantees[0].epsilon == 2.0
    assert len(again.guarantees) == 4
    assert len(four.compose(again).guarantees) == 4
    for one, other in (
        (perturber.guarantee(), replacer.guarantee()),
        (replacer.guarantee(), perturber.guarantee()),
    ):
        assert one.compose(other).epsilon is None
    said = " ".join(str(four).split())
    for start in ("Numbers of unlike units", "For a person: ", "For a word: "):
        assert start in said
    assert "besides the exponents of changed words" in said
    assert "unlike units" in four._repr_html_()
    with pytest.raises(InvalidParameterError, match="one kind and unit"):
        four.found_at_most(10)
    with pytest.raises(InvalidParameterError, match="other must be an integer >= 1"):
        four.compose("2")
    with pytest.raises(InvalidParameterError, match="n_documents"):
        four.epsilon_of(0)


def test_many_documents_of_gaussian_sums(guarantee_of):
    """The sensitivity grows with the documents, not the ε at one."""
    documents = guarantee_of("vectors", people=False)
    both = guarantee_of("groups").compose(documents)
    (part,) = documents.parts
    epsilon, delta = both.epsilon_of(4)
    mu = 2 * 4 * GRID / part.gaussian_sigma
    assert delta == 1e-6
    assert gaussian_delta(epsilon - 2.0, mu) == pytest.approx(1e-6, rel=1e-3)


# -- against others ------------------------------------------------------------------


@pytest.mark.slow
def test_against_dp_accounting(guarantee_of):
    """Google's accountant, for continuous noise, which whole numbers come close to."""
    dp_accounting = pytest.importorskip("dp_accounting")
    from dp_accounting import pld

    for kind, k in (("vectors", 1), ("vectors", 7), ("groups", 3)):
        guarantee = guarantee_of(kind).compose(k)
        (part,) = guarantee.parts
        accountant = pld.PLDAccountant(
            dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
        )
        if part.gaussian_sigma:
            noise = dp_accounting.GaussianDpEvent(part.gaussian_sigma / GRID)
            accountant.compose(noise, k)
        if part.laplace_scale:
            noise = dp_accounting.LaplaceDpEvent(part.laplace_scale / GRID)
            accountant.compose(noise, k)
        for delta in (1e-8, 1e-6, 1e-3):
            theirs = accountant.get_epsilon(delta)
            ours = part.loss.epsilon(delta)
            assert theirs <= ours * 1.001
            if kind == "vectors":
                assert ours <= theirs * 1.001


def test_no_guarantee_before_fit(public):
    from sklearn.exceptions import NotFittedError

    model = DPTextClassifier(public)
    for call in (model.guarantee, model.sample, lambda: model.predict(["a"])):
        with pytest.raises(NotFittedError):
            call()
