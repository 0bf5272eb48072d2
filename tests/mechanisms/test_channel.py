"""The seam: a mechanism of a user's own goes everywhere, and a false one is caught."""

from __future__ import annotations

import contextlib
import itertools
import math

import numpy as np
import pytest
from sklearn.base import clone

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.attacks import WordReconstructionAttack
from skdptext.audit import audit_noise_law, audit_word_privacy
from skdptext.base import NoiseRun
from skdptext.documents import DocumentReader
from skdptext.mechanisms import (
    Exponential,
    ExponentialChannel,
    FiniteChannel,
    InvertedChannel,
    Law,
    MahalanobisChannel,
    MahalanobisMetric,
    MahalanobisNoise,
    RandomizedResponse,
    RandomizedResponseChannel,
    Spectrum,
    WordChannel,
    WordMechanism,
    law_fingerprint,
)
from skdptext.metrics import (
    plausible_deniability,
)
from skdptext.model_selection import calibrate_epsilon
from skdptext.privacy import PrivacyGuarantee
from tests.expected import leaks_allowed, refused

pytestmark = leaks_allowed


# -- a mechanism, whole --------------------------------------------------------------


class Steps(WordMechanism):
    """Two-sided geometric steps along the order of the words."""

    def __init__(self, width=1.0):
        self.width = width

    def prepare(self, embedding, epsilon, lam):
        return StepsChannel(self, embedding, epsilon, lam)


class StepsChannel(WordChannel):
    @property
    def rate(self):
        return self.epsilon / self.mechanism.width

    def draw(self, rng, n):
        up, down = rng.geometric(-math.expm1(-self.rate), (2, n))
        return (up - down,)

    def apply(self, words, draws):
        return np.clip(words + draws[0], 0, len(self.embedding) - 1)

    def exponents(self, x, y):
        return self.rate * np.abs(np.subtract.outer(x, y))


# ------------------------------------------------------------------------------------

ROW = WordEmbedding([f"w{i}" for i in range(12)], np.arange(12.0)[:, None])


def law(rate, n_words):
    """P[w, z] of clipped geometric steps, by its own formula."""
    q = math.exp(-rate)
    P = np.empty((n_words, n_words))
    for w, z in itertools.product(range(n_words), repeat=2):
        if z in (0, n_words - 1):  # all that would go beyond ends here
            P[w, z] = q ** abs(w - z) / (1 + q)
        else:
            P[w, z] = (1 - q) / (1 + q) * q ** abs(w - z)
    return P


@pytest.fixture
def steps():
    perturber = DPWordPerturber(
        ROW, epsilon=0.8, mechanism=Steps(), document_length=3, resize="truncate",
        random_state=3,
    )  # fmt: skip
    return perturber.fit([])


def test_releases_follow_the_law(steps):
    n_draws = 50_000
    noisy = steps.set_params(random_state=None).perturb_words(ROW.words, n_draws)
    counts = np.stack([np.bincount(ROW.find(r.tolist()), minlength=12) for r in noisy])
    expected = law(0.8, 12)
    z = (counts / n_draws - expected) / np.sqrt(expected * (1 - expected) / n_draws)
    assert np.abs(z).max() < 6  # false alarms below 144 · 2e-9


def test_guarantee_asks_the_channel(steps):
    guarantee = steps.guarantee()
    assert guarantee.exponent("w2", "w7") == pytest.approx(0.8 * 5)
    x, y = ["w0", "w5", "w9"], ["w9", "w1", "w5"]
    assert guarantee.exponent(x, y) == pytest.approx(0.8 * 1)  # w0 to w1
    assert guarantee.compose(2).exponent(x, y) == pytest.approx(1.6)
    ordered = steps.set_params(output="tokens").guarantee()
    assert ordered.exponent(x, y) == pytest.approx(0.8 * (9 + 4 + 4))
    sampled = steps.set_params(output="bow", resize="sample").guarantee()
    # half of the words stay, so that at least half of the odds do
    odds = 0.5 + 0.5 * math.exp(-0.8 * 4)
    assert sampled.exponent(["w0"], ["w0", "w4"]) == pytest.approx(-3 * math.log(odds))
    both = guarantee.compose(
        DPWordPerturber(ROW, epsilon=2.0, lam=0.0, document_length=3)
        .fit([])
        .guarantee()
    )
    assert both.exponent("w2", "w7") == pytest.approx(0.8 * 5 + 2.0 * 5)
    assert (both.epsilon, both.metric) == (None, None)


