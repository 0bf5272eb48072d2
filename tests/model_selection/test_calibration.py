"""The ε for a wanted share of unchanged words."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn.base import clone
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.exceptions import (
    CalibrationWarning,
    InvalidParameterError,
    PrivacyLeakWarning,
)
from skdptext.mechanisms import (
    Exponential,
    MahalanobisNoise,
    RandomizedResponse,
)
from skdptext.metrics import plausible_deniability
from skdptext.model_selection import calibrate_epsilon
from tests.channels import KnownNoise
from tests.expected import no_warning, refusals
from tests.laws import ALPHA

pytestmark = pytest.mark.filterwarnings(
    "ignore::skdptext.exceptions.PrivacyLeakWarning",
    "ignore::skdptext.exceptions.CalibrationWarning",
)

# Each word stays itself with probability 1 - exp(-ε/2)/2.
LINE = DPWordPerturber(WordEmbedding(["aa", "bb"], [[0.0], [1.0]]))
# Calibrations whose coverage is counted: of 60, a coverage below 64 % is found with .9.
REPEATS = [60, pytest.param(300, marks=pytest.mark.slow)]


def closed_form(target):
    return -2 * np.log(2 * (1 - target))


@pytest.fixture
def small(small_embedding):
    return DPWordPerturber(small_embedding, epsilon=1.0, lam=0.5).fit([])


@pytest.mark.no_cover
@pytest.mark.parametrize("repeats", REPEATS)
def test_interval_covers_the_law(repeats):
    # 95 % nominal; a coverage outside the range of a binomial of 93 to 97 % would
    # fail, at the stated rate.
    hits, line = 0, LINE.fit([])
    for _ in range(repeats):
        low, high = calibrate_epsilon(line, 0.8, n_draws=10).interval
        hits += low <= closed_form(0.8) <= high
    assert stats.binom.cdf(hits, repeats, 0.93) > ALPHA
    assert stats.binom.sf(hits - 1, repeats, 0.97) > ALPHA


# Forty times the two words of LINE, far from each other, some frequent and some rare.
PAIRS = DPWordPerturber(
    WordEmbedding(
        [f"w{i}" for i in range(80)],
        np.add.outer(1000.0 * np.arange(40), [0.0, 1.0]).reshape(-1, 1),
    ),
    lam=0.0,
)
FREQUENCIES = {f"w{i}": 1 / (1 + i) for i in np.random.default_rng(0).permutation(80)}


@pytest.mark.no_cover
@pytest.mark.parametrize("repeats", REPEATS)
def test_what_was_asked_for_or_more_changes(repeats):
    """In 95 of 100 calibrations, and with as much error as they state."""
    pairs = PAIRS.fit([])
    given = {"n_draws": 10, "statistic": "changed", "words": FREQUENCIES}
    safe, misses, errors = 0, [], []
    for _ in range(repeats):
        sure = calibrate_epsilon(pairs, 0.2, **given)
        safe += sure.epsilon <= closed_form(0.8)
        beyond = sure.share - 0.2
        assert 1.64 * sure.standard_error < beyond < 1.65 * sure.standard_error + 0.01
        half = calibrate_epsilon(pairs, 0.2, confidence=0.5, **given)
        misses.append(0.8 - (1 - np.exp(-half.epsilon / 2) / 2))
        errors.append(half.standard_error)
    # a coverage outside the range of a binomial of 93 to 97 % would fail
    assert stats.binom.cdf(safe, repeats, 0.93) > ALPHA
    assert stats.binom.sf(safe - 1, repeats, 0.97) > ALPHA
    # the variance of about normal misses, within 15 % for what is not normal of them
    ratio = np.sum(np.square(misses)) / np.mean(np.square(errors))
    assert 0.85 * stats.chi2.ppf(ALPHA, repeats) < ratio
    assert ratio < 1.15 * stats.chi2.isf(ALPHA, repeats)
    # as that of 200 draws, and not of ten: one word of each pair changes at most
    single = np.sqrt(0.6 * 0.4) / 2
    assert np.mean(errors) < 0.4 * single / np.sqrt(10)


def test_more_confidence_costs_more():
    pairs, given = PAIRS.fit([]), {"words": FREQUENCIES, "random_state": 0}
    found = [
        calibrate_epsilon(pairs, 0.8, confidence=c, **given)
        for c in (0.5, 0.8, 0.95, 0.999)
    ]
    epsilons = [calibration.epsilon for calibration in found]
    assert epsilons == sorted(epsilons, reverse=True)
    assert len(set(epsilons)) == 4
    assert len({calibration.interval for calibration in found}) == 1
    exact = clone(PAIRS).set_params(mechanism=RandomizedResponse()).fit([])
    for confidence in (0.5, 0.999):
        calibration = calibrate_epsilon(exact, 0.8, confidence=confidence, **given)
        assert calibration.share == pytest.approx(0.8, abs=1e-7)
    with pytest.raises(InvalidParameterError, match="Draws are too few to be sure of"):
        # about half of the draws leave the word as it is at every ε
        calibrate_epsilon(LINE.fit([]), 0.55, words=["aa"], n_draws=2, random_state=0)


@pytest.mark.no_cover
@pytest.mark.parametrize("target", [0.6, 0.9, 0.99])
def test_closed_form(target):
    n = 5_000
    calibrated = calibrate_epsilon(LINE.fit([]), target, n_draws=n, confidence=0.5)
    assert (calibrated.n_words, calibrated.n_draws, calibrated.target) == (2, n, target)
    # of 20 n independent draws, each of which changes at most one of the two words
    p = 2 * target - 1
    error = np.sqrt(p * (1 - p) / (20 * n)) / 2
    true = 1 - np.exp(-calibrated.epsilon / 2) / 2
    assert abs(true - target) < 6 * error  # false alarm 2e-9
    np.testing.assert_allclose(calibrated.standard_error, error, rtol=0.05)


def test_share_is_reached_on_the_noise_drawn(small_embedding):
    rng = np.random.default_rng(0)
    noise = 3 * rng.normal(size=(60, 8))
    small = DPWordPerturber(
        small_embedding, mechanism=KnownNoise(noise), document_length=1
    ).fit([])
    for target in (0.2, 0.5, 0.9):
        calibrated = calibrate_epsilon(small, target, n_draws=60, confidence=0.5)
        assert -1e-12 < calibrated.share - target < 1 / (200 * 60) + 1e-12
        # a little to the side, for the rounding of float32
        below, above = plausible_deniability(
            small,
            epsilons=[calibrated.epsilon * (1 - 1e-4), calibrated.epsilon * (1 + 1e-4)],
            n_draws=60,
        ).n_unchanged.mean(axis=(1, 2))
        assert below / 60 <= calibrated.share <= above / 60
        assert above / 60 - below / 60 < 0.002
        low, high = calibrated.interval
        ends = plausible_deniability(
            small, epsilons=[low * 0.999, high * 1.001], n_draws=60
        )
        misses = np.abs(ends.n_unchanged.mean(axis=(1, 2)) / 60 - target)
        assert (misses > 1.6 * calibrated.standard_error).all()
        assert (misses < 2.4 * calibrated.standard_error).all()


def test_rises_with_the_target(small):
    targets = [0.1, 0.3, 0.301, 0.6, 0.95]
    epsilons = [calibrate_epsilon(small, t, random_state=1).epsilon for t in targets]
    assert epsilons == sorted(epsilons)
    assert len(set(epsilons)) == len(epsilons)
    assert small.epsilon == 1.0


def test_options(small):
    one = calibrate_epsilon(small, 0.3, random_state=2)
    assert dataclasses.astuple(one) == dataclasses.astuple(
        calibrate_epsilon(small, 0.3, random_state=2)
    )
    changed = calibrate_epsilon(small, 0.7, statistic="changed", random_state=2)
    assert (changed.epsilon, changed.interval) == (one.epsilon, one.interval)
    np.testing.assert_allclose(changed.share, 1 - one.share)
    two = calibrate_epsilon(small, 0.3, words=["w1", "w2"], random_state=2)
    assert two.n_words == 2
    assert two.epsilon != one.epsilon
    assert one.interval[0] < one.epsilon < one.interval[1]


def test_open_intervals():
    # Twenty times two draws tell little. At small ε about half of them leave a word.
    ends = [
        calibrate_epsilon(
            LINE.fit([]), target, words=["aa"], n_draws=2, random_state=seed,
            confidence=0.5,
        ).interval
        for seed in range(10)
        for target in (0.7, 0.98)
    ]  # fmt: skip
    assert any(low == 0 for low, _ in ends)
    assert any(high == np.inf for _, high in ends)


def test_targets_out_of_reach():
    line = LINE.fit([])
    for options in ({}, {"statistic": "changed"}):
        target = 0.3 if not options else 0.7
        with pytest.raises(InvalidParameterError, match="target must be a share that"):
            calibrate_epsilon(line, target, n_draws=1000, **options)
    twins = WordEmbedding(["a", "b", "c"], [[0.0], [0.0], [1.0]])
    perturber = DPWordPerturber(twins, lam=0).fit([])
    with pytest.raises(InvalidParameterError, match=r"and 0\.6667 here, got 0\.9"):
        calibrate_epsilon(perturber, 0.9)


@refusals(
    (0, {}, r"target must be a finite number in \(0, 1\), got 0"),
    (1, {}, r"target must be a finite number in \(0, 1\), got 1"),
    (2, {}, r"target must be a finite number in \(0, 1\), got 2"),
    (0.5, {"statistic": "distinct"}, "statistic must be one of"),
    (0.5, {"n_draws": 1}, "n_draws must be an integer >= 2"),
    (0.5, {"confidence": 0.4}, r"confidence must be a finite number in \[0\.5, 1\)"),
    (0.5, {"confidence": 1}, r"confidence must be a finite number in \[0\.5, 1\)"),
    (0.5, {"words": []}, "words must hold"),
    (0.5, {"random_state": "x"}, "random_state must be"),
)
def test_bad_input(small, target, options):
    calibrate_epsilon(small, target, **options)


# -- exact laws ------------------------------------------------------------------------


def kept(mechanism, embedding, epsilon, lam):
    """Pr[w | w] of every word."""
    channel = mechanism.prepare(embedding, epsilon, lam)
    return np.exp(channel.log_proba(np.arange(len(embedding)))).diagonal()


def root(share, target):
    """Where a rising function reaches a target."""
    return optimize.brentq(lambda e: share(e) - target, 0.05, 20.0, rtol=1e-9)


@pytest.mark.no_cover
@pytest.mark.parametrize("lam", [0.0, 0.7])
@pytest.mark.parametrize(
    "mechanism",
    [
        Exponential(),
        Exponential(max_distance=2.0),
        Exponential("half"),
        RandomizedResponse(),
    ],
    ids=repr,
)
def test_exact_laws_against_a_plain_search(small_embedding, mechanism, lam):
    table = small_embedding.restrict(60)
    perturber = DPWordPerturber(table, epsilon=1.0, lam=lam, mechanism=mechanism)
    calibrated = calibrate_epsilon(perturber.fit([]), 0.4, random_state=0)
    true = root(lambda e: kept(mechanism, table, e, lam).mean(), 0.4)
    assert calibrated.epsilon == pytest.approx(true, rel=1e-6)
    assert calibrated.share == pytest.approx(0.4, abs=1e-7)
    again = kept(mechanism, table, calibrated.epsilon, lam).mean()
    assert calibrated.share == pytest.approx(again, rel=1e-12)
    assert (calibrated.standard_error, calibrated.exact) == (0.0, True)
    assert calibrated.interval == (calibrated.epsilon, calibrated.epsilon)
    # once more with weights, and from the other side
    words, counts = ["w3", "w9", "w31"], [5, 1, 2]
    documents = [[w] * n for w, n in zip(words, counts, strict=True)]
    changed = calibrate_epsilon(
        perturber, 0.3, statistic="changed", documents=documents
    )
    weighted = root(
        lambda e: np.average(
            kept(mechanism, table, e, lam)[[3, 9, 31]], weights=counts
        ),
        0.7,
    )
    assert changed.epsilon == pytest.approx(weighted, rel=1e-6)
    assert (changed.n_words, changed.share) == (3, pytest.approx(0.3, abs=1e-7))


def test_exact_laws_start_anywhere(small_embedding):
    # all words, from a start by some of them
    epsilons = [
        calibrate_epsilon(
            DPWordPerturber(small_embedding, epsilon=e, mechanism=Exponential()).fit([])
        ).epsilon
        for e in (1e-3, 2.0, 500.0)
    ]
    np.testing.assert_allclose(epsilons, epsilons[0], rtol=1e-6)
    big = WordEmbedding(
        [f"v{i}" for i in range(400)], np.random.default_rng(1).normal(size=(400, 3))
    )
    perturber = DPWordPerturber(big, lam=0, mechanism=Exponential("half")).fit([])
    assert calibrate_epsilon(perturber, 0.5).share == pytest.approx(0.5, abs=1e-7)


def test_exact_targets_out_of_reach(small_embedding):
    for mechanism in (RandomizedResponse(), Exponential()):
        perturber = DPWordPerturber(small_embedding, mechanism=mechanism).fit([])
        with pytest.raises(InvalidParameterError, match=r"between 0\.005 and 1 here"):
            calibrate_epsilon(perturber, 0.004)
        with pytest.raises(InvalidParameterError, match=r"between 0 and 0\.995 here"):
            calibrate_epsilon(perturber, 0.996, statistic="changed")


# -- documents -------------------------------------------------------------------------


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("mechanism", "epsilon"),
    [(MahalanobisNoise(), 20.0), (Exponential(), 2.0)],
    ids=["noise", "exponential"],
)
def test_the_share_asked_for_is_the_share_changed_in_a_text(
    mechanism, epsilon, built_in, prose
):
    texts = prose[0][:800]
    perturber = DPWordPerturber(
        built_in.restrict(600),
        epsilon=epsilon,
        lam=0.0,
        mechanism=mechanism,
        output="tokens",
    ).fit([])
    calibrated = calibrate_epsilon(
        perturber,
        0.3,
        statistic="changed",
        documents=texts,
        tuned_on="public",
        n_draws=150,
    )
    perturber.set_params(epsilon=calibrated.epsilon).fit([])
    before = np.concatenate(perturber.known_words(texts))
    after = np.concatenate(perturber.transform(texts))
    share = (before != after).mean()
    assert calibrated.n_words == len(set(before))
    assert "the words of 800 documents, by their frequency" in repr(calibrated)
    # Words change independently, each with a probability of its own: the variance of
    # the share is at most p(1 − p)/n. The interval is about normal.
    error = np.hypot(calibrated.standard_error, np.sqrt(0.21 / len(before)))
    limit = stats.norm.isf(ALPHA / 2) * error
    assert abs(share - 0.3) < limit
    if not calibrated.exact:
        return
    # and each word once is another question
    plain = calibrate_epsilon(
        perturber, 0.3, statistic="changed", words=set(before), tuned_on="public"
    )
    at = perturber.set_params(epsilon=plain.epsilon).fit([])
    other = (before != np.concatenate(at.transform(texts))).mean()
    assert abs(other - 0.3) > limit


@pytest.mark.parametrize("resize", ["truncate", "sample"])
def test_documents_are_counted_as_they_are_read(small_embedding, resize):
    texts = ["w1 w2 zz w3 w3", "W7", "zz"]
    perturber = DPWordPerturber(
        small_embedding,
        document_length=1 if resize == "truncate" else 4,
        resize=resize,
        mechanism=RandomizedResponse(),
        lam=0,
        epsilon=6.0,
    ).fit([])
    truncated = {"w1": 1.0, "w7": 1.0}
    redrawn = {"w1": 0.25, "w2": 0.25, "w3": 0.5, "w7": 1.0}
    weights = truncated if resize == "truncate" else redrawn
    texts = texts[:2] if resize == "truncate" else texts
    calibrated = calibrate_epsilon(perturber, documents=texts, tuned_on="public")
    assert calibrated.n_words == len(weights)
    # a law by which each word stays at an ε of its own tells the weights
    near = DPWordPerturber(
        small_embedding,
        document_length=perturber.document_length,
        resize=resize,
        mechanism=Exponential("half"),
        lam=0,
    ).fit([])
    calibrated = calibrate_epsilon(near, documents=texts, tuned_on="public")
    share = np.average(
        kept(Exponential("half"), small_embedding, calibrated.epsilon, 0)[
            [int(w[1:]) for w in weights]
        ],
        weights=list(weights.values()),
    )
    assert share == pytest.approx(0.5, abs=1e-6)


def test_what_was_counted_is_said(small):
    with pytest.warns(CalibrationWarning, match="each word of the embedding once"):
        calibrated = calibrate_epsilon(small, n_draws=5)
    assert "every word of the embedding, once" in repr(calibrated)
    for options, said in (
        ({"words": ["w1"]}, "the words given, once each"),
        ({"documents": ["w1 w2"]}, "the words of 1 document, by their frequency"),
    ):
        with pytest.warns(
            PrivacyLeakWarning, match=f"If these {next(iter(options))}"
        ) as caught:
            calibrated = calibrate_epsilon(small, n_draws=5, **options)
        assert calibrated.counted == said
        assert not any(w.category is CalibrationWarning for w in caught)
    for documents, message in (
        (["zz"], "documents must hold at least one word of the embedding, got none"),
        ("w1", "documents must be an iterable of documents, got a single str"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            calibrate_epsilon(small, documents=documents, tuned_on="public")
    with pytest.raises(InvalidParameterError, match="words must be None if docum"):
        calibrate_epsilon(small, documents=["w1"], words=["w1"])


# -- what is not fitted, and lists of frequencies --------------------------------------


@pytest.mark.no_cover
@pytest.mark.parametrize("mechanism", [None, Exponential(), RandomizedResponse()])
def test_a_perturber_that_is_not_fitted_will_do(mechanism):
    """At an ε far off, without a warning that one should calibrate."""
    # of fewer words than 1,000 nobody is warned
    vectors = np.random.default_rng(0).normal(size=(1001, 5))
    table = WordEmbedding([f"w{i}" for i in range(1001)], vectors)
    perturber = DPWordPerturber(
        table, epsilon=1e-3, lam=0.0, document_length=2, mechanism=mechanism
    )
    options = {"words": table.words[:50], "random_state": 0, "n_draws": 10}
    with no_warning():
        plain = calibrate_epsilon(perturber, tuned_on="public", **options)
        held = calibrate_epsilon(
            make_pipeline(perturber, MultinomialNB()), tuned_on="public", **options
        )
        of_fitted = calibrate_epsilon(
            clone(perturber).fit([]), tuned_on="public", **options
        )
    assert plain == held
    assert plain.epsilon == pytest.approx(of_fitted.epsilon, rel=1e-6)
    assert not hasattr(perturber, "mechanism_")


@pytest.mark.no_cover
@pytest.mark.parametrize("mechanism", [None, Exponential()])
def test_frequencies_count_as_a_text_of_these_words(mechanism):
    table = WordEmbedding(
        [f"w{i}" for i in range(60)], np.random.default_rng(1).normal(size=(60, 3))
    )
    perturber = DPWordPerturber(table, lam=0.0, mechanism=mechanism)
    often = {"w3": 5, "w17": 1, "w40": 2.0}
    bags = np.zeros((2, 60))
    bags[0, [3, 17]], bags[1, 40] = (5, 1), 2
    options = {"tuned_on": "public", "random_state": 0, "n_draws": 500}
    counted = calibrate_epsilon(perturber, 0.4, words=often, **options)
    for given in (
        {"documents": ["w3 " * 5 + "w17", "w40 w40"]},
        {"documents": bags},
        {"words": ["w3"] * 5 + ["w17"] + ["w40"] * 2},
    ):
        calibrated = calibrate_epsilon(perturber, 0.4, **given, **options)
        for name in ("epsilon", "share", "standard_error"):
            expected = pytest.approx(getattr(counted, name), rel=1e-6)
            assert getattr(calibrated, name) == expected
        np.testing.assert_allclose(calibrated.interval, counted.interval, rtol=0.01)
    assert counted.counted == "the words given, by their frequency"
    if mechanism is not None:  # the law of words, independently of the short way
        channel = perturber.set_params(epsilon=counted.epsilon).fit([]).mechanism_
        ids = table.find(list(often))
        unchanged = np.exp(channel.log_proba(ids))[np.arange(3), ids]
        weights = np.array([5, 1, 2]) / 8
        assert weights @ unchanged == pytest.approx(0.4, abs=1e-6)


@pytest.mark.parametrize("often", [0, -1, np.nan, np.inf, "2", True, None])
def test_frequencies_are_checked(often):
    table = WordEmbedding(["a", "b"], np.eye(2))
    with pytest.raises(InvalidParameterError, match="frequencies of words must be"):
        calibrate_epsilon(DPWordPerturber(table), words={"a": 1, "b": often})


def test_a_calibration_is_printed_as_a_sentence():
    table = WordEmbedding(["aa", "bb", "cc"], [[0.0], [1.0], [9.0]])
    perturber = DPWordPerturber(table, document_length=1, lam=0)
    given = {"documents": ["aa bb", "bb, aa"], "tuned_on": "public"}
    for mechanism, how in ((None, "± "), ("exponential", "exactly, by the mech")):
        perturber.set_params(mechanism=mechanism)
        result = calibrate_epsilon(perturber, 0.25, statistic="changed", **given)
        said = str(result)
        assert said.startswith(
            f"At ε = {result.epsilon:.4g}, {100 * result.share:.1f} % of words change "
            f"({how}"
        )
        assert said.endswith(" Counted: the words of 2 documents, by their frequency.")
    unchanged = calibrate_epsilon(perturber, 0.75, **given)
    assert "% of words stay unchanged (exactly" in str(unchanged)
