"""What a model promises: true for every adversary, composed exactly, said in words."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy import stats

from skdptext import DPDocumentReplacer, DPTextClassifier, DPWordPerturber
from skdptext.audit import audit_training
from skdptext.base import NoiseStreams
from skdptext.exceptions import InvalidParameterError
from skdptext.learning._features import GRID
from skdptext.mechanisms import discrete_gaussian, discrete_laplace, gaussian_delta
from skdptext.privacy import LearningPart, PrivacyGuarantee
from tests.learning.conftest import KINDS, NUMBERS, Largest, Numbers, exact_sums, kept

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
    noise = draw(stream, part.scale, n * sums.size).reshape(n, *sums.shape)
    return (sums + noise) / GRID


def log_ratios(model, releases, one, other):
    """ln Pr[release | one] − ln Pr[release | other]: no adversary knows more."""
    (part,) = model.guarantee().parts
    a, b = (releases - sums / GRID for sums in (one, other))
    if part.delta:
        return (b**2 - a**2).sum(axis=(1, 2)) / (2 * (part.scale / GRID) ** 2)
    return (abs(b) - abs(a)).sum(axis=(1, 2)) / (part.scale / GRID)


def times_right(model, there, gone, n):
    """How often of 2 n times the best adversary is right about who is there."""
    ratios = [
        log_ratios(model, noisy(model, sums, n), there, gone) for sums in (there, gone)
    ]
    return (ratios[0] > 0).sum() + (ratios[1] <= 0).sum()


def more_often_than(right, n, at_most):
    """Whether the count refutes the bound; false alarm 1e-6."""
    test = stats.binomtest(int(right), 2 * n, at_most, alternative="greater")
    return test.pvalue < ALPHA


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("kind", "epsilon"), [("groups", 0.5), ("groups", 3.0), ("vectors", 1.0)]
)
def test_who_knows_everybody_else_is_right_no_more_often_than_printed(
    make, private, kind, epsilon
):
    """10^5 fits. And the bound is not far off."""
    model, stay = make(kind, epsilon=epsilon).fit(*private), private[2] != private[2][0]
    sums = exact_sums(model, *private), exact_sums(model, *kept(stay, *private))
    n, at_most = 50_000, model.guarantee().right_at_most
    right = times_right(model, *sums, n)
    assert not more_often_than(right, n, at_most)
    assert right / (2 * n) > 0.5 + 0.4 * (at_most - 0.5)
    printed = re.search(r"at most ([\d.]+)% of", str(model.guarantee()))
    assert at_most <= float(printed[1]) / 100


def test_the_test_finds_sensitivity_of_documents(make, private):
    """A person who counts once for each document is found more often than printed."""
    model, (texts, labels, _) = make("groups").fit(*private), private
    nobody, at_most = exact_sums(model, [], []), model.guarantee().right_at_most
    for authors, refuted in ((None, True), (np.zeros(8, int), False)):
        sums = exact_sums(model, texts[:8], labels[:8], authors)
        right = times_right(model, sums, nobody, 10_000)
        assert more_often_than(right, 10_000, at_most) == refuted


class Quick(DPTextClassifier):
    """Without predictions, which train a student, and follow from the noisy sums."""

    predict_proba = property()  # an audit would ask for them in each fit


def quick(kind):
    encoder = {"groups": Largest, "vectors": Numbers}[kind]()
    return Quick(NUMBERS, encoder, classes=["food", "pets"])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_membership_over_whole_fits(kind):
    """The same over 10,000 calls of fit.

    An adversary who is right more often than printed by 0.03 is found with 0.9.
    """
    model, texts, labels, n = quick(kind), ["3 1 2"], ["pets"], 5000
    there, gone = (exact_sums(model, texts[:k], labels[:k]) for k in (1, 0))
    right = 0
    for k in (1, 0):
        fits = [model.fit(texts[:k], labels[:k]).noisy_sums_ for _ in range(n)]
        right += ((log_ratios(model, np.array(fits), there, gone) > 0) == k).sum()
    assert not more_often_than(right, n, model.guarantee().right_at_most)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_audits_are_silent_at_the_stated_rate(kind):
    """60 of each kind, of which a tenth may raise a false alarm.

    Refuted from 20 alarms on: a rate of 0.5 is found with 0.99.
    """
    texts = [f"{i} {i % 2} {-i}" for i in range(6)]
    options = {"n_fits": 100, "confidence": 0.9}
    model, labels = quick(kind), ["pets", "food"] * 3
    alarms = sum(
        audit_training(model, texts, labels, 0, random_state=i, **options).violated
        for i in range(60)
    )
    assert stats.binomtest(alarms, 60, 0.1, alternative="greater").pvalue > ALPHA


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_agree(guarantee_of, kind):
    guarantee, grouped = guarantee_of(kind), kind == "groups"
    (part,), e = guarantee.parts, math.e
    assert (guarantee.unit, guarantee.epsilon) == ("person", 1.0)
    assert guarantee_of(kind, people=False).unit == "document"
    assert guarantee.delta == (0.0 if grouped else 1e-6)
    assert guarantee.delta_at(1.0) <= guarantee.delta
    assert part.loss.epsilon(guarantee.delta) <= 1.0 + 1e-9
    assert guarantee.epsilon_replace <= 2.5
    replaced = guarantee.delta_at(guarantee.epsilon_replace, adjacency="replace")
    assert replaced <= guarantee.delta
    assert 0.5 < guarantee.right_at_most <= (e + guarantee.delta) / (1 + e) + 1e-9
    assert guarantee.found_at_most(1) == 1.0
    for n in (2, 10, 100, 10**9):
        assert 1 / n <= guarantee.found_at_most(n) <= min(1, e / n + 1e-6) + 1e-9
    if grouped:
        assert (part.n_cells, part.scale) == (0, 2**30)
        assert guarantee.epsilon_replace == 2.0
        assert guarantee.delta_at(0.0) == pytest.approx((e - 1) / (e + 1))
    else:
        assert (part.n_cells, part.loss.epsilon(0.0)) == (14, math.inf)
        # Gaussian noise hides better than its ε says
        right = stats.norm.cdf(GRID / part.scale / 2)
        assert guarantee.right_at_most == pytest.approx(right, abs=1e-6)
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
        mu = math.sqrt(3) * GRID / part.scale
        assert gaussian_delta(three.epsilon, mu) == pytest.approx(3e-6, rel=1e-4)
        assert three.epsilon < 1.9
    assert three.compose(2).releases == 6
    assert one.compose(one).compose(one).epsilon == three.epsilon


def test_fits_of_different_kinds(guarantee_of):
    groups, vectors = guarantee_of("groups", epsilon=0.5), guarantee_of("vectors")
    both = groups.compose(vectors)
    assert (both.kind, len(both.parts), both.releases) == ("sums", 2, 2)
    assert both.delta == 1e-6
    assert both.epsilon == pytest.approx(1.5)
    added = groups.right_at_most + vectors.right_at_most - 0.5
    assert both.right_at_most <= added + 1e-9


def test_unlike_units_do_not_add_up(guarantee_of, public, words):
    person, document = guarantee_of("groups"), guarantee_of("groups", people=False)
    replacer = DPDocumentReplacer(public, n_groups=2, epsilon=3.0).fit().guarantee()
    perturber = DPWordPerturber(words, document_length=2).fit([]).guarantee()
    both = person.compose(document)
    assert (both.epsilon, both.unit, both.releases) == (None, None, 2)
    assert both.epsilon_of(1) == (2.0 + 2.0, 0.0)  # of each, a person replaced
    assert both.epsilon_of(5) == (2.0 + 10.0, 0.0)  # 5 documents, of the second
    assert both.compose(replacer).epsilon_of(5) == (27.0, 0.0)
    assert perturber.compose(replacer).epsilon is None
    four = both.compose(replacer).compose(perturber)
    units = [each.unit for each in four.guarantees]
    assert units == ["person", "document", "document", "word"]
    assert (four.epsilon_of(1)[0], four.compose(2).releases) == (math.inf, 8)
    again = four.compose(person)  # those of one kind and unit do add up
    assert again.guarantees[0].epsilon == 2.0
    assert len(again.guarantees) == len(four.compose(again).guarantees) == 4
    for call in (lambda: four.found_at_most(10), lambda: four.epsilon_of(0)):
        with pytest.raises(InvalidParameterError):
            call()


def test_many_documents_of_gaussian_sums(guarantee_of):
    """The sensitivity grows with the documents, not the ε at one."""
    documents = guarantee_of("vectors", people=False)
    both = guarantee_of("groups").compose(documents)
    (part,) = documents.parts
    epsilon, delta = both.epsilon_of(4)
    mu = 2 * 4 * GRID / part.scale
    assert delta == 1e-6
    assert gaussian_delta(epsilon - 2.0, mu) == pytest.approx(1e-6, rel=1e-3)


@pytest.mark.slow
def test_against_dp_accounting(guarantee_of):
    """Google's accountant, for continuous noise, which whole numbers come close to."""
    dp_accounting = pytest.importorskip("dp_accounting")
    from dp_accounting import pld

    groups, vectors = guarantee_of("groups"), guarantee_of("vectors")
    both = groups.compose(vectors)
    for once, k in ((vectors, 1), (vectors, 7), (groups, 3), (both, 4)):
        loss = LearningPart.loss_of(once.compose(k).parts)
        accountant = pld.PLDAccountant(
            dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
        )
        for part in once.parts:
            if part.delta:
                noise = dp_accounting.GaussianDpEvent(part.scale / GRID)
            else:
                noise = dp_accounting.LaplaceDpEvent(part.scale / GRID)
            accountant.compose(noise, k)
        for delta in (1e-8, 1e-6, 1e-3):
            theirs = accountant.get_epsilon(delta)
            ours = loss.epsilon(delta)
            assert theirs <= ours * 1.001
            if once is vectors:
                assert ours <= theirs * 1.001


def test_an_infinite_epsilon_promises_nothing():
    part = LearningPart("person", 1e308, 0.0, 0, releases=10**9)
    guarantee = PrivacyGuarantee.of([part])
    assert guarantee.epsilon == np.inf
    assert guarantee.found_at_most(100) == guarantee.right_at_most == 1.0