def test_epsilon_for_prepares_the_mechanism_anew(steps):
    guarantee = steps.guarantee()
    epsilon = guarantee.epsilon_for("w2", "w7", factor=math.e)
    assert epsilon == pytest.approx(0.2, rel=1e-8)
    assert epsilon * 5 <= 1
    noise = DPWordPerturber(ROW, epsilon=9.0, lam=0.0, document_length=3).fit([])
    both = guarantee.compose(noise.guarantee())
    epsilon = both.epsilon_for("w2", "w7", factor=math.e)
    assert epsilon == pytest.approx(0.1, rel=1e-8)
    assert guarantee.epsilon_for("w1", "w1", factor=2.0) == math.inf
    assert steps.guarantee().epsilon_for(["w1"] * 3, ["w1"] * 3, factor=2.0) == math.inf


@pytest.mark.parametrize(
    "ask",
    [
        lambda g: g.relative_to(0.5),
        lambda g: g.euclidean(),
        lambda g: g.euclidean_bounds,
        lambda g: g.lemma3_bounds,
        lambda g: g.utility_probability(1.0),
    ],
)
def test_what_only_a_metric_on_vectors_has_says_so(steps, ask):
    with refused(r"metric on vectors.*Steps\(\)"):
        ask(steps.guarantee())
    with refused(r"metric on vectors|2 parts"):
        ask(steps.guarantee().compose(steps.guarantee()))


@pytest.mark.no_cover
def test_statistics_and_calibration(steps):
    exact = np.diag(law(0.8, 12))
    deniability = plausible_deniability(steps, n_draws=4000, random_state=0)
    error = np.sqrt(exact * (1 - exact) / 4000)
    assert (np.abs(deniability.n_unchanged / 4000 - exact) < 6 * error).all()
    half = calibrate_epsilon(steps, 0.5, n_draws=2000, random_state=0)
    low, high = half.interval
    assert low < half.epsilon < high
    grid = np.linspace(0.3, 3, 200)
    true = np.interp(0.5, [np.diag(law(e, 12)).mean() for e in grid], grid)
    assert half.epsilon == pytest.approx(true, rel=0.05)
    with refused("target must be a share that some"):
        calibrate_epsilon(steps, 0.01, n_draws=50, random_state=0)  # the ends keep half


def test_reconstruction_comes_near_the_optimum(steps):
    attack = WordReconstructionAttack(
        steps, n_draws=2000, smoothing=0.1, random_state=0
    ).fit()
    fresh = clone(steps).set_params(random_state=np.random.default_rng(1)).fit([])
    released = fresh.perturb_words(ROW.words, 1667).ravel()
    optimum = law(0.8, 12).max(axis=0).sum() / 12
    score = attack.score(released, np.repeat(ROW.word_array, 1667))
    assert score == pytest.approx(optimum, abs=6 * 0.5 / math.sqrt(20_000) + 0.005)


@pytest.mark.no_cover
def test_audits_pass_the_true_mechanism(steps):
    audit = audit_word_privacy(
        steps.set_params(random_state=None),
        [("w0", "w1"), ("w4", "w5"), ("w3", "w6")],
        n_draws=20_000,
        confidence=1 - 1e-6,
        random_state=0,
    )
    assert not audit.violated.any()
    assert (audit.lower_bound > 0.75 * audit.claimed).all()  # and the claim is tight
    with refused(r"Steps\(\) does not"):
        audit_noise_law(steps)


class Careless(StepsChannel):
    """Forgets its option in the fingerprint."""

    fingerprint = b"always the same"


def test_a_forgotten_option_does_not_replay_noise():
    class Forgetful(Steps):
        def prepare(self, embedding, epsilon, lam):
            return Careless(self, embedding, epsilon, lam)

    noises = []
    for width in (1.0, 1.0 + 1e-12):
        perturber = DPWordPerturber(
            ROW, epsilon=0.1, mechanism=Forgetful(width), document_length=3,
            random_state=5,
        ).fit([])  # fmt: skip
        noises.append(perturber.perturb_words(["w5"], 40).tolist())
    assert noises[0] != noises[1]


# -- the two faults of 0.1 -----------------------------------------------------------


class OwnShape(WordMechanism):
    """Noise shaped by a covariance of its own."""

    def __init__(self, stretch=4.0):
        self.stretch = stretch

    def prepare(self, embedding, epsilon, lam):
        values = np.sort([1.0, self.stretch]) * 2 / (1 + self.stretch)
        spectrum = Spectrum(np.diag(values), values, np.eye(2))
        metric = MahalanobisMetric(lam, spectrum)
        return MahalanobisChannel(self, embedding, epsilon, lam, metric=metric)


def test_the_guarantee_is_that_of_the_noise_drawn(small_embedding):
    """Not that of another mechanism built from ε and λ."""
    plane = WordEmbedding(
        small_embedding.words, small_embedding.vectors[:, :2] * [9.0, 1.0]
    )
    perturber = DPWordPerturber(
        plane, epsilon=3.0, lam=1.0, mechanism=OwnShape(), document_length=1
    ).fit([])
    audit = audit_noise_law(perturber, n_draws=5000, alpha=1e-6, random_state=0)
    assert not audit.rejected
    v = plane["w1"].astype(float) - plane["w2"]
    exact = 3.0 * math.sqrt(v[0] ** 2 / 0.4 + v[1] ** 2 / 1.6)
    assert perturber.guarantee().exponent("w1", "w2") == pytest.approx(exact)
    default = DPWordPerturber(plane, epsilon=3.0, lam=1.0, document_length=1).fit([])
    assert default.guarantee().exponent("w1", "w2") > 2 * exact
    np.testing.assert_array_equal(perturber.covariance_, np.diag([0.4, 1.6]))


# The mistakes of the next two tests are of the release itself, whose only public
# method does all of it: they are made inside.


def no_noise(draws):
    return tuple(np.zeros_like(part) for part in draws)


@pytest.mark.no_cover
@pytest.mark.parametrize("where", ["everywhere", "fresh", "repeatable", "sampled"])
def test_a_release_without_noise_is_caught(small_embedding, monkeypatch, where):
    """Whatever way through the release has none."""
    perturber = DPWordPerturber(small_embedding, document_length=2).fit([])
    draws = NoiseRun._draws

    def silent(self, *args):
        here = {
            "everywhere": True,
            "fresh": self.streams.fresh,
            "repeatable": not self.streams.fresh,
            "sampled": self.sample_length is not None,
        }
        return map(no_noise if here[where] else tuple, draws(self, *args))

    monkeypatch.setattr(NoiseRun, "_draws", silent)
    for source in (perturber, perturber.mechanism_):
        audit = audit_noise_law(source, n_draws=2000, alpha=1e-6, random_state=0)
        assert {"radius", "repeats"} <= set(audit.failed)


@pytest.mark.parametrize("sampled", [True, False])
def test_a_release_in_clear_is_caught(small_embedding, monkeypatch, sampled):
    perturb = NoiseRun._perturb

    def clear(self, documents, rows, **options):
        noisy = perturb(self, documents, rows, **options)
        if (self.sample_length is not None) == sampled:
            ends = documents.offsets[[rows.start, rows.stop]]
            codes = documents.codes[ends[0] : ends[1]]
            noisy[:] = np.repeat(codes, len(noisy) // len(codes))
        return noisy

    monkeypatch.setattr(NoiseRun, "_perturb", clear)
    perturber = DPWordPerturber(small_embedding, epsilon=1.0, document_length=2)
    audit = audit_noise_law(perturber.fit([]), n_draws=2000, random_state=0)
    assert "words" in audit.failed


class NoNoise(MahalanobisNoise):
    def prepare(self, embedding, epsilon, lam):
        return NoNoiseChannel(self, embedding, epsilon, lam)


class NoNoiseChannel(MahalanobisChannel):
    law = MahalanobisChannel.law  # which other draws take back

    def draw(self, rng, n):
        return no_noise(super().draw(rng, n))


class NoiseIgnored(MahalanobisNoise):
    def prepare(self, embedding, epsilon, lam):
        return NoiseIgnoredChannel(self, embedding, epsilon, lam)


class NoiseIgnoredChannel(MahalanobisChannel):
    law = MahalanobisChannel.law

    def apply(self, words, draws, memory=None):
        return words


def test_a_channel_without_noise_is_caught(small_embedding):
    perturber = DPWordPerturber(
        small_embedding, mechanism=NoNoise(), document_length=2
    ).fit([])
    assert audit_noise_law(perturber, n_draws=2000, random_state=0).rejected


def test_words_that_ignore_their_noise_are_caught(small_embedding):
    perturber = DPWordPerturber(
        small_embedding, epsilon=1.0, mechanism=NoiseIgnored(), document_length=2
    ).fit([])
    audit = audit_noise_law(perturber, n_draws=2000, random_state=0)
    assert audit.failed == ["words"]


class Boastful(StepsChannel):
    """Claims half of what is lost."""

    def exponents(self, x, y):
        return super().exponents(x, y) / 2


class Boast(Steps):
    def prepare(self, embedding, epsilon, lam):
        return Boastful(self, embedding, epsilon, lam)


def test_a_false_claim_is_caught():
    perturber = DPWordPerturber(
        ROW, epsilon=0.8, mechanism=Boast(), document_length=1
    ).fit([])
    audit = audit_word_privacy(perturber, random_state=0)
    assert audit.violated.any()


# -- what a subclass keeps of its parent ---------------------------------------------


def prepared(kind, mechanism=None):
    return kind(mechanism or MahalanobisNoise(), ROW, 1.0, 0.0)


class OtherWords(MahalanobisChannel):
    def apply(self, words, draws, memory=None):
        return np.roll(super().apply(words, draws, memory), 0)


class OtherSession(MahalanobisChannel):
    def session(self, memory):
        return contextlib.nullcontext(self.apply)


class OtherDraws(MahalanobisChannel):
    def draw(self, rng, n):
        return super().draw(rng, n)


class OtherNoise(MahalanobisChannel):
    def noise(self, draws):
        return super().noise(draws)


class OtherClaim(MahalanobisChannel):
    def exponents(self, x, y):
        return super().exponents(x, y) + 1


class ShiftedWords(RandomizedResponseChannel):
    def apply(self, words, draws):
        return super().apply(words, draws)[::-1]


class OtherProbabilities(ExponentialChannel):
    def log_proba(self, words):
        return super().log_proba(words)


@pytest.mark.parametrize(
    "kind",
    [OtherWords, OtherSession, OtherDraws, OtherNoise, OtherClaim]
    + [ShiftedWords, OtherProbabilities],
)
def test_of_a_distribution_of_its_own_nothing_is_known(kind):
    of = {"ShiftedWords": RandomizedResponse(), "OtherProbabilities": Exponential()}
    mechanism = of.get(kind.__name__)
    assert prepared(kind.__bases__[0], mechanism).law() != Law()
    assert prepared(kind, mechanism).law() == Law()
    heir = type("Heir", (kind,), {})
    assert prepared(heir, mechanism).law() == Law()
    stated = type("Stated", (kind,), {"law": kind.__bases__[0].law})
    assert prepared(stated, mechanism).law() != Law()


def test_what_is_not_stated_is_not_used():
    channel = prepared(OtherClaim)
    with refused("metric on vectors"):
        PrivacyGuarantee(channel).relative_to(0.5)
    assert PrivacyGuarantee(channel).exponent("w1", "w2") == 2.0


def test_a_class_that_changes_nothing_keeps_what_is_known():
    class Named(MahalanobisChannel):
        def __repr__(self):
            return "named"

    law = prepared(Named).law()
    assert law.scales
    assert law.numerical_delta == 2.0**-50


class Even(FiniteChannel):
    """A finite channel with draws of its own."""

    def draw(self, rng, n):
        return (rng.integers(12, size=n),)

    def apply(self, words, draws):
        return draws[0]

    def log_proba(self, words):
        return np.full((len(words), 12), -math.log(12))


def test_probabilities_are_a_statement():
    class Claimed(Even):
        def exponents(self, x, y):
            return np.zeros((len(x), len(y)))

        log_proba = Even.log_proba

    class Skewed(Even):
        def apply(self, words, draws):
            return draws[0] // 2

    class Again(Skewed):
        def log_proba(self, words):
            rows = super().log_proba(words)
            return np.where(np.arange(12) < 6, rows + math.log(2), -np.inf)

        law = FiniteChannel.law

    for kind, known in ((Even, True), (Claimed, True), (Skewed, False), (Again, True)):
        law = prepared(kind, RandomizedResponse()).law()
        assert (law.log_proba is not None) == known
        assert law.numerical_delta is None


def test_inverted_probabilities_vouch_for_their_own_draws_only():
    class Inverted(InvertedChannel):
        log_proba = Even.log_proba

    class OwnDraws(Inverted):
        draw, log_proba = Even.draw, Even.log_proba

    inverted = prepared(Inverted, RandomizedResponse()).law()
    assert inverted.numerical_delta == 2.0**-36 + 12 * 2.0**-51
    own = prepared(OwnDraws, RandomizedResponse()).law()
    assert own.numerical_delta is None
    assert own.log_proba is not None


class Shifted:
    """A mixin that makes another claim."""

    def exponents(self, x, y):
        return super().exponents(x, y) + 7


class Kept:
    """A mixin that releases words as they are."""

    def apply(self, words, draws, memory=None):
        return words

    def session(self, memory):
        return contextlib.nullcontext(self.apply)


def test_mixins_have_their_own_law():
    class Claim(Shifted, MahalanobisChannel):
        pass

    class Clear(Kept, MahalanobisChannel):
        pass

    guarantee = PrivacyGuarantee(Claim(MahalanobisNoise(), ROW, 1.0, 0.0))
    assert guarantee.exponent("w1", "w2") == 8.0
    assert guarantee.metric is None
    with refused("metric on vectors"):
        guarantee.euclidean()

    class ClearNoise(MahalanobisNoise):
        def prepare(self, embedding, epsilon, lam):
            return Clear(self, embedding, epsilon, lam)

    perturber = DPWordPerturber(ROW, mechanism=ClearNoise(), document_length=1)
    deniability = plausible_deniability(perturber.fit([]), n_draws=20)
    assert (deniability.n_unchanged == 20).all()


def test_noise_or_draws_of_ones_own_have_no_known_lengths():
    class Clipped(MahalanobisChannel):
        def noise(self, draws):
            return np.clip(super().noise(draws), -0.1, 0.1)

        def law(self):
            return Law(noise=self.noise, scales=True, numerical_delta=0.0)

    class Longer(MahalanobisChannel):
        def draw(self, rng, n):
            radii, normals = super().draw(rng, n)
            return 5 * radii, normals

    for kind in (Clipped, Longer):
        reader = DocumentReader(ROW, document_length=2)
        guarantee = PrivacyGuarantee(prepared(kind), reader)
        with refused("metric on vectors"):
            guarantee.utility_probability(1.0)
    assert guarantee.numerical_delta is None


def test_a_statement_must_hold_together():
    with refused("scales must be False without"):
        Law(scales=True)

    class Wordy(StepsChannel):
        def law(self):
            return {"sentences": "much"}

    class Speaks(Steps):
        def prepare(self, embedding, epsilon, lam):
            return Wordy(self, embedding, epsilon, lam)

    with refused("law of Wordy must return a Law"):
        DPWordPerturber(ROW, mechanism=Speaks(), document_length=1).fit([])


def test_what_is_stated_does_not_hold_for_the_draws_of_a_sibling():
    class Half(MahalanobisChannel):
        def draw(self, rng, n):
            radii, directions = super().draw(rng, n)
            return radii / 2, directions

    class Stating(MahalanobisChannel):
        def apply(self, words, draws, memory=None):
            return super().apply(words, draws, memory)

        law = MahalanobisChannel.law

    class Both(Stating, Half):
        """Draws as one parent does, and states what the other does."""

    class Alone(Stating):
        """Draws as it states."""

    assert prepared(Both).law() == Law()
    assert prepared(Alone).law().scales

    class Claim:
        """A mixin that defines nothing but the law, of whatever comes after it."""

        def law(self):
            return Law(numerical_delta=0.25)

    class Mixed(Claim, Half):
        pass

    assert prepared(Mixed).law() == Law(numerical_delta=0.25)


# -- fingerprints and refusals -------------------------------------------------------


def test_fingerprints_tell_all_options_apart():
    def digest(mechanism, epsilon=1.0, lam=0.0, table=ROW):
        return law_fingerprint(mechanism, table, epsilon, lam)

    class Other(Steps):
        pass

    other = WordEmbedding(ROW.words, np.arange(12.0)[:, None] + 1)
    made = [
        digest(m)
        for m in (
            Steps(), Steps(2.0), Steps("1.0"), Steps(None), Steps([1.0]), Steps((1.0,)),
            Steps([[1.0], 2.0]), Steps([1.0, [2.0]]), Steps({"a": 1}), Steps({1.0}),
            Steps(np.ones(2)), Steps(np.ones((1, 2))), Steps(np.ones(2, np.float32)),
            Steps(Steps()), Steps(ROW), Steps(other), Steps(True), Steps(b"1.0"),
            Steps(["ab", "c"]), Steps(["a", "bc"]), Other(), MahalanobisNoise(),
        )
    ]  # fmt: skip
    made += [
        digest(Steps(), 2.0),
        digest(Steps(), lam=0.5),
        digest(Steps(), table=other),
    ]
    assert len(set(made)) == len(made)
    assert digest(Steps()) == made[0]
    assert digest(Steps(), lam=-0.0) == made[0]
    assert digest(Steps({"b": 2, "a": 1})) == digest(Steps({"a": 1, "b": 2}))
    with refused("options of a mechanism"):
        digest(Steps(object()))


def test_mechanism_must_not_change_after_fit(steps):
    steps.mechanism.width = 2.0
    # the channel has a copy of its own
    assert steps.mechanism_.rate == 0.8
    with refused("mechanism must not change after"):
        steps.transform([["w1"] * 3])


@pytest.mark.parametrize("wrong", [Steps, 3, object()])
def test_mechanism_must_be_one(wrong):
    with refused("mechanism must be None or a Word"):
        DPWordPerturber(ROW, mechanism=wrong).fit([])


class Broken(Steps):
    def __init__(self, channel=None):
        self.channel = channel

    def prepare(self, embedding, epsilon, lam):
        return globals()[self.channel](Steps(), embedding, epsilon, lam)


class Nothing(Steps):
    def prepare(self, embedding, epsilon, lam):
        return None


class Lazy(StepsChannel):
    """Draws for half of the words."""

    def draw(self, rng, n):
        return (super().draw(rng, n)[0][: n // 2],)


class Odd(StepsChannel):
    """Draws something that is no row per word, too."""

    def draw(self, rng, n):
        return np.ones(1), *super().draw(rng, n)


class Listed(StepsChannel):
    def draw(self, rng, n):
        return list(super().draw(rng, n))


class Halves(StepsChannel):
    def apply(self, words, draws):
        return super().apply(words, draws) / 2


class Short(StepsChannel):
    def apply(self, words, draws):
        return super().apply(words, draws)[1:]


class Beyond(StepsChannel):
    def apply(self, words, draws):
        return super().apply(words, draws) + 12


class Negative(StepsChannel):
    def exponents(self, x, y):
        return super().exponents(x, y) - 1


def test_what_a_mechanism_returns_is_checked():
    def fitted(channel):
        return DPWordPerturber(ROW, mechanism=Broken(channel), document_length=1).fit(
            []
        )

    with refused("Short must return 1 word"):
        fitted("Short").transform([["w1"]])
    with refused(r"apply of Beyond .* in \[0, 12\)"):
        fitted("Beyond").transform([["w1"]])
    with refused(r"exponents of Steps\(\) must be"):
        fitted("Negative").guarantee().exponent("w1", "w1")


@pytest.mark.parametrize(
    ("channel", "message"),
    [
        ("Lazy", r"draw of Lazy must return .* with 3 rows each, got .*\[\(1,\)\]"),
        ("Odd", r"draw of Odd must return .* got .*\[\(1,\), \(3,\)\]"),
        ("Listed", "draw of Listed must return a tuple of arrays .* got list"),
        ("Halves", "apply of Halves must return 3 word ids, .* type float64"),
    ],
)
@pytest.mark.parametrize("random_state", [None, 5])
def test_no_word_is_released_without_noise(channel, message, random_state):
    perturber = DPWordPerturber(
        ROW, epsilon=1e-3, mechanism=Broken(channel), document_length=3,
        random_state=random_state,
    ).fit([])  # fmt: skip
    with refused(message):
        perturber.transform([["w5"] * 3])
    with refused(message.replace("3 ", r"\d+ ")):
        plausible_deniability(perturber, ["w5"], n_draws=3)


def test_a_release_that_loses_draws_stops(small_embedding, monkeypatch):
    """A fault that no input brings about."""
    draws = NoiseRun._draws
    monkeypatch.setattr(
        NoiseRun, "_draws", lambda self, *a: itertools.islice(draws(self, *a), 0)
    )
    perturber = DPWordPerturber(small_embedding, document_length=2).fit([])
    with pytest.raises(RuntimeError, match="2 of 2 words got no noise"):
        perturber.transform([["w1", "w2"]])


def test_prepare_must_return_a_channel():
    with refused("prepare of Nothing must return a WordChannel, got None"):
        DPWordPerturber(ROW, mechanism=Nothing(), document_length=1).fit([])
    with refused("channel must be a prepared"):
        PrivacyGuarantee(StepsChannel)
    other = WordEmbedding(ROW.words, np.arange(12.0)[::-1, None])
    with refused("words of the channel's embedding"):
        PrivacyGuarantee(Steps().prepare(ROW, 1.0, 0.0), DocumentReader(other))
